"""Writes JSON values as block YAML that parsers of YAML 1.1 and 1.2 read as the same values.

The layout is kubectl's: two spaces, the dashes of a list below its key, no anchors, no folded lines. Keys keep their order.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache

from krm_fn.base import escaping
from krm_fn.base.yaml import scalars

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LONGEST_KEY = 800  # readers look for a key's colon within 1024 characters
_NOT_ASCII_TEXT = r"[^ !#-\[\]-~]"
_NUMBER_SIGN = r"\x23"
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

    Rule epp.config-text: A configuration in a text field is printed as YAML, as the operator prints it. (operator:
    internal/dynamo/epp/config.go)
    """
    return YAMLWriter().text(value, indent)


def sort_keys(value: Any) -> Any:
    """Returns a JSON value with the keys of all its mappings in alphabetical order, as Go's encoders write them."""
    if isinstance(value, dict):
        return {key: sort_keys(value[key]) for key in sorted(value)}
    return [sort_keys(entry) for entry in value] if isinstance(value, list) else value


class YAMLWriter:
    """Writes several JSON values, and quotes each text once. Most texts of an output occur many times in it.

    The tables raise KeyError for what is new, because a `get` or a `__missing__` takes twice as long. A line is appended in two parts,
    because joining them here would copy them twice.
    """

    def __init__(self) -> None:
        self._heads: defaultdict[int, dict[str, str]] = defaultdict(dict)
        self._texts: dict[str, str] = {}

    def text(self, value: Any, indent: int = 0) -> str:
        """Returns what `text` returns, and raises what it raises."""
        lines: list[str] = []
        if isinstance(value, dict) and value:
            self._mapping(value, indent, lines)
        elif isinstance(value, list) and value:
            self._sequence(value, indent, lines)
        else:
            lines.append(f"{' ' * indent}{_scalar(value, indent)}\n")
        return "".join(lines)

    def _mapping(self, mapping: dict[str, Any], indent: int, lines: list[str]) -> None:
        """Writes a mapping. The first part of its first line is an element of `lines`, in which a list then sets the dash."""
        heads, texts = self._heads[indent], self._texts
        for key, value in mapping.items():
            try:
                lines.append(heads[key])
            except KeyError:
                lines.append(self._head(key, indent))
            kind = type(value)
            if kind is str:
                try:
                    lines.append(texts[value])
                except KeyError:
                    lines.append(self._text(value, indent))
            elif kind is dict and value:
                lines.append("\n")
                self._mapping(value, indent + 2, lines)
            elif kind is list and value:
                lines.append("\n")
                self._sequence(value, indent, lines)
            else:
                lines.append(f" {value if kind is int else _scalar(value, indent)}\n")

    def _sequence(self, sequence: list[Any], indent: int, lines: list[str]) -> None:
        texts, inner, dash = self._texts, indent + 2, " " * indent + "-"
        for value in sequence:
            kind = type(value)
            if kind is str:
                lines.append(dash)
                try:
                    lines.append(texts[value])
                except KeyError:
                    lines.append(self._text(value, indent))
            elif kind is dict and value:
                first = len(lines)
                self._mapping(value, inner, lines)
                lines[first] = f"{dash} {lines[first][inner:]}"
            elif kind is list and value:
                first = len(lines)
                self._sequence(value, inner, lines)
                lines[first] = f"{dash} {lines[first][inner:]}"
            else:
                lines.append(f"{dash} {_scalar(value, indent)}\n")

    def _head(self, key: str, indent: int) -> str:
        """Keeps the beginning of a line with a key: the text before it, the key and its colon."""
        line, pad = _one_line(key), " " * indent
        head = f"{pad}{line}:" if len(line) <= _LONGEST_KEY else f"{pad}? {line}\n{pad}:"
        self._heads[indent][key] = head
        return head

    def _text(self, value: str, indent: int) -> str:
        """Returns the end of a line with a text: a space, the text with its quotes, and the line feed. Keeps it if it is one line."""
        if "\n" in value and _fits_literal(value):
            return f" {_literal(value, ' ' * indent)}\n"
        text = self._texts[value] = f" {_one_line(value)}\n"
        return text


def _scalar(value: Any, indent: int) -> str:
    if type(value) is str:
        return _literal(value, " " * indent) if "\n" in value and _fits_literal(value) else _one_line(value)
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
    if "##" in value and escaping.has_command(value):
        return f'"{re.sub(_NOT_ASCII_TEXT, _escape, value).replace("##", f"{_NUMBER_SIGN}#")}"'
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
    """True if a text of several lines can be a literal block.

    It has no invisible character that an editor or a parser may drop, and no line that a CI system would run as a command.
    """
    starts_or_ends_blank = value[0] in " \t\n" or value[-1] in " \t"
    if starts_or_ends_blank or " \n" in value or "\t\n" in value or escaping.has_command(value):
        return False
    return value.replace("\n", "").replace("\t", "").isprintable()


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
