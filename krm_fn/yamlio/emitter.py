"""Writes JSON values as block YAML that parsers of YAML 1.1 and 1.2 read as the same values.

The layout is kubectl's: two spaces, the dashes of a list below its key, no anchors, no folded lines. Keys keep their order.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from krm_fn.yamlio import scalars

_LONGEST_KEY = 800  # readers look for a key's colon within 1024 characters
_NOT_ASCII_TEXT = r"[^ !#-\[\]-~]"
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def text(value: Any, indent: int = 0) -> str:
    r"""Returns a JSON value as lines of YAML, all indented by `indent` spaces.

    Raises TypeError for a value that is not JSON, and ValueError for infinities and NaN.

    >>> print(text({"command": ["-c", "y"], "data": {}, "script": "a\nb\n"}), end="")
    command:
    - -c
    - "y"
    data: {}
    script: |
      a
      b

    Follows the operator's `internal/dynamo/epp/config.go`.
    Rule: epp.config-text
    """
    return Writer().text(value, indent)


def ordered(value: Any) -> Any:
    """Returns a JSON value with the keys of all its mappings in alphabetical order, as Go's encoders write them."""
    if isinstance(value, dict):
        return {key: ordered(value[key]) for key in sorted(value)}
    return [ordered(entry) for entry in value] if isinstance(value, list) else value


class Writer:
    """Writes several JSON values, and quotes each text once. Most texts of an output occur many times in it.

    The tables are plain dicts, because a `__missing__` makes each access twice as slow.
    """

    def __init__(self) -> None:
        self._heads: dict[str, dict[str, str]] = {}
        self._texts: dict[str, str] = {}

    def text(self, value: Any, indent: int = 0) -> str:
        """Returns what `text` returns, and raises what it raises."""
        lines: list[str] = []
        pad = " " * indent
        if isinstance(value, dict) and value:
            self._mapping(value, pad, pad, lines)
        elif isinstance(value, list) and value:
            self._sequence(value, pad, pad, lines)
        else:
            lines.append(f"{pad}{_scalar(value, pad)}\n")
        return "".join(lines)

    def _mapping(self, mapping: dict[str, Any], first: str, pad: str, lines: list[str]) -> None:
        """Writes a mapping. `first` is the text before the first line, `pad` before all others."""
        heads, texts, write = self._heads.setdefault(first, {}), self._texts, lines.append
        for key, value in mapping.items():
            head = heads.get(key) or self._head(key, first, pad)
            if type(value) is str and (text := texts.get(value) or self._text(value)):
                write(head + text)
            elif type(value) is dict and value:
                write(head + "\n")
                deeper = pad + "  "
                self._mapping(value, deeper, deeper, lines)
            elif type(value) is list and value:
                write(head + "\n")
                self._sequence(value, pad, pad, lines)
            else:
                write(f"{head} {_scalar(value, pad)}\n")
            if first is not pad:
                heads, first = self._heads.setdefault(pad, {}), pad

    def _sequence(self, sequence: list[Any], first: str, pad: str, lines: list[str]) -> None:
        texts, head, inner = self._texts, first + "- ", pad + "  "
        for value in sequence:
            if type(value) is dict and value:
                self._mapping(value, head, inner, lines)
            elif type(value) is list and value:
                self._sequence(value, head, inner, lines)
            elif type(value) is str and (text := texts.get(value) or self._text(value)):
                lines.append(f"{first}-{text}")
            else:
                lines.append(f"{head}{_scalar(value, pad)}\n")
            if first is not pad:
                first, head = pad, pad + "- "

    def _head(self, key: str, before: str, pad: str) -> str:
        """Keeps the beginning of a line with a key: the text before it, the key and its colon."""
        line = _one_line(key)
        head = f"{before}{line}:" if len(line) <= _LONGEST_KEY else f"{before}? {line}\n{pad}:"
        self._heads[before][key] = head
        return head

    def _text(self, value: str) -> str:
        """Keeps the end of a line with a text: a space, the text with its quotes, and the line feed. Empty for a text of several lines."""
        text = "" if "\n" in value else f" {_one_line(value)}\n"
        if text:
            self._texts[value] = text
        return text


def _scalar(value: Any, pad: str) -> str:
    if type(value) is str:
        return _literal(value, pad) if "\n" in value and _fits_literal(value) else _one_line(value)
    if value is None:
        return "null"
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is int:
        return str(value)
    if type(value) is float:
        return _float(value)
    if value in ({}, []):
        return "{}" if value == {} else "[]"
    raise TypeError(f"{type(value).__name__} is not a JSON value")


@lru_cache(maxsize=8192)
def _one_line(value: str) -> str:
    if scalars.plain(value):
        return value
    if ('"' in value or "\\" in value) and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    return f'"{re.sub(_NOT_ASCII_TEXT, _escape, value)}"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character in _ESCAPES or character.isprintable():
        return _ESCAPES.get(character, character)
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _fits_literal(value: str) -> bool:
    """True if a text of several lines can be a literal block: it has no invisible character that an editor or a parser may drop."""
    starts_or_ends_blank = value[0] in " \t\n" or value[-1] in " \t"
    return not (starts_or_ends_blank or " \n" in value or "\t\n" in value) and value.replace("\n", "").replace("\t", "").isprintable()


def _literal(value: str, pad: str) -> str:
    lines = value.split("\n")
    keep = "-" if lines[-1] else "" if lines[-2] else "+"
    if not lines[-1]:
        lines.pop()
    return f"|{keep}\n" + "\n".join(f"{pad}  {line}" if line else "" for line in lines)


def _float(value: float) -> str:
    """Writes a float with a dot, as YAML 1.1 requires."""
    written = repr(value)
    if written in ("inf", "-inf", "nan"):
        raise ValueError(f"{written} is not a JSON value")
    return written if "." in written else written.replace("e", ".0e")
