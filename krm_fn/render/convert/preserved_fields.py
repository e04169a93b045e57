"""Preserved fields: those that one API version lacks, in an annotation in the format of the operator (`api/v1alpha1/preservation.go`).

The annotation holds JSON, never YAML: `{"version": 1, "spec": {...}}`, where `spec` has the fields at their places in the other version.
Anybody can write an annotation. A text that is too large, no JSON or nested too deeply is therefore ignored, and so is each field that
the other version does not have, or not with such a type.

`difference` computes preserved fields, and `fill_preserved` puts them back. They make an object of the same shape as the original; a null
in it means that the original lacks the field.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from krm_fn.base import codes, results
from krm_fn.kubernetes.values import is_zero, mapping
from krm_fn.render import dynamo_api, labels
from krm_fn.render.schema import invalid_fields, schema_check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.base.results import Result
    from krm_fn.kubernetes.types import Resource

Path = tuple[str | int, ...]
_ABSENT: Any = ...
LIMIT = 262_144
"""The characters that are read. An API server refuses a resource whose annotations have more bytes together."""
_DEPTH = 100
_VERSION = 1
"""The version of the annotation's format.

Rule conversion.preserved-version: The annotation with the fields that the other version lacks has the version 1. (operator:
api/v1alpha1/preservation.go)
"""
_SPECS = {
    dynamo_api.GRAPH: labels.PRESERVED_GRAPH,
    dynamo_api.COMPONENT: labels.PRESERVED_COMPONENT,
    dynamo_api.REQUEST: labels.PRESERVED_REQUEST,
}
_STATUSES = {
    dynamo_api.GRAPH: labels.PRESERVED_GRAPH_STATUS,
    dynamo_api.COMPONENT: labels.PRESERVED_COMPONENT_STATUS,
    dynamo_api.REQUEST: labels.PRESERVED_REQUEST_STATUS,
}
_WRONG = (codes.WRONG_TYPE, codes.UNKNOWN_FIELD)
"""Wrong type and unknown field. Other mistakes are those of the author, who would lose them otherwise."""
_OTHER = {dynamo_api.V1ALPHA1: dynamo_api.V1BETA1, dynamo_api.V1BETA1: dynamo_api.V1ALPHA1}


class _UnreadableError(Exception):
    """A text that is not read. The message says why."""


def key(resource: Resource) -> str:
    """Returns the key of the annotation with the preserved fields of the specification."""
    return _SPECS[results.ref(resource).kind]


def spec(resource: Resource) -> dict[str, Any]:
    """Returns the preserved fields of the specification in the other version; empty if there are none, or if they cannot be read.

    A text without `spec` has the format of older operators, which holds the fields themselves.
    """
    return _check_preserved(resource)[0]


def status(resource: Resource) -> dict[str, Any]:
    """Returns the preserved fields of the status in the other version; empty if there are none, or if they cannot be read."""
    try:
        return _parse_annotation(resource, _STATUSES)
    except _UnreadableError:
        return {}


def findings(resource: Resource) -> list[Result]:
    """Warns of preserved fields, and of texts in their annotations, that are ignored."""
    warnings = _check_preserved(resource)[1]
    try:
        _parse_annotation(resource, _STATUSES)
    except _UnreadableError as problem:
        warnings.append(_report_ignored(resource, _STATUSES, f"{problem}"))
    return warnings


def with_spec(resource: Resource, fields: dict[str, Any]) -> Resource:
    """Returns the resource with the fields that the other API version lacks in an annotation.

    The annotation is that of the specification. Without fields, it is removed.

    Rule conversion.preserved: see `krm_fn.render.convert.preserved_fields`.
    """
    return _annotate(resource, _SPECS[resource["kind"]], {"version": _VERSION, "spec": fields} if fields else {})


def with_status(resource: Resource, fields: dict[str, Any]) -> Resource:
    """Returns the resource with these fields in the annotation of its status. Without fields, the annotation is removed."""
    return _annotate(resource, _STATUSES[resource["kind"]], fields)


def without(resource: Resource) -> Resource:
    """Returns the resource without preserved fields."""
    return _annotate(_annotate(resource, _SPECS.get(resource["kind"], ""), {}), _STATUSES.get(resource["kind"], ""), {})


def size(resource: Resource) -> int:
    """Returns the size of the preserved fields of a resource, in bytes."""
    return sum(len(f"{labels.annotations(resource).get(key, '')}".encode()) for key in labels.PRESERVED)


def _annotate(resource: Resource, key: str, content: dict[str, Any]) -> Resource:
    """Returns the resource with an annotation that holds `content`; without content, it has no such annotation.

    Rule conversion.preserved: Fields that the other version of the API lacks are preserved in an annotation. (operator:
    api/v1alpha1/preservation.go)
    """
    metadata = mapping(resource.get("metadata"))
    written = mapping(metadata.get("annotations"))
    if not content and key not in written:
        return resource
    annotations = {name: value for name, value in written.items() if name != key}
    if content:
        annotations[key] = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    rest = {name: value for name, value in metadata.items() if name != "annotations"}
    return {**resource, "metadata": {**rest, "annotations": annotations} if annotations else rest}


def _check_preserved(resource: Resource) -> tuple[dict[str, Any], list[Result]]:
    """Returns the fields that the other version can have, and a finding for each other one."""
    try:
        preserved = _parse_annotation(resource, _SPECS)
    except _UnreadableError as problem:
        return {}, [_report_ignored(resource, _SPECS, f"{problem}")]
    if not preserved:
        return {}, []
    address = results.ref(resource)
    other = {"apiVersion": _OTHER.get(address.api_version, ""), "kind": address.kind, "metadata": {"name": "preserved"}, "spec": preserved}
    wrong = [result for result in schema_check.resource(other, unknown="warning") if result.severity == "error" and result.code in _WRONG]
    usable = mapping(invalid_fields.without(other, [result.path for result in wrong]).get("spec"))
    return usable, [_report_ignored(resource, _SPECS, f"{results.field(result.path)} in it: {_problem(result)}") for result in wrong]


def _problem(result: Result) -> str:
    return result.message.partition(";")[0]


def _report_ignored(resource: Resource, keys: dict[str, str], problem: str) -> Result:
    address = results.ref(resource)
    message = f"{problem}; it is ignored, so remove the annotation, or copy it again from the resource that it belongs to"
    return results.warning(codes.IGNORED_PRESERVED_FIELDS, message, address, ("metadata", "annotations", keys[address.kind]))


def _parse_annotation(resource: Resource, keys: dict[str, str]) -> dict[str, Any]:
    """Returns the fields in an annotation, empty without one. Raises _UnreadableError."""
    key = keys.get(results.ref(resource).kind, "")
    text = mapping(mapping(resource.get("metadata")).get("annotations")).get(key)
    if not isinstance(text, str) or not text:
        return {}
    if len(text) > LIMIT:
        raise _UnreadableError(f"the text has {len(text)} characters, and at most {LIMIT} are read")
    try:
        content = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as problem:
        raise _UnreadableError("the text is not JSON") from problem
    if not isinstance(content, dict):
        raise _UnreadableError("the text is not a JSON object")
    if _is_deep(content):
        raise _UnreadableError(f"the JSON is nested more than {_DEPTH} levels deep")
    if keys is _STATUSES or "spec" not in content:
        return content
    if content.get("version", _VERSION) != _VERSION or not isinstance(content["spec"], dict):
        raise _UnreadableError(f"the JSON is not of version {_VERSION}, the only one that krm-fn reads")
    return mapping(content["spec"])


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_DEPTH):
        level = [inner for holder in level for inner in (holder.values() if isinstance(holder, dict) else holder)]
        level = [inner for inner in level if isinstance(inner, (dict, list))]
        if not level:
            return False
    return True


def with_status_converted(
    resource: Resource, convert: Callable[[dict[str, Any]], dict[str, Any]], back: Callable[[dict[str, Any]], dict[str, Any]]
) -> Resource:
    """Converts the status with `convert`; `back` is the opposite conversion. Fields that are not convertible are preserved."""
    written = resource.get("status")
    if not isinstance(written, dict):
        return with_status(resource, {})
    preserved, plain = status(resource), convert(written)
    new = fill_preserved(plain, preserved, lambda wanted: back(wanted) == written) if preserved else plain
    return with_status({**resource, "status": new}, difference(written, back(new)))


def difference(original: dict[str, Any], plain: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields of `original` that differ in `plain`.

    >>> difference({"a": 1, "b": {"c": 2, "d": 3}, "l": [{"name": "x", "e": 4}]}, {"b": {"d": 3}, "l": [{"name": "x"}], "f": 5})
    {'a': 1, 'b': {'c': 2}, 'l': [{'name': 'x', 'e': 4}], 'f': None}
    """
    fields = {}
    for key, value in original.items():
        if key not in plain or plain[key] != value:
            fields[key] = _part(value, plain.get(key))
    return {**fields, **{key: None for key in plain if key not in original}}


