"""Divides the text of a ResourceList into the lines of its parts. A comment directly above an item or a key belongs to it."""

from __future__ import annotations

import re

_NOTHING = re.compile(r"(?:[ \t\r\n]|#[^\n]*\n)*")
_ODD_BREAKS = ("\x85", "\u2028", "\u2029")
_MAY_END_TEXT = r"""["'][ \t]*(?:[#,:\]}]|$)"""  # compiled where it is used: few inputs have comments

Span = tuple[int, int]


def possible(text: str) -> bool:
    """True if all lines end in a line feed. YAML 1.1 has other line ends too, and slices would be wrong with them."""
    return not any(odd in text for odd in _ODD_BREAKS) and text.count("\r") == text.count("\r\n")


def top(text: str, starts: list[int], end: int) -> list[Span]:
    """Returns the lines of each top-level key. `starts` are the offsets of the keys, `end` is that of the document's end."""
    cuts = [_with_comments(text, text.rfind("\n", 0, start) + 1, 0) for start in starts]
    return _between(cuts, end)


def items(text: str, key: int, starts: list[int], column: int, end: int) -> list[Span]:
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
