"""The renders that attribute the changes of a Dynamo resource's objects: each has one or several input fields of the new state reverted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import function_config
from krm_fn.kube import identity, paths
from krm_fn.provenance.ablation import Ablation, reverted
from krm_fn.review.diff import ChangeOrigin, sides
from krm_fn.schema import object_changes
from krm_fn.schema.object_changes import FieldChange

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.config import Config
    from krm_fn.kube.types import Resource
    from krm_fn.results import Path
    from krm_fn.review.diff import Side

_MOST = 4000
"""The largest number of objects that all renders of one resource make. With more, the fields of a service are reverted together."""
_SERVICE = 3
"""The number of steps of the path of a service in its graph."""
_FEW = 3
"""The largest number of fields that are named as the origins of one change."""


class RevertedFields:
    """A Dynamo resource that is an input of both states. `before` and `after` are its numbers among the inputs."""

    def __init__(self, old: Side, new: Side, before: int, after: int) -> None:
        self._old, self._new, self._before, self._after = old, new, before, after
        self._was, self._now = old.inputs[before], new.inputs[after]
        self._plain = [resource for resource in new.inputs if not sides.is_expanded(resource)]
        self._fields = object_changes.between(self._was, self._now)

    def singly(self, objects: int) -> Iterator[Ablation[ChangeOrigin]]:
        """One render for each field in which the states differ. `objects` is the number of objects that a render makes."""
        if len(self._fields) * objects > _MOST:
            yield from self._services()
        else:
            yield from (self._render(reverted(self._now, self._was, field), [field]) for field in self._fields)
        for origin, then in _configurations(self._old, self._new):
            yield Ablation((origin,), [self._now, *self._plain], then)
        for origin, others in _others(self._old, self._new):
            yield Ablation((origin,), [self._now, *others], self._new.config)

    def together(self) -> Iterator[Ablation[ChangeOrigin]]:
        """Renders with several fields reverted, for changes that no field makes alone: those of each service, then all."""
        if len(self._fields) > 1:
            yield from self._services()
            yield self._render(self._was, self._fields)

    def _services(self) -> Iterator[Ablation[ChangeOrigin]]:
        groups: dict[Path, list[FieldChange]] = {}
        for field in self._fields:
            groups.setdefault(field.names[:_SERVICE], []).append(field)
        for fields in groups.values():
            path, before = fields[0].path[:_SERVICE], fields[0].before[:_SERVICE]
            whole = FieldChange(path, paths.at(self._was, before), paths.at(self._now, path), before)
            yield self._render(reverted(self._now, self._was, whole), fields, whole)

    def _render(self, resource: Resource, fields: Sequence[FieldChange], whole: FieldChange | None = None) -> Ablation[ChangeOrigin]:
        named = fields if len(fields) <= _FEW else [whole or FieldChange((), self._was, self._now)]
        configured = self._new.config if self._new.settings is not self._now else function_config.read(resource)[0]
        origins = tuple(_origin(field, self._before, self._after) for field in named)
        return Ablation(origins, [resource, *self._plain], configured)


def _origin(field: FieldChange, before: int | None, after: int | None) -> ChangeOrigin:
    """The line of a field: in the new state, or in the old state if it was removed."""
    return ChangeOrigin("old", before, field.before) if field.new is None else ChangeOrigin("new", after, field.path)


def _configurations(old: Side, new: Side) -> Iterator[tuple[ChangeOrigin, Config]]:
    """The configurations in which one field is reverted."""
    if old.config == new.config or (new.settings and sides.is_expanded(new.settings)):
        return
    if old.settings is None or new.settings is None or old.settings.get("kind") != new.settings.get("kind"):
        yield ChangeOrigin("new" if new.settings else "old", None, ()), old.config
        return
    namespace = new.config.namespace
    is_given = function_config.read(new.settings)[0].namespace != namespace
    for field in object_changes.between(old.settings, new.settings):
        then = function_config.read(reverted(new.settings, old.settings, field))[0]
        yield _origin(field, None, None), then._replace(namespace=namespace if is_given else then.namespace)


def _others(old: Side, new: Side) -> Iterator[tuple[ChangeOrigin, list[Resource]]]:
    """The resources beside the Dynamo resources, such as Secrets, with one of them reverted."""
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
            yield (
                ChangeOrigin("new", now[0], ()) if now else ChangeOrigin("old", was[0] if was else None, ()),
                [*rest, *([was[1]] if was else [])],
            )
