"""Names, namespaces and labels that a later kustomize layer changed on generated objects without the fields that refer to them.

Pods carry the name and the namespace of their graph in variables, labels, selectors and arguments that no build tool rewrites. A graph
in a build is therefore rendered again under the name and the namespace that it has there, with the settings that it was rendered with. A
field that depends on the name or the namespace must have the value of that render. A later layer may change all other fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import identity, paths
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, text
from krm_fn.render import dynamo_api, labels, names
from krm_fn.render.config import Config
from krm_fn.review import build_hashes, build_index, second_render
from krm_fn.review.build_index import POD_LABELS, Build, BuiltObject
from krm_fn.review.second_render import Field, SecondRender

_OUTERMOST = "list the function in the transformers of the outermost layer that sets"
_CAUSES = {
    codes.LAYER_CHANGED_NAMESPACE: ("a later layer changed the namespace of generated objects", f"{_OUTERMOST} namespace or namePrefix"),
    codes.LAYER_CHANGED_NAME: ("a later layer changed the name of generated objects", f"{_OUTERMOST} namespace, namePrefix or nameSuffix"),
    codes.LAYER_CHANGED_LABEL: ("a later layer changed a label of generated objects", f"{_OUTERMOST} labels"),
}
_NAME: Path = ("metadata", "name")
_SELECTORS: tuple[Path, ...] = (("spec", "selector"), ("spec", "selector", "matchLabels"))
_JOB_VARIABLES: list[Path] = [("spec", "template", "spec", field, "*", "env", "*") for field in ("initContainers", "containers")]


class _Mismatch(NamedTuple):
    """A field whose value is not in the build. `expected` is the right value, or empty if it is unknown."""

    code: str
    path: Path
    value: str
    expected: str = ""


def check(resources: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Yields one error for each resource of a finished build that still has a name, namespace or label from before a later layer.

    If several fields of a resource are wrong, the error names one that is not a label: a variable is clearer. A workload whose worker
    hash is from before a later layer gets a warning.

    `config` holds the settings for graphs whose annotation about the settings cannot be read.

    Only generated objects and rendered sources are checked. If the source is not among the items (`source: drop`), it cannot be rendered
    again, and only the names and the labels of its objects are compared.
    """
    build = build_index.read(resources)
    objects = [item for resource in resources for item in build_index.objects(resource, build)]
    names = {(key.group, key.kind, key.name) for key in map(identity.key, resources)}
    renders = {
        id(source): second_render.SecondRender(source, _owned_objects(source, objects), config, names)
        for sources in build.sources.values()
        for source in sources
    }
    for resource in resources:
        mismatches = [*_check_source(resource, build)]
        of_owners = [(item, renders.get(id(item.source))) for item in build_index.objects(resource, build)]
        for item, render in of_owners:
            mismatches.extend(_check_object(item, render, build))
        if mismatches:
            yield _error(resource, min(mismatches, key=lambda mismatch: (mismatch.code, _is_label(mismatch.path))))
        else:
            yield from (finding for _, render in of_owners if render for finding in build_hashes.check(resource, render))


def _owned_objects(source: Resource, objects: Sequence[BuiltObject]) -> list[Resource]:
    return [item.resource for item in objects if item.source is source]


def _error(resource: Resource, mismatch: _Mismatch) -> Result:
    cause, fix = _CAUSES[mismatch.code]
    problem = f"{mismatch.value!r} should be {mismatch.expected!r}" if mismatch.expected else f"{mismatch.value!r} is not in the build"
    ref, expected = results.ref(resource), mismatch.expected or None
    return results.error(mismatch.code, f"{problem}, because {cause}; {fix}", ref, mismatch.path, current=mismatch.value, proposed=expected)


def _check_source(source: Resource, build: Build) -> Iterator[_Mismatch]:
    """Yields each listed workload whose generated object is not in the build, if other generated objects of the source are."""
    ref = results.ref(source)
    if f"{ref.kind}/{build_index.name_at_render(source)}" not in build.marks:
        return
    for entry in build_index.workloads(source):
        kind, name = build_index.generated_for(entry)
        namespaces = [ref.namespace] if ref.namespace else [namespace for of_kind, namespace in build.generated if of_kind == kind]
        generated = set().union(*(build.generated.get((kind, namespace), ()) for namespace in namespaces))
        if name not in generated:
            expected = build_index.alike(name, generated)
            yield _Mismatch(codes.LAYER_CHANGED_NAME, ("metadata", "annotations", labels.WORKLOADS), name, expected)


def _check_object(item: BuiltObject, render: SecondRender | None, build: Build) -> Iterator[_Mismatch]:
    """Yields each wrong name and namespace in one generated object."""
    if render is not None and render.objects:
        for field in render.fields(item.resource):
            yield from _check_field(field, render)
    else:
        yield from _check_without_source(item)
    yield from _unselected_labels(item, build)
    name = item.owner if item.source is None else results.ref(item.source).name
    if item.owner != name:
        yield _Mismatch(codes.LAYER_CHANGED_NAME, ("metadata", "annotations", labels.OWNER), item.owner, name)


