"""Types of flag values: the texts that a parser accepts for each type.

The names are those of the tables. A type without a row here accepts every text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from krm_fn.base.records import NamedTuple

_INTEGER = re.compile(r"\s*[+-]?[0-9]+(_[0-9]+)*\s*", re.ASCII)
_UNIT = re.compile(r"\s*([0-9]+(\.[0-9]*)?[kmgt]|[0-9]+[KMGT])\s*", re.ASCII)
_DECIMAL_SIZE = re.compile(r"\s*[+-]?[0-9]+(\.[0-9]+)?\s*([A-Za-z]+\s*)?", re.ASCII)
_MOST_DIGITS = 4300
_THOUSANDS = re.compile(r"(?<=[0-9])[, '](?=[0-9]{3}(?![0-9]))", re.ASCII)
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,3})?)\s*%", re.ASCII)
_WORD = re.compile(r"([0-9]{1,20})\s*([A-Za-z]{2,10})", re.ASCII)
_BYTES = ("kb", "kib", "mb", "mib", "gb", "gib")
_SWITCHES = {"enabled": "true", "enable": "true", "disabled": "false", "disable": "false"}
_BOOLEANS = frozenset(("true", "t", "yes", "y", "on", "1", "false", "f", "no", "n", "off", "0"))


class ValueType(NamedTuple):
    """`accepts` returns true for the texts that a parser reads. `name` is the type in messages, with its article."""

    name: str
    accepts: Callable[[str], bool]


def _is_integer(text: str) -> bool:
    """True for a text that Python's `int` reads. It reads `_MOST_DIGITS` digits at most."""
    return bool(_INTEGER.fullmatch(text)) and _has_few_digits(text)


def _has_few_digits(text: str) -> bool:
    return len(text) <= _MOST_DIGITS or sum(character.isdigit() for character in text) <= _MOST_DIGITS


def _is_float(text: str) -> bool:
    return number(text) is not None


def is_json(text: str) -> bool:
    """Returns true for a JSON document.

    >>> is_json('{"a": 1}'), is_json("{a: 1}")
    (True, False)
    """
    try:
        json.loads(text, parse_int=str)
    except (ValueError, RecursionError):
        return False
    return True


def _is_json_object(text: str) -> bool:
    return is_json(text) and text.lstrip().startswith("{")


def _has_braces(text: str) -> bool:
    """True for a text that vLLM's `union_dict_and_str` reads as JSON."""
    return text.lstrip().startswith("{") and text.rstrip().endswith("}")


def _is_size(text: str) -> bool:
    """True for an integer and for a number with a unit. Only a decimal unit, in lower case, allows a fraction.

    Follows vLLM's `human_readable_int`.
    """
    return _is_integer(text) or (bool(_UNIT.fullmatch(text)) and _has_few_digits(text))


def _optional(of: ValueType) -> ValueType:
    """Returns the type that also accepts an empty text and None."""
    return ValueType(f"{of.name} or None", lambda text: text in ("", "None") or of.accepts(text))


_INT = ValueType("an integer", _is_integer)
_FLOAT = ValueType("a number", _is_float)
_JSON = ValueType("a JSON document", is_json)
_CONFIG = ValueType("a JSON object", _is_json_object)
_HUMAN = ValueType("an integer, also with a unit such as 1k or 2M", _is_size)
_TYPES = {
    "int": _INT,
    "optional_int": _optional(_INT),
    "natural_int": ValueType("an integer from 0 on", lambda text: _is_integer(text) and int(text) >= 0),
    "positive_int": ValueType("an integer above 0", lambda text: _is_integer(text) and int(text) > 0),
    "int_or_none": ValueType("an integer or None", lambda text: text == "None" or _is_integer(text)),
    "float": _FLOAT,
    "float_or_none": ValueType("a number or None", lambda text: text == "None" or _is_float(text)),
    "natural_float": ValueType("a number from 0 on", lambda text: _is_float(text) and not float(text) < 0),
    "optional_float": _optional(_FLOAT),
    "bool": ValueType("true or false", lambda text: text.lower() in _BOOLEANS),
    "json": _JSON,
    "optional_json": _optional(_JSON),
    "json_object": _CONFIG,
    "optional_json_object": _optional(_CONFIG),
    "empty_or_json_object": ValueType("a JSON object", lambda text: not text or _is_json_object(text)),
    "text_or_json_object": ValueType("a text or a JSON object", lambda text: not _has_braces(text) or is_json(text)),
    "file_or_json_object": ValueType("a file or a JSON object", lambda text: not text.lstrip().startswith("{") or is_json(text)),
    "bool_or_config": ValueType("true, false or a JSON object", lambda text: text.lower() in _BOOLEANS or _is_json_object(text)),
    "config": _CONFIG,
    "optional_config": _optional(_CONFIG),
    "size": _HUMAN,
    "optional_size": _optional(_HUMAN),
    "size_or_auto": ValueType("an integer, also with a unit, or auto", lambda text: text == "auto" or _is_size(text)),
    "decimal_size": ValueType("a number, also with a unit such as 1k or 1.5G", lambda text: bool(_DECIMAL_SIZE.fullmatch(text))),
    "nonempty_text": ValueType("a text that is not empty", bool),
}
JSON = frozenset(
    (
        *("json", "optional_json", "json_object", "optional_json_object", "empty_or_json_object", "text_or_json_object"),
        *("file_or_json_object", "config", "optional_config"),
    )
)
"""The types whose values are JSON documents."""


def get(name: str) -> ValueType | None:
    """Returns a type by its name; None for a type that accepts every text."""
    return _TYPES.get(name)


def names() -> frozenset[str]:
    """Returns the names of the types that refuse some texts."""
    return frozenset(_TYPES)


def number(text: str) -> float | None:
    """Returns the number in a text; None for another text."""
    try:
        return float(text)
    except ValueError:
        return None


def meant(expected: ValueType, text: str) -> str:
    """Returns the value of a type that a text means: without blanks, quotes, separators of thousands and words; empty without one.

    >>> [meant(_HUMAN, text) for text in ("32 k", "8,192", "8192 tokens", "32kb", "many")], meant(_FLOAT, "90%")
    (['32k', '8192', '8192', '32k', ''], '0.9')
    """
    plain = text.strip(" \t\n\"'`,;=")
    digits = _THOUSANDS.sub("", plain)
    percent, unit = _PERCENT.fullmatch(plain), _WORD.fullmatch(digits)
    candidates = [plain, plain.lower(), digits, re.sub(r"\s", "", digits), _SWITCHES.get(plain.lower(), "")]
    if unit:
        candidates.append(unit[1] + (unit[2][0].lower() if unit[2].lower() in _BYTES else ""))
    if percent and expected.accepts("0.5"):
        candidates.append(f"{float(percent[1]) / 100:g}")
    return next((candidate for candidate in candidates if candidate and candidate != text and expected.accepts(candidate)), "")
