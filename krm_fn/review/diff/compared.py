"""Compares two states: pairs their objects, finds the fields that differ, their origins, and the forecast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import identity
from krm_fn.review.diff import Diff, hidden, origins, sides
from krm_fn.review.forecast import forecast
from krm_fn.schema import object_changes
from krm_fn.schema.object_changes import ObjectChange

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource
    from krm_fn.results import Result
    from krm_fn.review.diff import Side


def compare(old: Side, new: Side, nodes: Sequence[Resource] | None = None, pods: Sequence[Resource] = ()) -> Diff:
    """Compares two states. `nodes` and `pods` are those of the cluster; None means that nothing is known about the nodes.

    The objects of a Dynamo resource that fails in one of the states are left out of both, so that its change has no forecast. The values
    of Secrets are hidden.
    """
    found = between(old, new)
    made = origins.find(old, new, found)
    shown = tuple(hidden.in_secrets(change) for change in found)
    return Diff(shown, forecast(found, nodes, pods), made, tuple(sorted(_unknown(old, new))), tuple(not_compared(old, new)))


def between(old: Side, new: Side) -> tuple[ObjectChange, ...]:
    """The changes of all objects, without those of Dynamo resources that fail in one of the states.

    An object that is in one state only is left out, if the other state lacks a part that cannot be read: the object may be there.
    """
    failed = _unknown(old, new)
    found = changes(_objects(old, failed), _objects(new, failed))
    return tuple(change for change in found if not (_is_written(change) and (old if change.old is None else new).lacks))


def _is_written(change: ObjectChange) -> bool:
    """True for an object that is in one state only, and that no Dynamo resource made."""
    one = change.old is None or change.new is None
    return one and not sides.owner_keys(change.new or change.old or {}, change.key.namespace)


def _unknown(old: Side, new: Side) -> frozenset[ObjectKey]:
    """The Dynamo resources that cannot be compared: they fail in a state, or the part of a state in which they may be cannot be read."""
    before, after = _expanded(old), _expanded(new)
    return old.failed | new.failed | (after - before if old.lacks else frozenset()) | (before - after if new.lacks else frozenset())


def _expanded(side: Side) -> frozenset[ObjectKey]:
    return frozenset(identity.key(each, sides.home(side.config)) for each in side.inputs if sides.is_expanded(each))


def changes(old: dict[ObjectKey, Resource], new: dict[ObjectKey, Resource]) -> tuple[ObjectChange, ...]:
    """The changes of all objects of both states: first those of the new state in its order, then the removed ones."""
    kept = [
        ObjectChange(key, old.get(key), value, object_changes.between(old[key], value) if key in old else ()) for key, value in new.items()
    ]
    return (*kept, *(ObjectChange(key, value, None) for key, value in old.items() if key not in new))


def _objects(side: Side, failed: frozenset[ObjectKey]) -> dict[ObjectKey, Resource]:
    """The objects by their keys, without those of failed Dynamo resources."""
    keyed = ((identity.key(each, sides.home(side.config)), each) for each in side.objects)
    return {key: each for key, each in keyed if failed.isdisjoint(sides.owner_keys(each, key.namespace))}


def not_compared(old: Side, new: Side) -> Iterator[Result]:
    """Warns of Dynamo resources without a forecast, because one of the states does not render or cannot be read."""
    for key in sorted(_unknown(old, new)):
        in_new = key in new.failed or (new.lacks and key not in _expanded(new))
        state, side = ("new", new) if in_new else ("old", old)
        wrong = "does not render" if key in side.failed else "cannot be read"
        named = (each for each in (*new.inputs, *old.inputs) if identity.key(each, sides.home(side.config)) == key)
        message = f"the {state} state of {key.kind} {key.name} {wrong}, so its objects are not compared and have no forecast"
        yield results.warning("DYN510", f"{message}; fix the errors about it", results.ref(next(named, {})))
