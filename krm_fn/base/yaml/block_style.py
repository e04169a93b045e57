"""Reads YAML in block style, as Kubernetes tools write it, in a small part of the time of a complete parser.

The text may have mappings and lists in block style, literal blocks, scalars on one line, and comments on lines of their own. `read` returns
None for a text with anything else in it, and for a wrong text: PyYAML's parser then gives the same value, or a finding with its line.
"""

from __future__ import annotations

import re
from itertools import accumulate, islice

from krm_fn.base.records import NamedTuple
from krm_fn.base.yaml import scalars

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DEEPEST = 100  # far below the limit of the complete parser
_LINE = re.compile(
    r"(\x20*)((?:-\x20){0,9})"
    r"(?:([A-Za-z0-9_/.][A-Za-z0-9_/.-]{0,500}):(?:\x20|$))?"
    r"(?:"
    r"((?:[A-Za-z0-9_/.$(+=~]|-(?=[!-~]))"  # an unquoted text, which no reader takes for a list, a mark or a tag
    r"(?:[!-9;-~]|:(?=[!-~])|\x20+(?=[!\"$-~]))*)"  # a colon before a space and a hash after one have a meaning
    r"|'([^']*(?:''[^']*)*)'"
    r"|\"([^\"\\]*)\""
    r"|(\{\}|\[\])"
    r"|\|([-+]?)"
    r")?"
)
_SCALAR, _OPEN, _EMPTY, _LITERAL = range(4)
_NO_LEVEL = -1

_Line = tuple[int, int, str | None, "Any", int]
"""One line: its level, the number of its dashes, its key, its value, and one of the constants above.

The level is twice the indentation, and one more for a line of a list, so that what contains a line has a lower level. It is `_NO_LEVEL` for
an empty line and for a comment. The value of a literal block is the mark after its bar.
"""


class Block(NamedTuple):
    """A mapping, the lines of its keys, and the column and the lines of the entries of each list right below it, by the id() of the list.

    Lines and columns count from 0. `lengths` has the lengths of all lines before a line, without the line feeds.
    """

    value: dict[str, Any]
    key_lines: list[int]
    entries: dict[int, tuple[int, list[int]]]
    lengths: list[int]

    def start(self, line: int) -> int:
        """Returns the offset of a line."""
        return self.lengths[line] + line


def read(text: str) -> Block | None:
    """Returns the mapping that a text holds; None if the text has to be read by a complete parser."""
    if not text.endswith("\n"):
        return None
    lines = text.split("\n")
    try:
        reader = _BlockReader(lines)
        value = reader.value()
    except (ValueError, IndexError):
        return None
    if not value:  # a text without a key holds no mapping
        return None
    return Block(value, reader.key_lines, reader.entries, [0, *accumulate(map(len, lines))])


