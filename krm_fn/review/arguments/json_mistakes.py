"""Describes the first mistake of a text that should be JSON, with its position in words."""

from __future__ import annotations

import json
import re

from krm_fn.base.records import NamedTuple

_SHOWN = 20
"""The longest part of the text in a description, in characters."""
_CONSTANTS = re.compile(r"True|False|None", re.ASCII)
_PAIRS = re.compile(r"[a-z_]+=\d{1,9}(?:,[a-z_]+=\d{1,9})*", re.ASCII)
_RIGHT_CONSTANTS = {"True": "true", "False": "false", "None": "null"}
_CLOSING = {"{": "}", "[": "]"}
_MISSING = {",": "a comma", ":": "a colon", "]": "a `]`", "}": "a `}`", '"': "a double quote"}
"""The characters of which one can be missing before a position."""


class JsonMistake(NamedTuple):
    """A mistake in a JSON document, and its fix; empty for quotes that are missing or wrong."""

    problem: str
    fix: str = ""


def of_pairs(text: str) -> str:
    """Returns the JSON document that names and numbers with `=` between them mean; empty for another text.

    vLLM read `--limit-mm-per-prompt image=4,video=1` before it took JSON.

    >>> of_pairs("image=4,video=1"), of_pairs("image:4")
    ('{"image":4,"video":1}', '')
    """
    if not _PAIRS.fullmatch(text):
        return ""
    return json.dumps({name: int(number) for name, _, number in (pair.partition("=") for pair in text.split(","))}, separators=(",", ":"))


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
    start = len(text) - len(text[problem.pos :].lstrip())
    rest, kind = text[start:].rstrip(), problem.msg
    if kind.startswith("Unterminated string"):
        return _without_end(text, start)
    if kind.startswith("Extra data"):
        if _is_json("{" + text):
            return JsonMistake("a `{` is missing at its beginning", "write it there")
        return JsonMistake(f"{_show_text(rest)} stands behind its end", "remove it")
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
    if mended := _one_character(text, start):
        return mended
    what = {"Expecting ',' delimiter": "a comma or a bracket is missing", "Expecting ':' delimiter": "a colon is missing"}.get(kind)
    if what:
        return JsonMistake(f"before {_show_text(rest)}, {what}")
    if kind.startswith(("Expecting property name", "Expecting value", "Illegal trailing comma")):
        noun = "a value" if kind.startswith("Expecting value") else "a name"
        return JsonMistake(f"at {_show_text(rest)}, {noun} has {'single' if rest[0] == chr(39) else 'no double'} quotes")
    return JsonMistake(f"at {_show_text(rest)}: {kind}")


def _without_end(text: str, start: int) -> JsonMistake:
    """Returns the mistake of a text without a double quote at its end, which is before the brackets at the end of the document."""
    end = len(text.rstrip("}] \n\t"))
    problem = f"the text {_show_text(text[start:end])} has no double quote at its end"
    if end < len(text.rstrip()) and _is_json(f'{text[:end]}"{text[end:]}'):
        return JsonMistake(problem, f"write it before {_show_text(text[end:].strip())}")
    return JsonMistake(problem, "write it there")


def _one_character(text: str, start: int) -> JsonMistake | None:
    """Returns the mistake of a document in which one character is missing or wrong at a position; None for another one."""
    head, rest = text[:start], text[start:]
    if rest.startswith("=") and _is_json(f"{head}:{rest[1:]}"):
        return JsonMistake(f"`=` stands before {_show_text(rest[1:].strip())}", "write : in its place")
    comma = len(head[:-1].rstrip()) - 1
    if head.endswith('"') and head[comma : comma + 1] == "," and _is_json(f'{text[:comma]}"{text[comma:]}'):
        return JsonMistake(f"the text before {_show_text(text[comma:].strip())} has no double quote at its end", "write it there")
    for character, name in _MISSING.items():
        if _is_json(f"{head}{character}{rest}"):
            return JsonMistake(f"before {_show_text(rest.strip())}, {name} is missing", "write it there")
    return None


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_int=str)
    except (ValueError, RecursionError):
        return False
    return True


def _missing(text: str) -> str:
    """The brackets that would close the open parts of a text."""
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
    return "" if is_quoted else "".join(reversed(opened))


def _show_text(text: str) -> str:
    text = text.replace("\n", " ")
    return f"`{text if len(text) <= _SHOWN else text[:_SHOWN] + '…'}`"
