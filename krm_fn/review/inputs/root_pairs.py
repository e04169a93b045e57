"""Pairs the roots of both states of a repository, so that each object is compared with itself, whichever root applies it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from krm_fn.base.results import Result
from krm_fn.repository import destinations
from krm_fn.repository.states import RootFiles
from krm_fn.review.changed_lines.document_hunks import LocatedRender
from krm_fn.review.diff import moved_objects, rendered_state


class RootPair(NamedTuple):
    """A root in both states. One of the two is None for a root that only one state has."""

    new: RootFiles | None
    old: RootFiles | None


class RenderPair(NamedTuple):
    """A root with its rendered states. A state without the root is empty.

    `is_part`: only objects that move between two roots, and the new root has another comparison.
    """

    roots: RootPair
    new: LocatedRender
    old: LocatedRender
    is_part: bool = False


def by_folder(new: Sequence[RootFiles], old: Sequence[RootFiles]) -> list[RootPair]:
    """Pairs roots in the same folder, unless pipelines apply them to different clusters: first those that build the same."""
    left: dict[str, list[RootFiles]] = {}
    for state in old:
        left.setdefault(state.path, []).append(state)
    partners: dict[int, RootFiles] = {}
    for is_partner in (_is_same, _can_be_same):
        for index, state in enumerate(new):
            candidates = left.get(state.path, []) if index not in partners else []
            if partner := next((other for other in candidates if is_partner(other, state)), None):
                partners[index] = partner
                left[state.path] = [other for other in candidates if other is not partner]
    pairs = [RootPair(state, partners.get(index)) for index, state in enumerate(new)]
    remaining = {id(state) for states in left.values() for state in states}
    return [*pairs, *(RootPair(None, state) for state in old if id(state) in remaining)]


def _is_same(old: RootFiles, new: RootFiles) -> bool:
    return (old.root.namespace, old.destination) == (new.root.namespace, new.destination)


def _can_be_same(old: RootFiles, new: RootFiles) -> bool:
    return destinations.can_be_same(old.destination, new.destination, is_same_folder=True)


def lost_objects(pair: RootPair) -> list[Result]:
    """Returns the errors about resources of a Kustomization whose objects it built in the old state only, at its `transformers`."""
    if not pair.new or not pair.old or not pair.new.is_known or pair.new.root.kind != "kustomize" or pair.old.root.kind != "kustomize":
        return []
    old, new, kustomization = pair.old.sources, pair.new.sources, pair.new.kustomization
    findings = rendered_state.lost_objects(old.values, new.values, new.config, pair.new.name)
    if kustomization is None:
        return findings
    location = kustomization.location(("transformers",) if "transformers" in kustomization.value else ())
    return [finding._replace(**location) for finding in findings]


def by_objects(pairs: Sequence[RootPair], load: Callable[[RootPair], RenderPair]) -> list[RenderPair]:
    """Renders the pairs, and pairs roots that only one state has by their objects. Then it moves single objects to their new root."""
    loaded = [load(pair) for pair in pairs]
    new = [pair for pair in loaded if pair.roots.old is None]
    old = [pair for pair in loaded if pair.roots.new is None]
    fits = _fits([pair.roots.old for pair in old], [pair.roots.new for pair in new])
    together = moved_objects.best_pairs([pair.old.rendered for pair in old], [pair.new.rendered for pair in new], fits)
    together += _unknown_pairs(old, new, together, fits)
    partners = {id(new[number]): old[partner] for partner, number in together}
    gone = {id(partner) for partner in partners.values()}
    return _with_moves([_join_pairs(pair, partners.get(id(pair))) for pair in loaded if id(pair) not in gone])


def _join_pairs(new: RenderPair, old: RenderPair | None) -> RenderPair:
    """Returns the new state of one pair with the old state of another one."""
    return RenderPair(RootPair(new.roots.new, old.roots.old), new.new, old.old) if old else new


def _fits(old: Sequence[RootFiles | None], new: Sequence[RootFiles | None]) -> moved_objects.Fits:
    def fits(old_number: int, new_number: int) -> bool:
        before, after = old[old_number], new[new_number]
        if before is None or after is None:
            return False
        return destinations.can_be_same(before.destination, after.destination, is_same_folder=False)

    return fits


def _unknown_pairs(
    old: Sequence[RenderPair], new: Sequence[RenderPair], known: Sequence[tuple[int, int]], fits: moved_objects.Fits
) -> list[tuple[int, int]]:
    """Pairs roots that cannot be built in one state with those of the other state: the objects may have moved there."""
    pairs: list[tuple[int, int]] = []
    for number, pair in enumerate(new):
        if number not in {index for _, index in known}:
            free = (index for index in range(len(old)) if index not in {one for one, _ in (*known, *pairs)})
            partner = next((index for index in free if fits(index, number) and not (_is_known(pair) and _is_known(old[index]))), None)
            pairs += [] if partner is None else [(partner, number)]
    return pairs


def _is_known(pair: RenderPair) -> bool:
    return not any(root and not root.is_known for root in pair.roots)


def _with_moves(pairs: Sequence[RenderPair]) -> list[RenderPair]:
    """Returns the pairs without the objects that move between them, and a pair for each move."""
    fits = _fits([pair.roots.old for pair in pairs], [pair.roots.new for pair in pairs])
    moves = moved_objects.moves([(pair.old.rendered, pair.new.rendered) for pair in pairs], fits)
    remaining, parts = list[RenderPair](), list[RenderPair]()
    for number, pair in enumerate(pairs):
        left = {key for move in moves if move.old == number for key in move.keys}
        came = {key for move in moves if move.new == number for key in move.keys}
        new_state = pair.new._replace(rendered=moved_objects.without(pair.new.rendered, came))
        old_state = pair.old._replace(rendered=moved_objects.without(pair.old.rendered, left))
        if not _is_empty(pair, new_state, old_state):
            remaining.append(pair._replace(new=new_state, old=old_state))
    present = {id(pair.roots) for pair in remaining}
    for move in moves:
        source, target = pairs[move.old], pairs[move.new]
        new_state = target.new._replace(rendered=moved_objects.only(target.new.rendered, move.keys))
        old_state = source.old._replace(rendered=moved_objects.only(source.old.rendered, move.keys))
        new_state = new_state._replace(results=[]) if id(target.roots) in present else new_state
        old_state = old_state._replace(results=[]) if id(source.roots) in present else old_state
        present |= {id(source.roots), id(target.roots)}
        is_part = target.roots.old is not None
        parts.append(RenderPair(RootPair(target.roots.new, source.roots.old), new_state, old_state, is_part))
    return [*remaining, *parts]


def _is_empty(pair: RenderPair, new: LocatedRender, old: LocatedRender) -> bool:
    """True if all objects of a root that one state has are moved."""
    is_moved = new.rendered is not pair.new.rendered or old.rendered is not pair.old.rendered
    is_single = pair.roots.new is None or pair.roots.old is None
    return is_moved and is_single and not new.rendered.objects and not old.rendered.objects
