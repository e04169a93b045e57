"""Finds the one origin of which a text is a copy: the field that names an image, and the field that a conversion moves elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from krm_fn.base import results
from krm_fn.base.results import Path, Ref
from krm_fn.kubernetes import identity, paths
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.origins import explain, trace
from krm_fn.origins.marked_values import NONE, Marks
from krm_fn.origins.origin import Origin
from krm_fn.render.config import Config
from krm_fn.render.manifests import ownership


class TextOrigins:
    """The fields and settings of which the texts in generated objects are copies. The objects are traced for the first text."""

    def __init__(self, resources: Sequence[Resource], objects: Sequence[Resource], settings: Config) -> None:
        """Objects of an earlier render can be among the resources: no text comes from them."""
        self._resources = {index: resource for index, resource in enumerate(resources) if not ownership.is_marked(resource)}
        self._objects, self._settings = objects, settings

    def of(self, resource: Resource, path: Path) -> Origin | None:
        """Returns the origin of the text in a field of an object; None if the render made the text."""
        same = _copied_origins(self._marks.get((identity.key(resource), path), NONE), paths.at(resource, path), self._value)
        return min(same, key=str, default=None)

    @cached_property
    def _marks(self) -> dict[tuple[ObjectKey, Path], Marks]:
        traced = explain.trace_objects(self._resources, self._objects, self._settings, trace.plan)
        keyed = ((identity.key(resource), leaves) for resource, leaves in traced)
        return {(key, leaf.path): leaf.marks for key, leaves in keyed for leaf in leaves}

    @cached_property
    def _by_ref(self) -> dict[Ref, Resource]:
        return {results.ref(resource): resource for resource in self._resources.values()}

    def _value(self, origin: Origin) -> Any:
        return explain.setting(self._settings, origin.path) if origin.ref is None else paths.at(self._by_ref[origin.ref], origin.path)


def _copied_origins(marks: Iterable[Origin], value: Any, value_of: Callable[[Origin], Any]) -> list[Origin]:
    return [origin for origin in marks if origin.kind != "rule" and value_of(origin) == value]


def path_map(resource: Resource, version: str) -> Callable[[Path], Path]:
    """Returns a function from the path of a field to its path in another API version, `v1alpha1` or `v1beta1`, or to the nearest field.

    A field of the new version with the value of one of its origins is this field.
    """
    converted = trace.convert(resource, version)
    copies = [(leaf.path, _copied_origins(leaf.marks, leaf.value, lambda origin: paths.at(resource, origin.path))) for leaf in converted]
    leaves: dict[Path, Path] = {}
    for path, same in copies:
        for origin in same:
            if leaves.setdefault(origin.path, path) != path == origin.path:
                leaves[path] = path
    known = {path[:length] for path, _ in copies for length in range(len(path) + 1)}

    def new_path(path: Path) -> Path:
        if not path or path in leaves:
            return leaves.get(path, ())
        if below := [_above(new, old[len(path) :]) for old, new in leaves.items() if old[: len(path)] == path]:
            return _common(below)
        beside = (*new_path(path[:-1]), path[-1])
        return next((candidate for candidate in (beside, path) if candidate in known), beside[:-1])

    return new_path


def _above(leaf: Path, rest: Path) -> Path:
    """Returns the path of the object or list with a leaf. `rest` are the steps between both before the conversion."""
    return leaf[: -len(rest)] if leaf[-len(rest) :] == rest else leaf[:-1]


def _common(listed: list[Path]) -> Path:
    """Returns the longest path that all paths begin with."""
    first, last = min(listed, key=repr), max(listed, key=repr)
    length = next(
        (number for number, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), min(len(first), len(last))
    )
    return first[:length]
