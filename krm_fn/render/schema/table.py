"""The table of structural schemas: Dynamo's kinds, the configuration, the native types that they contain, and the defaults of all these.

`krm_fn.schemas.generate` writes `schema.json` from the models and from an API server's OpenAPI. A walk through a resource reads its
schemas as nodes.
"""

from __future__ import annotations

import json
from functools import cache

from krm_fn.base import registry, results
from krm_fn.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.types import Resource


FILE = "render/schema/schema.json"  # in krm_fn
NATIVE_FILE = "render/schema/native_kinds.json"
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


@cache
def node(definition: str) -> SchemaNode:
    """Returns the node of a definition."""
    return SchemaNode({"$ref": definition}, load().definitions)


@cache
def native_node(definition: str) -> SchemaNode:
    """Returns the node of a definition of one of Kubernetes' own kinds."""
    return SchemaNode({"$ref": definition}, load_native().definitions)


def with_defaults(resource: Resource) -> Resource:
    """Returns the resource with the defaults that an API server writes into it. Metadata and kinds without a schema are not changed.

    Returns the resource itself if nothing is missing, otherwise a copy that shares all unchanged parts. Values of a wrong type stay.
    Follows apiextensions-apiserver, `pkg/apiserver/schema/defaulting`: a default fills a missing field of an object that is there.
    """
    address = results.ref(resource)
    definition = load().kinds.get(address.kind, {}).get(address.api_version)
    complete: Resource = resource
    for name in ("spec", "status") if definition else ():
        field = node(definition).field(name)
        if name in resource and field:
            part = _complete(resource[name], field)
            if part is not resource[name]:
                complete = {**complete, name: part}
    return complete


def _complete(value: Any, node: SchemaNode) -> Any:
    """Returns a value with the defaults of its schema node; the value itself if nothing is missing.

    Rule worker-hash.defaults: The worker hash reads the defaults that an API server writes into a v1beta1 resource. (krm-fn)
    """
    if isinstance(value, list):
        return _complete_list(value, node.item) if node.item else value
    if not isinstance(value, dict):
        return value
    fields = node.fields
    changed = {key: default for key, default in node.defaults.items() if value.get(key) is None}
    for key, inner in value.items():
        if isinstance(inner, (dict, list)) and (field := fields.get(key) or node.field(key) or node.entry):
            complete = _complete(inner, field)
            if complete is not inner:
                changed[key] = complete
    return {**value, **changed} if changed else value


def _complete_list(items: list[Any], node: SchemaNode) -> list[Any]:
    if node.free_types:
        return items
    complete = [_complete(item, node) for item in items]
    return complete if any(new is not old for new, old in zip(complete, items, strict=True)) else items


Schema = dict[str, "Any"]
_FREE = {"string": frozenset({str}), "boolean": frozenset({bool})}
_NONE: frozenset[type] = frozenset()


class SchemaNode:
    """The schema of a value. `name` is the definition that has this schema, or that contains it; `is_native` is true for Kubernetes' own.

    `is_object` is true for the schema of an object. `free_types` are the Python types of which the schema allows every value: most fields
    are strings without a rule, and a walk skips their values. `fields` are the nodes of those fields of an object that a walk has reached,
    `defaults` the defaults of all its fields, `entry` the node of the values of a map, and `item` the node of the entries of a list.
    """

    def __init__(self, schema: Schema, definitions: dict[str, Schema], name: str = "") -> None:
        """Reads a schema, which can be a reference to one of `definitions`."""
        reference = schema.get("$ref")
        if reference:
            name, schema = reference, definitions[reference]
        self.schema = schema
        self.definitions = definitions
        self.name = name
        self.is_native = name.startswith("io.k8s.") or "x-native" in definitions.get(name, ())
        kind = schema.get("type", "")
        self.is_object = kind == "object"
        self.free_types = _FREE.get(kind, _NONE) if len(schema) == 1 else _NONE
        properties = schema.get("properties", {})
        self.fields: dict[str, SchemaNode] = {}
        self.defaults = {key: field["default"] for key, field in properties.items() if "default" in field}
        self.entry, self.item = (
            SchemaNode(schema[key], definitions, name) if key in schema else None for key in ("additionalProperties", "items")
        )

    def field(self, key: str) -> SchemaNode | None:
        """Returns the node of a named field of an object, and adds it to `fields`; None for a field that the schema does not have."""
        if key not in self.fields and key in self.schema.get("properties", ()):
            self.fields[key] = SchemaNode(self.schema["properties"][key], self.definitions, self.name)
        return self.fields.get(key)
