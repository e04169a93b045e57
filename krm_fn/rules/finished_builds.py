"""Names, namespaces and labels that a later kustomize layer changed on generated objects without the fields that refer to them.

Pods carry the name and the namespace of their graph in variables, labels, selectors and arguments that no build tool rewrites.
A later layer may change images, replicas and other fields. The checked fields are those into which `krm_fn.manifests` writes the name
or the namespace of a graph, or the name of a generated object.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import identity, labels, names, paths
from krm_fn.kube.values import mapping, text
from krm_fn.rules import build_index
from krm_fn.rules.build_index import MATCH_LABELS, MOVED, RELABELLED, RENAMED, Mismatch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.results import Path, Result
    from krm_fn.rules.build_index import AuthorFields, Build, BuiltObject

_OUTERMOST = "list the function in the transformers of the outermost layer that sets"
_CAUSES = {
    MOVED: ("a later layer changed the namespace of generated objects", f"{_OUTERMOST} namespace or namePrefix"),
    RENAMED: ("a later layer changed the name of generated objects", f"{_OUTERMOST} namespace, namePrefix or nameSuffix"),
    RELABELLED: ("a later layer changed a label of generated objects", f"{_OUTERMOST} labels"),
}
_LABELS: tuple[Path, ...] = (("metadata", "labels"), ("spec", "labels"), ("spec", "selector"), MATCH_LABELS)
_VARIABLES = [(*template.spec, "containers", "*", "env", "*") for template in paths.POD_TEMPLATES]
_JOB_VARIABLES: list[Path] = [("spec", "template", "spec", field, "*", "env", "*") for field in ("initContainers", "containers")]
_ARGS = [(*template.spec, "containers", "*", "args") for template in paths.POD_TEMPLATES]
_POOL_FLAGS = {"-pool-namespace": "namespace", "--pool-namespace": "namespace", "-pool-name": "name", "--pool-name": "name"}


def check(resources: Sequence[Resource]) -> Iterator[Result]:
    """Yields one error for each resource of a finished build that still has a name, namespace or label from before a later layer.

    Only generated objects and rendered sources are checked. Values that the user set in the source are not checked. If the source is not
    among the items (`source: drop`), no field that a user can set is checked.
    """
    build = build_index.read(resources)
    for resource in resources:
        mismatches = [*_check_source(resource, build)]
        for item in build_index.objects(resource, build):
            mismatches.extend(_check_object(item, build))
        if mismatches:
            yield _error(resource, min(mismatches, key=lambda mismatch: mismatch.code))


def _error(resource: Resource, mismatch: Mismatch) -> Result:
    cause, fix = _CAUSES[mismatch.code]
    problem = f"{mismatch.value!r} should be {mismatch.expected!r}" if mismatch.expected else f"{mismatch.value!r} is not in the build"
    ref, expected = results.ref(resource), mismatch.expected or None
    return results.error(mismatch.code, f"{problem}, because {cause}; {fix}", ref, mismatch.path, current=mismatch.value, proposed=expected)


def _check_source(source: Resource, build: Build) -> Iterator[Mismatch]:
    """Yields each listed workload whose generated object is not in the build, if other generated objects of the source are."""
    ref = results.ref(source)
    if f"{ref.kind}/{build_index.name_at_render(source)}" not in build.services:
        return
    for entry in build_index.workloads(source):
        kind, name = build_index.generated_for(entry)
        namespaces = [ref.namespace] if ref.namespace else [namespace for of_kind, namespace in build.generated if of_kind == kind]
        generated = set().union(*(build.generated.get((kind, namespace), ()) for namespace in namespaces))
        if name not in generated:
            expected = build_index.alike(name, generated)
            yield Mismatch(RENAMED, ("metadata", "annotations", labels.WORKLOADS), name, expected)


def _check_object(item: BuiltObject, build: Build) -> Iterator[Mismatch]:
    """Yields each wrong name and namespace in one generated object, the clearest field first."""
    author = None if item.source is None else build_index.author_fields(item.source)
    if author is not None:
        yield from _variables(item, author)
        yield from _flags(item, author, build)
    if item.kind == identity.REQUEST:
        yield from _job(item)
    yield from _subjects(item)
    yield from _labels(item, author)
    if author is None or labels.COMPONENT not in author.labels:
        yield from _object_name(item)
    yield from _host(item, build)
    yield from build_index.missing_references(item, build)
    yield from build_index.unselected(item, build)
    if item.owner != item.name:
        yield Mismatch(RENAMED, ("metadata", "annotations", labels.OWNER), item.owner, item.name)


def _variables(item: BuiltObject, author: AuthorFields) -> Iterator[Mismatch]:
    checks = {"DYN_PARENT_DGD_K8S_NAMESPACE": _namespace, "DYN_NAMESPACE": _dynamo_namespace, "DYN_PARENT_DGD_K8S_NAME": _graph}
    for path, variable in paths.find(item.resource, _VARIABLES):
        name, value = text(mapping(variable).get("name")), text(mapping(variable).get("value"))
        if name in checks and name not in author.texts and value:
            yield from checks[name](item, (*path, "value"), value)


def _job(item: BuiltObject) -> Iterator[Mismatch]:
    """Checks the variables with which a profiling Job finds itself, its request and its output. Users cannot set them."""
    job = results.ref(item.resource).name
    for path, variable in paths.find(item.resource, _JOB_VARIABLES):
        name, value = text(mapping(variable).get("name")), text(mapping(variable).get("value"))
        if name == "DGDR_NAMESPACE":
            yield from _namespace(item, (*path, "value"), value)
        elif name == "JOB_NAME" and value != job:
            yield Mismatch(RENAMED, (*path, "value"), value, job)


def _flags(item: BuiltObject, author: AuthorFields, build: Build) -> Iterator[Mismatch]:
    """Checks the pool in the flags of an endpoint picker."""
    for path, args in paths.find(item.resource, _ARGS):
        pairs = enumerate(itertools.pairwise(args), start=1) if isinstance(args, list) else ()
        for index, (flag, value) in pairs:
            part = "" if str(flag) in author.texts else _POOL_FLAGS.get(str(flag))
            if part == "namespace":
                yield from _namespace(item, (*path, index), value)
            elif part == "name":
                yield from build_index.absent(item, (*path, index), "InferencePool", value, build)


def _subjects(item: BuiltObject) -> Iterator[Mismatch]:
    """Checks the namespaces of a RoleBinding's subjects, and the graph of a scaling adapter."""
    for path, value in paths.find(item.resource, [("subjects", "*", "namespace")]):
        yield from _namespace(item, path, value)
    for path, value in paths.find(item.resource, [("spec", "dgdRef", "name")]):
        yield from _graph(item, path, value)


