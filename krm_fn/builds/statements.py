"""Compares the names and namespaces in generated objects and their sources with the names and namespaces in the build.

The fields are those into which `krm_fn.manifests` writes the name or the namespace of a graph, or the name of a generated object.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.builds import index, references, written
from krm_fn.builds.mismatch import MOVED, RELABELLED, RENAMED, Mismatch
from krm_fn.kube import identity, labels, names, paths, templates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.builds.index import Build, Generated
    from krm_fn.builds.written import Written
    from krm_fn.kube.types import Resource
    from krm_fn.results import Path

_LABELS: tuple[Path, ...] = (("metadata", "labels"), ("spec", "labels"), ("spec", "selector"), references.MATCH)
_ENVS = [(*place.spec, "containers", "*", "env", "*") for place in templates.ALL]
_JOB_ENVS: list[Path] = [("spec", "template", "spec", field, "*", "env", "*") for field in ("initContainers", "containers")]
_ARGS = [(*place.spec, "containers", "*", "args") for place in templates.ALL]
_POOL_FLAGS = {"-pool-namespace": "namespace", "--pool-namespace": "namespace", "-pool-name": "name", "--pool-name": "name"}


def check_source(source: Resource, there: Build) -> Iterator[Mismatch]:
    """Yields each listed workload whose generated object is not in the build, if other generated objects of the source are."""
    own = results.ref(source)
    if f"{own.kind}/{index.rendered_as(source)}" not in there.services:
        return
    for entry in index.workloads(source):
        kind, name = index.generated_for(entry)
        places = [own.namespace] if own.namespace else [place for of, place in there.generated if of == kind]
        found = set().union(*(there.generated.get((kind, place), ()) for place in places))
        if name not in found:
            yield Mismatch(RENAMED, ("metadata", "annotations", labels.WORKLOADS), name, references.alike(name, found))


def check_generated(item: Generated, there: Build) -> Iterator[Mismatch]:
    """Yields each wrong name and namespace in one generated object, the clearest field first."""
    own = None if item.source is None else written.read(item.source)
    if own is not None:
        yield from _variables(item, own)
        yield from _flags(item, own, there)
    if item.kind == identity.REQUEST:
        yield from _job(item)
    yield from _ends(item)
    yield from _labels(item, own)
    if own is None or labels.COMPONENT not in own.labels:
        yield from _own_name(item)
    yield from _host(item, there)
    yield from references.missing(item, there)
    yield from references.unselected(item, there)
    if item.owner != item.name:
        yield Mismatch(RENAMED, ("metadata", "annotations", labels.OWNER), item.owner, item.name)


def _variables(item: Generated, own: Written) -> Iterator[Mismatch]:
    judges = {"DYN_PARENT_DGD_K8S_NAMESPACE": _namespace, "DYN_NAMESPACE": _dynamo_namespace, "DYN_PARENT_DGD_K8S_NAME": _graph}
    for at, variable in paths.each(item.resource, _ENVS):
        name = references.text(variable, "name")
        if name in judges and name not in own.texts and references.text(variable, "value"):
            yield from judges[name](item, (*at, "value"), variable["value"])


def _job(item: Generated) -> Iterator[Mismatch]:
    """Checks the variables with which a profiling Job finds itself, its request and its output. Users cannot set them."""
    own = results.ref(item.resource).name
    for at, variable in paths.each(item.resource, _JOB_ENVS):
        name, says = references.text(variable, "name"), references.text(variable, "value")
        if name == "DGDR_NAMESPACE":
            yield from _namespace(item, (*at, "value"), says)
        elif name == "JOB_NAME" and says != own:
            yield Mismatch(RENAMED, (*at, "value"), says, own)


def _flags(item: Generated, own: Written, there: Build) -> Iterator[Mismatch]:
    """Checks the pool in the flags of an endpoint picker."""
    for at, args in paths.each(item.resource, _ARGS):
        pairs = enumerate(itertools.pairwise(args), start=1) if isinstance(args, list) else ()
        for place, (flag, says) in pairs:
            part = "" if str(flag) in own.texts else _POOL_FLAGS.get(str(flag))
            if part == "namespace":
                yield from _namespace(item, (*at, place), says)
            elif part == "name":
                yield from references.absent(item, (*at, place), "InferencePool", says, there)


def _ends(item: Generated) -> Iterator[Mismatch]:
    """Checks the namespace of a RoleBinding's subjects, and the graph of a scaling adapter."""
    for at, says in paths.each(item.resource, [("subjects", "*", "namespace")]):
        yield from _namespace(item, at, says)
    for at, says in paths.each(item.resource, [("spec", "dgdRef", "name")]):
        yield from _graph(item, at, says)


