"""Fields that one API version does not have, kept in an annotation in the format of the operator (`api/v1alpha1/preservation.go`).

The annotation holds JSON, never YAML: `{"version": 1, "spec": {...}}`, where `spec` has the fields at their places in the other version.
Anybody can write an annotation. A text that is too large, no JSON or nested too deeply is therefore ignored, and so is each field that
the other version does not have, or not with such a type.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import identity, labels
from krm_fn.kube.values import mapping
from krm_fn.schema import invalid_fields, schema_check

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.results import Result

LIMIT = 262_144
"""The characters that are read. An API server refuses a resource whose annotations have more bytes together."""
_DEPTH = 100
_VERSION = 1
"""The annotation with the fields that the other version lacks has the version 1.

Follows the operator's `api/v1alpha1/preservation.go`.
Rule: conversion.preserved-version
"""
_SPECS = {
    identity.GRAPH: labels.PRESERVED_GRAPH,
    identity.COMPONENT: labels.PRESERVED_COMPONENT,
    identity.REQUEST: labels.PRESERVED_REQUEST,
}
_STATUSES = {
    identity.GRAPH: labels.PRESERVED_GRAPH_STATUS,
    identity.COMPONENT: labels.PRESERVED_COMPONENT_STATUS,
    identity.REQUEST: labels.PRESERVED_REQUEST_STATUS,
}
_WRONG = ("DYN021", "DYN023")
"""Wrong type and unknown field. Other mistakes are those of the author, who would lose them otherwise."""
_OTHER = {identity.V1ALPHA1: identity.V1BETA1, identity.V1BETA1: identity.V1ALPHA1}


class _UnreadableError(Exception):
    """A text that is not read. The message says why."""


def key(resource: Resource) -> str:
    """The annotation that keeps fields of the specification."""
    return _SPECS[results.ref(resource).kind]


def spec(resource: Resource) -> dict[str, Any]:
    """The kept fields of the specification in the other version; empty if there are none, or if they cannot be read.

    A text without `spec` is the older form, which holds the fields themselves.
    """
    return _checked(resource)[0]


def status(resource: Resource) -> dict[str, Any]:
    """The kept fields of the status in the other version; empty if there are none, or if they cannot be read."""
    try:
        return _parsed(resource, _STATUSES)
    except _UnreadableError:
        return {}


def findings(resource: Resource) -> list[Result]:
    """A warning for each kept field, or text, that is ignored."""
    warnings = _checked(resource)[1]
    try:
        _parsed(resource, _STATUSES)
    except _UnreadableError as problem:
        warnings.append(_ignored(resource, _STATUSES, f"{problem}"))
    return warnings


def with_spec(resource: Resource, fields: dict[str, Any]) -> Resource:
    """Returns the resource with the fields that the other API version lacks in an annotation.

    The annotation is that of the specification. Without fields, it is removed.

    Follows the operator's `api/v1alpha1/preservation.go`.
    Rule: conversion.preserved
    """
    return _annotated(resource, _SPECS[resource["kind"]], {"version": _VERSION, "spec": fields} if fields else {})


def with_status(resource: Resource, fields: dict[str, Any]) -> Resource:
    """Returns the resource with these fields in the annotation of its status. Without fields, the annotation is removed."""
    return _annotated(resource, _STATUSES[resource["kind"]], fields)


def without(resource: Resource) -> Resource:
    """Returns the resource without kept fields."""
    return _annotated(_annotated(resource, _SPECS.get(resource["kind"], ""), {}), _STATUSES.get(resource["kind"], ""), {})


def size(resource: Resource) -> int:
    """The bytes of the kept fields of a resource."""
    return sum(len(f"{labels.annotations(resource).get(key, '')}".encode()) for key in labels.PRESERVED)


def _annotated(resource: Resource, key: str, held: dict[str, Any]) -> Resource:
    """Fields that the other version of the API lacks are kept in an annotation.

    Follows the operator's `api/v1alpha1/preservation.go`.
    Rule: conversion.preserved
    """
    metadata = mapping(resource.get("metadata"))
    written = mapping(metadata.get("annotations"))
    if not held and key not in written:
        return resource
    annotations = {name: value for name, value in written.items() if name != key}
    if held:
        annotations[key] = json.dumps(held, separators=(",", ":"), ensure_ascii=False)
    rest = {name: value for name, value in metadata.items() if name != "annotations"}
    return {**resource, "metadata": {**rest, "annotations": annotations} if annotations else rest}


def _checked(resource: Resource) -> tuple[dict[str, Any], list[Result]]:
    """The fields that the other version can have, and a finding for each other one."""
    try:
        held = _parsed(resource, _SPECS)
    except _UnreadableError as problem:
        return {}, [_ignored(resource, _SPECS, f"{problem}")]
    if not held:
        return {}, []
    address = results.ref(resource)
    other = {"apiVersion": _OTHER.get(address.api_version, ""), "kind": address.kind, "metadata": {"name": "kept"}, "spec": held}
    wrong = [result for result in schema_check.resource(other, unknown="warning") if result.severity == "error" and result.code in _WRONG]
    usable = mapping(invalid_fields.without(other, [result.path for result in wrong]).get("spec"))
    return usable, [_ignored(resource, _SPECS, f"{results.field(result.path)} in it: {_problem(result)}") for result in wrong]


def _problem(result: Result) -> str:
    return result.message.partition(";")[0]


def _ignored(resource: Resource, keys: dict[str, str], problem: str) -> Result:
    address = results.ref(resource)
    message = f"{problem}; it is ignored, so remove the annotation, or copy it again from the resource that it belongs to"
    return results.warning("DYN409", message, address, ("metadata", "annotations", keys[address.kind]))


def _parsed(resource: Resource, keys: dict[str, str]) -> dict[str, Any]:
    """The fields in an annotation, empty without one. Raises _UnreadableError."""
    key = keys.get(results.ref(resource).kind, "")
    text = mapping(mapping(resource.get("metadata")).get("annotations")).get(key)
    if not isinstance(text, str) or not text:
        return {}
    if len(text) > LIMIT:
        raise _UnreadableError(f"the text has {len(text)} characters, and at most {LIMIT} are read")
    try:
        held = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as problem:
        raise _UnreadableError("the text is no JSON") from problem
    if not isinstance(held, dict):
        raise _UnreadableError("the text is no JSON object")
    if _is_deep(held):
        raise _UnreadableError(f"the JSON is nested more than {_DEPTH} levels deep")
    if keys is _STATUSES or "spec" not in held:
        return held
    if held.get("version", _VERSION) != _VERSION or not isinstance(held["spec"], dict):
        raise _UnreadableError(f"the JSON is not of version {_VERSION}, the only one that krm-fn reads")
    return mapping(held["spec"])


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
