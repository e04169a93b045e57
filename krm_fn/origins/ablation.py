"""Renders inputs with other values, and finds what this changes in the objects: for the origins of changes, and the effects of fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from krm_fn.base import results
from krm_fn.base.results import Path
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import config, dynamo_api, expand
from krm_fn.render.config import Config
from krm_fn.render.dynamo_resources import EXPANDED
from krm_fn.render.resolve.cluster import default_namespace
from krm_fn.render.schema import object_changes
from krm_fn.render.schema.object_changes import FieldChange, ObjectChange

FieldNumber = tuple[int, int | None]
"""The number of a change and of its field; None for the object as a whole."""


class Ablation(NamedTuple):
    """The inputs of a render with some fields reverted. `others` are further resources. Several renders can share the list."""

    resources: Sequence[Resource]
    config: Config
    others: Sequence[Resource] = ()

    def objects(self) -> dict[ObjectKey, Resource] | None:
        """Returns the rendered objects by key; None if a Dynamo resource does not render any more."""
        expansion = expand.expand([*self.resources, *self.others], self.config)
        failed = (result.ref for result in results.errors_of(expansion.results))
        if any(not ref or (ref.kind in EXPANDED and ref.api_version.startswith(f"{dynamo_api.GROUP}/")) for ref in failed):
            return None
        namespace = default_namespace(self.config)
        return {identity.key(resource, namespace): resource for resource in expansion.resources}


def _changed_paths(ablated: Resource, current: Resource) -> list[Path]:
    """Returns the fields of an object that it has only with the reverted fields, or has with another value."""
    return [change.path for change in object_changes.between(ablated, current) if change.new is not None and not change.order]


def disappearing(change: ObjectChange, rendered: Resource | None) -> Iterator[tuple[int | None, bool]]:
    """Yields the fields of a change that disappear or become another change in a render. True if the field disappears."""
    if change.old is None or change.new is None:
        if (rendered is None) == (change.old is None):
            yield None, True
        return
    if rendered is None or rendered == change.new:
        return
    remaining = object_changes.between(rendered, change.new)
    same = {_identity(field) for field in remaining}
    names = [_names(field) for field in remaining]
    for index, field in enumerate(change.fields):
        steps = _names(field)
        if _identity(field) in same:
            yield index, True
        elif any(other[: len(steps)] == steps or steps[: len(other)] == other for other in names):
            yield index, False


def _names(field: FieldChange) -> Path:
    """Returns the names of a path up to a list without keys: indexes differ between renders."""
    return next((field.names[:at] for at, step in enumerate(field.names) if isinstance(step, int)), field.names)


def _identity(field: FieldChange) -> tuple[Path, str, str]:
    return _names(field), repr(field.old), repr(field.new)


def with_value(resource: Resource, path: Path, value: Any) -> Resource:
    """Returns a copy of a resource with another value of a field. None removes the field."""
    copy: Resource = _with_value(resource, path, value)
    return copy


def without(resource: Resource, fields: Iterable[Path]) -> Resource:
    """Returns a copy of a resource without some fields. Later entries of a list go first, so that the indexes of the others stay."""
    removed = set(fields)
    for path in sorted(removed, key=lambda path: tuple((-step, "") if isinstance(step, int) else (0, step) for step in path)):
        if not any(path[:length] in removed for length in range(len(path))):
            resource = with_value(resource, path, None)
    return resource


def with_default(settings: Config, path: Path) -> Config:
    """Returns the configuration with the default of one key."""
    changed: Config = _with_default(settings, type(settings)(), path)
    return changed


def _with_value(holder: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    step: Any = path[0]
    copy: Any = dict(holder) if isinstance(holder, dict) else list(holder)
    if len(path) > 1:
        copy[step] = _with_value(copy[step], path[1:], value)
    elif value is not None:
        copy[step] = value
    elif isinstance(copy, list) or step in copy:
        del copy[step]
    return copy


def _with_default(settings: Any, default: Any, path: Path) -> Any:
    if not path:
        return default
    name = next(name for name in settings._fields if config.key(name) == path[0])
    return settings._replace(**{name: _with_default(getattr(settings, name), getattr(default, name), path[1:])})


def unlike(ablation: Ablation, current: Mapping[ObjectKey, Resource]) -> dict[ObjectKey, list[Path]]:
    """Returns the fields that each current object has only with the reverted fields; `()` for an object that is gone.

    Empty if the render fails.
    """
    objects = ablation.objects()
    if objects is None:
        return {}
    return {key: _changed_paths(objects[key], resource) if key in objects else [()] for key, resource in current.items()}
