"""Makes the fix for a value of the wrong type, and proposes the right value if it is certain."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from krm_fn.schema.words import expected, shown

if TYPE_CHECKING:
    from krm_fn.results import Path
    from krm_fn.schema.table import Schema

_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")


def fix(value: Any, schema: Schema, path: Path, definitions: dict[str, Schema]) -> tuple[str, Any]:
    """Returns the text of the fix, and the right value if it is certain, otherwise None."""
    wanted = expected(schema)
    if value is None:
        return "remove the entry", None
    if wanted == "array":
        item: Schema = schema["items"]
        return _as_list(value, definitions.get(item.get("$ref", ""), item))
    if wanted == "object":
        return _as_object(value, schema), None
    if wanted in ("string", "quantity") or (wanted == "int-or-string" and not isinstance(value, float)):
        return _as_text(value, path)
    if wanted == "boolean":
        return _as_boolean(value)
    return _as_number(value, wanted)


def without_value(value: Any, wanted: str) -> str:
    """Returns the text of the fix for a value that may be a secret. The text does not quote the value."""
    if value is None:
        return "remove the entry"
    if wanted == "array":
        return "write a list, with a dash before each entry"
    if wanted == "object":
        return "write lines of name: value below it"
    if wanted == "boolean":
        return "write true or false, without quotes"
    if wanted in ("integer", "number"):
        return "write a number without quotes"
    return "put the whole entry in quotes" if isinstance(value, dict) else "put the value in quotes"


def _as_text(value: Any, path: Path) -> tuple[str, Any]:
    listed = not path or isinstance(path[-1], int)
    key = "- " if listed else f"{path[-1]}: "
    if isinstance(value, bool):
        others = "on, yes and y as true" if value else "off, no and n as false"
        return f"quote it: {key}{json.dumps(shown(value))}, or quote the original text, because YAML reads {others}", None
    if isinstance(value, (int, float)):
        return f"quote it: {key}{json.dumps(shown(value))}", shown(value)
    if isinstance(value, dict) and len(value) == 1 and listed:
        ((name, inner),) = value.items()
        whole = f"{name}: {inner}" if isinstance(inner, str) else f"{name}: {shown(inner)}"
        return f"quote the whole entry, because YAML reads a colon and a blank as an object: - {shown(whole)}", None
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return f"remove the brackets or the dash: {key}{shown(value[0])}", value[0]
    return "write a single text in quotes", None


def _as_boolean(value: Any) -> tuple[str, Any]:
    text = value.lower() if isinstance(value, str) else str(value)
    if text in _TRUE or text in _FALSE:
        return f"write {shown(text in _TRUE)}{' without quotes' if isinstance(value, str) else ''}", text in _TRUE
    return "write true or false, without quotes", None


def _as_number(value: Any, wanted: str) -> tuple[str, Any]:
    text = str(value).strip() if isinstance(value, (str, float)) else ""
    if re.fullmatch(r"[+-]?[0-9]{1,19}(\.0*)?", text):
        number = int(text.partition(".")[0])
        return f"write {number} without {'quotes' if isinstance(value, str) else 'a decimal point'}", number
    if wanted == "number" and re.fullmatch(r"[+-]?[0-9]{1,19}\.[0-9]{1,19}", text):
        return f"write {text} without quotes", float(text)
    return "write a number" if wanted == "number" else "write a whole number", None


def _as_list(value: Any, item: Schema) -> tuple[str, Any]:
    if item.get("type") == "string" and isinstance(value, str):
        return f"write [{shown(value)}]", [value]
    if isinstance(value, dict) and item.get("type") == "object":
        if all(key in item.get("properties", ()) for key in value):
            return "put a dash before its first line", [value]
        return f"write a list of entries like - {item.get('required', ['name'])[0]}: …", None
    return "write a list, with a dash before each entry", None


def _as_object(value: Any, schema: Schema) -> str:
    if value == []:
        return "write {}"
    if isinstance(value, list):
        return "write each entry as name: …, without dashes"
    known = list(schema.get("properties", ()))
    return f"write its fields below it, for example {', '.join(known[:4])}" if known else "write lines of name: value below it"
