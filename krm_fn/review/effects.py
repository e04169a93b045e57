"""What fields of graphs and keys of the configuration do: which fields of objects they reach and decide, and which ones have no effect."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from krm_fn import config, expand, results
from krm_fn.kube import identity, labels
from krm_fn.review import explain, fields
from krm_fn.review.trace.marks import NONE, ConfigMark, UserMark

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from krm_fn.config import Config
    from krm_fn.kube.types import Resource
    from krm_fn.results import Path
    from krm_fn.review.explain import Explained, Explanation, Field
    from krm_fn.review.trace.marks import Mark

_EXPANDED = (identity.GRAPH, identity.COMPONENT, identity.REQUEST)
_REMOVE = object()


def reached(explanation: Explanation, index: int, paths: Iterable[Path]) -> list[Explained]:
    """The objects with only the fields that are made of one of these fields of a resource, or of a field below."""
    starts = tuple(paths)

    def is_of(mark: Mark) -> bool:
        return isinstance(mark, UserMark) and mark.resource == index and any(mark.path[: len(start)] == start for start in starts)

    return _only(explanation, lambda _, field: any(is_of(mark) for mark in field.marks))


def decided(
    explanation: Explanation, resources: Sequence[Resource], settings: Config, index: int, paths: Iterable[Path]
) -> list[Explained]:
    """The objects with only the fields that differ without these fields of a resource. Empty if the render then fails."""
    without, known = resources[index], set(paths)
    for path in sorted(known, key=_order_of_removal):
        if not any(path[:length] in known for length in range(len(path))):
            without = _changed(without, path, _REMOVE)
    return _differing(explanation, [*resources[:index], without, *resources[index + 1 :]], settings)


def _differing(explanation: Explanation, resources: Sequence[Resource], settings: Config) -> list[Explained]:
    """The objects with only the fields that another render does not have, or has with another value. Empty if that render fails."""
    after = expand.expand(resources, settings)
    if results.failed(after.results):
        return []
    others = {identity.key(each): each for each in after.resources}
    kept = [each._replace(fields=_unlike(each, others[each.key])) if each.key in others else each for each in explanation.objects]
    return [each for each in kept if each.fields]


def _unlike(explained: Explained, other: Resource) -> list[Field]:
    """The fields that the other state of the object does not have, or has with another value."""
    moved = [each.path for each in fields.between(other, explained.resource) if each.new is not None and not each.order]
    return [field for field in explained.fields if any(field.path[: len(path)] == path for path in moved)]


def reached_by_setting(explanation: Explanation, path: Path) -> list[Explained]:
    """The objects with only the fields that are made of a key of the configuration."""
    return _only(explanation, lambda _, field: ConfigMark(path) in field.marks)


def decided_by_setting(explanation: Explanation, resources: Sequence[Resource], settings: Config, path: Path) -> list[Explained]:
    """The objects with only the fields that differ with the default of a key of the configuration. Empty if the render then fails."""
    return _differing(explanation, resources, _with_default(settings, type(settings)(), path))


def _with_default(settings: Any, default: Any, path: Path) -> Any:
    if not path:
        return default
    name = next(name for name in settings._fields if config.key(name) == path[0])
    return settings._replace(**{name: _with_default(getattr(settings, name), getattr(default, name), path[1:])})


def unused(explanation: Explanation, resources: Sequence[Resource], settings: Config) -> list[tuple[int, Path]]:
    """The leaves of Dynamo resources that reach no object: no field is made of them, and no object changes with them.

    Fields that a render needs, labels of the resource itself, and fields of resources that are not expanded, are not among them.
    """
    used = NONE.union(*(field.marks for each in explanation.objects for field in each.fields))
    found = []
    before = _generated(resources, resources, settings)
    for index, resource in enumerate(resources):
        for path, value in explain.fields_of(resource) if results.ref(resource).kind in _EXPANDED else ():
            if UserMark(index, path) in used or _is_no_graph(path):
                continue
            variants = (_changed(resource, path, new) for new in _others(value))
            after = [_generated([*resources[:index], each, *resources[index + 1 :]], resources, settings) for each in variants]
            if all(each == before for each in after):
                found.append((index, path))
    return found


def _is_no_graph(path: Path) -> bool:
    """True for the type, the labels and the status of a resource, and for annotations that users do not write for Dynamo."""
    if path[:2] == ("metadata", "annotations") and len(path) > 2:
        return path[2] in labels.PRESERVED or not str(path[2]).startswith(f"{identity.DYNAMO_GROUP}/")
    return path[0] in ("apiVersion", "kind", "status") or path[:2] in (("metadata", "labels"), ("metadata", "annotations"))


def _order_of_removal(path: Path) -> tuple[Any, ...]:
    """A sort key that removes later entries of a list first, so that the indexes of the others stay."""
    return tuple((-step, "") if isinstance(step, int) else (0, step) for step in path)


def _others(value: Any) -> tuple[Any, ...]:
    """What is tried in place of a value."""
    if isinstance(value, bool):
        return (_REMOVE, not value)
    if isinstance(value, int | float):
        return (_REMOVE, value + 1)
    return (_REMOVE, f"{value}x") if isinstance(value, str) else (_REMOVE,)


def _generated(resources: Sequence[Resource], given: Sequence[Resource], settings: Config) -> list[Resource] | None:
    """The generated objects; None with an error."""
    made = expand.expand(resources, settings)
    return None if results.failed(made.results) else explain.generated(made.resources, given)


def _changed(resource: Resource, path: Path, value: Any) -> Resource:
    """A copy of a resource with another value in a field, or without the field."""
    changed: Any = json.loads(json.dumps(resource))
    holder = changed
    last: Any = path[-1]
    for step in path[:-1]:
        holder = holder[step]
    if value is not _REMOVE:
        holder[last] = value
    elif isinstance(holder, list) or last in holder:
        del holder[last]
    made: Resource = changed
    return made


def _only(explanation: Explanation, wanted: Any) -> list[Explained]:
    kept = [each._replace(fields=[field for field in each.fields if wanted(each.key, field)]) for each in explanation.objects]
    return [each for each in kept if each.fields]
