r"""Reads the fields of a YAML text line by line, by their indentation, so that an unfinished or broken text has fields, too.

An editor asks about a text while somebody writes it. A parser stops at the first error, and this reader never does. It knows block style,
and flow style inside of a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from krm_fn.base.results import Path

_KEY = re.compile(
    r"""("(?:\\.|[^"\\])*"|'(?:[^']|'')*'|(?:[^\s#'"\[\]{},&*!|>%@`-]|-[^\s#,\[\]{}])(?:[^\s#,\[\]{}]|\s+(?=\S))*?)\s*:(?=\s|$)"""
)
_FLOW = re.compile(r"""\s*(?:([{}\[\],])|("(?:\\.|[^"\\])*"?|'(?:[^']|'')*'?|[^,\[\]{}:\s](?:[^,\[\]{}:]|:(?!\s|$))*)\s*(:(?=\s|$))?)""")
_BLOCK_SCALAR = re.compile(r"(?:[&!]\S*\s+)*[|>][0-9+-]*\s*(?:#.*)?$")
_WORD = re.compile(r"\S+")
_COMMENT = re.compile(r"(?:^|\s)#.*", re.DOTALL)


class OutlineField(NamedTuple):
    """A key, or an entry of a list: its path in its document, its line and column from 1, and its scalar; empty without one."""

    path: Path
    line: int
    column: int
    value: str


class Cursor(NamedTuple):
    """What is at a position. `path` leads to the object or the list that has the position, or to the field whose value is there.

    `word` is the text between the beginning of the token and the position, and `column` that beginning, from 1. `is_value` is true behind
    a key and its colon. `fields` are the other fields of the document, without those behind the position on its line.
    """

    path: Path
    word: str
    column: int
    is_value: bool
    fields: tuple[OutlineField, ...]

    def value(self, path: Path) -> str:
        """Returns the scalar of a field; empty without one."""
        return next((field.value for field in self.fields if field.path == path), "")


def fields(lines: Sequence[str], first: int = 1) -> list[OutlineField]:
    r"""Returns the fields of a document. `first` is the number of its first line.

    >>> [(field.path, field.value) for field in fields(["a:", "- b: 1", "  c: [x, 'y']"])]
    [(('a',), ''), (('a', 0), ''), (('a', 0, 'b'), '1'), (('a', 0, 'c'), ''), (('a', 0, 'c', 0), 'x'), (('a', 0, 'c', 1), 'y')]
    """
    reader = _Reader()
    return [field for number, line in enumerate(lines, first) for field in reader.read(line, number)]


def document(lines: Sequence[str], line: int) -> range:
    """Returns the numbers of the lines of the document that has a line, from 1."""
    marks = [number for number, text in enumerate(lines, 1) if text.startswith("---") and not text[3:].strip().strip("-")]
    first = max((mark + 1 for mark in marks if mark < line), default=1)
    return range(first, min((mark for mark in marks if mark >= line), default=len(lines) + 1))


def cursor(lines: Sequence[str], line: int, column: int) -> Cursor:
    r"""Returns what is at a position, from 1.

    >>> cursor(["a:", "  b: c", "  d"], 3, 4)[:4], cursor(["a: {b: c"], 1, 9)[:4], cursor(["a:", "- --x"], 2, 6)[:4]
    ((('a',), 'd', 3, False), (('a', 'b'), 'c', 8, True), (('a', 0), '--x', 3, False))
    """
    whole = document(lines, line)
    text = lines[line - 1][: column - 1]
    reader = _Reader()
    for number in range(whole.start, line):
        for _ in reader.read(lines[number - 1], number):
            pass
    path, word, start, is_value = reader.open_at(text, line)
    before = fields([*(lines[number - 1] for number in range(whole.start, line)), text], whole.start)
    behind = [field for field in fields([lines[number - 1] for number in whole], whole.start) if field.line > line]
    return Cursor(path, word, start, is_value, tuple(field for field in (*before, *behind) if field.path != path))


def under(lines: Sequence[str], line: int, column: int) -> Cursor | None:
    r"""Returns the cursor behind the key or the word that has a position, from 1; None on a blank.

    >>> under(["a:", "  bcd: e"], 2, 4)[:2], under(["a: [--x=1, y]"], 1, 6)[:2]
    ((('a', 'bcd'), ''), (('a', 0), '--x=1'))
    """
    text = lines[line - 1]
    word = next((match for match in _WORD.finditer(text) if match.start() < column <= match.end() + 1), None)
    if word is None:
        return None
    end = word.start() + len(word[0].rstrip(",]}'\""))
    return cursor(lines, line, end + 1)


class _Reader:
    """The fields above the next line: their columns and steps. `block` is the column of the field of a block scalar; -1 without one."""

    def __init__(self) -> None:
        self.open: list[tuple[int, str | int]] = []
        self.block = -1

    def read(self, line: str, number: int) -> Iterator[OutlineField]:
        """Yields the fields of a line."""
        indent = len(line) - len(line.lstrip(" "))
        if not line.strip() or (self.block >= 0 and indent > self.block):
            return
        self.block = -1
        if line[indent] == "#":
            return
        column, rest = indent, line[indent:]
        while rest == "-" or rest.startswith("- "):
            self._entry(column)
            inner = rest[1:].lstrip(" ")
            start = column + len(rest) - len(inner)
            if not inner or _KEY.match(inner) or inner.startswith("- "):
                yield OutlineField(self.path, number, start + 1, "")
            else:
                yield from self._value(inner, number, start, column)
            column, rest = start, inner
        if key := _KEY.match(rest):
            self._close(column)
            self.open.append((column, _unquote(key[1])))
            value = rest[key.end() :]
            yield from self._value(value.lstrip(), number, column, column)

    def _value(self, text: str, number: int, start: int, owner: int) -> Iterator[OutlineField]:
        """Yields the field whose value begins with a text, and those in flow style. `owner` is the column of the key or of the dash."""
        if _BLOCK_SCALAR.match(text):
            self.block, text = owner, ""
        if text[:1] in ("{", "["):
            yield OutlineField(self.path, number, start + 1, "")
            for path, value in _Flow(text).fields:
                yield OutlineField((*self.path, *path), number, start + 1, value)
        else:
            yield OutlineField(self.path, number, start + 1, _unquote(_COMMENT.sub("", text).strip()))

    @property
    def path(self) -> Path:
        """The path of the last field."""
        return tuple(step for _, step in self.open)

    def _close(self, column: int) -> None:
        """Closes the fields beside and below a column, but not the entry of a list that begins on the same line."""
        while self.open and self.open[-1][0] >= column:
            self.open.pop()

    def _entry(self, column: int) -> None:
        """Begins the next entry of the list at a column: a list may begin at the column of its key."""
        while self.open and self.open[-1][0] > column:
            self.open.pop()
        index = -1
        if self.open and self.open[-1][0] == column and isinstance(self.open[-1][1], int):
            index = self.open.pop()[1]  # type: ignore[assignment]
        self.open.append((column, index + 1))

    def open_at(self, text: str, number: int) -> tuple[Path, str, int, bool]:
        """Returns the path, the word, its column from 1, and true for a value, at the end of a text that is the beginning of a line."""
        indent = len(text) - len(text.lstrip(" "))
        if self.block >= 0 and (indent > self.block or not text.strip()):
            return self.path, text[indent:], indent + 1, True
        if not text.strip():
            self._close(len(text))
            return self.path, "", len(text) + 1, False
        column, rest = indent, text[indent:]
        while rest.startswith("- ") or (rest == "-" and column == indent):  # behind a dash, it begins a flag
            self._entry(column)
            inner = rest[1:].lstrip(" ")
            column, rest = column + len(rest) - len(inner), inner
        if key := _KEY.match(rest):
            self._close(column)
            self.open.append((column, _unquote(key[1])))
            value = rest[key.end() :]
            return self._inside(value.lstrip(), column + len(rest) - len(value.lstrip()), is_value=True)
        if text[indent : indent + 1] != "-" or column > indent:
            self._close(column)
        return self._inside(rest, column, is_value=False)

    def _inside(self, text: str, start: int, *, is_value: bool) -> tuple[Path, str, int, bool]:
        if text[:1] in ("{", "["):
            flow = _Flow(text)
            return (*self.path, *flow.path), flow.word, start + flow.start + 1, flow.is_value
        quote = text[:1] if text[:1] in ("'", '"') else ""
        return self.path, text.removeprefix(quote), start + len(quote) + 1, is_value


class _Flow:
    """Reads a text in flow style, which may end anywhere: its fields, and what is at its end, as in a cursor.

    `start` is the offset of the word. `steps` has a step for each open bracket: the index of a list, or a key, which is empty before it.
    """

    def __init__(self, text: str) -> None:
        self.fields: list[tuple[Path, str]] = []
        self.steps: list[str | int] = []
        self.word, self.start, self.is_value = "", len(text), False
        offset = 0
        while (token := _FLOW.match(text, offset)) and token.end() > offset:
            offset = token.end()
            self.word, self.start = "", len(text)
            mark, scalar, colon = token.groups()
            if mark:
                self._mark(mark)
            elif self.steps:
                self._scalar(scalar, token.start(2), is_key=bool(colon))
            if not self.steps:
                break

    def _mark(self, mark: str) -> None:
        if mark in ("{", "["):
            if self.steps and isinstance(self.steps[-1], int):
                self.fields.append((tuple(self.steps), ""))
            self.steps.append("" if mark == "{" else 0)
            self.is_value = mark == "["
        elif mark == ",":
            last = self.steps.pop()
            self.steps.append("" if isinstance(last, str) else last + 1)
            self.is_value = isinstance(last, int)
        else:
            self.steps.pop()
            self.is_value = True

    def _scalar(self, text: str, start: int, *, is_key: bool) -> None:
        if is_key:
            self.steps[-1] = _unquote(text.strip())
            self.fields.append((tuple(self.steps), ""))
            self.is_value = True
            return
        quote = text[:1] if text[:1] in ("'", '"') else ""
        self.word, self.start = text.removeprefix(quote), start + len(quote)
        if self.is_value:
            if self.fields and self.fields[-1][0] == tuple(self.steps):
                self.fields.pop()  # the key of this value
            self.fields.append((tuple(self.steps), _unquote(text.strip())))

    @property
    def path(self) -> Path:
        """The path of the object that has the end of the text, or of the field whose value is there."""
        return tuple(self.steps if self.is_value or not self.steps else self.steps[:-1])


def _unquote(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return text
