"""Fields of objects that a field of a graph or a key of the configuration affects, and fields of graphs that have no effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_fn.base import results
from krm_fn.base.results import Path, Ref
from krm_fn.kubernetes import identity, paths
from krm_fn.kubernetes.types import Resource
from krm_fn.origins import ablation, explain
from krm_fn.origins.ablation import Ablation
from krm_fn.origins.explain import Explained, Explanation
from krm_fn.origins.origin import Origin
from krm_fn.render import dynamo_api, dynamo_resources, expand, labels
from krm_fn.render.config import Config
from krm_fn.render.resolve import cluster


def objects_reached(explanation: Explanation, inputs: Iterable[Origin]) -> list[Explained]:
    """Returns the objects with only the fields that are made of one of these fields or settings, or of a field below."""
    starts = tuple(inputs)

    def is_of(origin: Origin) -> bool:
        return any((origin.ref, origin.path[: len(start.path)]) == (start.ref, start.path) for start in starts if start.kind == origin.kind)

    return _only(explanation, lambda _, field: any(map(is_of, field.origins)))


def objects_decided(explanation: Explanation, inputs: Iterable[Origin]) -> list[Explained]:
    """Returns the objects with only the fields that differ without these fields of resources, and with the defaults of these settings.

    Empty if the render then fails.
    """
    ablated: dict[Ref | None, list[Path]] = {}
    for origin in inputs:
        ablated.setdefault(origin.ref, []).append(origin.path)
    settings = explanation.settings
    for path in ablated.get(None, ()):
        settings = ablation.with_default(settings, path)
    changed = [ablation.without(resource, ablated.get(results.ref(resource), ())) for resource in explanation.resources]
    current = {explained.key: explained.resource for explained in explanation.objects}
    differing = ablation.unlike(Ablation(changed, settings), current)
    return _only(explanation, lambda key, field: any(field.path[: len(path)] == path for path in differing.get(key, ())))


def unused_leaves(explanation: Explanation) -> list[Origin]:
    """Returns the leaves of Dynamo resources that reach no object: no field is made of them, and no object changes with them.

    Fields that a render needs, labels of the resource itself, and fields of resources that are not expanded, are not among them.
    """
    resources, settings = explanation.resources, explanation.settings
    used = {origin for explained in explanation.objects for field in explained.fields for origin in field.origins}
    others = [resource for resource in resources if results.ref(resource).kind not in dynamo_resources.EXPANDED]
    unused_fields: list[Origin] = []
    for index, resource in enumerate(resources):
        if results.ref(resource).kind in dynamo_resources.EXPANDED:
            ref, rest = results.ref(resource), [*resources[:index], *resources[index + 1 :]]
            fields = [(path, value) for path, value in paths.leaves(resource) if Origin("user", path, ref) not in used]
            unused_fields += [Origin("user", path, ref) for path in _without_effect(resource, fields, others, rest, settings)]
    return unused_fields


def _without_effect(
    resource: Resource, fields: Iterable[tuple[Path, Any]], others: Sequence[Resource], rest: Sequence[Resource], settings: Config
) -> Iterator[Path]:
    """Yields the fields of a resource whose other values change no object.

    Resources that are expanded know each other by the facts of the cluster only. So a resource is rendered with the `others`, which are
    not expanded, and with the whole `rest` if another value changes these facts.
    """
    alone, facts = [*others, resource], _facts(resource, settings)
    objects = _generate(alone, alone, settings)
    for path, value in fields:
        if _is_not_rendered(path):
            continue
        variants = [ablation.with_value(resource, path, new) for new in other_values(value)]
        if all(_facts(variant, settings) == facts for variant in variants):
            renders = [_generate([*others, variant], alone, settings) == objects for variant in variants]
        else:
            given = [*rest, resource]
            expected = _generate(given, given, settings)
            renders = [_generate([*rest, variant], given, settings) == expected for variant in variants]
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


def _generate(resources: Sequence[Resource], given: Sequence[Resource], settings: Config) -> list[Resource] | None:
    """Returns the generated objects; None with an error."""
    expansion = expand.expand(resources, settings)
    return None if results.has_errors(expansion.results) else explain.generated_objects(expansion.resources, given)


def _only(explanation: Explanation, is_wanted: Any) -> list[Explained]:
    objects = [
        explained._replace(fields=[field for field in explained.fields if is_wanted(explained.key, field)])
        for explained in explanation.objects
    ]
    return [explained for explained in objects if explained.fields]
