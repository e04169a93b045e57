"""What generated objects and their sources say about names and namespaces, and which of it is not true.

Not its business: how a finding reads (`krm_fn.layers`). The fields are those into which the function writes the name or namespace of a
graph, or of an object that it generates for one (`krm_fn.pod`, `services`, `rbac`, `epp`, `ingress`, `scaling`, `workloads`).
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn import results
from krm_fn.kube import labels, names
from krm_fn.layers import build

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Resource
    from krm_fn.layers.build import Build, Generated
    from krm_fn.results import Path

MOVED, RENAMED, RELABELLED = "DYN060", "DYN061", "DYN062"

_MATCH: Path = ("spec", "selector", "matchLabels")
_LABELS: tuple[Path, ...] = (("metadata", "labels"), ("spec", "labels"), ("spec", "selector"), _MATCH)
_ENVS = [(*at, "containers", "*", "env", "*") for at in build.PODS]
_ARGS = [(*at, "containers", "*", "args") for at in build.PODS]
_REFERENCES: tuple[tuple[Path, str, str], ...] = (
    (("subjects", "*"), "name", ""),
    (("roleRef",), "name", ""),
    (("spec", "endpointPickerRef"), "name", ""),
    (("spec", "rules", "*", "http", "paths", "*", "backend", "service"), "name", "Service"),
    (("spec", "http", "*", "route", "*", "destination"), "host", "Service"),
    *((at, "serviceAccountName", "ServiceAccount") for at in build.PODS),
    *(((*at, "volumes", "*", "configMap"), "name", "ConfigMap") for at in build.PODS),
)
"""Where generated objects name others: place, key and kind. Where the kind is empty the place says it, and no user writes there."""

_SERVICES: tuple[Path, ...] = (("spec",), ("spec", "services", "*"))
_CONTAINERS: tuple[Path, ...] = (("extraPodSpec", "mainContainer"), ("extraPodSpec", "containers", "*"))
_WRITTEN: tuple[Path, ...] = tuple(
    (*service, *place)
    for service in _SERVICES
    for place in (
        ("envs", "*", "name"),
        *((*main, "env", "*", "name") for main in _CONTAINERS),
        *((*main, "args", "*") for main in _CONTAINERS),
    )
)
_WRITTEN_LABELS: tuple[Path, ...] = tuple((*at, *place) for at in _SERVICES for place in (("labels",), ("extraPodMetadata", "labels")))
"""Where users set variables, flags and labels of pods by hand, in a graph and in a component that stands alone."""


class Lie(NamedTuple):
    """A field that names something which is not there; `truth` is empty where nobody knows what it should name."""

    code: str
    path: Path
    says: str
    truth: str = ""


def of_source(source: Resource, there: Build) -> Iterator[Lie]:
    """Workloads that a source lists and that are not there, although other generated objects of it are."""
    own = results.ref(source)
    if f"{own.kind}/{build.rendered_as(source)}" not in there.services:
        return
    for entry in build.workloads(source):
        kind, name = entry["kind"], entry["name"]
        places = [own.namespace] if own.namespace else [place for of, place in there.generated if of == kind]
        found = set().union(*(there.generated.get((kind, place), ()) for place in places))
        if name not in found:
            yield Lie(RENAMED, ("metadata", "annotations", labels.WORKLOADS), name, _alike(name, found))


def of_generated(item: Generated, there: Build) -> Iterator[Lie]:
    """Everything untrue in one generated object, what a reader understands best first."""
    written = _written(item.source)
    if written is not None:
        yield from _variables(item, written)
        yield from _flags(item, written, there)
    yield from _subjects(item)
    yield from _labels(item, written)
    yield from _own_name(item)
    yield from _references(item, there)
    yield from _selection(item, there)
    if item.owner != item.name:
        yield Lie(RENAMED, ("metadata", "annotations", labels.OWNER), item.owner, item.name)


def _written(source: Resource | None) -> set[str] | None:
    """Variables, flags and labels that the user set by hand; None where the source is not there to tell."""
    if source is None:
        return None
    texts = {text for _, text in build.each(source, _WRITTEN) if isinstance(text, str)}
    return texts.union(*(found for _, found in build.each(source, _WRITTEN_LABELS) if isinstance(found, dict)))


def _variables(item: Generated, written: set[str]) -> Iterator[Lie]:
    judges = {"DYN_PARENT_DGD_K8S_NAMESPACE": _namespace, "DYN_NAMESPACE": _dynamo_namespace, "DYN_PARENT_DGD_K8S_NAME": _graph}
    for at, variable in build.each(item.resource, _ENVS):
        name = _text(variable, "name")
        if name in judges and name not in written and _text(variable, "value"):
            yield from judges[name](item, (*at, "value"), variable["value"])


def _flags(item: Generated, written: set[str], there: Build) -> Iterator[Lie]:
    """The endpoint picker's pool."""
    for at, args in build.each(item.resource, _ARGS):
        pairs = enumerate(itertools.pairwise(args), start=1) if isinstance(args, list) else ()
        for index, (flag, says) in pairs:
            if flag == "-pool-namespace" and flag not in written:
                yield from _namespace(item, (*at, index), says)
            elif flag == "-pool-name" and flag not in written:
                yield from _object(item, (*at, index), "InferencePool", says, there)