def _part(value: Any, plain: Any) -> Any:
    if isinstance(value, dict) and isinstance(plain, dict):
        return difference(value, plain)
    if _have_same_names(value, plain):
        return [{"name": one["name"], **difference(one, other)} for one, other in zip(value, plain, strict=True)]
    return value


def ineffective(original: dict[str, Any], change: Callable[[dict[str, Any]], Any], plain: dict[str, Any]) -> list[Path]:
    """Returns the paths of the fields of `original` that differ in `plain`, and that make no difference to what `change` gives."""
    result = change(original)
    paths: list[Path] = []
    edits = [(path, value) for path, value in _edits(plain, difference(original, plain), ()) if value is not _ABSENT]
    while edits:
        path, value = edits.pop(0)
        if change(_without(original, path)) == result:
            paths.extend([] if _is_blank(value) else [path])
        elif isinstance(value, dict):
            edits[:0] = [((*path, key), inner) for key, inner in value.items()]
    return paths


def _is_blank(value: Any) -> bool:
    return is_zero(value) or (isinstance(value, dict) and all(map(_is_blank, value.values())))


def _without(holder: Any, path: Path) -> Any:
    """Returns a copy without the field at a path."""
    step = path[0]
    if isinstance(holder, list):
        return [_without(entry, path[1:]) if index == step else entry for index, entry in enumerate(holder)]
    if len(path) == 1:
        return {key: value for key, value in holder.items() if key != step}
    return {**holder, step: _without(holder[step], path[1:])}


