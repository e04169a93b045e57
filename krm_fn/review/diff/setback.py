"""Sets fields of a state back to their old values, one after the other: what the render then no longer changes is made by that field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import config
from krm_fn.kube import identity, paths
from krm_fn.records import NamedTuple
from krm_fn.review import fields
from krm_fn.review.changes import FieldChange
from krm_fn.review.diff import Origin, sides

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.config import Config
    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource
    from krm_fn.results import Path
    from krm_fn.review.diff import Side

_MOST = 4000
"""The largest number of objects that all renders of one resource make. With more, the fields of a service are set back together."""
_SERVICE = 3
"""The number of steps of the path of a service in its graph."""
_FEW = 3
"""The largest number of fields that are named as the origins of one change."""


class Render(NamedTuple):
    """What a render reads with some fields set back: the Dynamo resource, the other resources, and the configuration."""

    origins: tuple[Origin, ...]
    resource: Resource
    others: Sequence[Resource]
    config: Config

    def objects(self) -> dict[ObjectKey, Resource] | None:
        """The generated objects by their keys; None if the resource does not render so."""
        side = sides.rendered([self.resource, *self.others], self.config)
        return None if side.failed else {identity.key(each, sides.home(self.config)): each for each in side.objects}


class Graph:
    """A Dynamo resource that is an input of both states. `before` and `after` are its numbers among the inputs."""

    def __init__(self, old: Side, new: Side, before: int, after: int) -> None:
        self._old, self._new, self._before, self._after = old, new, before, after
        self._was, self._now = old.inputs[before], new.inputs[after]
        self._plain = [each for each in new.inputs if not sides.is_expanded(each)]
        self._fields = fields.between(self._was, self._now)

    def each(self, objects: int) -> Iterator[Render]:
        """One render for each field in which the states differ. `objects` is the number of objects that a render makes."""
        if len(self._fields) * objects > _MOST:
            yield from self._services()
        else:
            yield from (self._render(set_back(self._now, self._was, each), [each]) for each in self._fields)
        for origin, then in _configurations(self._old, self._new):
            yield Render((origin,), self._now, self._plain, then)
        for origin, instead in _others(self._old, self._new):
            yield Render((origin,), self._now, instead, self._new.config)

    def together(self) -> Iterator[Render]:
        """Renders with several fields set back, for changes that no field makes alone: those of each service, then all."""
        if len(self._fields) > 1:
            yield from self._services()
            yield self._render(self._was, self._fields)

    def _services(self) -> Iterator[Render]:
        groups: dict[Path, list[FieldChange]] = {}
        for field in self._fields:
            groups.setdefault(field.names[:_SERVICE], []).append(field)
        for listed in groups.values():
            path, before = listed[0].path[:_SERVICE], listed[0].before[:_SERVICE]
            whole = FieldChange(path, paths.at(self._was, before), paths.at(self._now, path), before)
            yield self._render(set_back(self._now, self._was, whole), listed, whole)

    def _render(self, resource: Resource, made: Sequence[FieldChange], whole: FieldChange | None = None) -> Render:
        listed = made if len(made) <= _FEW else [whole or FieldChange((), self._was, self._now)]
        configured = self._new.config if self._new.settings is not self._now else config.read(resource)[0]
        return Render(tuple(_origin(each, self._before, self._after) for each in listed), resource, self._plain, configured)


def _origin(field: FieldChange, before: int | None, after: int | None) -> Origin:
    """The line of a field: in the new state, or in the old state if it was removed."""
    return Origin("old", before, field.before) if field.new is None else Origin("new", after, field.path)


def _configurations(old: Side, new: Side) -> Iterator[tuple[Origin, Config]]:
    """The configurations in which one field is set back."""
    if old.config == new.config or (new.settings and sides.is_expanded(new.settings)):
        return
    if old.settings is None or new.settings is None or old.settings.get("kind") != new.settings.get("kind"):
        yield Origin("new" if new.settings else "old", None, ()), old.config
        return
    namespace = new.config.namespace
    is_given = config.read(new.settings)[0].namespace != namespace
    for field in fields.between(old.settings, new.settings):
        then = config.read(set_back(new.settings, old.settings, field))[0]
        yield _origin(field, None, None), then._replace(namespace=namespace if is_given else then.namespace)


def _others(old: Side, new: Side) -> Iterator[tuple[Origin, list[Resource]]]:
    """The resources beside the Dynamo resources, such as Secrets, with one of them set back."""
    before, after = (
        {
            identity.key(each, sides.home(side.config)): (index, each)
            for index, each in enumerate(side.inputs)
            if not sides.is_expanded(each)
        }
        for side in (old, new)
    )
    for key in dict.fromkeys((*after, *before)):
        was, now = before.get(key), after.get(key)
        if (was and was[1]) != (now and now[1]):
            rest = [each for name, (_, each) in after.items() if name != key]
            yield Origin("new", now[0], ()) if now else Origin("old", was[0] if was else None, ()), [*rest, *([was[1]] if was else [])]


def set_back(now: Resource, was: Resource, field: FieldChange) -> Resource:
    """A copy of a resource in which one field has its old value. It shares all other parts with the resource."""
    value = paths.at(was, field.before) if field.order else field.old
    made: Resource = _with(now, field.path, value, insert=field.new is None)
    return made


def _with(value: Any, path: Path, old: Any, *, insert: bool) -> Any:
    """A copy of a value with another value at a path. None removes the field. `insert` adds an entry to a list."""
    if not path:
        return old
    step: Any = path[0]
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    if len(path) > 1:
        copy[step] = _with(copy[step], path[1:], old, insert=insert)
    elif old is None:
        del copy[step]
    elif insert and isinstance(copy, list):
        copy.insert(step, old)
    else:
        copy[step] = old
    return copy
