"""Fields of objects that a field of a graph or a key of the configuration affects, and fields of graphs that have no effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_fn.base import results
from krm_fn.base.results import Path
from krm_fn.kubernetes import identity, paths
from krm_fn.kubernetes.types import Resource
from krm_fn.origins import ablation, explain
from krm_fn.origins.ablation import Ablation
from krm_fn.origins.explain import Explained, Explanation
from krm_fn.origins.marked_values import NONE, ConfigMark, Mark, UserMark
from krm_fn.render import dynamo_api, dynamo_resources, expand, labels
from krm_fn.render.config import Config
from krm_fn.render.resolve import cluster


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
    changed = ablation.unlike(Ablation(resources, settings), current)
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
    others = [resource for resource in resources if results.ref(resource).kind not in dynamo_resources.EXPANDED]
    unused_fields = []
    for index, resource in enumerate(resources):
        if results.ref(resource).kind in dynamo_resources.EXPANDED:
            fields = [(path, value) for path, value in paths.leaves(resource) if UserMark(index, path) not in used]
            rest = [*resources[:index], *resources[index + 1 :]]
            unused_fields += [(index, path) for path in _without_effect(resource, fields, others, rest, settings)]
    return unused_fields


def _without_effect(
    resource: Resource, fields: Iterable[tuple[Path, Any]], others: Sequence[Resource], rest: Sequence[Resource], settings: Config
) -> Iterator[Path]:
    """Yields the fields of a resource whose other values change no object.

    Resources that are expanded know each other by the facts of the cluster only. So a resource is rendered with the `others`, which are
    not expanded, and with the whole `rest` if another value changes these facts.
    """
    alone, facts = [*others, resource], _facts(resource, settings)
    objects = _generated(alone, alone, settings)
    for path, value in fields:
        if _is_not_rendered(path):
            continue
        variants = [ablation.with_value(resource, path, new) for new in other_values(value)]
        if all(_facts(variant, settings) == facts for variant in variants):
            renders = [_generated([*others, variant], alone, settings) == objects for variant in variants]
        else:
            given = [*rest, resource]
            expected = _generated(given, given, settings)
            renders = [_generated([*rest, variant], given, settings) == expected for variant in variants]
        if all(renders):
            yield path


def _facts(resource: Resource, settings: Config) -> Any:
    """Returns what other resources can read of a resource."""
    return identity.key(resource), cluster.read([resource], settings)


def _is_not_rendered(path: Path) -> bool:
    """True for the type, the labels and the status of a resource, and for annotations that users do not write for Dynamo."""
    if path[:2] == ("metadata", "annotations") and len(path) > 2:
        return path[2] in labels.PRESERVED or not str(path[2]).startswith(f"{dynamo_api.GROUP}/")
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
