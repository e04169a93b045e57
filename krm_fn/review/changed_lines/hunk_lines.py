"""Chooses the line of a hunk that a person would point at: the field that has the value or the name of a changed field of an object.

Lines that the other state does not have at all go first: each comparison of the texts, such as that of git, shows them as changed.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from yaml.error import YAMLError

from krm_fn.base import json_pointer
from krm_fn.base.results import Path
from krm_fn.origins import text_hunks
from krm_fn.origins.text_hunks import Hunk, RevisionText, TextPair
from krm_fn.render import function_config
from krm_fn.repository.files import reading, text_nodes
from krm_fn.repository.files.text_nodes import TextNode

_VALUE, _PART, _KEY, _PARENT, _STEP = 4, 2, 3, 1, 1
"""The points of a field with the same value, a part of it, the same key, the key one or two levels above, and a step of the same path or
the same component."""
_SHORT = 3
"""Texts with fewer characters, such as numbers, are equal by chance: they count less, and not as a part of other texts."""
_MOVED = -1
"""The points of a line that both states have: it is moved, or one of several equal lines is added or removed."""
_IDENTITY = ("apiVersion", "kind", "metadata")
"""The fields with which a merge patch names its object."""
CLEAR = 4
"""The points from which a line counts as the origin of a change without further proof."""


class TextField(NamedTuple):
    """A field of a text: its line in the file, its path in the document, and its value if it is a scalar.

    `target` is the field of an object that it writes: its own path, or that of an operation of a JSON patch. `names` are the names of the
    list entries that it is in. `is_patch` is true for what an operation writes, or a patch in a text, as in a Kustomization.
    """

    line: int
    path: Path
    value: str
    target: Path
    names: tuple[str, ...]
    is_configuration: bool
    is_patch: bool = False


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
    is_patch: bool = False

    @property
    def rank(self) -> tuple[int, bool]:
        """Points that are not clear count nothing; what a patch writes then goes before its target and its options."""
        return self.points if self.points >= CLEAR else min(self.points, 0), self.is_patch


KnownPairs = dict[TextPair, "_FieldPair"]
"""The fields of pairs of texts: roots share the files of a base, and each text is parsed once."""


class HunkLines:
    """The lines of the hunks of some pairs of texts. `known` has the fields of pairs that other roots have, too."""

    def __init__(self, pairs: Sequence[TextPair], known: KnownPairs | None = None) -> None:
        known = {} if known is None else known
        self._pairs = [known.get(pair) or known.setdefault(pair, _FieldPair(pair)) for pair in pairs]
        self._single = {side.file: number for number, pair in enumerate(pairs) for side in pair if side and None in pair}

    def best(self, hunks: Iterable[Hunk], sought: Sought) -> list[HunkLine]:
        """Returns the lines of some hunks that fit best; all that are not blank, in their order, if none clearly fits.

        A file that only one state has goes with the line that names it, such as an entry of `patches`.
        """
        every = [line for hunk in hunks for line in self._with_files(hunk, sought)]
        best = max((line.rank for line in every), default=None)
        return [line for line in every if line.rank == best]

    def _with_files(self, hunk: Hunk, sought: Sought) -> Iterator[HunkLine]:
        pair = self._pairs[hunk.pair]
        yield from pair.lines(hunk, sought)
        for number in dict.fromkeys(self._single[name] for name in pair.named_files(hunk) if name in self._single):
            if number != hunk.pair:
                yield from self._pairs[number].lines(self._pairs[number].whole, sought)


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

    @property
    def whole(self) -> Hunk:
        """The hunk of all lines."""
        old, new = (range(len(text_hunks.lines(text))) for text in self._pair)
        return Hunk(0, old, new)

    def named_files(self, hunk: Hunk) -> Iterator[str]:
        """Yields the paths that the values in the lines of a hunk would be, from the folder of the file."""
        yield from self._old.named_files(hunk.old)
        yield from self._new.named_files(hunk.new)

    def lines(self, hunk: Hunk, sought: Sought) -> Iterator[HunkLine]:
        """Yields the lines of a hunk: those of the new state, and those of the old state for what is removed."""
        if sought.is_removed or not self._new.has(hunk.new):
            yield from self._old.lines(hunk.old, sought, sought.old, is_new=False)
        yield from self._new.lines(hunk.new, sought, sought.new, is_new=True)


class _Side:
    """A text of one state, and that of the other state."""

    def __init__(self, text: RevisionText | None, other: RevisionText | None) -> None:
        self._text, self._other = text, other
        self._others = frozenset(map(_strip_line_end, text_hunks.lines(other)))

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
        own = [at for at in indexes if _strip_line_end(lines[at]) and _strip_line_end(lines[at]) not in self._others]
        return [at for at in own if not _strip_line_end(lines[at]).startswith(("#", "---"))] or own

    def named_files(self, indexes: range) -> Iterator[str]:
        """Yields the paths that the values in some lines would be, from the folder of the file."""
        if self._text is not None:
            fields = [field for at in indexes for field in self._leaves.get(self._text.line + at, ())]
            yield from (posixpath.normpath(posixpath.join(posixpath.dirname(self._text.file), field.value)) for field in fields)

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
            path, is_configuration, is_patch = (leaf.path, leaf.is_configuration, leaf.is_patch) if leaf else ((), False, False)
            yield HunkLine(is_new, self._text.file, number, path, is_configuration, points, is_patch)


def _strip_line_end(line: str) -> str:
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
        for field in _fields(tree.root) if tree else ():
            line = text.line + text.text.count("\n", 0, start + field.key.start)
            yield field.in_text(line, field.path, is_configuration=is_configuration, is_patch=field.is_operation)
            if field.node.style == "|":
                yield from _inner(document.text, text.line + text.text.count("\n", 0, start), field)


def _inner(text: str, line: int, holder: _Field) -> Iterator[TextField]:
    """Yields the fields of YAML in a text of several lines, such as a patch in a Kustomization. All have the path of the text."""
    block = holder.node
    try:
        tree = text_nodes.parse(block.text)
    except YAMLError:
        return
    first = line + text.count("\n", 0, text.find("\n", block.start) + 1)
    for field in _fields(tree.root) if tree else ():
        at = first + block.text.count("\n", 0, field.key.start)
        is_patch = field.is_operation or (isinstance(field.path[0], str) and field.path[0] not in _IDENTITY)
        yield field.in_text(at, holder.path, is_patch=is_patch)


class _Field(NamedTuple):
    """A field in a tree of nodes, with its key or its entry. `is_operation`: a JSON patch writes it. Others are those of TextField."""

    key: TextNode
    node: TextNode
    path: Path
    target: Path
    names: tuple[str, ...]
    is_operation: bool

    def in_text(self, line: int, path: Path, *, is_configuration: bool = False, is_patch: bool = False) -> TextField:
        """Returns the field in its file."""
        value = self.node.text if self.node.kind == "scalar" else ""
        return TextField(line, path, value, self.target, self.names, is_configuration, is_patch)


def _fields(node: TextNode, parent: _Field | None = None) -> Iterator[_Field]:
    """Yields the fields below a node, which is that of `parent`.

    An operation of a JSON patch (RFC 6902) writes the field at its pointer with its `value`, and nothing with its other fields.
    """
    path, target, names, is_operation = parent[2:] if parent else ((), (), (), False)
    pointer = _pointer(node)
    for key, value in node.entries:
        if pointer is None:
            field = _Field(key, value, (*path, key.text), (*target, key.text), names, is_operation)
        else:
            is_value = key.text == "value"
            field = _Field(key, value, (*path, key.text), pointer if is_value else (), names, is_value)
        yield field
        yield from _fields(value, field)
    for index, item in enumerate(node.items):
        name = item.entry("name")
        inner = names if name is None else (*names, name.text)
        field = _Field(item, item, (*path, index), (*target, index), inner, is_operation)
        yield field
        yield from _fields(item, field)


def _pointer(node: TextNode) -> Path | None:
    """Returns the steps of the pointer (RFC 6901) of an operation of a JSON patch; None for any other node."""
    pointer = node.entry("path") if node.entry("op") else None
    if pointer is None or not pointer.text.startswith("/"):
        return None
    return tuple(int(step) if step.isdigit() else step for step in json_pointer.steps(pointer.text))


def _points(leaf: TextField, sought: Sought, value: str) -> int:
    """Returns how well a field of a text fits to a changed field of an object."""
    keys = [step for step in leaf.target if isinstance(step, str)]
    points = _value_points(leaf.value, value)
    if sought.names and leaf.target[-1:] == (sought.names[-1],):
        points += _KEY
    elif sought.names and sought.names[-1] in keys[-2:]:
        points += _PARENT
    elif leaf.value and leaf.value in (*sought.names, *sought.others):
        points += _PART if sought.names else _VALUE
    is_in_component = bool(sought.names) and any(step in sought.others for step in (*keys, *leaf.names))
    return points + _STEP * any(key in sought.names for key in keys[-2:]) + _STEP * is_in_component


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
