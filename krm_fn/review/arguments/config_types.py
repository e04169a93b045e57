"""Types of the fields of JSON documents in command lines: the values that a program's reader accepts for each type.

Follows the lax mode of pydantic, with which vLLM, SGLang and the planner of Dynamo read their documents: a number may be a text, and a
boolean may be a number. `make engine-flags` tries each type with the readers themselves, so a type never refuses more than they do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from krm_fn.base.records import NamedTuple
from krm_fn.review.arguments import value_types

_NUMBER = re.compile(
    r"[+-]?(?:[0-9]+(?:_[0-9]+)*(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|[+-]?(?:inf|infinity|nan)", re.ASCII | re.IGNORECASE
)
_INTEGER = re.compile(r"[+-]?[0-9]+(?:_[0-9]+)*(?:\.0+)?", re.ASCII)
_BOOLEANS = frozenset(("true", "t", "yes", "y", "on", "1", "false", "f", "no", "n", "off", "0"))
_STRICT: dict[str, tuple[type, ...]] = {"strict_bool": (bool,), "strict_int": (int,), "strict_float": (int, float)}
"""Kinds of readers that convert no value, such as those of msgspec."""
_BOUNDS = {"natural": 0, "positive": 1e-300}
_NAMES = {
    "str": "a text",
    "int": "an integer",
    "natural_int": "an integer from 0 on",
    "positive_int": "an integer above 0",
    "float": "a number",
    "natural_float": "a number from 0 on",
    "positive_float": "a number above 0",
    "bool": "true or false",
    "strict_bool": "true or false",
    "strict_int": "an integer",
    "strict_float": "a number",
    "null": "null",
}

FieldProblemKind = Literal["unknown", "ignored", "choice", "type", "missing", "needs"]


class FieldProblem(NamedTuple):
    """A mistake in a field of a document. `path` leads to it, `value` is its text or JSON, and `detail` lists the right names."""

    kind: FieldProblemKind
    path: tuple[str, ...]
    value: str = ""
    detail: tuple[str, ...] = ()

    @property
    def field(self) -> str:
        """The path with dots."""
        return ".".join(self.path)


class FieldType(NamedTuple):
    """The values of a field: one of several kinds, or one of the choices. Any value if it has none of them.

    `items` is the type of the members of a list, and `values` that of a mapping. `config` names a document within the document.
    `is_folded` is true if the reader does not distinguish capital letters in choices, nor `-` from `_`.
    """

    kinds: tuple[str, ...] = ()
    choices: tuple[Any, ...] = ()
    items: FieldType | None = None
    values: FieldType | None = None
    config: str = ""
    is_folded: bool = False

    @property
    def is_any(self) -> bool:
        """True if every value is right."""
        return self == FieldType()

    def accepts(self, value: Any) -> bool:
        """Returns true for a right value. Every mapping is right for a document within the document."""
        if self.is_any or any(_is_of(kind, value) for kind in self.kinds) or self._is_choice(value):
            return True
        if isinstance(value, dict):
            return bool(self.config) or (self.values is not None and all(map(self.values.accepts, value.values())))
        return isinstance(value, list) and self.items is not None and all(map(self.items.accepts, value))

    def _is_choice(self, value: Any) -> bool:
        if isinstance(value, str) and self.is_folded:
            return _fold_name(value) in map(_fold_name, self.choices)
        return value in self.choices

    def texts(self) -> tuple[str, ...]:
        """Returns the choices if these are the only texts that are right."""
        return tuple(choice for choice in self.choices if isinstance(choice, str)) if "str" not in self.kinds else ()

    def __str__(self) -> str:
        """The type for messages, with its articles."""
        names = [_NAMES[kind] for kind in self.kinds if kind != "null"]
        names += [f'"{choice}"' if isinstance(choice, str) else f"{choice}" for choice in self.choices]
        names += ["a list"] if self.items else []
        names += ["an object"] if self.values or self.config else []
        names += ["null"] if "null" in self.kinds else []
        return " or ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names) or "any value"


def parse(written: Any) -> FieldType:
    """Returns a type from its form in a table: a kind, a mapping with `choices`, `list`, `map` or `config`, or a list of them."""
    merged = FieldType()
    for part in written if isinstance(written, list) else [written] if written else []:
        if isinstance(part, str):
            merged = merged._replace(kinds=(*merged.kinds, part))
            continue
        merged = merged._replace(
            choices=(*merged.choices, *part.get("choices", ())),
            is_folded=merged.is_folded or part.get("folded", False),
            items=parse(part["list"]) if "list" in part else merged.items,
            values=parse(part["map"]) if "map" in part else merged.values,
            config=part.get("config", merged.config),
        )
    return merged


def problems(expected: FieldType, value: Any, path: tuple[str, ...]) -> Iterator[FieldProblem]:
    """Yields the mistake of one value."""
    if not expected.accepts(value):
        choices = expected.texts()
        if isinstance(value, str) and choices:
            yield FieldProblem("choice", path, value, choices)
        else:
            yield FieldProblem("type", path, json.dumps(value), (f"{expected}",))


def kinds() -> Sequence[str]:
    """Returns the names of all kinds."""
    return tuple(_NAMES)


def _is_of(kind: str, value: Any) -> bool:
    """True for a value that pydantic reads as one of this kind."""
    if kind == "null":
        return value is None
    if kind == "str":
        return isinstance(value, str)
    if kind in _STRICT:
        return isinstance(value, _STRICT[kind]) and (kind == "strict_bool" or not isinstance(value, bool))
    if kind == "bool":
        return value.lower() in _BOOLEANS if isinstance(value, str) else isinstance(value, int | float) and value in (0, 1)
    bound, _, number = kind.rpartition("_")
    amount = _number(value)
    is_integer = _INTEGER.fullmatch(value.strip()) if isinstance(value, str) else amount is not None and amount % 1 == 0
    if amount is None or (number == "int" and not is_integer):
        return False
    return not bound or amount >= _BOUNDS[bound]


def _number(value: Any) -> float | None:
    """The number of a value, and that of a text with a number; None for others."""
    if isinstance(value, int | float):
        return value
    text = value.strip() if isinstance(value, str) else ""
    return value_types.number(text) if _NUMBER.fullmatch(text) else None


def _fold_name(text: Any) -> str:
    return f"{text}".lower().replace("-", "_")
