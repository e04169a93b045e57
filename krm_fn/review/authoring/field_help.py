"""What a field means: its type, its description, and the fields of objects that it makes."""

from __future__ import annotations

from collections.abc import Iterable

from krm_fn.base import report, results
from krm_fn.base.yaml.outline import Cursor
from krm_fn.review.authoring import argument_words, field_schemas
from krm_fn.review.authoring.field_schemas import FieldSchema

_MOST = 8
"""The largest number of effects that are listed."""


def markdown(cursor: Cursor, effects: Iterable[str] = ()) -> str:
    """Returns the help about the field of a position, or about the flag there, as Markdown.

    `effects` are the fields of objects that it makes, one a text. Without any, the text is empty for an unknown field: an operation of a
    patch has no help of its own.
    """
    if flag := argument_words.flag_help(cursor):
        return flag
    field = field_schemas.find(*field_schemas.address(cursor), cursor.path) if cursor.path else None
    parts = [f"`{report.visible(results.field(cursor.path))}`: {_facts(field)}", field.description] if field else []
    listed = [*effects]
    if listed:
        more = [f"* and {len(listed) - _MOST} more"] if len(listed) > _MOST else []
        parts.append("\n".join(["It makes:", "", *(f"* {effect}" for effect in listed[:_MOST]), *more]))
    return "\n\n".join(filter(None, parts))


def _facts(field: FieldSchema) -> str:
    facts = [field.type, *(["required"] if field.is_required else [])]
    if "default" in field.schema:
        facts.append(f"default `{report.value(field.schema['default'])}`")
    if "enum" in field.schema:
        facts.append("one of " + ", ".join(f"`{value}`" for value in field.values))
    limits = [f"{word} {field.schema[key]}" for key, word in (("minimum", "at least"), ("maximum", "at most")) if key in field.schema]
    return ", ".join([*facts, *limits])
