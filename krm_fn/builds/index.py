"""Indexes a finished build: its resources, the generated ones among them, and the Dynamo resources they were generated for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import ownership, results, workload_list
from krm_fn.kube import identity, labels, names, paths, templates
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.results import Path
    from krm_fn.workload_list import Entry

GRAPH = identity.GRAPH
POD_LABELS: tuple[Path, ...] = tuple((*place.metadata, "labels") for place in templates.ALL)


class Build(NamedTuple):
    """The index of a build.

    `names` holds the names of all resources, `generated` those of generated objects, both by kind and namespace. `services` holds the
    components and `sources` the Dynamo resources by owner mark. `pods` holds the labels of each pod template with its namespace.
    """

    names: dict[tuple[str, str], set[str]]
    generated: dict[tuple[str, str], set[str]]
    services: dict[str, set[str]]
    sources: dict[str, list[Resource]]
    pods: list[tuple[str, dict[str, Any]]]


class Generated(NamedTuple):
    """A generated object of one owner. `owner` is the owner's name at the render, `name` its name now.

    `services` are all components of that owner. `source` is the owner itself, or None if it is not among the items.
    """

    resource: Resource
    kind: str
    owner: str
    name: str
    namespace: str
    services: set[str]
    source: Resource | None


def read(resources: Sequence[Resource]) -> Build:
    """Indexes a build. Any field of a resource may have any type."""
    build = Build({}, {}, {}, {}, [])
    for resource in resources:
        _, kind, name, namespace = results.ref(resource)
        annotations = labels.notes(resource)
        build.names.setdefault((kind, namespace), set()).add(name)
        for mark in ownership.owners(resource):
            build.generated.setdefault((kind, namespace), set()).add(name)
            build.services.setdefault(mark, set()).add(str(labels.of(resource).get(labels.COMPONENT, "")))
        if labels.WORKLOADS in annotations:
            build.sources.setdefault(f"{kind}/{rendered_as(resource)}", []).append(resource)
        build.pods.extend((namespace, found) for _, found in paths.each(resource, POD_LABELS) if isinstance(found, dict))
    return build


def generated(resource: Resource, build: Build) -> Iterator[Generated]:
    """Yields a generated object once per owner, and nothing for a resource without owners.

    The source of an owner is in the namespace of the object, or has no namespace.
    """
    namespace = results.ref(resource).namespace
    for mark in ownership.owners(resource):
        kind, _, owner = mark.partition("/")
        near = {results.ref(source).namespace: source for source in build.sources.get(mark, ())}
        source = near.get(namespace) or near.get("")
        name = results.ref(source).name if source else owner
        yield Generated(resource, kind, owner, name, namespace, build.services[mark], source)


def workloads(source: Resource) -> list[Entry]:
    """The entries of the workloads annotation; empty if the annotation is unreadable, because the function did not write it then."""
    text = labels.notes(source).get(labels.WORKLOADS)
    try:
        return workload_list.read(text) if isinstance(text, str) else []
    except ValueError:
        return []


def generated_for(entry: Entry) -> tuple[str, str]:
    """Kind and name of the generated object of a workload: the PodCliqueSet for a workload that Grove creates, else the workload itself."""
    if entry.kind in names.GROVE_KINDS:
        return "PodCliqueSet", names.graph_of(entry.kind, entry.name, entry.service)
    return entry.kind, entry.name


def rendered_as(source: Resource) -> str:
    """The name that a source had at the render, which the names of its workloads contain."""
    own = results.ref(source)
    for entry in workloads(source):
        of_component = names.component_of(entry.kind, entry.name)
        found = names.graph_of(entry.kind, entry.name, entry.service) if own.kind == GRAPH else of_component
        if entry.graph or found:
            return entry.graph or found
    return own.name
