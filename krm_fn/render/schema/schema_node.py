"""Schemas as nodes, so that a walk through a resource reads each part of a schema once, however many resources it checks.

A node depends on the table only. Its children are made when a walk first reaches them, because a resource has few of the fields of a pod.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
