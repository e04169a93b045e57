"""Messages about JSON documents in command lines: texts that are no JSON, quotes that a shell removes, and fields."""

from __future__ import annotations

import re
from collections.abc import Sequence

from krm_fn.base import codes, spelling
from krm_fn.kubernetes import secret_values
from krm_fn.review.arguments import json_mistakes, message_parts
from krm_fn.review.arguments.command_line_parser import Problem
from krm_fn.review.arguments.config_types import FieldProblem
from krm_fn.review.arguments.flag_tables import FlagTable

_LONGEST_DOCUMENT = 200
"""The longest document that a message shows, in characters."""
_NAME = re.compile(r'"([\w-]+)"\s*:')
_SEPARATORS = re.compile(r"[_-]")
_QUOTES = 'write names and texts in double quotes as in {"name": "value"}, and the whole value in single quotes if a shell reads it'
_EXPANDED = re.compile(r"[$`]")


def wrong_json(problem: Problem, table: FlagTable) -> tuple[str, ...]:
    """Returns the code and the message of a text that is no JSON, and the item in place of one whose only mistake are its quotes."""
    text, named = problem.word.text, f"the value of {message_parts.flag(problem)} of {message_parts.program(table)} is not JSON"
    inner = text[1:-1] if text[:1] == text[-1:] == "'" else ""
    if inner and not problem.word.source and json_mistakes.first(inner) is None:
        return codes.FLAG_VALUE_NOT_JSON, f"{named}, because no shell reads this word and removes the single quotes; remove them", inner
    if pairs := json_mistakes.of_pairs(text):
        document = f"'{pairs}'" if problem.word.source else pairs
        return codes.FLAG_VALUE_NOT_JSON, f"{named}, but a name and a number with =; write {document}"
    mistake = None if _is_secret(text) else json_mistakes.first(text)
    return (
        codes.FLAG_VALUE_NOT_JSON,
        f"{named}{f': {mistake.problem}' if mistake else ''}; {mistake.fix if mistake and mistake.fix else _QUOTES}",
    )


def torn(problem: Problem, table: FlagTable) -> tuple[str, str]:
    """Returns the code and the message of a document whose quotes the shell removes."""
    text = problem.word.text
    quoted = f'"{_escape(text)}"' if _EXPANDED.search(text) or "'" in text else f"'{text}'"
    is_shown = len(text) <= _LONGEST_DOCUMENT and not _is_secret(text) and "\n" not in text
    fix = f"write {problem.option} {quoted}" if is_shown else f"write it in single quotes behind {problem.option}"
    flag = f"{message_parts.flag(problem)} of {message_parts.program(table)}"
    return codes.JSON_QUOTES_REMOVED, f"the shell removes the double quotes in the JSON document of {flag}; {fix}"


def field(problem: Problem, table: FlagTable) -> tuple[str, str]:
    """Returns the code and the message of a mistake in a field."""
    mistake = problem.field
    if mistake is None:
        raise ValueError(problem)
    document = f"{message_parts.flag(problem)} of {message_parts.program(table)}"
    if mistake.kind in ("unknown", "ignored"):
        return _unknown(mistake, document)
    if mistake.kind == "missing":
        return codes.MISSING_JSON_FIELD, f"the JSON document of {document} needs the field {mistake.field}; add it"
    if mistake.kind == "needs":
        others = " and ".join(mistake.detail)
        return codes.MISSING_JSON_FIELD, f"{mistake.field} in {document} needs the field {others}; add {others}"
    value = secret_values.HIDDEN if secret_values.is_secret_name(mistake.path[-1]) else message_parts.shorten_line(mistake.value)
    if mistake.kind == "type":
        return (
            codes.FLAG_VALUE_OF_WRONG_TYPE,
            f"{mistake.field} in {document} is {mistake.detail[0]}, not `{value}`; write {mistake.detail[0]}",
        )
    nearest = _meant(mistake.value, mistake.detail)
    others = ", ".join(mistake.detail[:12]) + (", …" if len(mistake.detail) > 12 else "")
    fix = f"write {nearest}" if nearest else "write one of these values"
    return codes.UNKNOWN_FLAG_VALUE, f"`{value}` is not a value of {mistake.field} in {document}, which has {others}; {fix}"


def _unknown(mistake: FieldProblem, document: str) -> tuple[str, str]:
    *parents, name = mistake.path
    nearest = _meant(name.replace("-", "_"), mistake.detail)
    where = f"{'.'.join(parents)} in {document}" if parents else document
    fix = f"write {nearest}" if nearest else "remove it"
    shown = message_parts.shorten_line(name)
    if mistake.kind == "ignored":
        return codes.JSON_FIELD_WITHOUT_EFFECT, f"`{shown}` is not a field of {where}, and has no effect; {fix}"
    return codes.UNKNOWN_JSON_FIELD, f"`{shown}` is not a field of {where}; {fix}"


def _meant(text: str, names: Sequence[str]) -> str:
    """Returns the name that a text misspells, or else the only one of which it is a part, such as `both` of `kv_both`."""
    whole = [name for name in names if text.lower() in _SEPARATORS.split(name.lower())]
    return spelling.nearest(text, names) or (whole[0] if len(whole) == 1 else "")


def _escape(text: str) -> str:
    return re.sub(r'(["\\`])', r"\\\1", text)


def _is_secret(text: str) -> bool:
    """True for a document that may have a secret value."""
    return message_parts.is_secret(text) or any(map(secret_values.is_secret_name, _NAME.findall(text)))
