"""Describes the first mistake of a text that should be JSON, with its position in words."""

from __future__ import annotations

import json
import re

_SHOWN = 20
"""The longest part of the text in a description, in characters."""
_CONSTANTS = re.compile(r"True|False|None", re.ASCII)
_RIGHT_CONSTANTS = {"True": "true", "False": "false", "None": "null"}
_CLOSING = {"{": "}", "[": "]"}


def described(text: str) -> str:
    """Returns the mistake; empty for a text without one, and for one that is nested too deep.

    >>> described('{"a": {"b": 1}')
    'a `}` is missing at its end'
    >>> described("{'a': 1}")
    "at `'a': 1}`, a name has single quotes"
    """
    try:
        json.loads(text, parse_int=str)
    except json.JSONDecodeError as problem:
        return _described(text, problem)
    except (ValueError, RecursionError):
        return ""
    return ""


def _described(text: str, problem: json.JSONDecodeError) -> str:
    rest = text[problem.pos :].strip()
    kind = problem.msg
    if kind.startswith("Unterminated string"):
        return f"the text {_shown(rest)} has no double quote at its end"
    if kind.startswith("Extra data"):
        return f"{_shown(rest)} stands behind its end"
    if not rest:
        missing = _missing(text[: problem.pos])
        return f"a `{missing}` is missing at its end" if missing else "it ends too early"
    before = text[: problem.pos].rstrip()
    if before.endswith(",") and rest[0] in "}]":
        return f"a comma stands before `{rest[0]}`"
    constant = _CONSTANTS.match(rest)
    if constant:
        return f"`{constant[0]}` is `{_RIGHT_CONSTANTS[constant[0]]}` in JSON"
    what = {"Expecting ',' delimiter": "a comma or a bracket is missing", "Expecting ':' delimiter": "a colon is missing"}.get(kind)
    if what:
        return f"before {_shown(rest)}, {what}"
    if kind.startswith(("Expecting property name", "Expecting value", "Illegal trailing comma")):
        noun = "a value" if kind.startswith("Expecting value") else "a name"
        return f"at {_shown(rest)}, {noun} has {'single' if rest[0] == chr(39) else 'no double'} quotes"
    return f"at {_shown(rest)}: {kind}"


def _missing(text: str) -> str:
    """The bracket that would close the innermost open part of a text."""
    opened: list[str] = []
    is_quoted = is_escaped = False
    for character in text:
        if is_escaped:
            is_escaped = False
        elif is_quoted:
            is_quoted, is_escaped = character != '"', character == "\\"
        elif character == '"':
            is_quoted = True
        elif character in _CLOSING:
            opened.append(_CLOSING[character])
        elif character in "}]" and opened:
            opened.pop()
    return opened[-1] if opened and not is_quoted else ""


def _shown(text: str) -> str:
    text = text.replace("\n", " ")
    return f"`{text if len(text) <= _SHOWN else text[:_SHOWN] + '…'}`"