def fill_preserved(plain: dict[str, Any], preserved: dict[str, Any], agrees: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Adds preserved fields to `plain`: all of them if `agrees` accepts the result, otherwise each one that it accepts."""
    edits = [*_edits(plain, preserved, ())]
    whole: dict[str, Any] = _edit_value(plain, edits)
    if agrees(whole):
        return whole
    result = plain
    for edit in edits:
        wanted = _edit_value(result, [edit])
        if agrees(wanted):
            result = wanted
    return result


def _edits(plain: dict[str, Any], preserved: dict[str, Any], path: Path) -> Iterator[tuple[Path, Any]]:
    for key, value in preserved.items():
        here = (*path, key)
        there: Any = plain.get(key)
        if isinstance(value, dict) and isinstance(there, dict):
            yield from _edits(there, value, here)
        elif _have_same_names(value, there):
            for index, (one, other) in enumerate(zip(value, there, strict=True)):
                yield from _edits(other, one, (*here, index))
        elif value is None and key in plain:
            yield here, _ABSENT
        elif key not in plain or value != there:
            yield here, value


def _have_same_names(one: Any, other: Any) -> bool:
    """True for lists of objects with the same names in the same order."""
    if not (isinstance(one, list) and isinstance(other, list)):
        return False
    names = [[entry.get("name") if isinstance(entry, dict) else None for entry in entries] for entries in (one, other)]
    return names[0] == names[1] and all(isinstance(name, str) for name in names[0])


def _edit_value(value: Any, edits: list[tuple[Path, Any]]) -> Any:
    """Returns a copy of the value with the edits, each of which names a field that exists or an object to put it into."""
    for path, new in edits:
        value = _set(value, path, new)
    return value


def _set(holder: Any, path: Path, new: Any) -> Any:
    step = path[0]
    if isinstance(holder, list):
        return [_set(entry, path[1:], new) if index == step else entry for index, entry in enumerate(holder)]
    if len(path) > 1:
        return {**holder, step: _set(holder[step], path[1:], new)}
    return _without(holder, path) if new is _ABSENT else {**holder, step: new}
