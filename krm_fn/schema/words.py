"""The words in which messages speak of values and of the types that a schema requires."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krm_fn.schema.table import Schema

TYPES = {
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "quantity": "a quantity",
    "int-or-string": "an integer or a string",
}


def shown(value: Any) -> str:
    """Returns a scalar in YAML, shortened."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:56]}…{text[-1]}"


def described(value: Any) -> str:
    """Describes a value in words.

    >>> described("2"), described(True), described([1])
    ('the string "2"', 'the boolean true', 'a list')
    """
    if value is None or isinstance(value, (dict, list)):
        return kind(value)
    return f"the {kind(value).partition(' ')[2]} {shown(value)}"


def expected(schema: Schema) -> str:
    """Returns the type that a schema requires, as a key of `TYPES`."""
    if "x-kubernetes-int-or-string" in schema:
        return "quantity" if schema["format"] == "quantity" else "int-or-string"
    wanted: str = schema["type"]
    return wanted


def kind(value: Any) -> str:
    """Names the JSON type of a value, with its article."""
    if value is None:
        return "null"
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return "a string" if isinstance(value, str) else "a boolean" if isinstance(value, bool) else "a number"
