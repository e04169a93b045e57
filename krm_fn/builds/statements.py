"""What generated objects and their sources say about names and namespaces, and which of it is not true.

Not its business: how a finding reads (`krm_fn.builds`). The fields are those into which the function writes the name or namespace of a
graph, or of an object that it generates for one (`krm_fn.manifests.pod`, `services`, `rbac`, `epp`, `ingress`, `scaling`, `workloads`).
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.builds import index, references
from krm_fn.builds.mismatch import MOVED, RELABELLED, RENAMED, Mismatch
from krm_fn.kube import labels, names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.builds.index import Build, Generated
    from krm_fn.kube.types import Resource
    from krm_fn.results import Path

_LABELS: tuple[Path, ...] = (("metadata", "labels"), ("spec", "labels"), ("spec", "selector"), references.MATCH)
_ENVS = [(*at, "containers", "*", "env", "*") for at in index.PODS]
_ARGS = [(*at, "containers", "*", "args") for at in index.PODS]
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


def of_source(source: Resource, there: Build) -> Iterator[Mismatch]:
    """Workloads that a source lists and that are not there, although other generated objects of it are."""
    own = results.ref(source)
    if f"{own.kind}/{index.rendered_as(source)}" not in there.services:
        return
    for entry in index.workloads(source):
        kind, name = entry["kind"], entry["name"]
        places = [own.namespace] if own.namespace else [place for of, place in there.generated if of == kind]
        found = set().union(*(there.generated.get((kind, place), ()) for place in places))
        if name not in found:
            yield Mismatch(RENAMED, ("metadata", "annotations", labels.WORKLOADS), name, references.alike(name, found))


def of_generated(item: Generated, there: Build) -> Iterator[Mismatch]:
    """Everything untrue in one generated object, what a reader understands best first."""
    written = _written(item.source)
    if written is not None:
        yield from _variables(item, written)
        yield from _flags(item, written, there)
    yield from _ends(item)
    yield from _labels(item, written)
    yield from _own_name(item)
    yield from references.missing(item, there)
    yield from references.unselected(item, there)
    if item.owner != item.name:
        yield Mismatch(RENAMED, ("metadata", "annotations", labels.OWNER), item.owner, item.name)


def _written(source: Resource | None) -> set[str] | None:
    """Variables, flags and labels that the user set by hand; None where the source is not there to tell."""
    if source is None:
        return None
    texts = {text for _, text in index.each(source, _WRITTEN) if isinstance(text, str)}
    return texts.union(*(found for _, found in index.each(source, _WRITTEN_LABELS) if isinstance(found, dict)))


def _variables(item: Generated, written: set[str]) -> Iterator[Mismatch]:
    judges = {"DYN_PARENT_DGD_K8S_NAMESPACE": _namespace, "DYN_NAMESPACE": _dynamo_namespace, "DYN_PARENT_DGD_K8S_NAME": _graph}
    for at, variable in index.each(item.resource, _ENVS):
        name = references.text(variable, "name")
        if name in judges and name not in written and references.text(variable, "value"):
            yield from judges[name](item, (*at, "value"), variable["value"])


def _flags(item: Generated, written: set[str], there: Build) -> Iterator[Mismatch]:
    """The endpoint picker's pool."""
    for at, args in index.each(item.resource, _ARGS):
        pairs = enumerate(itertools.pairwise(args), start=1) if isinstance(args, list) else ()
        for place, (flag, says) in pairs:
            if flag == "-pool-namespace" and flag not in written:
                yield from _namespace(item, (*at, place), says)
            elif flag == "-pool-name" and flag not in written:
                yield from references.absent(item, (*at, place), "InferencePool", says, there)


def _ends(item: Generated) -> Iterator[Mismatch]:
    """An account is always bound in its own namespace, and an adapter scales the graph that it was rendered for."""
    for at, says in index.each(item.resource, [("subjects", "*", "namespace")]):
        yield from _namespace(item, at, says)
    for at, says in index.each(item.resource, [("spec", "dgdRef", "name")]):
        yield from _graph(item, at, says)


def _labels(item: Generated, written: set[str] | None) -> Iterator[Mismatch]:
    judges = {labels.NAMESPACE: _dynamo_namespace, labels.GRAPH: _graph}
    places = [*((at, set[str]()) for at in _LABELS), *((at, written) for at in index.POD_LABELS if written is not None)]
    for place, ignored in places:
        for key, judge in judges.items():
            for at, says in index.each(item.resource, [(*place, key)]):
                if key not in ignored:
                    yield from judge(item, at, says)


def _own_name(item: Generated) -> Iterator[Mismatch]:
    """Pods are selected by the workload's name; most other objects are called after their component (`krm_fn.kube.names`)."""
    own = results.ref(item.resource).name
    for at, says in index.each(item.resource, [(*references.MATCH, labels.SELECTOR)]):
        if says != own:
            yield Mismatch(RENAMED, at, str(says), own)
    component = labels.of(item.resource).get(labels.COMPONENT)
    if item.kind != index.GRAPH or not isinstance(component, str):
        return
    base = names.component(item.owner, component)
    known = [names.epp_config(item.owner), names.pool(item.owner), names.production(base), names.debug(base), base]
    if own not in known and not re.fullmatch(re.escape(base) + "-[0-9]+", own):
        says = next((name for name in known if references.is_like(own, name)), base)
        yield Mismatch(RENAMED, ("metadata", "name"), says, own)


def _namespace(item: Generated, at: Path, says: Any) -> Iterator[Mismatch]:
    if item.namespace and says != item.namespace:
        yield Mismatch(MOVED, at, str(says), item.namespace)


def _graph(item: Generated, at: Path, says: Any) -> Iterator[Mismatch]:
    if item.kind == index.GRAPH and says != item.name:
        by_label = at[-1] == labels.GRAPH and says != item.owner
        yield Mismatch(RELABELLED if by_label else RENAMED, at, str(says), item.name)


def _dynamo_namespace(item: Generated, at: Path, says: Any) -> Iterator[Mismatch]:
    """Dynamo's own namespace is shared, or made of both the Kubernetes namespace and the graph's name."""
    truth = names.dynamo_namespace(item.namespace, item.name, shared=False)
    text = str(says)
    if item.kind != index.GRAPH or says in (names.GLOBAL_NAMESPACE, truth) or (not item.namespace and text.endswith(truth)):
        return
    if says == names.dynamo_namespace(item.namespace, item.owner, shared=False):
        yield Mismatch(RENAMED, at, text, truth)
    elif text.endswith((f"-{item.owner}", f"-{item.name}")):
        yield Mismatch(MOVED, at, text, truth)
    else:
        yield Mismatch(RELABELLED, at, text, truth)
