"""Finds objects that a change moves from one root of a repository to another. A cluster does not see it: the objects stay, and change.

A folder gets another name, a layer around a root becomes the root, a graph moves from one overlay to another, or a root is split. So
objects of both states are matched over all roots by group, kind, namespace and name, and then compared.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render.resolve import cluster
from krm_fn.review.diff.rendered_state import Render

Fits = Callable[[int, int], bool]
"""Tells whether an old root and a new root, given by their numbers, can be applied to the same cluster."""


class Move(NamedTuple):
    """Objects that are in the old state of one pair of roots and in the new state of another one. The pairs are numbers in their list."""

    old: int
    new: int
    keys: frozenset[ObjectKey]


def objects(state: Render) -> dict[ObjectKey, Resource]:
    """Returns all objects of a state by their keys, also the Dynamo resources that reach the cluster."""
    namespace = cluster.default_namespace(state.config)
    return {identity.key(resource, namespace): resource for resource in (*state.objects, *state.sources)}


def best_pairs(old: Sequence[Render], new: Sequence[Render], fits: Fits) -> list[tuple[int, int]]:
    """Pairs roots that are in one state only: those with the most equal objects first, then those with the most objects of the same key."""
    holders: dict[ObjectKey, list[tuple[int, Resource]]] = {}
    for number, state in enumerate(old):
        for key, resource in objects(state).items():
            holders.setdefault(key, []).append((number, resource))
    scores: dict[tuple[int, int], list[int]] = {}
    for new_number, state in enumerate(new):
        for key, resource in objects(state).items():
            for old_number, old_resource in holders.get(key, ()):
                if fits(old_number, new_number):
                    score = scores.setdefault((old_number, new_number), [0, 0])
                    score[0] += old_resource == resource
                    score[1] += 1
    pairs: list[tuple[int, int]] = []
    used = set[int](), set[int]()
    for pair in sorted(scores, key=lambda pair: scores[pair], reverse=True):
        if pair[0] not in used[0] and pair[1] not in used[1]:
            pairs.append(pair)
            used[0].add(pair[0])
            used[1].add(pair[1])
    return pairs


def moves(pairs: Sequence[tuple[Render, Render]], fits: Fits) -> list[Move]:
    """Returns the objects that leave one pair of an old and a new state, and come in another pair.

    An object that both pairs have in one state has two roots that apply it, so nothing moves.
    """
    states = [(objects(old), objects(new)) for old, new in pairs]
    left: dict[ObjectKey, list[int]] = {}
    for number, (old, new) in enumerate(states):
        for key in old:
            if key not in new:
                left.setdefault(key, []).append(number)
    moved: dict[tuple[int, int], set[ObjectKey]] = {}
    for number, (old, new) in enumerate(states):
        for key in new:
            if key not in old and (source := next((other for other in left.get(key, ()) if fits(other, number)), None)) is not None:
                left[key].remove(source)
                moved.setdefault((source, number), set()).add(key)
    return [Move(*pair, frozenset(keys)) for pair, keys in moved.items()]


def without(state: Render, keys: Collection[ObjectKey]) -> Render:
    """Returns a state without some objects."""
    return _filter_state(state, lambda key: key not in keys) if keys else state


def only(state: Render, keys: Collection[ObjectKey]) -> Render:
    """Returns a state with some objects only. What cannot be read of the state belongs to its other part."""
    return _filter_state(state, lambda key: key in keys)._replace(failed=frozenset(), is_partial=False)


def _filter_state(state: Render, is_part: Callable[[ObjectKey], bool]) -> Render:
    namespace = cluster.default_namespace(state.config)
    remaining = tuple(resource for resource in state.objects if is_part(identity.key(resource, namespace)))
    sources = tuple(resource for resource in state.sources if is_part(identity.key(resource, namespace)))
    return state._replace(objects=remaining, sources=sources)
