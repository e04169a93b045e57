"""Finds pods that an upgrade restarts, from digests of the pod templates of all examples and of the platform in the last release.

The changelog must announce every such restart. `make golden` shows the change itself.

    PYTHONPATH=tools python -m tests.platform.rollouts    # write the record
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from release import changelog

from tests.platform import installation
from tests.support import build_checks, golden
from tests.testbed import programs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RECORD = programs.ROOT / "tests" / "support" / "templates.json"
CHANGES = programs.ROOT / "CHANGELOG.md"


class Entry(NamedTuple):
    """One example: the digest of its input, and those of its pod templates."""

    source: str
    templates: dict[str, str]


Record = dict[str, Entry]


def now() -> Record:
    """The entries of the checkout. Raises CalledProcessError if the platform cannot be built."""
    return dict(sorted({**dict(map(_example, golden.folders())), **dict(_platform())}.items()))


def recorded() -> Record:
    """The recorded entries."""
    return {name: Entry(**entry) for name, entry in json.loads(RECORD.read_text()).items()}


def changed(before: Record, after: Record) -> dict[str, list[str]]:
    """The workloads of each example whose pods an upgrade would restart or delete. Examples with another input are not compared."""
    found = {}
    for name, entry in before.items():
        same = after.get(name, entry)
        if same.source == entry.source:
            found[name] = sorted(key for key, digest in entry.templates.items() if same.templates.get(key) != digest)
    return {name: workloads for name, workloads in found.items() if workloads}


def outdated(before: Record, after: Record) -> list[str]:
    """The examples whose input differs from the record."""
    return sorted(
        name for name in {*before, *after} if name not in before or name not in after or before[name].source != after[name].source
    )


def announced(changes: str) -> str:
    """The notes of the changelog about versions that are not released."""
    return "\n".join(section.notes for section in changelog.sections(changes) if not section.date)


def surprises(before: Record, after: Record, changes: str) -> dict[str, list[str]]:
    """The changed workloads of examples that the changelog does not name."""
    said = announced(changes)
    return {name: workloads for name, workloads in changed(before, after).items() if not re.search(rf"{re.escape(name)}(?![-\w])", said)}


def renewed(before: Record, after: Record, changes: str) -> Record:
    """The entries to record: examples with another input, or all of them at a release and before the first one."""
    dates = [section.date for section in changelog.sections(changes)]
    if any(dates) and not dates[0]:
        return {name: before[name] if name in before and name not in outdated(before, after) else entry for name, entry in after.items()}
    return after


def _example(folder: Path) -> tuple[str, Entry]:
    written = sorted(file for file in folder.rglob("*") if file.is_file() and file.name != "README.md")
    outputs = [file for file in written if file.name.startswith("expected") or golden.RENDERED in file.parents]
    source = _digest([[str(file.relative_to(folder)), file.read_text()] for file in written if file not in outputs])
    found = {f"{file.stem} {name}": digest for file in outputs for name, digest in _templates(build_checks.read(file.read_text()))}
    return f"examples/{folder.name}", Entry(source, found)


def _platform() -> Iterator[tuple[str, Entry]]:
    """The servers of the platform. Their input is their templates, so every change counts."""
    for part in ("nats", "etcd"):
        folder = programs.ROOT / "platform" / part
        yield f"platform/{part}", Entry("", dict(_templates(installation.objects(folder))))


def _templates(objects: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for each in objects:
        pods = _pods(each.get("spec") or {}).get(each["kind"])
        if pods is not None:
            yield f"{each['kind']}/{each['metadata']['name']}", _digest(pods)


def _pods(spec: dict[str, Any]) -> dict[str, Any]:
    """The pod templates of a workload."""
    cliques = [{**each, "spec": {**each["spec"], "replicas": None}} for each in (spec.get("template") or {}).get("cliques", ())]
    template, group = spec.get("template"), spec.get("leaderWorkerTemplate")
    return {"Deployment": template, "Job": template, "StatefulSet": template, "LeaderWorkerSet": group, "PodCliqueSet": cliques}


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def main() -> None:
    """Write the record."""
    before = recorded() if RECORD.exists() else {}
    entries = renewed(before, now(), CHANGES.read_text())
    RECORD.write_text(json.dumps({name: entry._asdict() for name, entry in entries.items()}, indent=2) + "\n")


if __name__ == "__main__":
    main()
