"""Chooses the line of a hunk that a person would point at: the field that has the value or the name of a changed field of an object.

Lines that the other state does not have at all go first: each comparison of the texts, such as that of git, shows them as changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from yaml.error import YAMLError

from krm_fn.base.results import Path
from krm_fn.origins import text_hunks
from krm_fn.origins.text_hunks import Hunk, RevisionText, TextPair
from krm_fn.render import function_config
from krm_fn.repository.files import reading, text_nodes
from krm_fn.repository.files.text_nodes import TextNode

_VALUE, _PART, _KEY, _PARENT, _STEP = 4, 2, 3, 1, 1
"""The points of a field with the same value, a part of it, the same key, the key one or two levels above, and a step of the same path."""
_SHORT = 3
"""Texts with fewer characters, such as numbers, are equal by chance: they count less, and not as a part of other texts."""
_MOVED = -1
"""The points of a line that both states have: it is moved, or one of several equal lines is added or removed."""
CLEAR = 4
"""The points from which a line counts as the origin of a change without further proof."""


class TextField(NamedTuple):
    """A field of a text: its line in the file, its path in the document, and its value if it is a scalar."""

    line: int
    path: Path
    value: str
    is_configuration: bool


class Sought(NamedTuple):
    """A changed field of an object: the names of its path, and its values as texts. `others` are further names, as that of its owner."""

    names: Sequence[str]
    old: str = ""
    new: str = ""
    others: Sequence[str] = ()
    is_removed: bool = False


class HunkLine(NamedTuple):
    """A line of a hunk in one state, with the field that begins there. `points` say how well it fits to what is sought."""

    is_new: bool
    file: str
    line: int
    path: Path
    is_configuration: bool
    points: int


class HunkLines:
    """The lines of the hunks of some pairs of texts."""

    def __init__(self, pairs: Sequence[TextPair]) -> None:
        self._pairs = [_FieldPair(pair) for pair in pairs]

    def best(self, hunks: Iterable[Hunk], sought: Sought) -> HunkLine | None:
        """Returns the line of some hunks that fits best, or the first one if none clearly fits; None for hunks of blank lines."""
        lines = [line for hunk in hunks for line in self._pairs[hunk.pair].lines(hunk, sought)]
        return max(lines, key=lambda line: line.points if line.points >= CLEAR else min(line.points, 0), default=None)


class _FieldPair:
    """Both states of a text with their fields."""

    def __init__(self, pair: TextPair) -> None:
        self._pair = pair

    @cached_property
    def _old(self) -> _Side:
        return _Side(self._pair.old, self._pair.new)

    @cached_property
    def _new(self) -> _Side:
        return _Side(self._pair.new, self._pair.old)

    def lines(self, hunk: Hunk, sought: Sought) -> Iterator[HunkLine]:
        """Yields the lines of a hunk: those of the new state, and those of the old state for what is removed."""
        if sought.is_removed or not self._new.has(hunk.new):
            yield from self._old.lines(hunk.old, sought, sought.old, is_new=False)
        yield from self._new.lines(hunk.new, sought, sought.new, is_new=True)


class _Side:
    """A text of one state, and that of the other state."""

    def __init__(self, text: RevisionText | None, other: RevisionText | None) -> None:
        self._text, self._other = text, other
        self._others = frozenset(map(_stripped, text_hunks.lines(other)))

    @cached_property
    def _leaves(self) -> dict[int, list[TextField]]:
        """The fields by their lines; of a line with several fields, those that differ from the other state."""
        same = {(leaf.path, leaf.value) for leaf in leaves(self._other)} if self._other else set()
        by_line: dict[int, list[TextField]] = {}
        for leaf in leaves(self._text) if self._text else ():
            by_line.setdefault(leaf.line, []).append(leaf)
        differing = {line: [leaf for leaf in on_line if (leaf.path, leaf.value) not in same] for line, on_line in by_line.items()}
        return {line: differing[line] or on_line for line, on_line in by_line.items()}

    def _own(self, indexes: range) -> list[int]:
        """Returns the indexes of the lines that the other state does not have, without blank lines and comments if there are others."""
        lines = text_hunks.lines(self._text)
        own = [at for at in indexes if _stripped(lines[at]) and _stripped(lines[at]) not in self._others]
        return [at for at in own if not _stripped(lines[at]).startswith(("#", "---"))] or own

    def has(self, indexes: range) -> bool:
        """True if one of the lines is in this state only."""
        return bool(self._own(indexes))

    def lines(self, indexes: range, sought: Sought, value: str, *, is_new: bool) -> Iterator[HunkLine]:
        """Yields the lines that are in this state only, with their points; without one the first other line, with the fewest points."""
        if self._text is None:
            return
        own = self._own(indexes)
        for at in own or [at for at in indexes if text_hunks.lines(self._text)[at].strip()][:1]:
            number = self._text.line + at
            fields = [(_points(leaf, sought, value) if own else _MOVED, leaf) for leaf in self._leaves.get(number, ())]
            points, leaf = max(fields, key=lambda field: field[0], default=(0 if own else _MOVED, None))
            yield HunkLine(is_new, self._text.file, number, leaf.path if leaf else (), bool(leaf and leaf.is_configuration), points)


def _stripped(line: str) -> str:
    return line.rstrip("\r\n")


def leaves(text: RevisionText) -> Iterator[TextField]:
    """Yields the fields of all documents of a text, in the order of their lines; nothing for a text that is not YAML."""
    documents = reading.parse(text.text.encode("utf-8", "surrogateescape"), text.file).sources
    for start, document in {source.start: source for source in documents}.items():
        is_configuration = function_config.is_config(document.address)
        try:
            tree = text_nodes.parse(document.text)
        except YAMLError:
            continue
        for path, node, value in _fields(tree.root, ()) if tree else ():
            line = text.line + text.text.count("\n", 0, start + node.start)
            yield TextField(line, path, value.text if value.kind == "scalar" else "", is_configuration)
            if value.style == "|":
                yield from _inner(document.text, text.line + text.text.count("\n", 0, start), path, value)


def _inner(text: str, line: int, path: Path, block: TextNode) -> Iterator[TextField]:
    """Yields the fields of YAML in a text of several lines, such as a patch in a Kustomization. All have the path of the text."""
    try:
        tree = text_nodes.parse(block.text)
    except YAMLError:
        return
    first = line + text.count("\n", 0, text.find("\n", block.start) + 1)
    for _, node, value in _fields(tree.root, ()) if tree else ():
        yield TextField(
            first + block.text.count("\n", 0, node.start), path, value.text if value.kind == "scalar" else "", is_configuration=False
        )


def _fields(node: TextNode, path: Path) -> Iterator[tuple[Path, TextNode, TextNode]]:
    """Yields the path, the key or the entry, and the value of each field."""
    for key, value in node.entries:
        yield (*path, key.text), key, value
        yield from _fields(value, (*path, key.text))
    for index, item in enumerate(node.items):
        yield (*path, index), item, item
        yield from _fields(item, (*path, index))


def _points(leaf: TextField, sought: Sought, value: str) -> int:
    """Returns how well a field of a text fits to a changed field of an object."""
    keys = [step for step in leaf.path if isinstance(step, str)]
    points = _value_points(leaf.value, value)
    if sought.names and leaf.path[-1:] == (sought.names[-1],):
        points += _KEY
    elif sought.names and sought.names[-1] in keys[-2:]:
        points += _PARENT
    elif leaf.value and leaf.value in (*sought.names, *sought.others):
        points += _PART if sought.names else _VALUE
    return points + _STEP * any(key in sought.names for key in keys[-2:])


def _value_points(written: str, value: str) -> int:
    if not written or not value:
        return 0
    if written == value:
        return _VALUE if len(value) >= _SHORT else _PART
    is_part = (len(written) >= _SHORT and written in value) or (len(value) >= _SHORT and value in written)
    return _PART if is_part else 0


def scalar(value: Any) -> str:
    """Returns a value as YAML writes it; the texts in a list or a mapping together, and nothing for None."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return " ".join(scalar(inner) for inner in value.values())
    if isinstance(value, list):
        return " ".join(map(scalar, value))
    return "" if value is None else str(value)
