"""Marks the input of a render: each field of a resource, and each setting of the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.review.trace import marks
from krm_fn.review.trace.marks import ConfigMark, Text, UserMark

if TYPE_CHECKING:
    from collections.abc import Callable

    from krm_fn.config import Config
    from krm_fn.kube.types import Resource
    from krm_fn.results import Path


def resource(value: Resource, index: int) -> Resource:
    """The resource with marked values and keys. `index` is its index in the input."""
    marked: Resource = _field(value, index, ())
    return marked


def config(given: Config, kind: Any, key: Callable[[str], str]) -> Any:
    """The configuration as a value of `kind`, the type of the second core. `key` gives the name of an attribute in the functionConfig."""
    return _settings(given, kind, key, ())


def _field(value: Any, index: int, path: Path) -> Any:
    if type(value) is dict:
        return {
            Text(name, frozenset((UserMark(index, (*path, name)),))) if isinstance(name, str) else name: _field(inner, index, (*path, name))
            for name, inner in value.items()
        }
    if type(value) is list:
        return [_field(inner, index, (*path, place)) for place, inner in enumerate(value)]
    return marks.marked(value, frozenset((UserMark(index, path),)))


def _settings(given: Any, kind: Any, key: Callable[[str], str], path: Path) -> Any:
    """A named tuple of settings. The type of a nested one is that of its default."""
    made = {}
    for attribute, value in zip(given._fields, given, strict=True):
        at = (*path, key(attribute))
        default = kind._field_defaults[attribute]
        made[attribute] = _settings(value, type(default), key, at) if hasattr(default, "_fields") else _setting(value, at)
    return kind(**made)


def _setting(value: Any, path: Path) -> Any:
    """A setting. All entries of a list have the mark of the list."""
    if isinstance(value, tuple):
        entries = [_setting(each, path) for each in value]
        return type(value)(*entries) if hasattr(value, "_fields") else tuple(entries)
    return marks.marked(value, frozenset((ConfigMark(path),)))
