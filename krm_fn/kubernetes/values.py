"""Readers of values that can have any type, because no schema was checked, or in spite of its findings."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_INT64_DIGITS = 19


def mapping(value: Any, *path: str) -> dict[str, Any]:
    """Returns the object at a path below the value, else an empty one."""
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def objects(value: Any) -> list[dict[str, Any]]:
    """Returns the objects of a list; other entries are left out."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def texts(value: Any) -> list[str]:
    """Returns the strings of a list; other entries are left out."""
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """Returns the value if it is a string, else an empty string."""
    return value if isinstance(value, str) else ""


def int64(written: str) -> int | None:
    """Returns the whole number in a text, as Go parses it: an optional sign and ASCII digits, 64 bits; None for any other text.

    >>> int64("+08"), int64("1.5"), int64("9" * 5000)
    (8, None, None)
    """
    sign = written[:1] if written[:1] in ("+", "-") else ""
    digits = written[len(sign) :]
    if not (digits.isascii() and digits.isdigit()) or len(digits := digits.lstrip("0")) > _INT64_DIGITS:
        return None
    number = int(digits or "0")
    number = -number if sign == "-" else number
    return number if -(2**63) <= number < 2**63 else None


def name_of(entry: dict[str, Any]) -> str:
    """Returns the name of a list's entry; empty if it has none."""
    return text(entry.get("name"))


def is_zero(value: Any) -> bool:
    """Returns true for a value that Go's JSON leaves out of a struct: null, false, and an empty string, list or object."""
    return value is None or value is False or (isinstance(value, (str, list, dict)) and not value)


def rename_fields(fields: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Copies an object, with other names for some fields."""
    return {names.get(field, field): value for field, value in fields.items()}


def json_size(value: Any, limit: int) -> int:
    """Returns the approximate number of bytes of a value as compact JSON. Counting stops soon after `limit`, whatever YAML aliases repeat.

    >>> json_size({"a": ["bc", 1, True]}, 100)
    24
    """
    total, values = 0, [value]
    while values and total <= limit:
        value = values.pop()
        if isinstance(value, dict):
            total += 2 + sum(len(key) + 4 for key in value)
            values.extend(value.values())
        elif isinstance(value, list):
            total += 2 + len(value)
            values.extend(value)
        else:
            total += len(value.encode(errors="replace")) + 2 if isinstance(value, str) else 4
    return total
