"""A finished build: which resources are there, which of them were generated, and for what.

Not its business: what generated objects say (`krm_fn.builds.statements`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn import ownership, results
from krm_fn.kube import labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.results import Path

GRAPH = "DynamoGraphDeployment"

_GROUP = ("spec", "leaderWorkerTemplate")
_TEMPLATES: tuple[Path, ...] = (("spec", "template"), (*_GROUP, "leaderTemplate"), (*_GROUP, "workerTemplate"))
_CLIQUE: Path = ("spec", "template", "cliques", "*")
PODS: tuple[Path, ...] = (*((*at, "spec") for at in _TEMPLATES), (*_CLIQUE, "spec", "podSpec"))
POD_LABELS: tuple[Path, ...] = (*((*at, "metadata", "labels") for at in _TEMPLATES), (*_CLIQUE, "labels"))


class Build(NamedTuple):
    """What is there. `names` and `generated` hold names by kind and namespace, `sources` what was rendered by its mark."""

    names: dict[tuple[str, str], set[str]]
    generated: dict[tuple[str, str], set[str]]
    services: dict[str, set[str]]
    sources: dict[str, list[Resource]]
    pods: list[tuple[str, dict[str, Any]]]


class Generated(NamedTuple):
    """A generated object of one owner. `owner` is the name it was rendered for, `name` what that is called now.

    `services` are all components of that owner, `source` is the owner itself, None where it is not among the items.
    """

    resource: Resource
    kind: str
    owner: str
    name: str
    namespace: str
    services: set[str]
    source: Resource | None


def read(resources: Sequence[Resource]) -> Build:
    """The index of a build. Resources may be anything that has a kind and a name."""
    build = Build({}, {}, {}, {}, [])
    for resource in resources:
        _, kind, name, namespace = results.ref(resource)
        notes = labels.notes(resource)
        build.names.setdefault((kind, namespace), set()).add(name)
        for mark in ownership.owners(resource):
            build.generated.setdefault((kind, namespace), set()).add(name)
            build.services.setdefault(mark, set()).add(str(labels.of(resource).get(labels.COMPONENT, "")))
        if labels.WORKLOADS in notes:
            build.sources.setdefault(f"{kind}/{rendered_as(resource)}", []).append(resource)
        build.pods.extend((namespace, found) for _, found in each(resource, POD_LABELS) if isinstance(found, dict))
    return build


def generated(resource: Resource, build: Build) -> Iterator[Generated]:
    """A generated object once for each of its owners; nothing for any other. A source is in the same namespace, or has none written."""
    namespace = results.ref(resource).namespace
    for mark in ownership.owners(resource):
        kind, _, owner = mark.partition("/")
        near = {results.ref(source).namespace: source for source in build.sources.get(mark, ())}
        source = near.get(namespace) or near.get("")
        name = results.ref(source).name if source else owner
        yield Generated(resource, kind, owner, name, namespace, build.services[mark], source)


def workloads(source: Resource) -> list[dict[str, str]]:
    """The entries of the workloads annotation; those that are not as the function writes them are left out."""
    try:
        entries = json.loads(labels.notes(source).get(labels.WORKLOADS, ""))
    except (TypeError, ValueError, RecursionError):
        return []
    keys = ("service", "kind", "name")
    found = entries if isinstance(entries, list) else []
    return [entry for entry in found if isinstance(entry, dict) and all(isinstance(entry.get(key), str) for key in keys)]


def rendered_as(source: Resource) -> str:
    """The name that a source had when it was rendered, told from its workloads' names (`krm_fn.kube.names`)."""
    own = results.ref(source)
    for entry in workloads(source):
        name, ending = entry["name"], f"-{entry['service'].lower()}"
        if entry["kind"] == "LeaderWorkerSet":
            name = name.rpartition("-")[0]
        if own.kind != GRAPH or entry["kind"] == "PodCliqueSet":
            return name
        if name.endswith(ending):
            return name.removesuffix(ending)
    return own.name


def each(value: Any, patterns: Sequence[Path]) -> Iterator[tuple[Path, Any]]:
    """Every place of a value that one of the patterns reaches; `*` stands for every key or index.

    >>> list(each({"a": [{"b": 1}, {"b": 2}, 3]}, [("a", "*", "b")]))
    [(('a', 0, 'b'), 1), (('a', 1, 'b'), 2)]
    """
    for pattern in patterns:
        yield from _reach(value, pattern, ())


def _reach(value: Any, pattern: Path, at: Path) -> Iterator[tuple[Path, Any]]:
    if not pattern:
        yield at, value
    elif pattern[0] != "*":
        if isinstance(value, dict) and pattern[0] in value:
            yield from _reach(value[pattern[0]], pattern[1:], (*at, pattern[0]))
    elif isinstance(value, dict | list):
        steps: Any = value.items() if isinstance(value, dict) else enumerate(value)
        for step, inner in steps:
            yield from _reach(inner, pattern[1:], (*at, step))
