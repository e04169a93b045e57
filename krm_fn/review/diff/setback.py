"""Sets fields of a state back to their old values, one after the other: what the render then no longer changes is made by that field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import config
from krm_fn.kube import identity
from krm_fn.records import NamedTuple
from krm_fn.review.diff import Origin, fields, sides

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.config import Config
    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource
    from krm_fn.results import Path
    from krm_fn.review.changes import FieldChange
    from krm_fn.review.diff import Side

_MOST = 4000
"""The largest number of objects that all renders of one resource make. With more, the fields of a service are set back together."""
_SERVICE = 3
"""The number of steps of the path of a service in its graph."""


class Render(NamedTuple):
    """What a render reads with one field set back: the Dynamo resource, the other resources, and the configuration."""

    origin: Origin
    resource: Resource
    others: Sequence[Resource]
    config: Config

    def objects(self) -> dict[ObjectKey, Resource] | None:
        """The generated objects by their keys; None if the resource does not render so."""
        side = sides.rendered([self.resource, *self.others], self.config)
        return None if side.failed else {identity.key(each, sides.home(self.config)): each for each in side.objects}


def renders(old: Side, new: Side, before: int, after: int, objects: int) -> Iterator[Render]:
    """One render for each field in which the states differ, for a Dynamo resource that is an input of both.

    `before` and `after` are the indexes of the resource among the inputs. `objects` is the number of objects that it makes.
    """
    was, now = old.inputs[before], new.inputs[after]
    others = [each for each in new.inputs if not sides.is_expanded(each)]
    found = fields.between(was, now)
    if len(found) * objects > _MOST:
        found = tuple(_by_service(found, was, now))
    for field in found:
        resource = set_back(now, was, field)
        configured = new.config if new.settings is not now else config.read(resource)[0]
        yield Render(_origin(field, before, after), resource, others, configured)
    for origin, then in _configurations(old, new):
        yield Render(origin, now, others, then)
    for origin, instead in _others(old, new):
        yield Render(origin, now, instead, new.config)


def _origin(field: FieldChange, before: int | None, after: int | None) -> Origin:
    """The line of a field: in the new state, or in the old state if it was removed."""
    return Origin("old", before, field.before) if field.new is None else Origin("new", after, field.path)


def _by_service(found: Sequence[FieldChange], was: Resource, now: Resource) -> Iterator[FieldChange]:
    """The changes of whole services, in place of those of their fields."""
    for field in {each.names[:_SERVICE]: each for each in found}.values():
        path, before = field.path[:_SERVICE], field.before[:_SERVICE]
        yield field._replace(path=path, before=before, names=field.names[:_SERVICE], old=at(was, before), new=at(now, path), order=False)


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
    value = at(was, field.before) if field.order else field.old
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


def at(value: Any, path: Path) -> Any:
    """The value at a path; None if there is none."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value
