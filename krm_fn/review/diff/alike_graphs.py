"""Finds graphs that differ in their names only and change in the same way, so that the origins for one of them hold for all.

A fleet has many such graphs. A render copies the name of a graph into its objects, and shortens it by its length. So the names must have
the same length, and no other input of a render may have them in it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from krm_fn import results
from krm_fn.kube.types import Resource
from krm_fn.provenance.ablation import FieldNumber
from krm_fn.records import NamedTuple
from krm_fn.review.diff import rendered_state
from krm_fn.review.diff.rendered_state import ChangeOrigin, RenderedState
from krm_fn.schema.object_changes import ObjectChange

_NAME = "\0"
"""Replaces the name of a graph in texts. `repr` writes this character in another way, so that no other text has it."""


class KnownOrigins(NamedTuple):
    """The origins for one graph, by the position of the change and the number of its field, and the numbers of the graph's inputs."""

    origins: dict[FieldNumber, tuple[ChangeOrigin, ...]]
    old_number: int
    new_number: int

    def of(self, old_number: int, new_number: int, numbers: Sequence[int]) -> dict[FieldNumber, tuple[ChangeOrigin, ...]]:
        """Returns the origins for another graph. `numbers` are those of its changes."""
        moved = {("old", self.old_number): old_number, ("new", self.new_number): new_number}

        def here(origin: ChangeOrigin) -> ChangeOrigin:
            return origin if origin.number is None else origin._replace(number=moved.get((origin.state, origin.number), origin.number))

        return {(numbers[position], index): tuple(map(here, origins)) for (position, index), origins in self.origins.items()}


class AlikeGraphs:
    """Computes keys of changed graphs. Equal keys are those of graphs whose changes have the same origins."""

    def __init__(self, old: RenderedState, new: RenderedState) -> None:
        self._old, self._new = old, new
        self._others = repr([_others(state) for state in (old, new)])

    def key(self, old_number: int, new_number: int, changes: Sequence[ObjectChange]) -> Hashable | None:
        """Returns the key of a graph; None for a graph whose origins must be found for itself.

        The numbers are those of its inputs, and `changes` are those of its objects.
        """
        old, new = self._old.inputs[old_number], self._new.inputs[new_number]
        name = results.ref(new).name
        texts = tuple(repr(_without_name(resource)) for resource in (old, new))
        if not name.islower() or any(name in text for text in (*texts, self._others)):
            return None
        return len(name), texts, tuple(_text(change, name) for change in changes)


def _others(state: RenderedState) -> tuple[object, ...]:
    """Returns what a render of one graph reads beside the graph."""
    return state.config, state.settings, [resource for resource in state.inputs if not rendered_state.is_expanded(resource)]


def _without_name(resource: Resource) -> Resource:
    return {**resource, "metadata": {**resource["metadata"], "name": ""}}


def _text(change: ObjectChange, name: str) -> str:
    """Returns the object and the paths of a change as a text without the name of the graph.

    The inputs decide the values. Worker hashes are made of the name too, so they differ.
    """
    fields = [field._replace(old=field.old is None, new=field.new is None) for field in change.fields]
    return repr((change.key, change.old is None, change.new is None, fields)).replace(name, _NAME)