def _host(item: BuiltObject, build: Build) -> Iterator[Mismatch]:
    """Checks the host of a DestinationRule: a Service and its namespace."""
    for path, value in paths.find(item.resource, [("spec", "host")] if results.ref(item.resource).kind == "DestinationRule" else []):
        service, _, domain = str(value).partition(".")
        yield from _namespace(item, path, domain.partition(".")[0])
        yield from build_index.absent(item, path, "Service", service, build)


def _labels(item: BuiltObject, author: AuthorFields | None) -> Iterator[Mismatch]:
    checks = {labels.NAMESPACE: _dynamo_namespace, labels.GRAPH: _graph}
    holders = [(path, frozenset[str]()) for path in _LABELS]
    if author is not None:
        holders += [(path, author.labels) for path in build_index.POD_LABELS]
    for holder, ignored in holders:
        for key, check_value in checks.items():
            for path, value in paths.find(item.resource, [(*holder, key)]):
                is_author_namespace = key == labels.NAMESPACE and author is not None and str(value) in author.namespaces
                if key not in ignored and not is_author_namespace:
                    yield from check_value(item, path, value)


def _object_name(item: BuiltObject) -> Iterator[Mismatch]:
    """Checks the name of the object: pods are selected by the workload's name, other objects have the name of their component."""
    name = results.ref(item.resource).name
    for path, value in paths.find(item.resource, [(*MATCH_LABELS, labels.SELECTOR)]):
        if value != name:
            yield Mismatch(RENAMED, path, str(value), name)
    component = labels.of(item.resource).get(labels.COMPONENT)
    if item.kind != identity.GRAPH or not isinstance(component, str):
        return
    base = names.component(item.owner, component)
    known = [names.epp_config(item.owner), names.pool(item.owner), names.production(base), names.debug(base), names.gpu_claim(base), base]
    pattern = f"({re.escape(base)}|{re.escape(names.service(base))})(-({'|'.join(_worker_hashes(item))}))?(-[0-9]+)?"
    if name not in known and not re.fullmatch(pattern, name):
        rendered = next((candidate for candidate in known if build_index.is_like(name, candidate)), base)
        yield Mismatch(RENAMED, ("metadata", "name"), rendered, name)


def _worker_hashes(item: BuiltObject) -> list[str]:
    """Returns the hashes that the names of workers may end with: the computed one, and those that the operator set."""
    annotations = labels.annotations(item.source) if item.source else {}
    set_by_operator = (annotations.get(key) for key in (labels.WORKER_HASH_V1, labels.WORKER_HASH_V2))
    hashes = (labels.of(item.resource).get(labels.WORKER_HASH), *set_by_operator)
    return [re.escape(worker_hash) for worker_hash in hashes if isinstance(worker_hash, str) and worker_hash]


def _namespace(item: BuiltObject, path: Path, value: Any) -> Iterator[Mismatch]:
    if item.namespace and value != item.namespace:
        yield Mismatch(MOVED, path, str(value), item.namespace)


def _graph(item: BuiltObject, path: Path, value: Any) -> Iterator[Mismatch]:
    if item.kind == identity.GRAPH and value != item.name:
        by_label = path[-1] == labels.GRAPH and value != item.owner
        yield Mismatch(RELABELLED if by_label else RENAMED, path, str(value), item.name)


def _dynamo_namespace(item: BuiltObject, path: Path, value: Any) -> Iterator[Mismatch]:
    """Checks the Dynamo namespace: it is the global one, or consists of the Kubernetes namespace and the graph's name."""
    expected = names.dynamo_namespace(item.namespace, _undotted(item.name), shared=False)
    current = str(value)
    if item.kind != identity.GRAPH or value in (names.GLOBAL_NAMESPACE, expected) or (not item.namespace and current.endswith(expected)):
        return
    if value == names.dynamo_namespace(item.namespace, _undotted(item.owner), shared=False):
        yield Mismatch(RENAMED, path, current, expected)
    elif current.endswith((f"-{_undotted(item.owner)}", f"-{_undotted(item.name)}")):
        yield Mismatch(MOVED, path, current, expected)
    else:
        yield Mismatch(RELABELLED, path, current, expected)


def _undotted(graph: str) -> str:
    """Returns the name of a graph as a part of its Dynamo namespace."""
    return graph.replace(".", "-")
