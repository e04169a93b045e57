"""Renders with a second core whose values carry marks, and reads from which fields, settings and rules each value was made.

The second core is the ordinary one, loaded once more through an import hook that rewrites its syntax trees. The ordinary core does not know
of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from krm_fn.base.results import Path
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.origins import marked_values, tracing_loader
from krm_fn.origins.marked_values import NONE, ConfigMark, MarkedText, Marks, Overridden, RuleMark, UserMark
from krm_fn.render import config
from krm_fn.render.config import Config


class Leaf(NamedTuple):
    """A value of an object that is no mapping and no list, or an empty one.

    `marks` are what the value was made of. `placed` are the rules in the marks of the nearest key: they put the value there. `overridden`
    are the values that it replaced.
    """

    path: Path
    value: Any
    marks: Marks
    placed: Marks
    overridden: tuple[Overridden, ...]


class Trace(NamedTuple):
    """The objects of a render with their marks, in the order of the render, and the leaves of each object by its key."""

    marked: list[Resource]
    leaves: dict[ObjectKey, list[Leaf]]

    @property
    def resources(self) -> list[Resource]:
        """The objects without their marks."""
        return [marked_values.plain(resource) for resource in self.marked]


def render(resources: Sequence[Resource], settings: Config, indexes: Sequence[int] | None = None) -> Trace:
    """Renders with the second core. The objects are those of the ordinary core; `krm_fn.origins.explain` compares them.

    `indexes` are those of the resources in the whole input, for the marks; without them, the resources are the whole input.
    """
    with tracing_loader.second_core() as load:
        core, kind = load("krm_fn.render.expand"), load("krm_fn.render.config").Config
        marked = [marked_resource(resource, index) for index, resource in zip(indexes or range(len(resources)), resources, strict=True)]
        rendered = core.expand(marked, marked_config(settings, kind, config.key)).resources
    return Trace(rendered, {identity.key(marked): leaves(marked) for marked in rendered})


def leaves(value: Any, path: Path = (), key: Any = "") -> list[Leaf]:
    """The leaves of a value. `key` is the nearest key above the value."""
    collected: list[Leaf] = []
    _collect(value, path, key, collected)
    return collected


def _collect(value: Any, path: Path, key: Any, collected: list[Leaf]) -> None:
    if type(value) is dict and value:
        for name, inner in value.items():
            _collect(inner, (*path, marked_values.plain(name)), name, collected)
    elif type(value) is list and value:
        for index, inner in enumerate(value):
            _collect(inner, (*path, index), key, collected)
    else:
        is_marked = type(key) is MarkedText
        placed = key.marks if is_marked else NONE
        rules = frozenset(mark for mark in placed if type(mark) is RuleMark)
        overridden = key.overridden if is_marked else ()
        collected.append(Leaf(path, marked_values.plain(value), marked_values.of(value) or placed, rules, overridden))


def marked_resource(resource: Resource, index: int) -> Resource:
    """The resource with marked values and keys. `index` is its index in the input."""
    marked: Resource = _marked_field(resource, index, ())
    return marked


def marked_config(settings: Config, kind: Any, key: Callable[[str], str]) -> Any:
    """The configuration as a value of `kind`, the type of the second core. `key` returns the key of an attribute in the functionConfig."""
    return _marked_settings(settings, kind, key, ())


def _marked_field(value: Any, index: int, path: Path) -> Any:
    if type(value) is dict:
        return {
            MarkedText(name, frozenset((UserMark(index, (*path, name)),))) if isinstance(name, str) else name: _marked_field(
                inner, index, (*path, name)
            )
            for name, inner in value.items()
        }
    if type(value) is list:
        return [_marked_field(inner, index, (*path, step)) for step, inner in enumerate(value)]
    return marked_values.marked(value, frozenset((UserMark(index, path),)))


def _marked_settings(settings: Any, kind: Any, key: Callable[[str], str], path: Path) -> Any:
    """A named tuple of settings. The type of a nested one is that of its default."""
    marked = {}
    for attribute, value in zip(settings._fields, settings, strict=True):
        inner = (*path, key(attribute))
        default = kind._field_defaults[attribute]
        is_nested = hasattr(default, "_fields")
        marked[attribute] = _marked_settings(value, type(default), key, inner) if is_nested else _marked_setting(value, inner)
    return kind(**marked)


def _marked_setting(value: Any, path: Path) -> Any:
    """A setting. All entries of a list have the mark of the list."""
    if isinstance(value, tuple):
        entries = [_marked_setting(entry, path) for entry in value]
        return type(value)(*entries) if hasattr(value, "_fields") else tuple(entries)
    return marked_values.marked(value, frozenset((ConfigMark(path),)))
