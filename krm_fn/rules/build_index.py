"""Index of a finished build, and references and selectors of generated objects whose target is not in the build.

The index holds the resources, the generated objects among them, their sources, and the fields that authors wrote.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from krm_fn import results, workload_list
from krm_fn.kube import identity, labels, names, paths
from krm_fn.kube.values import mapping, text
from krm_fn.manifests import ownership
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.results import Path
    from krm_fn.workload_list import WorkloadEntry

MOVED, RENAMED, RELABELLED = "DYN060", "DYN061", "DYN062"

MATCH_LABELS: Path = ("spec", "selector", "matchLabels")
_PICKER: Path = ("spec", "endpointPickerRef")
"""The Service of an endpoint picker. With discovery by etcd the picker has no Service, so it may be absent."""
POD_LABELS: tuple[Path, ...] = tuple((*template.metadata, "labels") for template in paths.POD_TEMPLATES)
_COMPONENTS: tuple[Path, ...] = (("spec",), ("spec", "services", "*"), ("spec", "components", "*"))
_CONTAINERS: tuple[Path, ...] = (
    ("extraPodSpec", "mainContainer"),
    ("extraPodSpec", "containers", "*"),
    ("podTemplate", "spec", "containers", "*"),
)
_AUTHOR_TEXTS: tuple[Path, ...] = (
    ("envs", "*", "name"),
    ("env", "*", "name"),
    *((*container, "env", "*", "name") for container in _CONTAINERS),
    *((*container, "args", "*") for container in _CONTAINERS),
)
_AUTHOR_LABELS: tuple[Path, ...] = (("labels",), ("extraPodMetadata", "labels"), ("podTemplate", "metadata", "labels"))


class _Reference(NamedTuple):
    """A field with the name of another object. An empty `kind` is read beside the name; users cannot set these fields."""

    holder: Path
    key: str
    kind: str = ""


_REFERENCES = (
    _Reference(("subjects", "*"), "name"),
    _Reference(("roleRef",), "name"),
    _Reference(_PICKER, "name"),
    _Reference(("spec", "rules", "*", "http", "paths", "*", "backend", "service"), "name", "Service"),
    _Reference(("spec", "http", "*", "route", "*", "destination"), "host", "Service"),
    *(_Reference(template.spec, "serviceAccountName", "ServiceAccount") for template in paths.POD_TEMPLATES),
    *(_Reference((*template.spec, "volumes", "*", "configMap"), "name", "ConfigMap") for template in paths.POD_TEMPLATES),
    *(
        _Reference((*template.spec, "resourceClaims", "*"), "resourceClaimTemplateName", "ResourceClaimTemplate")
        for template in paths.POD_TEMPLATES
    ),
)
_GENERATED_NAMES: dict[str, Callable[[str], tuple[str, ...]]] = {
    "ServiceAccount": lambda owner: (names.discovery(owner),),
    "ConfigMap": lambda owner: (names.epp_config(owner), names.wait_for_leader(owner)),
}
"""The names of the objects of a graph, by kind."""


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


class BuiltObject(NamedTuple):
    """A generated object of one owner in a build. `owner` is the name of the owner at the render, `name` its name in the build.

    `services` are all components of that owner. `source` is the owner itself, or None if it is not among the items.
    """

    resource: Resource
    kind: str
    owner: str
    name: str
    namespace: str
    services: set[str]
    source: Resource | None


class AuthorFields(NamedTuple):
    """Fields that the author of a graph or a component set, in either API version. A check of the build leaves their values alone.

    The names of variables and the arguments of containers, the keys of labels, and the Dynamo namespaces of services.
    """

    texts: frozenset[str]
    labels: frozenset[str]
    namespaces: frozenset[str]


class Mismatch(NamedTuple):
    """A field whose value is not in the build. `expected` is the right value, or empty if it is unknown."""

    code: str
    path: Path
    value: str
    expected: str = ""


def read(resources: Sequence[Resource]) -> Build:
    """Indexes a build. Any field of a resource may have any type."""
    build = Build({}, {}, {}, {}, [])
    for resource in resources:
        _, kind, name, namespace = results.ref(resource)
        build.names.setdefault((kind, namespace), set()).add(name)
        for mark in ownership.owners(resource):
            build.generated.setdefault((kind, namespace), set()).add(name)
            build.services.setdefault(mark, set()).add(str(labels.of(resource).get(labels.COMPONENT, "")))
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
        source = sources.get(namespace) or sources.get("")
        name = results.ref(source).name if source else owner
        yield BuiltObject(resource, kind, owner, name, namespace, build.services[mark], source)


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
        is_graph = ref.kind == identity.GRAPH
        name = names.graph_of(entry.kind, entry.name, entry.service) if is_graph else names.component_of(entry.kind, entry.name)
        if entry.graph or name:
            return entry.graph or name
    return ref.name


def author_fields(source: Resource) -> AuthorFields:
    """Reads the fields that the author of a source set, with those that a conversion preserved. Any field may have any type."""
    holders = [source, *_preserved(source)]
    texts, key_holders, namespaces = (_values(holders, fields) for fields in (_AUTHOR_TEXTS, _AUTHOR_LABELS, (("dynamoNamespace",),)))
    keys = (key for holder in key_holders if isinstance(holder, dict) for key in holder)
    return AuthorFields(frozenset(_strings(texts)), frozenset(keys), frozenset(_strings(namespaces)))


def missing_references(item: BuiltObject, build: Build) -> Iterator[Mismatch]:
    """Yields references to objects that are not in the build.

    A user may refer to objects outside the build. A field that users can set is therefore checked only if its name is a generated name.
    """
    for reference in _REFERENCES:
        for path, holder in paths.find(item.resource, [reference.holder]):
            fields = mapping(holder)
            kind, name = reference.kind or text(fields.get("kind")), text(fields.get(reference.key))
            if not kind or kind == "ClusterRole" or (reference.kind and not _is_generated(item, kind, name)):
                continue
            for mismatch in absent(item, (*path, reference.key), kind, name, build):
                if mismatch.expected or reference.holder != _PICKER or not _is_generated(item, "Service", name):
                    yield mismatch


def unselected(item: BuiltObject, build: Build) -> Iterator[Mismatch]:
    """Yields labels that a later layer added to a selector but not to the pods that it selected before."""
    if any(paths.find(item.resource, [template.spec for template in paths.POD_TEMPLATES])):
        return
    for path, selector in paths.find(item.resource, [("spec", "selector"), MATCH_LABELS]):
        if not isinstance(selector, dict) or "matchLabels" in selector:
            continue
        ours = {key: value for key, value in selector.items() if key == "role" or key.startswith("nvidia.com/")}
        pods = [pod for namespace, pod in build.pods if namespace == item.namespace and ours and ours.items() <= pod.items()]
        for key in selector if pods else ():
            if key not in ours and all(pod.get(key) != selector[key] for pod in pods):
                yield Mismatch(RELABELLED, (*path, key), f"{key}: {selector[key]}")


def absent(item: BuiltObject, path: Path, kind: str, name: Any, build: Build) -> Iterator[Mismatch]:
    """Yields a mismatch if no object of that kind and name is in the namespace."""
    if name and isinstance(name, str) and name not in build.names.get((kind, item.namespace), ()):
        yield Mismatch(RENAMED, path, name, alike(name, build.generated.get((kind, item.namespace), set())))


def alike(name: str, candidates: set[str]) -> str:
    """Returns the only candidate that is `name` with a prefix or suffix; empty if there is none, or more than one."""
    matches = [candidate for candidate in candidates if is_like(candidate, name)]
    return matches[0] if len(matches) == 1 else ""


def is_like(name: str, other: str) -> bool:
    """Returns true if `name` is `other`, with or without a prefix or a suffix."""
    return name.startswith(other) or name.endswith(other)


def _is_generated(item: BuiltObject, kind: str, name: str) -> bool:
    """Returns true if a render gives an object of this owner the name, with or without a prefix or a suffix."""
    if kind == "Service":
        return name in {names.component(item.owner, service) for service in item.services}
    if kind == "ResourceClaimTemplate":
        return name in {names.gpu_claim(names.component(item.owner, service)) for service in item.services}
    return any(is_like(name, generated) for generated in _GENERATED_NAMES[kind](item.owner))


def _values(holders: list[Any], fields: tuple[Path, ...]) -> list[Any]:
    patterns = [(*component, *field) for component in _COMPONENTS for field in fields]
    return [value for holder in holders for _, value in paths.find(holder, patterns)]


def _strings(values: list[Any]) -> list[str]:
    return [value for value in values if isinstance(value, str)]


def _preserved(source: Resource) -> list[Any]:
    """Returns the fields in the annotations of a conversion; none for an annotation that is not JSON."""
    preserved = []
    for key in (labels.PRESERVED_GRAPH, labels.PRESERVED_COMPONENT):
        try:
            preserved.append(json.loads(labels.annotations(source).get(key) or "null"))
        except (TypeError, ValueError, RecursionError):
            continue
    return preserved
