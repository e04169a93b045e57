"""Describes the first mistake of a text that should be JSON, with its position in words."""

from __future__ import annotations

import json
import re

from krm_fn.base.records import NamedTuple

_SHOWN = 20
"""The longest part of the text in a description, in characters."""
_CONSTANTS = re.compile(r"True|False|None", re.ASCII)
_RIGHT_CONSTANTS = {"True": "true", "False": "false", "None": "null"}
_CLOSING = {"{": "}", "[": "]"}


class JsonMistake(NamedTuple):
    """A mistake in a JSON document, and its fix; empty for quotes that are missing or wrong."""

    problem: str
    fix: str = ""


def first(text: str) -> JsonMistake | None:
    """Returns the first mistake; None for a text without one, and for one that is nested too deep.

    >>> first('{"a": {"b": 1}')
    JsonMistake(problem='a `}` is missing at its end', fix='write it there')
    >>> first("{'a': 1}").problem
    "at `'a': 1}`, a name has single quotes"
    """
    try:
        json.loads(text, parse_int=str)
    except json.JSONDecodeError as problem:
        return _mistake(text, problem)
    except (ValueError, RecursionError):
        return None
    return None


def _mistake(text: str, problem: json.JSONDecodeError) -> JsonMistake:
    rest = text[problem.pos :].strip()
    kind = problem.msg
    if kind.startswith("Unterminated string"):
        return JsonMistake(f"the text {_shown(rest)} has no double quote at its end", "write it there")
    if kind.startswith("Extra data"):
        return JsonMistake(f"{_shown(rest)} stands behind its end", "remove it")
    if not rest:
        missing = _missing(text[: problem.pos])
        return JsonMistake(f"a `{missing}` is missing at its end", "write it there") if missing else JsonMistake("it ends too early")
    before = text[: problem.pos].rstrip()
    if before.endswith(",") and rest[0] in "}]":
        return JsonMistake(f"a comma stands before `{rest[0]}`", "remove the comma")
    constant = _CONSTANTS.match(rest)
    if constant:
        right = _RIGHT_CONSTANTS[constant[0]]
        return JsonMistake(f"`{constant[0]}` is `{right}` in JSON", f"write {right}")
    what = {"Expecting ',' delimiter": "a comma or a bracket is missing", "Expecting ':' delimiter": "a colon is missing"}.get(kind)
    if what:
        return JsonMistake(f"before {_shown(rest)}, {what}")
    if kind.startswith(("Expecting property name", "Expecting value", "Illegal trailing comma")):
        noun = "a value" if kind.startswith("Expecting value") else "a name"
        return JsonMistake(f"at {_shown(rest)}, {noun} has {'single' if rest[0] == chr(39) else 'no double'} quotes")
    return JsonMistake(f"at {_shown(rest)}: {kind}")


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
