"""Schemas as nodes, so that a walk through a resource reads each part of a schema once, however many resources it checks.

A node depends on the table only. Its children are made when a walk first reaches them, because a resource has few of the fields of a pod.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krm_fn.schema.table import Schema

_FREE = {"string": frozenset({str}), "boolean": frozenset({bool})}
_NONE: frozenset[type] = frozenset()


class SchemaNode:
    """The schema of a value. `name` is the definition that has this schema, or that contains it.

    `is_object` and `is_list` are true for schemas of these types. `free_types` are the Python types of which the schema allows every value:
    most fields are strings without a rule, and a walk skips their values.
    """

    def __init__(self, schema: Schema, definitions: dict[str, Schema], name: str = "") -> None:
        """`schema` can be a reference to one of `definitions`."""
        reference = schema.get("$ref")
        if reference:
            name, schema = reference, definitions[reference]
        self.schema = schema
        self.name = name
        self.is_object = schema.get("type") == "object"
        self.is_list = schema.get("type") == "array"
        self.free_types = _FREE.get(schema["type"], _NONE) if len(schema) == 1 and "type" in schema else _NONE
        self.definitions = definitions

    @cached_property
    def is_native(self) -> bool:
        """True if the definition is one of Kubernetes."""
        return self.name.startswith("io.k8s.") or "x-native" in self.definitions[self.name]

    @cached_property
    def fields(self) -> SchemaFields:
        """The nodes of the named fields of an object."""
        return SchemaFields(self.schema.get("properties", {}), self.definitions, self.name)

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """The defaults of the named fields of an object."""
        return {key: field["default"] for key, field in self.schema.get("properties", {}).items() if "default" in field}

    @cached_property
    def entry(self) -> SchemaNode | None:
        """The node of the values of a map; None if the keys of the object have no common schema."""
        entry = self.schema.get("additionalProperties")
        return None if entry is None else SchemaNode(entry, self.definitions, self.name)

    @cached_property
    def item(self) -> SchemaNode:
        """The node of the entries of a list."""
        return SchemaNode(self.schema.get("items", {}), self.definitions, self.name)


class SchemaFields(dict[str, "SchemaNode | None"]):
    """The nodes of the fields of an object by name; None for a field that the schema does not have."""

    def __init__(self, properties: dict[str, Schema], definitions: dict[str, Schema], name: str) -> None:
        self._properties = properties
        self._definitions = definitions
        self._name = name

    def __missing__(self, key: str) -> SchemaNode | None:
        if key not in self._properties:
            return None
        node = self[key] = SchemaNode(self._properties[key], self._definitions, self._name)
        return node
