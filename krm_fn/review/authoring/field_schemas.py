"""The schemas of fields in a text, with their descriptions, by the kind that the text names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from krm_fn.base.results import Path
from krm_fn.base.yaml.outline import Cursor
from krm_fn.render.schema import table
from krm_fn.schemas import generate

Schema = dict[str, Any]


class FieldSchema(NamedTuple):
    """The schema of a field without a reference, its description, and whether the object must have it."""

    name: str
    schema: Schema
    description: str
    is_required: bool = False

    @property
    def type(self) -> str:
        """The type in words: `integer`, `list of objects`, `quantity`."""
        if "x-kubernetes-int-or-string" in self.schema:
            return "quantity" if self.schema.get("format") == "quantity" else "integer or string"
        kind = self.schema.get("type", "any value")
        if kind == "array":
            inner = _resolve_reference(self.schema.get("items", {})).get("type", "value")
            return f"list of {inner}s"
        is_map = kind == "object" and "additionalProperties" in self.schema and "properties" not in self.schema
        return "map" if is_map else str(kind)

    @property
    def values(self) -> list[str]:
        """The values that a scalar can have, as words of YAML; empty if there are too many."""
        if self.schema.get("type") == "boolean":
            return ["true", "false"]
        return [str(value) for value in self.schema.get("enum", ())]

    def fields(self) -> Iterator[FieldSchema]:
        """Yields the fields of an object."""
        required = self.schema.get("required", ())
        for name, field in self.schema.get("properties", {}).items():
            yield _field(name, field, is_required=name in required)


def address(cursor: Cursor) -> tuple[str, str]:
    """Returns the apiVersion and the kind of the document of a position; empty where it has none."""
    return cursor.value(("apiVersion",)), cursor.value(("kind",))


def kinds() -> dict[str, list[str]]:
    """Returns the kinds with a schema, and the versions of their API."""
    return {kind: list(versions) for kind, versions in table.load().kinds.items()}


def find(api_version: str, kind: str, path: Path) -> FieldSchema | None:
    """Returns the schema of a field; None for an unknown kind and for a field that it does not have.

    Without a known version, the first one of the kind counts, as in the schema of editors.
    """
    versions = table.load().kinds.get(kind)
    if not versions:
        return None
    definition = versions.get(api_version) or next(iter(versions.values()))
    schema = _field(kind, {"$ref": definition})
    for step in path:
        below = _below(schema, step)
        if below is None:
            return None
        schema = below
    return schema


def _below(schema: FieldSchema, step: str | int) -> FieldSchema | None:
    if isinstance(step, int):
        return _field(schema.name, schema.schema["items"]) if "items" in schema.schema else None
    properties = schema.schema.get("properties", {})
    if step in properties:
        return _field(step, properties[step], is_required=step in schema.schema.get("required", ()))
    entry = schema.schema.get("additionalProperties")
    return _field(step, entry) if isinstance(entry, dict) else None


def _field(name: str, schema: Schema, *, is_required: bool = False) -> FieldSchema:
    resolved = _resolve_reference(schema)
    return FieldSchema(name, resolved, schema.get("description") or resolved.get("description", ""), is_required)


def _resolve_reference(schema: Schema) -> Schema:
    return {**_definitions()[schema["$ref"]], **schema} if "$ref" in schema else schema


@cache
def _definitions() -> dict[str, Schema]:
    """All definitions with descriptions. The first call imports the models, which takes half a second."""
    return generate.definitions()
