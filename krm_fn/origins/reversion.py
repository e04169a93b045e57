"""Attributes changes of objects to parts of the input: reverts some parts, makes the objects again, and sees which changes disappear.

A part that makes no change costs little: parts are reverted in halves, and only a half that makes changes is halved again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.origins import ablation
from krm_fn.origins.ablation import FieldNumber
from krm_fn.render import labels
from krm_fn.render.schema.object_changes import ObjectChange

Objects = Mapping[ObjectKey, Resource]
Fields = frozenset[FieldNumber]
_NEIGHBOURS = 6
"""The largest number of parts that are reverted singly if neither half of them can be reverted."""


class Search:
    """A search for the parts of the input that make changes.

    `parts` has the address of each part, in the order of the input, for example its file and its hunk: neighbours are reverted together.
    `render` returns the objects with the parts of some numbers reverted; None if these cannot be reverted without others. It is called at
    most `limit` times. `is_settled` is true if a change needs no smaller group of parts than a given one.
    """

    def __init__(
        self,
        parts: Sequence[tuple[int, ...]],
        changes: Sequence[tuple[int, ObjectChange]],
        render: Callable[[tuple[int, ...]], Objects | None],
        limit: int,
        is_settled: Callable[[tuple[int, ...], FieldNumber], bool] = lambda _group, _field: False,
    ) -> None:
        self._parts, self._changes, self._render, self._left, self._is_settled = parts, changes, render, limit, is_settled
        self._effects: dict[tuple[int, ...], dict[FieldNumber, bool] | None] = {}
        self._groups: dict[FieldNumber, list[tuple[int, ...]]] = {}

    def run(self, *, is_complete: bool) -> Mapping[FieldNumber, tuple[tuple[int, ...], ...]]:
        """Returns the groups of parts that make each change. Parts of one group cannot be told apart.

        Unless the parts are all that differs (`is_complete`), all of them are reverted first, if this is possible: a change that stays has
        another origin.
        """
        fields: Fields = frozenset(field for change in self._changes for field in field_numbers(*change))
        everything = tuple(range(len(self._parts)))
        if not is_complete and (effects := self._revert_group(everything)) is not None:
            fields &= effects.keys()
        if fields and everything:
            self._divide(everything, fields)
        return {field: tuple(dict.fromkeys(groups)) for field, groups in self._groups.items()}

    def _revert_group(self, group: tuple[int, ...]) -> dict[FieldNumber, bool] | None:
        """Returns the changes that disappear, and those that become other changes (False), with a group of parts reverted."""
        if group not in self._effects:
            objects = self._render(group) if self._left > 0 else None
            self._left -= 1
            self._effects[group] = None if objects is None else dict(_effects(self._changes, objects))
        return self._effects[group]

    def _record(self, group: tuple[int, ...], fields: Iterable[FieldNumber]) -> None:
        for field in fields:
            self._groups.setdefault(field, []).append(group)

    def _divide(self, group: tuple[int, ...], fields: Fields) -> None:
        """Finds the parts of a group. Reverting the whole group reverts all of the changes `fields`."""
        settled = fields if len(group) == 1 else {field for field in fields if self._is_settled(group, field)}
        self._record(group, settled)
        if not (fields := fields - settled):
            return
        middle = self._middle(group)
        first, second = group[:middle], group[middle:]
        one = self._revert_group(first)
        other = self._revert_group(second)
        if one is None and other is None:
            self._singly(group, fields)
            return
        in_first, in_second = _affected_by_half(one, other, fields), _affected_by_half(other, one, fields)
        if in_first:
            self._divide(first, in_first)
        if in_second:
            self._divide(second, in_second)
        if rest := fields - in_first - in_second:
            self._redundant(group, middle, rest)

    def _middle(self, group: tuple[int, ...]) -> int:
        """Returns where a group is halved: between the parts whose addresses differ first, as near to the middle as possible."""
        for depth in range(1, len(self._parts[0]) + 1):
            addresses = [self._parts[part][:depth] for part in group]
            borders = [at for at in range(1, len(group)) if addresses[at] != addresses[at - 1]]
            if borders:
                return min(borders, key=lambda at: abs(2 * at - len(group)))
        return len(group) // 2

    def _singly(self, group: tuple[int, ...], fields: Fields) -> None:
        """Reverts each part of a group of which neither half can be reverted. Parts that need each other stay a group."""
        effects = {part: self._revert_group((part,)) for part in group} if len(group) <= _NEIGHBOURS else {}
        known: set[FieldNumber] = set()
        for part, effect in effects.items():
            if effect is not None:
                known |= fields & effect.keys()
                self._record((part,), fields & effect.keys())
        bound = tuple(part for part in group if effects.get(part) is None)
        together = self._revert_group(bound) if bound != group else None
        self._record(bound, fields - known if together is None else fields & together.keys())

    def _redundant(self, group: tuple[int, ...], middle: int, fields: Fields) -> None:
        """Finds two parts of which each alone makes the changes: the last one that must be reverted from each end of the group."""
        for ordered, known in ((group, middle), (group[::-1], len(group) - middle)):
            low, high = known, len(group)
            while high - low > 1:
                between = (low + high) // 2
                effect = self._revert_group(tuple(sorted(ordered[:between])))
                low, high = (low, between) if effect is not None and fields & effect.keys() else (between, high)
            self._record((ordered[high - 1],), fields)


def _affected_by_half(one: Mapping[FieldNumber, bool] | None, other: Mapping[FieldNumber, bool] | None, fields: Fields) -> Fields:
    """Returns the changes that a half makes, from the effects of both. A half that cannot be reverted makes what the other does not."""
    exact = {field for field, is_exact in (other or {}).items() if is_exact}
    if one is None:
        return frozenset(fields - exact)
    return frozenset(field for field, is_exact in one.items() if field in fields and (is_exact or field not in exact))


def _effects(changes: Iterable[tuple[int, ObjectChange]], objects: Objects) -> Iterable[tuple[FieldNumber, bool]]:
    for number, change in changes:
        resource = objects.get(change.key)
        for index, is_exact in ablation.disappearing(change, resource and labels.without_tool_annotations(resource)):
            yield (number, index), is_exact


def field_numbers(number: int, change: ObjectChange) -> list[FieldNumber]:
    """Returns the numbers of the fields of a change; None for an object that is new or was removed."""
    indexes: list[Any] = [None] if change.old is None or change.new is None else [*range(len(change.fields))]
    return [(number, index) for index in indexes]
