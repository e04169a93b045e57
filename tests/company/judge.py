"""Judges reports of `krm-fn diff` about commits: by the lines of the commit, and by what real builds of both revisions contain."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from tests.company.repositories import BUILD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.company.repositories import Commit, TeamRepository

Object = dict[str, Any]
Key = tuple[str, str, str, str]
"""Group, kind, namespace and name of an object."""

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_TEMPLATES = {
    "Deployment": (("template",),),
    "StatefulSet": (("template",),),
    "LeaderWorkerSet": (("leaderWorkerTemplate", "leaderTemplate"), ("leaderWorkerTemplate", "workerTemplate")),
}
"""The paths of pod templates in the spec of each kind of workload."""


class Effects(NamedTuple):
    """What a commit does to the objects of clusters."""

    restarts: frozenset[Key]
    deleted: frozenset[Key]
    created: frozenset[Key]
    changed: frozenset[Key]


def lines(repository: TeamRepository, commit: Commit) -> dict[tuple[str, str], set[int]]:
    """Returns the lines of a commit by state (`old` or `new`) and file. For removed lines, the new state has the lines around them."""
    numbers: dict[tuple[str, str], set[int]] = {}
    old = new = ""
    for line in repository.git("diff", "-U0", "--no-renames", f"{commit.revision}~1", commit.revision).splitlines():
        if line.startswith("--- "):
            old = line[6:]
        elif line.startswith("+++ "):
            new = line[6:]
        elif match := _HUNK.match(line):
            start, count, new_start, new_count = (1 if group is None else int(group) for group in match.groups())
            numbers.setdefault(("old", old), set()).update(_range(start, count))
            numbers.setdefault(("new", new), set()).update(_range(new_start, new_count))
    return numbers


def _range(start: int, count: int) -> range:
    return range(start, start + count) if count else range(start, start + 2)


def locations(value: Any) -> Iterator[tuple[str, str, int]]:
    """Yields the state, the file and the line of each origin in a report."""
    if isinstance(value, dict):
        if value.get("line") and "state" in value:
            yield value["state"], value["file"].split(":", 1)[-1], value["line"]
        for entry in value.values():
            yield from locations(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from locations(entry)


def roots(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the roots of a report."""
    return list(report.get("roots", [report]))


def reported(report: Mapping[str, Any]) -> Effects:
    """Returns the effects of a report. An object that only moves to another root has none."""
    entries = [entry for root in roots(report) for entry in root["objects"]]

    def keys(effects: tuple[str, ...]) -> frozenset[Key]:
        objects = (entry["object"] for entry in entries if entry["effect"] in effects)
        return frozenset((object_["group"], object_["kind"], object_.get("namespace") or "", object_["name"]) for object_ in objects)

    changed = keys(tuple({entry["effect"] for entry in entries} - {"created", "deleted"}))
    return Effects(keys(("restarts",)), keys(("deleted",)), keys(("created",)), frozenset(key for key in changed if key[0] != "nvidia.com"))


def effects(old: Mapping[Key, Object], new: Mapping[Key, Object]) -> Effects:
    """Returns the effects of a change of objects."""
    both = old.keys() & new.keys()
    # A report shows the change of a graph as the changes of its objects.
    changed = frozenset(key for key in both if old[key] != new[key] and key[0] != "nvidia.com")
    restarts = frozenset(key for key in changed if _templates(old[key]) != _templates(new[key]))
    return Effects(restarts, frozenset(old.keys() - new.keys()), frozenset(new.keys() - old.keys()), changed)


def total(old: Mapping[str, Mapping[Key, Object]], new: Mapping[str, Mapping[Key, Object]]) -> Effects:
    """Returns the effects of a change of roots by their folders.

    A folder that was moved is paired with the one that has its objects, unless `clusters/NAME` says that they are of different clusters.
    """
    pairs = [(old[folder], new[folder]) for folder in old.keys() & new.keys()]
    added = {folder: new[folder] for folder in new.keys() - old.keys()}
    for folder in old.keys() - new.keys():
        candidates = (name for name, objects in added.items() if _cluster(name) == _cluster(folder) and objects.keys() & old[folder].keys())
        pairs.append((old[folder], added.pop(next(candidates, ""), {})))
    pairs += [({}, objects) for objects in added.values()]
    parts = [effects(*pair) for pair in pairs]
    return Effects(*(frozenset(key for part in parts for key in part[index]) for index in range(len(Effects._fields))))


def _cluster(folder: str) -> str:
    return folder.partition("clusters/")[2].partition("/")[0]


def _templates(resource: Object) -> list[Any]:
    templates = []
    for path in _TEMPLATES.get(resource["kind"], ()):
        value: Any = resource["spec"]
        for step in path:
            value = value.get(step) or {}
        templates.append(value)
    return templates


def built(repository: TeamRepository, folder: str, environment: Mapping[str, str], scratch: Path) -> dict[str, dict[Key, Object]]:
    """Returns the objects that each root below a folder of the checked out commit gives its cluster, as the real tools build them."""
    objects = {}
    for path in sorted((repository.folder / folder).rglob("*")):
        if path.name == "kustomization.yaml" and "transformers" in path.read_text(encoding="utf-8"):
            objects[str(path.parent)] = _by_key(_run(environment, *BUILD, str(path.parent)))
        elif path.name == "Kptfile":
            shutil.rmtree(scratch, ignore_errors=True)
            shutil.copytree(path.parent, scratch)
            _run(environment, "kpt", "fn", "render", "--allow-exec", str(scratch))
            texts = [file.read_text(encoding="utf-8") for file in sorted(scratch.rglob("*.yaml"))]
            objects[str(path.parent)] = _by_key("\n---\n".join(texts))
        elif path.name == "manifests.yaml":
            objects[str(path.parent)] = _by_key(path.read_text(encoding="utf-8"))
    return objects


def _run(environment: Mapping[str, str], *command: str) -> str:
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout


def _by_key(text: str) -> dict[Key, Object]:
    objects = {}
    for resource in yaml.safe_load_all(text):
        if resource and "config.kubernetes.io/local-config" not in (resource["metadata"].get("annotations") or {}):
            group = resource["apiVersion"].rpartition("/")[0]
            metadata = resource["metadata"]
            objects[group, resource["kind"], metadata.get("namespace", ""), metadata["name"]] = resource
    return objects
