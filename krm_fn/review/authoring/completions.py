"""What can stand at a position: fields of the schema, their values, flags of a program and their values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from krm_fn.base import report
from krm_fn.base.results import Path
from krm_fn.base.yaml.outline import Cursor
from krm_fn.render.kinds import types
from krm_fn.review.authoring import argument_words, field_schemas
from krm_fn.review.authoring.field_schemas import FieldSchema

_ADDRESS = (("kind",), ("apiVersion",))


class Completion(NamedTuple):
    """A text that can stand at a position in place of the word there. `text` is what is written."""

    label: str
    text: str
    kind: Literal["field", "value", "flag"]
    detail: str
    description: str = ""


def at(cursor: Cursor) -> list[Completion]:
    """Returns what can stand at a position, in the order of the schema. Fields that the object has already are left out."""
    if words := argument_words.candidates(cursor):
        return [Completion(word.text, word.text, "flag" if word.is_flag else "value", word.detail) for word in words]
    if cursor.path in _ADDRESS and cursor.is_value:
        return [*_of_address(cursor)]
    field = field_schemas.find(*field_schemas.address(cursor), cursor.path)
    if field is None:
        return [] if cursor.path or cursor.is_value else [*_top_fields(cursor)]
    if _is_component_type(cursor.path):
        return [Completion(name, name, "value", field.name, field.description) for name in types.names()]
    if cursor.is_value or field.schema.get("type") not in ("object", None):
        return [*_values(field)]
    present = {inner.path[-1] for inner in cursor.fields if inner.path[:-1] == cursor.path}
    return [_completion(inner) for inner in field.fields() if inner.name not in present]


def _is_component_type(path: Path) -> bool:
    return len(path) > 1 and (path[-1] == "componentType" or (path[-1] == "type" and path[-3:-2] == ("components",)))


def _values(field: FieldSchema) -> Iterator[Completion]:
    default = field.schema.get("default")
    for value in field.values:
        is_default = default is not None and value == report.value(default).strip('"')
        yield Completion(value, value, "value", f"{field.name}{', the default' if is_default else ''}", field.description)


def _completion(field: FieldSchema) -> Completion:
    is_scalar = field.schema.get("type") not in ("object", "array")
    detail = f"{field.type}{', required' if field.is_required else ''}"
    return Completion(field.name, f"{field.name}: " if is_scalar else f"{field.name}:", "field", detail, field.description)


def _of_address(cursor: Cursor) -> Iterator[Completion]:
    """Yields the kinds, or the versions of the kind that the document names."""
    kinds = field_schemas.kinds()
    if cursor.path == ("kind",):
        yield from (Completion(kind, kind, "value", ", ".join(versions)) for kind, versions in kinds.items())
        return
    _, kind = field_schemas.address(cursor)
    for version in dict.fromkeys(version for name, versions in kinds.items() for version in versions if kind in ("", name)):
        yield Completion(version, version, "value", kind)


def _top_fields(cursor: Cursor) -> Iterator[Completion]:
    present = {field.path[0] for field in cursor.fields}
    return (Completion(name, f"{name}: ", "field", "string, required") for name in ("apiVersion", "kind") if name not in present)
