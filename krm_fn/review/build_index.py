"""Index of a finished build: its resources, the generated objects among them, and the Dynamo resources that they were generated from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from krm_fn.base import results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, labels, names, workload_list
from krm_fn.render.manifests import ownership
from krm_fn.render.workload_list import WorkloadEntry

HASHED_NAME = re.compile(r"(.+)-[2456789bcdfghkmt]{10}")
"""The names that kustomize gives generated Secrets and ConfigMaps (kustomize `api/hasher`: these are the characters of a hash)."""
POD_LABELS: tuple[Path, ...] = tuple((*template.metadata, "labels") for template in paths.POD_TEMPLATES)


class Build(NamedTuple):
    """The index of a build.

    `generated` holds the names of generated objects by kind and namespace. `marks` holds the owner marks of all generated objects, and
    `sources` the Dynamo resources by owner mark. `pods` holds the labels of each pod template with its namespace.
    """

    generated: dict[tuple[str, str], set[str]]
    marks: set[str]
    sources: dict[str, list[Resource]]
    pods: list[tuple[str, dict[str, Any]]]


class BuiltObject(NamedTuple):
    """A generated object of one owner in a build. `owner` is the name of the owner at the render.

    `source` is the owner itself, or None if it is not among the items.
    """

    resource: Resource
    kind: str
    owner: str
    source: Resource | None

    @property
    def namespace(self) -> str:
        """The namespace of the object in the build."""
        return results.ref(self.resource).namespace


def read(resources: Sequence[Resource]) -> Build:
    """Indexes a build. Any field of a resource may have any type."""
    build = Build({}, set(), {}, [])
    for resource in resources:
        _, kind, name, namespace = results.ref(resource)
        for mark in ownership.owners(resource):
            build.generated.setdefault((kind, namespace), set()).add(name)
            build.marks.add(mark)
        if labels.WORKLOADS in labels.annotations(resource):
            build.sources.setdefault(f"{kind}/{name_at_render(resource)}", []).append(resource)
        build.pods.extend((namespace, pod_labels) for _, pod_labels in paths.find(resource, POD_LABELS) if isinstance(pod_labels, dict))
    return build


def objects(resource: Resource, build: Build) -> Iterator[BuiltObject]:
    """Yields a generated object once per owner, and nothing for a resource without owners.

    The source of an owner is in the namespace of the object, or has no namespace.
    """
    namespace = results.ref(resource).namespace
    for mark in ownership.owners(resource):
        kind, _, owner = mark.partition("/")
        sources = {results.ref(source).namespace: source for source in build.sources.get(mark, ())}
        yield BuiltObject(resource, kind, owner, sources.get(namespace) or sources.get(""))


def workloads(source: Resource) -> list[WorkloadEntry]:
    """The entries of the workloads annotation; empty for an unreadable annotation, which the function did not write."""
    annotation = labels.annotations(source).get(labels.WORKLOADS)
    try:
        return workload_list.read(annotation) if isinstance(annotation, str) else []
    except ValueError:
        return []


def generated_for(entry: WorkloadEntry) -> tuple[str, str]:
    """Kind and name of the generated object of a workload: the PodCliqueSet for a workload that Grove creates, else the workload itself."""
    if entry.kind in names.GROVE_KINDS:
        return "PodCliqueSet", names.graph_of(entry.kind, entry.name, entry.service)
    return entry.kind, entry.name


def name_at_render(source: Resource) -> str:
    """Returns the name of a source at the render. The names of its workloads contain it."""
    ref = results.ref(source)
    for entry in workloads(source):
        is_graph = ref.kind == dynamo_api.GRAPH
        name = names.graph_of(entry.kind, entry.name, entry.service) if is_graph else names.component_of(entry.kind, entry.name)
        if entry.graph or name:
            return entry.graph or name
    return ref.name


def alike(name: str, candidates: set[str]) -> str:
    """Returns the only candidate that is `name` with a prefix or suffix; empty if there is none, or more than one."""
    matches = [candidate for candidate in candidates if is_like(candidate, name)]
    return matches[0] if len(matches) == 1 else ""


def is_like(name: str, other: str) -> bool:
    """Returns true if `name` is `other`, with or without a prefix or a suffix."""
    return name.startswith(other) or name.endswith(other)
