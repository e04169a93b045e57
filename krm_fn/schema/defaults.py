"""The values that an API server writes into a resource of `nvidia.com/v1beta1` before anybody reads it: the defaults of its definition.

Follows apiextensions-apiserver, `pkg/apiserver/schema/defaulting`: a default fills a missing field of an object that is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.schema import table

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.schema.table import Schema


def applied(resource: Resource) -> Resource:
    """Returns the resource with the defaults of its kind and version. Metadata and kinds without a schema are not changed.

    Returns the resource itself if nothing is missing, otherwise a copy that shares all unchanged parts. Values of a wrong type stay.
    """
    known, address = table.load(), results.ref(resource)
    definition = known.definitions.get(known.kinds.get(address.kind, {}).get(address.api_version, ""), {})
    found: Resource = resource
    for name in ("spec", "status"):
        if name in resource and name in definition.get("properties", ()):
            part = _filled(resource[name], definition["properties"][name], known.definitions)
            if part is not resource[name]:
                found = {**found, name: part}
    return found


def _filled(value: Any, schema: Schema, definitions: dict[str, Schema]) -> Any:
    """A value with the defaults of its schema: the value itself if nothing is missing."""
    schema = definitions[schema["$ref"]] if "$ref" in schema else schema
    if isinstance(value, dict):
        return _object(value, schema, definitions)
    if isinstance(value, list) and "items" in schema:
        items = [_filled(item, schema["items"], definitions) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value


def _object(value: dict[str, Any], schema: Schema, definitions: dict[str, Schema]) -> dict[str, Any]:
    fields, others = schema.get("properties", {}), schema.get("additionalProperties")
    changed = {}
    for key, inner in value.items():
        field = fields.get(key, others)
        if field is not None and isinstance(inner, (dict, list)):
            new = _filled(inner, field, definitions)
            if new is not inner:
                changed[key] = new
    missing = {key: field["default"] for key, field in fields.items() if "default" in field and value.get(key) is None}
    return {**value, **changed, **missing} if changed or missing else value
