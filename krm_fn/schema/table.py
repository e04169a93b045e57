"""The table of structural schemas: Dynamo's kinds, the configuration, the native types that they contain, and the defaults of all these.

`krm_fn.generate` writes `schema.json` from the models and from an API server's OpenAPI.
"""

from __future__ import annotations

import json
from functools import cache

from krm_fn import registry, results
from krm_fn.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kube.types import Resource

Schema = dict[str, "Any"]
FILE = "schema/schema.json"  # in krm_fn
NATIVE_FILE = "schema/native_kinds.json"
"""Kubernetes' own kinds, and their definitions that are not in the other file. A render never reads it."""


class Table(NamedTuple):
    """The Kubernetes version of the native part, definition names by kind and apiVersion, and definitions by name."""

    kubernetes: str
    kinds: dict[str, dict[str, str]]
    definitions: dict[str, Schema]


@cache
def load() -> Table:
    """Returns the table. The first call reads it in about half a millisecond."""
    return Table(**json.loads(registry.data(FILE)))


@cache
def load_native() -> Table:
    """Returns the table of Kubernetes' own kinds, with the definitions of both files."""
    native = Table(**json.loads(registry.data(NATIVE_FILE)))
    return native._replace(definitions={**load().definitions, **native.definitions})


def with_defaults(resource: Resource) -> Resource:
    """Returns the resource with the defaults that an API server writes into it. Metadata and kinds without a schema are not changed.

    Returns the resource itself if nothing is missing, otherwise a copy that shares all unchanged parts. Values of a wrong type stay.
    Follows apiextensions-apiserver, `pkg/apiserver/schema/defaulting`: a default fills a missing field of an object that is there.
    """
    table, address = load(), results.ref(resource)
    definition = table.definitions.get(table.kinds.get(address.kind, {}).get(address.api_version, ""), {})
    complete: Resource = resource
    for name in ("spec", "status"):
        if name in resource and name in definition.get("properties", ()):
            part = _complete(resource[name], definition["properties"][name], table.definitions)
            if part is not resource[name]:
                complete = {**complete, name: part}
    return complete


def _complete(value: Any, schema: Schema, definitions: dict[str, Schema]) -> Any:
    """The worker hash reads the defaults that an API server writes into a v1beta1 resource.

    Returns the value itself if nothing is missing.

    Rule: worker-hash.defaults
    """
    if "$ref" in schema:
        schema = definitions[schema["$ref"]]
    if isinstance(value, list):
        return _complete_list(value, schema["items"], definitions) if "items" in schema else value
    if not isinstance(value, dict):
        return value
    fields, entries = schema.get("properties", {}), schema.get("additionalProperties")
    changed = {}
    for key, inner in value.items():
        field = fields.get(key, entries)
        if field is not None and isinstance(inner, (dict, list)):
            complete = _complete(inner, field, definitions)
            if complete is not inner:
                changed[key] = complete
    for key, field in fields.items():
        if "default" in field and value.get(key) is None:
            changed[key] = field["default"]
    return {**value, **changed} if changed else value


def _complete_list(items: list[Any], schema: Schema, definitions: dict[str, Schema]) -> list[Any]:
    if schema.get("type") == "string":
        return items
    complete, changed = [], False
    for item in items:
        complete.append(_complete(item, schema, definitions))
        changed = changed or complete[-1] is not item
    return complete if changed else items
