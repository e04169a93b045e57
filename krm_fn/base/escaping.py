r"""Escapes characters that act on the reader of a text: on a terminal, in the log of a CI job, or in a comment.

Names, values, paths and messages of other programs can hold any character. A line feed begins a new line, a control character moves the
cursor, a character for bidirectional text reorders the line, and an invisible character makes two names look the same. A CI system runs
a line of a log that begins with `::` (GitHub), or that has `##[` or `##vso[` anywhere (GitHub, Azure Pipelines).

Every text for people leaves through `visible`: a writer joins its lines with `join_lines`, and `krm_fn.cli.command_output` escapes the
whole output once more. `json_text` writes JSON with escapes of JSON.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# Patterns are compiled where they are used: few texts of a render need one.
_BLANK = "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
"""Characters without a shape that Python counts as printable (Unicode's property Default_Ignorable_Code_Point, and the empty Braille)."""
_COMMAND = r"\A *:(?=:)|#(?=#[A-Za-z]*\[)"
"""The first character of a command to a CI system. GitHub's runner skips blanks before `::`."""
_COLOUR = r"(\x1b\[(?:0|1|22|3[1-7])m)"
"""The control sequences of `paint`: colours, bold, and their end (SGR of ECMA-48)."""

RED, GREEN, YELLOW, BLUE, CYAN, WHITE = 31, 32, 33, 34, 36, 37
BOLD = 1


def visible(text: str) -> str:
    r"""Returns the text in one line, with escapes for characters that act on its reader.

    >>> print(visible("a\x1bb"), visible("a\nb"), visible("\u202ex"), visible("::error::x"), visible("a::b"))
    a\x1bb a\nb \u202ex \x3a:error::x a::b
    """
    if not text.isprintable() or (not text.isascii() and re.search(_BLANK, text)):
        text = "".join(map(_character, text))
    return re.sub(_COMMAND, _escaped_command, text) if "::" in text or "##" in text else text


def printable(text: str) -> str:
    """Returns the text in one line as `visible`, with one blank for each run of blanks and line feeds."""
    return visible(" ".join(text.split()))


def has_command(text: str) -> bool:
    """Returns true if a line of the text is a command to a CI system."""
    return ("::" in text or "##" in text) and any(re.search(_COMMAND, line) for line in text.replace("\t", " ").split("\n"))


def join_lines(lines: Iterable[str], *, colours: bool = False) -> str:
    """Returns one line of output for each text. With `colours`, texts of `paint` stay as they are."""
    listed = list(lines)
    if _is_unchanged("".join(listed)):
        return "".join([f"{line}\n" for line in listed])
    return "".join(f"{_around_colours(line) if colours else visible(line)}\n" for line in listed)


def output(text: str, *, colours: bool) -> str:
    """Returns a text for people with every line escaped. With `colours`, texts of `paint` stay as they are."""
    lines = text.split("\n")
    return text if _is_unchanged("".join(lines)) else "\n".join(map(_around_colours if colours else visible, lines))


def _is_unchanged(text: str) -> bool:
    """True if no character of a text, and of no part of it, is escaped: lines are judged together, because there are many."""
    return text.isascii() and text.isprintable() and "::" not in text and "##" not in text


def paint(text: str, *parameters: int) -> str:
    """Returns a text between control sequences for colours, with these parameters of SGR. The text is escaped."""
    return f"{''.join(f'{chr(27)}[{parameter}m' for parameter in parameters)}{visible(text)}\x1b[0m"


@lru_cache
def _encoder(indent: int | None) -> json.JSONEncoder:
    return json.JSONEncoder(indent=indent, ensure_ascii=False, default=str)


def json_text(value: Any, indent: int | None = None) -> str:
    r"""Returns a value as JSON in which every character is visible.

    >>> print(json_text("a\u202e\x9b## é"), json_text("##[group]"))
    "a\u202e\u009b## é" "\u0023#[group]"
    """
    text = _encoder(indent).encode(value)
    if not text.isascii() or "\x7f" in text:
        text = "".join(character if character == "\n" or _is_visible(character) else json.dumps(character)[1:-1] for character in text)
    return re.sub(_COMMAND, r"\\u0023", text) if "##" in text else text


def _around_colours(line: str) -> str:
    if "\x1b" not in line:
        return visible(line)
    return "".join(part if number % 2 else visible(part) for number, part in enumerate(re.split(_COLOUR, line)))


@lru_cache(4096)  # a hostile document has thousands of characters that must be judged one by one
def _is_visible(character: str) -> bool:
    return character.isprintable() and not re.match(_BLANK, character)


def _character(character: str) -> str:
    if _is_visible(character):
        return character
    code = ord(character)
    return repr(character)[1:-1] if not character.isprintable() else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escaped_command(match: re.Match[str]) -> str:
    return f"{match[0][:-1]}\\x{ord(match[0][-1]):02x}"