def _host(item: Generated, there: Build) -> Iterator[Mismatch]:
    """Checks the host of a DestinationRule: a Service and its namespace."""
    for at, says in paths.each(item.resource, [("spec", "host")] if results.ref(item.resource).kind == "DestinationRule" else []):
        service, _, domain = str(says).partition(".")
        yield from _namespace(item, at, domain.partition(".")[0])
        yield from references.absent(item, at, "Service", service, there)


def _labels(item: Generated, own: Written | None) -> Iterator[Mismatch]:
    judges = {labels.NAMESPACE: _dynamo_namespace, labels.GRAPH: _graph}
    places = [*((at, frozenset[str]()) for at in _LABELS), *((at, own.labels) for at in index.POD_LABELS if own is not None)]
    given = own.namespaces if own else ()
    for place, ignored in places:
        for key, judge in judges.items():
            for at, says in paths.each(item.resource, [(*place, key)]):
                if key not in ignored and not (key == labels.NAMESPACE and str(says) in given):
                    yield from judge(item, at, says)


def _own_name(item: Generated) -> Iterator[Mismatch]:
    """Checks the object's own name: pods are selected by the workload's name, other objects have the name of their component."""
    own = results.ref(item.resource).name
    for at, says in paths.each(item.resource, [(*references.MATCH, labels.SELECTOR)]):
        if says != own:
            yield Mismatch(RENAMED, at, str(says), own)
    component = labels.of(item.resource).get(labels.COMPONENT)
    if item.kind != index.GRAPH or not isinstance(component, str):
        return
    base = names.component(item.owner, component)
    known = [names.epp_config(item.owner), names.pool(item.owner), names.production(base), names.debug(base), names.gpu_claim(base), base]
    start = f"({re.escape(base)}|{re.escape(names.service(base))})"
    if own not in known and not re.fullmatch(f"{start}(-({'|'.join(_worker_hashes(item))}))?(-[0-9]+)?", own):
        says = next((name for name in known if references.is_like(own, name)), base)
        yield Mismatch(RENAMED, ("metadata", "name"), says, own)


def _worker_hashes(item: Generated) -> list[str]:
    """The hashes that the names of workers may end with: the computed one, and those that the operator gave."""
    given = labels.notes(item.source) if item.source else {}
    found = [labels.of(item.resource).get(labels.WORKER_HASH), given.get(labels.WORKER_HASH_V1), given.get(labels.WORKER_HASH_V2)]
    return [re.escape(text) for text in found if isinstance(text, str) and text]


def _namespace(item: Generated, at: Path, says: Any) -> Iterator[Mismatch]:
    if item.namespace and says != item.namespace:
        yield Mismatch(MOVED, at, str(says), item.namespace)


def _graph(item: Generated, at: Path, says: Any) -> Iterator[Mismatch]:
    if item.kind == index.GRAPH and says != item.name:
        by_label = at[-1] == labels.GRAPH and says != item.owner
        yield Mismatch(RELABELLED if by_label else RENAMED, at, str(says), item.name)


def _dynamo_namespace(item: Generated, at: Path, says: Any) -> Iterator[Mismatch]:
    """Checks the Dynamo namespace: it is the global one, or consists of the Kubernetes namespace and the graph's name."""
    truth = names.dynamo_namespace(item.namespace, _undotted(item.name), shared=False)
    text = str(says)
    if item.kind != index.GRAPH or says in (names.GLOBAL_NAMESPACE, truth) or (not item.namespace and text.endswith(truth)):
        return
    if says == names.dynamo_namespace(item.namespace, _undotted(item.owner), shared=False):
        yield Mismatch(RENAMED, at, text, truth)
    elif text.endswith((f"-{_undotted(item.owner)}", f"-{_undotted(item.name)}")):
        yield Mismatch(MOVED, at, text, truth)
    else:
        yield Mismatch(RELABELLED, at, text, truth)


def _undotted(graph: str) -> str:
    """The name of a graph as a part of its Dynamo namespace."""
    return graph.replace(".", "-")