def _check_field(field: Field, render: SecondRender) -> Iterator[_Mismatch]:
    """Compares a field of a built object with the second render. A reference to an object that the layer chose itself stays."""
    if field.path == _NAME:
        if field.value != field.expected and any(_are_alike(field.value, name) for name in (field.expected, field.before)):
            yield _Mismatch(codes.LAYER_CHANGED_NAME, _NAME, field.expected, field.value)
    elif field.targets and (field.value == field.expected or _is_reference(field)):
        yield from _check_reference(field, render)
    elif field.value != field.expected and not render.has_hash(field) and render.depends(field, name=True, namespace=True):
        yield _Mismatch(_code(field, render), field.path, field.value, field.expected)


def _is_label(path: Path) -> bool:
    return len(path) > 1 and path[-2] in ("labels", "selector", "matchLabels")


def _is_reference(field: Field) -> bool:
    """Returns true if the field names an object. Variables, arguments and labels hold texts."""
    return field.path[-1] != "value" and not isinstance(field.path[-1], int) and not _is_label(field.path)


def _check_reference(field: Field, render: SecondRender) -> Iterator[_Mismatch]:
    built = {render.built_name(index) for index in field.targets}
    renamed = sorted(name for name in built if name and name != field.value and _are_alike(name, field.value))
    if renamed:
        yield _Mismatch(codes.LAYER_CHANGED_NAME, field.path, field.value, renamed[0])
    elif built == {""} and _are_alike(field.value, field.expected):
        yield _Mismatch(codes.LAYER_CHANGED_NAME, field.path, field.value)


def _are_alike(name: str, other: str) -> bool:
    return build_index.is_like(name, other) or build_index.is_like(other, name)


def _code(field: Field, render: SecondRender) -> str:
    """Returns the code of a wrong value: which change of a later layer explains it."""
    if field.value == field.before:
        return codes.LAYER_CHANGED_NAME
    if render.depends(field, namespace=True) and render.is_of_other_namespace(field):
        return codes.LAYER_CHANGED_NAMESPACE
    if _is_label(field.path):
        return codes.LAYER_CHANGED_LABEL
    return codes.LAYER_CHANGED_NAME if render.depends(field, name=True) else codes.LAYER_CHANGED_NAMESPACE


def _check_without_source(item: BuiltObject) -> Iterator[_Mismatch]:
    """Compares the namespace and the name in the labels of an object with those that it has. Labels of pods are their author's."""
    yield from _check_job(item)
    name, owner = results.ref(item.resource).name, item.owner.replace(".", "-")
    expected = names.dynamo_namespace(item.namespace, owner, shared=False)
    for path, value in paths.find(item.resource, [("metadata", "labels", labels.NAMESPACE), ("spec", "selector", labels.NAMESPACE)]):
        if item.namespace and value != expected and text(value).endswith(f"-{owner}"):
            yield _Mismatch(codes.LAYER_CHANGED_NAMESPACE, path, value, expected)
    for path, value in paths.find(item.resource, [(*selector, labels.SELECTOR) for selector in _SELECTORS]):
        if value != name:
            yield _Mismatch(codes.LAYER_CHANGED_NAME, path, str(value), name)
    component = labels.of(item.resource).get(labels.COMPONENT)
    if item.kind == dynamo_api.GRAPH and isinstance(component, str) and not name.replace(".", "-").startswith(owner):
        yield _Mismatch(codes.LAYER_CHANGED_NAME, _NAME, names.component(item.owner, component), name)


def _check_job(item: BuiltObject) -> Iterator[_Mismatch]:
    """Checks the variables with which a profiling Job finds itself, its request and its output. Users cannot set them."""
    job = results.ref(item.resource).name
    for path, variable in paths.find(item.resource, _JOB_VARIABLES if item.kind == dynamo_api.REQUEST else ()):
        name, value = text(mapping(variable).get("name")), text(mapping(variable).get("value"))
        if name == "DGDR_NAMESPACE" and item.namespace and value != item.namespace:
            yield _Mismatch(codes.LAYER_CHANGED_NAMESPACE, (*path, "value"), value, item.namespace)
        elif name == "JOB_NAME" and value != job:
            yield _Mismatch(codes.LAYER_CHANGED_NAME, (*path, "value"), value, job)


def _unselected_labels(item: BuiltObject, build: Build) -> Iterator[_Mismatch]:
    """Yields labels that a later layer added to a selector but not to the pods that it selected before."""
    if any(paths.find(item.resource, list(POD_LABELS))):
        return
    for path, selector in paths.find(item.resource, _SELECTORS):
        if not isinstance(selector, dict) or "matchLabels" in selector:
            continue
        ours = {key: value for key, value in selector.items() if key == "role" or key.startswith("nvidia.com/")}
        pods = [pod for namespace, pod in build.pods if namespace == item.namespace and ours and ours.items() <= pod.items()]
        for key in selector if pods else ():
            if key not in ours and all(pod.get(key) != selector[key] for pod in pods):
                yield _Mismatch(codes.LAYER_CHANGED_LABEL, (*path, key), f"{key}: {selector[key]}")
