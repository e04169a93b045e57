"""Finds where the key, the scalar or the word ends that a finding is about, so that an editor can mark it."""

from __future__ import annotations

import re

_BLOCK_SCALAR = re.compile(r"[|>][0-9+-]{0,2}\Z")
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:\\.|[^\"\\])*\"")
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
_PLAIN_ENDS = re.compile(r":(?=\s|$)|\s#|$")
_FLOW_ENDS = re.compile(r":(?=[\s,\[\]{}]|$)|[,\[\]{}]|\s#|$")
_WORD = re.compile(r"\S+")
_BREAKS = re.compile(r"\r\n|\r|\n")


def lines(text: str) -> list[str]:
    r"""Returns the lines of a text without their ends, as editors count them.

    Language Server Protocol, Text Documents: only these three are line ends.

    >>> lines("a\r\nb\nc")
    ['a', 'b', 'c']
    """
    return _BREAKS.split(text)


def opens_block_scalar(line: str) -> bool:
    """True if the value of a line is a text in the lines below it.

    >>> opens_block_scalar("  patch: |- # a patch"), opens_block_scalar("  patch: a")
    (True, False)
    """
    return bool(_BLOCK_SCALAR.search(line.partition(" #")[0].rstrip()))


def end(line: str, column: int, *, is_word: bool = False) -> int:
    r"""Returns the column behind the key or the scalar that begins at a column of a line, or behind the word there. Columns count from 1.

    A token that continues on the next line ends with its line.

    >>> end("- replicas: 2", 3), end("a: {b: 'c d', e: f} # g", 8), end("  exec a --b c", 10, is_word=True)
    (11, 13, 13)
    """
    start = column - 1
    if is_word:
        word = _WORD.match(line, start)
        return (word.end() if word else len(line)) + 1
    properties = _PROPERTIES.match(line, start)
    begin = properties.end() if properties else start
    if quoted := _QUOTED.match(line, begin):
        return quoted.end() + 1
    if line[begin : begin + 1] in ("'", '"', "{", "[", "|", ">"):
        return len(line.rstrip()) + 1
    is_flow = sum(line.count(letter, 0, start) for letter in "{[") > sum(line.count(letter, 0, start) for letter in "}]")
    stop = (_FLOW_ENDS if is_flow else _PLAIN_ENDS).search(line, begin)
    return len(line[: stop.start() if stop else len(line)].rstrip()) + 1
