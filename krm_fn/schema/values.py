"""Checks one value against a schema: its type, then its enum values, bounds and format.

`krm_fn.schema.check` checks the contents of objects and lists.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from krm_fn.records import NamedTuple
from krm_fn.schema import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.results import Path
    from krm_fn.schema.table import Schema

_FORMS = {
    "quantity": ("a quantity", "a number with a unit, for example 16Gi or 500m"),
    "date-time": ("a time", "it like 2026-01-31T12:00:00Z"),
    "duration": ("a duration", "a number with a unit, for example 15m or 1h30m"),
}
_BITS = {"int32": 31}
_SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "n", "u", "m", "k", "M", "G", "T", "P", "E")
_PRIVATE = frozenset(("args", "command", "env", "envs", "httpHeaders"))


class Violation(NamedTuple):
    """A schema violation: code, message with the fix after a semicolon, and the value to write instead if it is certain."""

    code: str
    message: str
    proposed: Any = None


def find(value: Any, schema: Schema, path: Path, definitions: dict[str, Schema]) -> Iterator[Violation]:
    """Yields every violation of a value. `schema` is not a reference.

    Objects and lists are passed only if the schema requires another type. `path` and `definitions` are only for the messages. A message
    never quotes a value below a private field.
    """
    if not _is_of_type(value, schema):
        private = is_private(path)
        from krm_fn.schema import fixes  # noqa: PLC0415 - only a finding needs it

        wanted = words.expected(schema)
        fix, proposed = (fixes.without_value(value, wanted), None) if private else fixes.fix(value, schema, path, definitions)
        said = words.kind(value) if private else words.described(value)
        yield Violation("DYN021", f"the field takes {words.TYPES[wanted]}, not {said}; {fix}", proposed)
    elif isinstance(value, str):
        yield from _string(value, schema, path)
    elif not isinstance(value, bool):
        yield from _number(value, schema, path)


def is_private(path: Path) -> bool:
    """True for a field whose value may be a secret: variables, command lines and headers, but not their names."""
    return not _PRIVATE.isdisjoint(path) and path[-1] != "name"


def is_quantity(text: str) -> bool:
    """True if a string is a Kubernetes quantity (apimachinery `pkg/api/resource`, ParseQuantity)."""
    unsigned = text[1:] if text.startswith(("+", "-")) else text
    suffix = unsigned.lstrip("0123456789.")
    exponent = suffix[2:] if suffix[1:2] in ("+", "-") else suffix[1:]
    number = unsigned.removesuffix(suffix)
    return _is_decimal(number) and (suffix in _SUFFIXES or (suffix[0] in "eE" and _is_decimal(exponent)))


def _is_of_type(value: Any, schema: Schema) -> bool:
    wanted = words.expected(schema)
    if isinstance(value, str):
        return wanted in ("string", "quantity", "int-or-string")
    if isinstance(value, bool):
        return wanted == "boolean"
    if isinstance(value, int):
        return wanted in ("integer", "number", "quantity", "int-or-string")
    return isinstance(value, float) and wanted == "number" and value - value == 0  # infinities and NaN are not JSON


def _named(value: Any, path: Path) -> str:
    """The value for a message, or `the value` if it is private."""
    return "the value" if is_private(path) else words.shown(value)


def _string(value: str, schema: Schema, path: Path) -> Iterator[Violation]:
    allowed = schema.get("enum")
    if allowed and value not in allowed:
        from krm_fn.schema import later, suggestions  # noqa: PLC0415 - only a finding needs them

        known = [word for word in allowed if word]
        if value in later.VALUES:
            yield Violation("DYN024", f"{_named(value, path)} is not one of {', '.join(known)}; {later.VALUES[value]}")
            return
        meant = suggestions.nearest(value, tuple(known)) or (known[0] if len(known) == 1 else "")
        yield Violation("DYN024", f"{_named(value, path)} is not one of {', '.join(known)}; write {meant or 'one of them'}", meant or None)
    if len(value) < schema.get("minLength", 0):
        yield Violation("DYN026", "the value must not be empty; write a text")
    if len(value) > schema.get("maxLength", len(value)):
        yield Violation("DYN026", f"the value has {len(value)} characters, but at most {schema['maxLength']} are allowed; shorten it")
    if not _has_form(value, schema):
        what, fix = _FORMS.get(schema.get("format", ""), ("in the required form", f"it so that it matches {schema.get('pattern')}"))
        yield Violation("DYN027", f"{_named(value, path)} is not {what}; write {fix}")


def _has_form(value: str, schema: Schema) -> bool:
    if schema.get("format") == "quantity":
        return is_quantity(value)
    return "pattern" not in schema or (re.search(schema["pattern"], value) is not None and not value.endswith("\n"))


def _number(value: float, schema: Schema, path: Path) -> Iterator[Violation]:
    least, most, bits = schema.get("minimum"), schema.get("maximum"), _BITS.get(schema.get("format", ""), 63)
    if least is not None and value < least:
        yield Violation("DYN025", f"{_named(value, path)} is less than the minimum {least}; write {least} or more")
    if most is not None and value > most:
        yield Violation("DYN025", f"{_named(value, path)} is more than the maximum {most}; write {most} or less")
    elif isinstance(value, int) and not -(2**bits) <= value < 2**bits:
        yield Violation(
            "DYN025", f"{_named(value, path)} does not fit into {bits + 1} bits; write a number between {-(2**bits)} and {2**bits - 1}"
        )


def _is_decimal(text: str) -> bool:
    return text.isascii() and text.replace(".", "", 1).isdecimal()
