"""Fields of objects that a field of a graph or a key of the configuration affects, and fields of graphs that have no effect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from krm_fn import expand, results
from krm_fn.config import Config
from krm_fn.kube import identity, labels
from krm_fn.kube.types import Resource
from krm_fn.provenance import ablation
from krm_fn.provenance.ablation import Ablation
from krm_fn.provenance.marked_values import NONE, ConfigMark, Mark, UserMark
from krm_fn.results import Path
from krm_fn.review import explain
from krm_fn.review.explain import Explained, Explanation


def from_fields(explanation: Explanation, index: int, paths: Iterable[Path]) -> list[Explained]:
    """Returns the objects with only the fields that are made of one of these fields of a resource, or of a field below."""
    starts = tuple(paths)

    def is_of(mark: Mark) -> bool:
        return isinstance(mark, UserMark) and mark.resource == index and any(mark.path[: len(start)] == start for start in starts)

    return _only(explanation, lambda _, field: any(is_of(mark) for mark in field.marks))


def affected_by_fields(
    explanation: Explanation, resources: Sequence[Resource], settings: Config, index: int, paths: Iterable[Path]
) -> list[Explained]:
    """Returns the objects with only the fields that differ without these fields of a resource. Empty if the render then fails."""
    ablated = ablation.without(resources[index], paths)
    return _differing(explanation, [*resources[:index], ablated, *resources[index + 1 :]], settings)


def _differing(explanation: Explanation, resources: Sequence[Resource], settings: Config) -> list[Explained]:
    """Returns the objects with only the fields that another render does not have, or has with another value. Empty if that render fails."""
    current = {explained.key: explained.resource for explained in explanation.objects}
    changed = ablation.unlike(Ablation((), resources, settings), current)
    return _only(explanation, lambda key, field: any(field.path[: len(path)] == path for path in changed.get(key, ())))


def from_setting(explanation: Explanation, path: Path) -> list[Explained]:
    """Returns the objects with only the fields that are made of a key of the configuration."""
    return _only(explanation, lambda _, field: ConfigMark(path) in field.marks)


def affected_by_setting(explanation: Explanation, resources: Sequence[Resource], settings: Config, path: Path) -> list[Explained]:
    """Returns the objects with only the fields that differ with the default of a key of the configuration.

    Empty if the render then fails.
    """
    return _differing(explanation, resources, ablation.with_default(settings, path))


def unused(explanation: Explanation, resources: Sequence[Resource], settings: Config) -> list[tuple[int, Path]]:
    """Returns the leaves of Dynamo resources that reach no object: no field is made of them, and no object changes with them.

    Fields that a render needs, labels of the resource itself, and fields of resources that are not expanded, are not among them.
    """
    used = NONE.union(*(field.marks for explained in explanation.objects for field in explained.fields))
    unused_fields = []
    objects = _generated(resources, resources, settings)
    for index, resource in enumerate(resources):
        for path, value in explain.fields_of(resource) if results.ref(resource).kind in ablation.EXPANDED else ():
            if UserMark(index, path) in used or _is_not_rendered(path):
                continue
            variants = (ablation.with_value(resource, path, new) for new in other_values(value))
            renders = [_generated([*resources[:index], variant, *resources[index + 1 :]], resources, settings) for variant in variants]
            if all(render == objects for render in renders):
                unused_fields.append((index, path))
    return unused_fields


def _is_not_rendered(path: Path) -> bool:
    """True for the type, the labels and the status of a resource, and for annotations that users do not write for Dynamo."""
    if path[:2] == ("metadata", "annotations") and len(path) > 2:
        return path[2] in labels.PRESERVED or not str(path[2]).startswith(f"{identity.DYNAMO_GROUP}/")
    return path[0] in ("apiVersion", "kind", "status") or path[:2] in (("metadata", "labels"), ("metadata", "annotations"))


def other_values(value: Any) -> tuple[Any, ...]:
    """Returns the values that are tried in place of a value; None removes the field."""
    if isinstance(value, bool):
        return (None, not value)
    if isinstance(value, int | float):
        return (None, value + 1)
    return (None, f"{value}x") if isinstance(value, str) else (None,)


def _generated(resources: Sequence[Resource], given: Sequence[Resource], settings: Config) -> list[Resource] | None:
    """Returns the generated objects; None with an error."""
    expansion = expand.expand(resources, settings)
    return None if results.failed(expansion.results) else explain.generated(expansion.resources, given)


def _only(explanation: Explanation, is_wanted: Any) -> list[Explained]:
    objects = [
        explained._replace(fields=[field for field in explained.fields if is_wanted(explained.key, field)])
        for explained in explanation.objects
    ]
    return [explained for explained in objects if explained.fields]
