"""Compares two states: pairs their objects, finds the fields that differ, their origins, and the forecast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import identity
from krm_fn.review.changes import Change
from krm_fn.review.diff import Diff, fields, hidden, origins, sides
from krm_fn.review.forecast import forecast

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
    return Diff(shown, forecast(found, nodes, pods), made, tuple(sorted(old.failed | new.failed)), tuple(not_compared(old, new)))


def between(old: Side, new: Side) -> tuple[Change, ...]:
    """The changes of all objects, without those of Dynamo resources that fail in one of the states."""
    failed = old.failed | new.failed
    return changes(_objects(old, failed), _objects(new, failed))


def changes(old: dict[ObjectKey, Resource], new: dict[ObjectKey, Resource]) -> tuple[Change, ...]:
    """The changes of all objects of both states: first those of the new state in its order, then the removed ones."""
    kept = [Change(key, old.get(key), value, fields.between(old[key], value) if key in old else ()) for key, value in new.items()]
    return (*kept, *(Change(key, value, None) for key, value in old.items() if key not in new))


def _objects(side: Side, failed: frozenset[ObjectKey]) -> dict[ObjectKey, Resource]:
    """The objects by their keys, without those of failed Dynamo resources."""
    keyed = ((identity.key(each, sides.home(side.config)), each) for each in side.objects)
    return {key: each for key, each in keyed if failed.isdisjoint(sides.owner_keys(each, key.namespace))}


def not_compared(old: Side, new: Side) -> Iterator[Result]:
    """Warns of Dynamo resources without a forecast, because one of the states does not render."""
    for key in sorted(old.failed | new.failed):
        state, side = ("new", new) if key in new.failed else ("old", old)
        named = (each for each in side.inputs if identity.key(each, sides.home(side.config)) == key)
        message = f"the {state} state of {key.kind} {key.name} does not render, so its objects are not compared and have no forecast"
        yield results.warning("DYN510", f"{message}; fix the errors about it", results.ref(next(named, {})))
