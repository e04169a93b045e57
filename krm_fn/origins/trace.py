"""Renders with a second core whose values carry marks, and reads from which fields, settings and rules each value was made.

The second core is the ordinary one, loaded once more through an import hook that rewrites its syntax trees. The ordinary core does not know
of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from krm_fn.base import results
from krm_fn.base.results import Path, Ref
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.origins import marked_values, tracing_loader
from krm_fn.origins.marked_values import NONE, MarkedText, Marks, Overridden
from krm_fn.origins.origin import Origin
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
    """The objects of a render with their marks, in the order of the render, and the leaves of each generated object by its key."""

    marked: list[Resource]
    leaves: dict[ObjectKey, list[Leaf]]

    @property
    def resources(self) -> list[Resource]:
        """The objects without their marks."""
        return [marked_values.plain(resource) for resource in self.marked]


def render(resources: Sequence[Resource], settings: Config) -> Trace:
    """Renders with the second core. The objects are those of the ordinary core; `krm_fn.origins.explain` compares them."""
    return _trace_resources(resources, settings, lambda core, *arguments: core.expand(*arguments).resources)


def plan(resources: Sequence[Resource], settings: Config) -> Trace:
    """Makes the objects of each resource, also of one that `render` refuses because of a placeholder."""
    return _trace_resources(
        resources, settings, lambda core, *arguments: [made for entry in core.plans(*arguments) for made in entry.objects]
    )


def _trace_resources(
    resources: Sequence[Resource], settings: Config, objects: Callable[[Any, list[Resource], Any], list[Resource]]
) -> Trace:
    with tracing_loader.second_core() as load:
        core, kind = load("krm_fn.render.expand"), load("krm_fn.render.config").Config
        made = objects(core, [marked_resource(resource) for resource in resources], marked_config(settings, kind, config.key))
    inputs = {identity.key(resource) for resource in resources}
    generated = {key: marked for marked in made if (key := identity.key(marked)) not in inputs}
    return Trace(made, {key: leaves(marked) for key, marked in generated.items()})


def convert(resource: Resource, version: str) -> list[Leaf]:
    """Returns the leaves of a resource in another API version, `v1alpha1` or `v1beta1`."""
    with tracing_loader.second_core() as load:
        return leaves(load("krm_fn.render.convert.versions").to(version, marked_resource(resource)))


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
        placed, overridden = (key.marks, key.overridden) if type(key) is MarkedText else (NONE, ())
        collected.append(Leaf(path, marked_values.plain(value), marked_values.of(value) or placed, _rules_of(placed), overridden))


@lru_cache(10_000)
def _rules_of(marks: Marks) -> Marks:
    return frozenset(mark for mark in marks if mark.kind == "rule")


def marked_resource(resource: Resource) -> Resource:
    """The resource with marked values and keys."""
    marked: Resource = _marked_field(resource, results.ref(resource), ())
    return marked


def marked_config(settings: Config, kind: Any, key: Callable[[str], str]) -> Any:
    """The configuration as a value of `kind`, the type of the second core. `key` returns the key of an attribute in the functionConfig."""
    return _marked_settings(settings, kind, key, ())


def _marked_field(value: Any, ref: Ref, path: Path) -> Any:
    if type(value) is dict:
        return {
            MarkedText(name, frozenset((Origin("user", (*path, name), ref),))) if isinstance(name, str) else name: _marked_field(
                inner, ref, (*path, name)
            )
            for name, inner in value.items()
        }
    if type(value) is list:
        return [_marked_field(inner, ref, (*path, step)) for step, inner in enumerate(value)]
    return marked_values.with_marks(value, frozenset((Origin("user", path, ref),)))


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
    return marked_values.with_marks(value, frozenset((Origin("config", path),)))
