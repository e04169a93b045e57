"""Finds the lines that make the changes of objects: reverts hunks of the sources, and renders or builds again.

Every line is a line that differs between both states of the sources, so a reviewer finds it in the commit. A change without a known line
has another cause, such as a build that reads the network, or its cause cannot be found with a bounded number of renders.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import paths
from krm_fn.origins import reversion, text_hunks
from krm_fn.origins.ablation import FieldNumber
from krm_fn.origins.reversion import Objects, Search
from krm_fn.origins.text_hunks import Hunk, TextPair
from krm_fn.render import labels
from krm_fn.render.manifests import ownership
from krm_fn.render.schema.object_changes import FieldChange, ObjectChange
from krm_fn.review.changed_lines import hunk_lines
from krm_fn.review.changed_lines.hunk_lines import HunkLine, HunkLines, KnownPairs, Sought
from krm_fn.review.diff import diff_report
from krm_fn.review.diff.rendered_state import ChangeOrigin

Changes = Sequence[tuple[int, ObjectChange]]
"""Changes of objects with their numbers."""
Origins = dict[FieldNumber, tuple[ChangeOrigin, ...]]
Groups = Mapping[FieldNumber, tuple[tuple[int, ...], ...]]
"""The groups of parts that make each change, by the position of the change and the number of its field."""
KnownGroups = dict[Hashable, Groups]
_ORIGINS = 10
"""The largest number of lines that are named for one field."""
_SEVERAL = 2


def differing(changes: Iterable[ObjectChange]) -> Changes:
    """Returns the changes of objects that differ, with their numbers."""
    return [(number, change) for number, change in enumerate(changes) if change.fields or change.old is None or change.new is None]


class HunkPart(NamedTuple):
    """The smallest part of a difference that is reverted. `hunk` is the number of the whole hunk in its pair of texts."""

    hunk: int
    lines: Hunk


class SourceTexts:
    """Both states of the texts from which objects are made, and the parts in which they differ. `known` has pairs of other roots."""

    def __init__(self, pairs: Sequence[TextPair], known: KnownPairs | None = None) -> None:
        self.pairs = pairs
        self.lines = HunkLines(pairs, known)
        self._parts: dict[int, list[HunkPart]] = {}

    @property
    def parts(self) -> list[HunkPart]:
        """The parts that differ, in the order of the texts."""
        return [part for number in range(len(self.pairs)) for part in self.parts_of(number)]

    def parts_of(self, number: int) -> list[HunkPart]:
        """Returns the parts in which one text differs."""
        if number not in self._parts:
            pair = self.pairs[number]
            hunks = enumerate(text_hunks.between(number, pair))
            self._parts[number] = [HunkPart(index, lines) for index, hunk in hunks for lines in text_hunks.parts(hunk, pair)]
        return self._parts[number]

    def lines_of(self, number: int) -> tuple[tuple[str, ...], ...]:
        """Returns the lines of the parts in which one text differs, of both states."""
        pair, parts = self.pairs[number], self.parts_of(number)
        sides = [(text, lines) for part in parts for text, lines in ((pair.old, part.lines.old), (pair.new, part.lines.new))]
        return tuple(tuple(text_hunks.lines(text)[lines.start : lines.stop]) for text, lines in sides)

    def revert_parts(self, names: Sequence[str], parts: Iterable[HunkPart]) -> dict[str, str | None]:
        """Returns the texts with reverted parts, by the names of the pairs; None for a text that does not exist then."""
        by_pair: dict[int, list[Hunk]] = {}
        for part in parts:
            by_pair.setdefault(part.lines.pair, []).append(part.lines)
        return {names[number]: text_hunks.revert_hunks(self.pairs[number], hunks) for number, hunks in by_pair.items()}


class Attribution(NamedTuple):
    """What a search needs beside the changes: the parts that may make them, and a render with some of these parts reverted.

    `limit` is the largest number of renders. `is_complete`: nothing but the parts differs. `is_costly`: a render is a build, so parts of
    one hunk are not told apart if one of its lines clearly fits to a change.
    """

    texts: SourceTexts
    parts: Sequence[HunkPart]
    render: Callable[[Sequence[HunkPart]], Objects | None]
    limit: int
    is_complete: bool = True
    is_costly: bool = False

    def find(self, changes: Changes, known: KnownGroups | None = None, likeness: Hashable = None) -> Origins:
        """Returns the origins of changes, by the numbers of their fields. A change with an unknown origin has none.

        `known` has the groups of earlier searches with an equal `likeness`, in which the same parts make the same changes.
        """
        only = [change for _, change in changes]
        key = None if likeness is None else (likeness, _shape(only))
        if known is None or key is None or len(self.parts) < _SEVERAL:
            groups = self._groups(only)
        else:
            groups = known[key] if key in known else known.setdefault(key, self._groups(only))
        return {(changes[position][0], index): _origins(lines) for (position, index), lines in self._lines_of_changes(only, groups).items()}

    def _lines_of_changes(self, changes: Sequence[ObjectChange], groups: Groups) -> dict[FieldNumber, list[HunkLine]]:
        """Returns the lines of each change: those that fit best, and for a worker hash those of the changes in the pods of its workers."""
        hashes = _hashes(changes)
        lines = {field: self._nearest(listed, changes[field[0]], field[1]) for field, listed in groups.items() if field not in hashes}
        for field in groups.keys() & hashes.keys():
            parts = {*itertools.chain(*groups[field])}
            makers = {
                (line.file, line.line): line
                for maker in hashes[field]
                if not parts.isdisjoint(itertools.chain(*groups.get(maker, ())))
                for line in lines[maker]
            }
            clear = sorted(line for line in makers.values() if line.points >= hunk_lines.CLEAR)
            lines[field] = clear or self._nearest(groups[field], changes[field[0]], field[1])
        return lines

    def _groups(self, changes: Sequence[ObjectChange]) -> Groups:
        addresses = [(*_address(part), index) for index, part in enumerate(self.parts)]
        hashes = _hashes(changes)

        def is_settled(group: tuple[int, ...], field: FieldNumber) -> bool:
            if not self.is_costly or len({addresses[part][:-1] for part in group}) > 1:
                return False
            if field in hashes:
                return True
            lines = self._lines(group, changes[field[0]], field[1])
            return len(lines) == 1 and lines[0].points >= hunk_lines.CLEAR

        numbered = [*enumerate(changes)]
        search = Search(addresses, numbered, lambda group: self.render([self.parts[part] for part in group]), self.limit, is_settled)
        return search.run(is_complete=self.is_complete)

    def nearest(self, changes: Changes) -> Origins:
        """Returns the lines that fit best to changes, without a render: for objects of which one state has no sources at all."""
        every = [range(len(self.parts))]
        return {
            field: _origins(self._nearest(every, change, field[1]))
            for number, change in changes
            for field in reversion.field_numbers(number, change)
        }

    def _lines(self, group: Iterable[int], change: ObjectChange, field: int | None) -> list[HunkLine]:
        return self.texts.lines.best((self.parts[part].lines for part in group), _sought(change, field))

    def _nearest(self, groups: Iterable[Iterable[int]], change: ObjectChange, field: int | None) -> list[HunkLine]:
        """Returns the line of each group that fits best; several lines of a patch that fit equally."""
        named: list[HunkLine] = []
        for group in groups:
            lines = self._lines(group, change, field)
            named += lines if lines and lines[0].is_patch and lines[0].points >= hunk_lines.CLEAR else lines[:1]
        return named


def _hashes(changes: Sequence[ObjectChange]) -> dict[FieldNumber, list[FieldNumber]]:
    """Returns the fields with a worker hash that changes, each with the changes in the pods of the workers with this hash.

    The hash is an effect of these changes, so no line has its value.
    """
    hashes: dict[tuple[Any, Any], tuple[list[FieldNumber], list[FieldNumber]]] = {}
    for position, change in enumerate(changes):
        marks = diff_report.hash_fields(change.fields)
        if marks:
            of_hash, makers = hashes.setdefault((change.fields[marks[0]].old, change.fields[marks[0]].new), ([], []))
            of_hash += [(position, index) for index in marks]
            makers += [(position, index) for index, field in enumerate(change.fields) if index not in marks and _is_in_pod(field)]
    return {field: makers for of_hash, makers in hashes.values() if makers for field in of_hash}


def _is_in_pod(field: FieldChange) -> bool:
    return any(paths.matches(field.path[: len(template.spec)], template.spec) for template in paths.POD_TEMPLATES)


def _origins(lines: Iterable[HunkLine]) -> tuple[ChangeOrigin, ...]:
    return tuple(dict.fromkeys(map(_origin, lines)))[:_ORIGINS]


def _address(part: HunkPart) -> tuple[int, ...]:
    return part.lines.pair, part.hunk


def _origin(line: HunkLine) -> ChangeOrigin:
    return ChangeOrigin("new" if line.is_new else "old", line.file, line.line, line.path, line.is_configuration)


def _sought(change: ObjectChange, index: int | None) -> Sought:
    """Returns what a line of the origin of a change has in common with it."""
    resource = change.new or change.old or {}
    owners = [owner.partition("/")[2] for owner in ownership.owners(resource)]
    component = labels.of(resource).get(labels.COMPONENT)
    others = (*owners, *([component] if isinstance(component, str) else []), change.key.name)
    if index is None:
        return Sought((), others=others, is_removed=change.new is None)
    field = change.fields[index]
    old, new = hunk_lines.scalar(field.old), hunk_lines.scalar(field.new)
    return Sought([*map(str, field.names or field.path)], old, new, others, field.new is None)


def _shape(changes: Iterable[ObjectChange]) -> Hashable:
    """Returns the kinds and the fields of changes, without the names of objects and without values."""
    return tuple(
        (change.key.kind, change.old is None, change.new is None, tuple((field.names, field.order) for field in change.fields))
        for change in changes
    )