def _subjects(item: Generated) -> Iterator[Lie]:
    """An account is always bound in its own namespace."""
    for at, says in build.each(item.resource, [("subjects", "*", "namespace")]):
        yield from _namespace(item, at, says)


def _labels(item: Generated, written: set[str] | None) -> Iterator[Lie]:
    judges = {labels.NAMESPACE: _dynamo_namespace, labels.GRAPH: _graph}
    places = [*((at, set[str]()) for at in _LABELS), *((at, written) for at in build.POD_LABELS if written is not None)]
    for place, ignored in places:
        for key, judge in judges.items():
            for at, says in build.each(item.resource, [(*place, key)]):
                if key not in ignored:
                    yield from judge(item, at, says)


def _own_name(item: Generated) -> Iterator[Lie]:
    """Pods are selected by the workload's name; most other objects are called after their component (`krm_fn.kube.names`)."""
    own = results.ref(item.resource).name
    for at, says in build.each(item.resource, [(*_MATCH, labels.SELECTOR)]):
        if says != own:
            yield Lie(RENAMED, at, str(says), own)
    component = labels.of(item.resource).get(labels.COMPONENT)
    if item.kind != build.GRAPH or not isinstance(component, str):
        return
    base = names.component(item.owner, component)
    known = [names.epp_config(item.owner), names.pool(item.owner), names.production(base), names.debug(base), base]
    if own not in known and not re.fullmatch(re.escape(base) + "-[0-9]+", own):
        says = next((name for name in known if own.startswith(name) or own.endswith(name)), base)
        yield Lie(RENAMED, ("metadata", "name"), says, own)


def _references(item: Generated, there: Build) -> Iterator[Lie]:
    """Names of other objects. A user may name what is not among the items, but not under a name that only the function gives."""
    given = {
        "Service": {names.component(item.owner, service) for service in item.services},
        "ServiceAccount": {names.discovery(item.owner)},
        "ConfigMap": {names.epp_config(item.owner)},
    }
    for place, key, fixed in _REFERENCES:
        for at, holder in build.each(item.resource, [place]):
            kind, name = fixed or _text(holder, "kind"), _text(holder, key)
            if kind and kind != "ClusterRole" and name and (not fixed or name in given[fixed]):
                yield from _object(item, (*at, key), kind, name, there)
    for at, name in build.each(item.resource, [("spec", "dgdRef", "name")]):
        yield from _graph(item, at, name)


def _selection(item: Generated, there: Build) -> Iterator[Lie]:
    """A label laid over a selector has to be on the pods that were selected without it."""
    if any(build.each(item.resource, build.PODS)):
        return
    for at, selector in build.each(item.resource, [("spec", "selector"), _MATCH]):
        if not isinstance(selector, dict) or "matchLabels" in selector:
            continue
        ours = {key: value for key, value in selector.items() if key == "role" or key.startswith("nvidia.com/")}
        pods = [found for place, found in there.pods if place == item.namespace and ours and ours.items() <= found.items()]
        for key in selector if pods else ():
            if key not in ours and all(found.get(key) != selector[key] for found in pods):
                yield Lie(RELABELLED, (*at, key), f"{key}: {selector[key]}")


def _namespace(item: Generated, at: Path, says: Any) -> Iterator[Lie]:
    if item.namespace and says != item.namespace:
        yield Lie(MOVED, at, str(says), item.namespace)


def _graph(item: Generated, at: Path, says: Any) -> Iterator[Lie]:
    if item.kind == build.GRAPH and says != item.name:
        by_label = at[-1] == labels.GRAPH and says != item.owner
        yield Lie(RELABELLED if by_label else RENAMED, at, str(says), item.name)


def _dynamo_namespace(item: Generated, at: Path, says: Any) -> Iterator[Lie]:
    """Dynamo's own namespace is shared, or made of both the Kubernetes namespace and the graph's name."""
    truth = names.dynamo_namespace(item.namespace, item.name, shared=False)
    text = str(says)
    if item.kind != build.GRAPH or says in (names.GLOBAL_NAMESPACE, truth) or (not item.namespace and text.endswith(truth)):
        return
    if says == names.dynamo_namespace(item.namespace, item.owner, shared=False):
        yield Lie(RENAMED, at, text, truth)
    elif text.endswith((f"-{item.owner}", f"-{item.name}")):
        yield Lie(MOVED, at, text, truth)
    else:
        yield Lie(RELABELLED, at, text, truth)


def _object(item: Generated, at: Path, kind: str, name: Any, there: Build) -> Iterator[Lie]:
    if isinstance(name, str) and name not in there.names.get((kind, item.namespace), ()):
        yield Lie(RENAMED, at, name, _alike(name, there.generated.get((kind, item.namespace), set())))


def _alike(name: str, found: set[str]) -> str:
    """What a name with a prefix or suffix laid over it is now; empty where there is none, or more than one."""
    alike = [other for other in found if other.startswith(name) or other.endswith(name)]
    return alike[0] if len(alike) == 1 else ""


def _text(holder: Any, key: str) -> str:
    found = holder.get(key) if isinstance(holder, dict) else None
    return found if isinstance(found, str) else ""
