"""Finds the fields of the inputs that make a change.

If a render made both states, each field in which the inputs differ is reverted in turn: a change that then disappears is made by it.
Otherwise, the origin is the field or the component from which the new object was made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import identity
from krm_fn.provenance import ablation
from krm_fn.review.diff import ChangeOrigin, components, reverted_fields, sides

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.manifests.pod_builder import Pods
    from krm_fn.provenance.ablation import FieldNumber
    from krm_fn.results import Path
    from krm_fn.review.diff import Name, Side
    from krm_fn.schema.object_changes import FieldChange, ObjectChange


class _States:
    """Both states, with the indexes of their inputs by key."""

    def __init__(self, old: Side, new: Side) -> None:
        self.old, self.new = old, new
        self.before, self.after = (_indexes(each) for each in (old, new))
        self._components: dict[tuple[Name, int], list[Pods]] = {}

    def of(self, side: Name) -> tuple[Side, dict[ObjectKey, int]]:
        """One state with its indexes."""
        return (self.old, self.before) if side == "old" else (self.new, self.after)

    def components(self, side: Name, number: int) -> list[Pods]:
        """The components of a Dynamo resource of one state."""
        state = self.of(side)[0]
        if (side, number) not in self._components:
            self._components[side, number] = components.made(state.inputs[number], state.inputs, state.config)
        return self._components[side, number]


def _indexes(side: Side) -> dict[ObjectKey, int]:
    return {identity.key(each, sides.home(side.config)): index for index, each in enumerate(side.inputs)}


def find(old: Side, new: Side, changes: Sequence[ObjectChange]) -> Mapping[FieldNumber, tuple[ChangeOrigin, ...]]:
    """The origins of changes, by the number of the change and of its field; None for the object as a whole."""
    states = _States(old, new)
    found: dict[FieldNumber, tuple[ChangeOrigin, ...]] = {}
    owned: dict[ObjectKey, list[int]] = {}
    for number, change in enumerate(changes):
        if not change.fields and change.old is not None and change.new is not None:
            continue
        keys = sides.owner_keys(change.new or change.old or {}, change.key.namespace)
        owner = next((key for key in keys if key in states.after or key in states.before), None)
        if owner is None:
            found |= _written(states, number, change)
        else:
            owned.setdefault(owner, []).append(number)
    for owner, numbers in owned.items():
        found |= _by_ablation(states, owner, [(number, changes[number]) for number in numbers])
        for number in numbers:
            for index, field in _places(changes[number]):
                if (number, index) not in found:
                    found[number, index] = _of_component(states, owner, changes[number], field)
    return found


def _places(change: ObjectChange) -> Iterator[tuple[int | None, FieldChange | None]]:
    """The fields of a change with their numbers; None for an object that is new or was removed."""
    if change.old is None or change.new is None:
        yield None, None
    else:
        yield from enumerate(change.fields)


def _side(change: ObjectChange, field: FieldChange | None) -> tuple[Name, Path]:
    """The state that has the line of a change, and the path of the field in the object there."""
    if field is None:
        return ("old" if change.new is None else "new"), ()
    return ("old", field.before) if field.new is None else ("new", field.path)


def _written(states: _States, number: int, change: ObjectChange) -> dict[FieldNumber, tuple[ChangeOrigin, ...]]:
    """The origins of an object that is an input itself."""
    found: dict[FieldNumber, tuple[ChangeOrigin, ...]] = {}
    for index, field in _places(change):
        side, path = _side(change, field)
        known = states.of(side)[1].get(change.key)
        if known is not None:
            found[number, index] = (ChangeOrigin(side, known, path),)
    return found


def _of_component(states: _States, owner: ObjectKey, change: ObjectChange, field: FieldChange | None) -> tuple[ChangeOrigin, ...]:
    """The origin of a change as far as the object itself says it: its component. That of a live object is in the new state."""
    side, path = _side(change, field)
    resource = change.old if side == "old" else change.new
    side = side if owner in states.of(side)[1] else "new"
    state, known = states.of(side)
    if owner not in known or resource is None:
        return ()
    number = known[owner]
    return (ChangeOrigin(side, number, components.path(state.inputs[number], states.components(side, number), resource, path)),)


def _by_ablation(
    states: _States, owner: ObjectKey, changes: Sequence[tuple[int, ObjectChange]]
) -> dict[FieldNumber, tuple[ChangeOrigin, ...]]:
    """The origins that renders with reverted fields of the inputs find."""
    old, new = states.old, states.new
    if owner in old.built | new.built or owner not in states.before or owner not in states.after:
        return {}
    before, after = states.before[owner], states.after[owner]
    if old.inputs[before].get("apiVersion") != new.inputs[after].get("apiVersion"):
        return {}
    reverted = reverted_fields.RevertedFields(old, new, before, after)
    found = ablation.attribute(reverted.singly(len(changes)), changes)
    rest = [(number, change) for number, change in changes if any((number, index) not in found for index, _ in _places(change))]
    return {**ablation.attribute(reverted.together(), rest), **found} if rest else found
