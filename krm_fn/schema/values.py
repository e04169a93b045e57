"""What is wrong with one value, and how to mend it: wrong types first, then words, bounds and forms.

Not its business: the fields of objects and the items of lists (`krm_fn.schema.check`).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn.schema import suggestions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.results import Path
    from krm_fn.schema.table import Schema

_WANTED = {
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "quantity": "a quantity",
    "int-or-string": "an integer or a string",
}
_FORMS = {
    "quantity": ("a quantity", "a number with a unit, for example 16Gi or 500m"),
    "date-time": ("a time", "it like 2026-01-31T12:00:00Z"),
    "duration": ("a duration", "a number with a unit, for example 15m or 1h30m"),
}
_BITS = {"int32": 31}
_SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "n", "u", "m", "k", "M", "G", "T", "P", "E")
_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")


class Fault(NamedTuple):
    """One finding about a value: code, message with the mend after a semicolon, and the value to write instead, if that is certain."""

    code: str
    message: str
    proposed: Any = None


def find(value: Any, schema: Schema, path: Path, definitions: dict[str, Schema]) -> Iterator[Fault]:
    """What keeps a value from fitting a schema that is no reference. Objects and lists come here only where they do not belong.

    `path` and `definitions` serve the wording.
    """
    if not _is_of_type(value, schema):
        mend, proposed = _mend(value, schema, path, definitions)
        yield Fault("DYN021", f"wants {_WANTED[_type(schema)]}, not {described(value)}; {mend}", proposed)
    elif isinstance(value, str):
        yield from _text(value, schema)
    elif not isinstance(value, bool):
        yield from _number(value, schema)


def is_quantity(text: str) -> bool:
    """Whether a text is a Kubernetes quantity (apimachinery `pkg/api/resource`, ParseQuantity)."""
    unsigned = text[1:] if text.startswith(("+", "-")) else text
    suffix = unsigned.lstrip("0123456789.")
    exponent = suffix[2:] if suffix[1:2] in ("+", "-") else suffix[1:]
    number = unsigned.removesuffix(suffix)
    return _is_decimal(number) and (suffix in _SUFFIXES or (suffix[0] in "eE" and _is_decimal(exponent)))


def shown(value: Any) -> str:
    """A scalar as it stands in YAML, shortened."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:56]}…{text[-1]}"


def described(value: Any) -> str:
    """A value in words.

    >>> described("2"), described(True), described([1])
    ('the string "2"', 'the boolean true', 'a list')
    """
    if value is None:
        return "null"
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return f"the {'string' if isinstance(value, str) else 'boolean' if isinstance(value, bool) else 'number'} {shown(value)}"


def _type(schema: Schema) -> str:
    if "x-kubernetes-int-or-string" in schema:
        return "quantity" if schema["format"] == "quantity" else "int-or-string"
    wanted: str = schema["type"]
    return wanted


def _is_of_type(value: Any, schema: Schema) -> bool:
    wanted = _type(schema)
    if isinstance(value, str):
        return wanted in ("string", "quantity", "int-or-string")
    if isinstance(value, bool):
        return wanted == "boolean"
    if isinstance(value, int):
        return wanted in ("integer", "number", "quantity", "int-or-string")
    return isinstance(value, float) and wanted == "number" and value - value == 0  # infinities and NaN are no JSON


def _text(value: str, schema: Schema) -> Iterator[Fault]:
    words = schema.get("enum")
    if words and value not in words:
        known = [word for word in words if word]
        meant = suggestions.nearest(value, tuple(known)) or (known[0] if len(known) == 1 else "")
        yield Fault("DYN024", f"{shown(value)} is none of {', '.join(known)}; write {meant or 'one of them'}", meant or None)
    if len(value) < schema.get("minLength", 0):
        yield Fault("DYN026", "must not be empty; write a text")
    if len(value) > schema.get("maxLength", len(value)):
        yield Fault("DYN026", f"has {len(value)} characters, and {schema['maxLength']} are allowed; shorten it")
    if not _has_form(value, schema):
        what, mend = _FORMS.get(schema.get("format", ""), ("of the wanted form", f"it so that it matches {schema.get('pattern')}"))
        yield Fault("DYN027", f"{shown(value)} is not {what}; write {mend}")


def _has_form(value: str, schema: Schema) -> bool:
    if schema.get("format") == "quantity":
        return is_quantity(value)
    return "pattern" not in schema or (re.search(schema["pattern"], value) is not None and not value.endswith("\n"))


def _number(value: float, schema: Schema) -> Iterator[Fault]:
    least, bits = schema.get("minimum"), _BITS.get(schema.get("format", ""), 63)
    if least is not None and value < least:
        yield Fault("DYN025", f"{value} is less than {least}, the least allowed; write {least} or more")
    if isinstance(value, int) and not -(2**bits) <= value < 2**bits:
        yield Fault("DYN025", f"{value} does not fit into {bits + 1} bits; write a number between {-(2**bits)} and {2**bits - 1}")


def _mend(value: Any, schema: Schema, path: Path, definitions: dict[str, Schema]) -> tuple[str, Any]:
    """How to write what was probably meant, and that value where it is certain."""
    wanted = _type(schema)
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


def _as_text(value: Any, path: Path) -> tuple[str, Any]:
    listed = not path or isinstance(path[-1], int)
    key = "- " if listed else f"{path[-1]}: "
    if isinstance(value, bool):
        others = "on, yes and y as true" if value else "off, no and n as false"
        return f"quote it: {key}{json.dumps(shown(value))}, or in quotes what stands there, since YAML reads {others}", None
    if isinstance(value, (int, float)):
        return f"quote it: {key}{json.dumps(shown(value))}", shown(value)
    if isinstance(value, dict) and len(value) == 1 and listed:
        ((name, inner),) = value.items()
        whole = f"{name}: {inner}" if isinstance(inner, str) else f"{name}: {shown(inner)}"
        return f"quote the whole entry, because YAML reads a colon and a blank as an object: - {shown(whole)}", None
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return f"take the brackets or the dash away: {key}{shown(value[0])}", value[0]
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


def _is_decimal(text: str) -> bool:
    return text.isascii() and text.replace(".", "", 1).isdecimal()