class _BlockReader:
    """Reads the lines of one mapping. Raises ValueError for a line that has to be read by a complete parser."""

    def __init__(self, lines: list[str]) -> None:
        self.key_lines: list[int] = []
        self.entries: dict[int, tuple[int, list[int]]] = {}
        self._lines = lines
        self._known: dict[str, _Line] = {}
        self._above: list[tuple[Any, int]] = []

    def value(self) -> dict[str, Any]:
        """Reads all lines. Most lines occur many times in a text, and each is taken apart once.

        `holder` is the mapping or list that contains the last line, `level` its level, and `opened` the key of a line without a value.
        """
        known, numbered, root = self._known, enumerate(self._lines), {}  # type: ignore[var-annotated]
        holder, level, opened = root, 0, None  # type: Any, int, str | None
        for number, line in numbered:
            line_level, dashes, key, value, kind = known.get(line) or self._line(line)
            if line_level == _NO_LEVEL:
                continue
            if line_level != level:
                holder, level = self._move_to_level(line_level, holder, level, opened)
            if dashes:
                holder, level = self._enter_dashes(dashes, holder, level, number, is_mapping=key is not None)
            elif not line_level:
                self.key_lines.append(number)
            opened = key if kind == _OPEN else None
            if kind >= _EMPTY:
                value, length = self._special(kind, value, number + 1, level)
                next(islice(numbered, length, length), None)
            if key is None:
                holder.append(value)
            elif key in holder:
                raise ValueError(key)
            else:
                holder[key] = value
        return root

    def _line(self, line: str) -> _Line:
        """Takes a line apart, and keeps the parts."""
        match = _LINE.fullmatch(line) if line.isprintable() else None
        if match and (match[2] or match[3]):
            parts = _parts(match)
        elif not line or (line.isprintable() and line.lstrip(" ").startswith("#")):
            parts = (_NO_LEVEL, 0, None, None, _SCALAR)
        else:
            raise ValueError(line)
        self._known[line] = parts
        return parts

    def _move_to_level(self, line_level: int, holder: Any, level: int, opened: str | None) -> tuple[Any, int]:
        """Returns the mapping or list that contains a line of another level, and its level. It can begin on the line."""
        if len(self._above) > _DEEPEST:
            raise ValueError(level)
        if line_level > level and opened is not None:
            self._above.append((holder, level))
            holder[opened] = [] if line_level % 2 else {}
            return holder[opened], line_level
        while level > line_level:
            holder, level = self._above.pop()
        if level != line_level:
            raise ValueError(line_level)
        return holder, level

    def _enter_dashes(self, dashes: int, holder: Any, level: int, line: int, *, is_mapping: bool) -> tuple[Any, int]:
        """Returns the mapping or list that begins after the dashes of a line, and its level."""
        if len(self._above) == 1:
            self.entries.setdefault(id(holder), (level // 2, []))[1].append(line)
        for number in range(1, dashes + is_mapping):
            self._above.append((holder, level))
            inner: Any = {} if number == dashes else []
            holder.append(inner)
            holder, level = inner, level + (3 if number == dashes else 4)
        return holder, level

    def _special(self, kind: int, value: Any, number: int, level: int) -> tuple[Any, int]:
        """Returns the value of a line that has no scalar, and the number of its further lines, of which `number` is the first."""
        if kind == _LITERAL:
            return self._literal(value, number, level // 2)
        return ({} if value == "{}" else []), 0

    def _literal(self, mark: str, start: int, column: int) -> tuple[str, int]:
        """Returns the text of a literal block below a key or a dash in a column, and the number of its lines."""
        lines = self._lines
        first = start
        while not lines[first]:
            first += 1
        indent = len(lines[first]) - len(lines[first].lstrip(" "))
        if indent <= column:
            raise ValueError(indent)
        pad, end = " " * indent, first
        while end < len(lines) - 1 and (not lines[end] or lines[end].startswith(pad)):
            end += 1
        if not all(not line or (line.isprintable() and not line.isspace()) for line in lines[start:end]):
            raise ValueError(start)
        text = "\n".join(line[indent:] for line in lines[start:end])
        stripped = text.rstrip("\n")
        return stripped + {"-": "", "": "\n", "+": text[len(stripped) :] + "\n"}[mark], end - start


def _parts(match: re.Match[str]) -> _Line:
    spaces, dashes, key, plain, single, double, empty, literal = match.groups()
    address = 2 * len(spaces) + bool(dashes), len(dashes) // 2, key
    if plain is not None:
        return *address, scalars.resolve(plain), _SCALAR
    if single is not None:
        return *address, single.replace("''", "'"), _SCALAR
    if double is not None:
        return *address, double, _SCALAR
    if empty or literal is not None:
        return *address, empty or literal, _EMPTY if empty else _LITERAL
    if key is None:
        raise ValueError(dashes)
    return *address, None, _OPEN


def position(document: str, name: str) -> int:
    """Returns the number of characters before a field of a document, without blanks, as `Result.within` counts them."""
    before = 0
    for line in document.splitlines():
        if line.partition(":")[0].strip() == name:
            return before
        before += len("".join(line.split()))
    return 0
