"""Reads the YAML of a ResourceList and records the lines of each item, so that an unchanged item leaves as its text."""

from __future__ import annotations

import re

from krm_fn.base.records import NamedTuple
from krm_fn.base.yaml import block_style

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NOTHING = re.compile(r"(?:[ \t\r\n]|#[^\n]*\n)*")
_MAY_END_TEXT = r"""["'][ \t]*(?:[#,:\]}]|$)"""  # compiled where it is used: few inputs have comments

Span = tuple[int, int]
"""Offsets of the first line of a part and of the line after its last line. A comment directly above an item or a key belongs to it."""


class LayoutPart(NamedTuple):
    """A value, and the offset of its key or of itself. `own` is true if its text has the same meaning at another place."""

    start: int
    value: Any
    own: bool


class Layout:
    """Maps the id() of a value to the offsets of its lines (`spans`), and to its line from 1 (`lines`). The dashes are at `column`.

    A value has no span if it is in flow style, refers to an anchor outside of itself, or ends in the middle of a line.
    """

    def __init__(self, text: str) -> None:
        self.spans: dict[int, Span] = {}
        self.lines: dict[int, int] = {}
        self.column = 0
        self.text = text
        self.items: list[LayoutPart] = []

    def read_block(self) -> dict[str, Any] | None:
        """Returns the value of a text in block style; None if an `EventLayout` has to read the text."""
        block = block_style.read(self.text)
        items: Any = block.value.get("items") if block else None
        if not block or id(items) not in block.entries or not all(type(item) is dict and item for item in items):
            return None
        self.column, item_lines = block.entries[id(items)]
        keys = list(zip(block.key_lines, block.value.values(), strict=True))
        self.lines = {id(value): line + 1 for line, value in keys if type(value) is dict}
        self.lines |= {id(item): line + 1 for line, item in zip(item_lines, items, strict=True)}
        self.items = [LayoutPart(block.start(line) + self.column + 2, item, own=True) for line, item in zip(item_lines, items, strict=True)]
        parts = [LayoutPart(block.start(line), value, own=type(value) is dict or value is items) for line, value in keys]
        self.measure(parts, len(self.text))
        return block.value

    def measure(self, parts: list[LayoutPart], end: int) -> None:
        """Records the lines of every part."""
        for part, span in zip(parts, _key_spans(self.text, [part.start for part in parts], end), strict=True):
            self._keep(part, span)
            if part.own and isinstance(part.value, list):
                starts = [item.start for item in self.items]
                for item, lines in zip(self.items, _item_spans(self.text, part.start, starts, self.column, span[1]), strict=False):
                    self._keep(item, lines)

    def _keep(self, part: LayoutPart, span: Span) -> None:
        if part.own and self.text[span[1] - 1] == "\n":
            self.spans[id(part.value)] = span


def _key_spans(text: str, starts: list[int], end: int) -> list[Span]:
    """Returns the lines of each top-level key. `starts` are the offsets of the keys, `end` is that of the document's end."""
    cuts = [_with_comments(text, text.rfind("\n", 0, start) + 1, 0) for start in starts]
    return _between(cuts, end)


def _item_spans(text: str, key: int, starts: list[int], column: int, end: int) -> list[Span]:
    """Returns the lines of each item of a block list; empty if an item does not begin at the start of a line.

    `key`, `starts` and `end` are the offsets of the list's key, of the items' values and of the list's end; `column` is that of the dashes.
    """
    dashes = [text.rfind(f"\n{' ' * column}-", key, start) + 1 for start in starts]
    if not all(_NOTHING.fullmatch(text, dash + column + 1, start) for dash, start in zip(dashes, starts, strict=True)):
        return []
    cuts = [_with_comments(text, dash, column) for dash in dashes]
    below_key = text.find("\n", key) + 1
    if cuts and all(line.lstrip()[:1] in ("", "#") for line in text[below_key : cuts[0]].splitlines()):
        cuts[0] = below_key
    return _between(cuts, end)


def _between(cuts: list[int], end: int) -> list[Span]:
    return list(zip(cuts, [*cuts[1:], end], strict=True))


def _with_comments(text: str, line: int, column: int) -> int:
    """Returns the offset of the comments right above a line, or of the line itself.

    A deeper line may be text in a block, and a line that looks like a comment may be the last line of a quoted text.
    """
    first = line
    while line > 0:
        above = text.rfind("\n", 0, line - 1) + 1
        words = text[above:line].strip()
        if words and (words[0] != "#" or text.find("#", above) > above + column or re.search(_MAY_END_TEXT, words)):
            return first
        line = above
        first = above if words else first
    return first
