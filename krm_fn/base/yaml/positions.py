"""Finds the positions of fields in a text. The text is parsed again, so only findings use this."""

from __future__ import annotations

import re

from yaml.error import YAMLError
from yaml.events import MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent, StreamEndEvent

from krm_fn.base.yaml import stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from krm_fn.base.results import Path

_OPENING = (MappingStartEvent, SequenceStartEvent)
_CLOSING = (MappingEndEvent, SequenceEndEvent)
_MOST_BLANKS = 100
"""The largest number of blanks between a key and its value that are read."""
_PROPERTIES = re.compile(r"(?:[&!][^\s]*\s+)*")
_CHARACTERS = {
    "": re.compile(r"(\S)"),
    "'": re.compile(r"(''|\S)"),
    '"': re.compile(r"\\[\snt _LNP]|(\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)|\S)"),
}
"""The characters of a scalar, by its quotes. An escaped character is one, and a group has those that are not blanks."""
_Wanted = dict[str | int, "_Wanted"]


def position(text: str, path: Path) -> tuple[int, int]:
    r"""Returns line and column, both from 1, of a field in the first document of a text: of its key, or of an entry of a list.

    If the text has no such field (it is missing, or comes from an alias), the position is that of its nearest ancestor.

    >>> position("a:\n  b: [x, y]\n", ("a", "b", 1))
    (2, 10)
    """
    return positions(text, [path])[path]


def positions(text: str, paths: Iterable[Path]) -> dict[Path, tuple[int, int]]:
    r"""Returns the positions of several fields. The text is read once, up to the last field.

    >>> positions("a:\n  b: [x, y]\nc: d\n", [("c",), ("a", "b", 7)])
    {('c',): (3, 1), ('a', 'b', 7): (2, 3)}
    """
    asked = list(paths)
    wanted, count = _tree(asked)
    known: dict[Path, tuple[int, int]] = {}
    try:
        for path, mark in _marks(stream.events(text.removeprefix("\ufeff")), wanted):
            known[path] = mark.line + 1, mark.column + 1
            if len(known) == count:
                break
    except (YAMLError, UnicodeEncodeError):  # the fields after the error get the position of an ancestor
        pass
    return {path: _nearest(path, known) for path in asked}


def within(text: str, start: tuple[int, int], count: int, key: str = "") -> tuple[int, int]:
    r"""Returns line and column, both from 1, of a part of the scalar at a position: `count` characters stand before it, without blanks.

    Folding changes only blanks, so this number is the same in the text and in the value. Returns `start` for an alias. With a `key`, the
    position is that of this key, and the scalar is its value.

    >>> within("a:\n- |\n  exec b\n  --c\n", (2, 3), 5), within('a: "x \\"y\\" z"', (1, 4), 4)
    ((4, 3), (1, 13))
    """
    line, column = start
    beginning = sum(map(len, text.split("\n")[: line - 1])) + line - 1
    begin = beginning + column - 1
    written = next((name for name in (key, f'"{key}"', f"'{key}'") if key and text.startswith(f"{name}:", begin)), "")
    if written:
        begin += len(written) + 1
        begin += len(text[begin : begin + _MOST_BLANKS]) - len(text[begin : begin + _MOST_BLANKS].lstrip(" "))
    properties = _PROPERTIES.match(text, begin)
    position = properties.end() if properties else len(text)
    style = text[position : position + 1]
    if style == "*":
        return start
    if style in ("|", ">"):
        position = text.find("\n", position) + 1
    elif style in ('"', "'"):
        position += 1
    for part in _CHARACTERS[style if style in ('"', "'") else ""].finditer(text, position):
        if count == 0 and part[1]:
            position = part.start()
            break
        count -= part[1] is not None
    before = text[:position]
    return before.count("\n") + 1, position - before.rfind("\n")


def _tree(paths: Iterable[Path]) -> tuple[_Wanted, int]:
    """Returns the steps of all paths as a tree, and the number of its nodes."""
    root: _Wanted = {}
    count = 1
    for path in paths:
        node = root
        for step in path:
            count += step not in node
            node = node.setdefault(step, {})
    return root, count


def _nearest(path: Path, known: dict[Path, tuple[int, int]]) -> tuple[int, int]:
    """Returns the position of a field, or of its nearest ancestor that has one."""
    while path and path not in known:
        path = path[:-1]
    return known.get(path, (1, 1))


def _marks(following: Callable[[], Any], wanted: _Wanted) -> Iterator[tuple[Path, Any]]:
    """Yields each node of the tree that the first document has, in the order of the text."""
    while type(event := following()) not in (ScalarEvent, StreamEndEvent, *_OPENING):
        pass
    yield (), event.start_mark
    yield from _inside(following, event, (), wanted)


def _inside(following: Callable[[], Any], event: Any, path: Path, wanted: _Wanted) -> Iterator[tuple[Path, Any]]:
    """Yields the nodes in the value that an event begins, and consumes the events up to its end."""
    if wanted and type(event) is MappingStartEvent:
        yield from _entries(following, path, dict(wanted))
    elif wanted and type(event) is SequenceStartEvent:
        yield from _elements(following, path, wanted)
    else:
        _skip(following, event)


def _entries(following: Callable[[], Any], path: Path, wanted: _Wanted) -> Iterator[tuple[Path, Any]]:
    """Yields the nodes in a mapping. Of a duplicate key, the first one counts."""
    while type(key := following()) is not MappingEndEvent:
        inner = wanted.pop(key.value, None) if type(key) is ScalarEvent else None
        if inner is None:
            _skip(following, key)
            _skip(following, following())
        else:
            yield (*path, key.value), key.start_mark
            yield from _inside(following, following(), (*path, key.value), inner)


def _elements(following: Callable[[], Any], path: Path, wanted: _Wanted) -> Iterator[tuple[Path, Any]]:
    index = 0
    while type(event := following()) is not SequenceEndEvent:
        if index in wanted:
            yield (*path, index), event.start_mark
            yield from _inside(following, event, (*path, index), wanted[index])
        else:
            _skip(following, event)
        index += 1


def _skip(following: Callable[[], Any], event: Any) -> None:
    """Skips the value that an event begins."""
    depth = 0
    while True:
        depth += (type(event) in _OPENING) - (type(event) in _CLOSING)
        if depth == 0:
            return
        event = following()
