"""Reads the YAML of a ResourceList and records the lines of each item, so that an unchanged item leaves as its text."""

from __future__ import annotations

import re

from yaml.events import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent

from krm_fn import results
from krm_fn.records import NamedTuple
from krm_fn.yamlio import builder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.yamlio.builder import Builder

_NOTHING = re.compile(r"(?:[ \t\r\n]|#[^\n]*\n)*")
_ODD_BREAKS = ("\x85", "\u2028", "\u2029")
_MAY_END_TEXT = r"""["'][ \t]*(?:[#,:\]}]|$)"""  # compiled where it is used: few inputs have comments

Span = tuple[int, int]
"""Offsets of the first line of a part and of the line after its last line. A comment directly above an item or a key belongs to it."""


class _Part(NamedTuple):
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
        self._text = text
        self._items: list[_Part] = []

    def read(self, events: Builder) -> Any:
        """Returns the value of the only document. Raises builder.Broken if the text has several."""
        root = events.begin()
        if type(root) is MappingStartEvent:
            value: Any = self._mapping(events, root)
        elif root:
            value = events.value(root)
            events.end()
        else:
            return None
        second = events.begin()
        if second and (type(second) is not ScalarEvent or second.value):
            message = "the input holds several documents, not one ResourceList; use `krm-fn render` for plain files"
            raise builder.Broken(results.error("DYN012", message, line=second.start_mark.line + 1, column=second.start_mark.column + 1))
        return value

    def _mapping(self, events: Builder, root: Any) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        parts: list[_Part] = []
        events.enter(root)
        while type(key := events.next()) is not MappingEndEvent:
            name, event = events.key(key), events.next()
            listed = name == "items" and type(event) is SequenceStartEvent
            part = self._sequence(events, event) if listed else _part(events, event)
            parts.append(part._replace(start=key.start_mark.index))
            events.put(fields, name, part.value, key)
            if isinstance(part.value, dict):
                self.lines.setdefault(id(part.value), key.start_mark.line + 1)
        events.leave(root, fields)
        end = events.end()
        if _has_line_feeds_only(self._text) and not (root.flow_style or root.start_mark.column or events.handles):
            self._measure(parts, end)
        return fields

    def _sequence(self, events: Builder, opening: Any) -> _Part:
        """Reads the list of items."""
        events.enter(opening)
        self.column = opening.start_mark.column
        self._items = []
        while type(event := events.next()) is not SequenceEndEvent:
            part = _part(events, event)
            if type(event) is AliasEvent and isinstance(part.value, dict):
                part = part._replace(value=dict(part.value))  # every item is an object of its own
            self.lines[id(part.value)] = event.start_mark.line + 1
            self._items.append(part)
        values = [part.value for part in self._items]
        events.leave(opening, values)
        return _Part(0, values, own=not opening.flow_style)

    def _measure(self, parts: list[_Part], end: int) -> None:
        """Records the lines of every part."""
        for part, span in zip(parts, _key_spans(self._text, [part.start for part in parts], end), strict=True):
            self._keep(part, span)
            if part.own and isinstance(part.value, list):
                starts = [item.start for item in self._items]
                for item, lines in zip(self._items, _item_spans(self._text, part.start, starts, self.column, span[1]), strict=False):
                    self._keep(item, lines)

    def _keep(self, part: _Part, span: Span) -> None:
        if part.own and self._text[span[1] - 1] == "\n":
            self.spans[id(part.value)] = span


def _part(events: Builder, event: Any) -> _Part:
    start = events.reach = event.start_mark.index
    value = events.value(event)
    return _Part(start, value, own=type(event) is MappingStartEvent and events.reach == start)


def _has_line_feeds_only(text: str) -> bool:
    """True if all lines end in a line feed. YAML 1.1 has other line ends too, and spans would be wrong with them."""
    return not any(odd in text for odd in _ODD_BREAKS) and text.count("\r") == text.count("\r\n")


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
