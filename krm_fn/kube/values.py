"""Reads values of resources that can have a wrong type, because no schema was checked, or in spite of its findings."""

from __future__ import annotations

from typing import Any


def mapping(value: Any, *path: str) -> dict[str, Any]:
    """The object at a path below the value, else an empty one."""
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; other entries are left out."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def name_of(entry: dict[str, Any]) -> str:
    """The name of a list's entry; empty if it has none."""
    return text(entry.get("name"))


def is_zero(value: Any) -> bool:
    """True for a value that Go's JSON leaves out of a struct: null, an empty text, list or object, and false."""
    return value is None or value is False or (isinstance(value, (str, list, dict)) and not value)


def renamed(fields: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """A copy in which some fields have other names."""
    return {names.get(field, field): value for field, value in fields.items()}
