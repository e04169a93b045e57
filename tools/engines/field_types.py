"""Types of the fields of documents for the tables: the declared type, corrected by the values that the program's reader accepts.

`measured_configs.py` asks the reader. A type in a table never refuses one of these values.
"""

from __future__ import annotations

import itertools
from typing import Any

from krm_fn.review.arguments import config_types

_ANY_TEXT = "zz-word"
_BOUNDED = ("positive", "natural", "")


def settled(measured: dict[str, Any]) -> Any:
    """The type of a measured field, as `krm_fn/review/arguments/config_types.py` reads it; empty if every value is right."""
    parts = _parts(measured["declared"])
    accepted = measured["accepted"]
    if not parts:
        return _undeclared(accepted, measured["refused"])
    if "bool" in parts and "true" not in accepted:
        parts = ["strict_bool" if part == "bool" else part for part in parts]
    types = [*map(_with_choices, _bounded(parts), itertools.repeat(accepted))]
    if None in accepted:
        types = [type_ if "null" in type_ else [*type_, "null"] for type_ in types]
    right = next((type_ for type_ in types if all(map(config_types.parse(type_).accepts, accepted))), None)
    return "" if right is None else right[0] if len(right) == 1 else right


def _undeclared(accepted: list[Any], refused: list[Any]) -> Any:
    """The kind that is right for exactly these values; empty without one."""
    for kind in config_types.kinds():
        for type_ in (kind, [kind, "null"]) if kind != "null" else ():
            accepts = config_types.parse(type_).accepts
            if all(map(accepts, accepted)) and not any(map(accepts, refused)):
                return type_
    return ""


def _parts(declared: Any) -> list[Any]:
    """The alternatives of a declared type; empty if one of them is any value."""
    if not declared:
        return []
    if not isinstance(declared, dict) or "any_of" not in declared:
        return [_inner(declared)]
    parts = [_parts(one) for one in declared["any_of"]]
    return [] if [] in parts else [one for part in parts for one in part]


def _inner(declared: Any) -> Any:
    """A type with the types of its members in the form of the tables."""
    if isinstance(declared, str):
        return declared
    return {key: _joined(_parts(value)) if key in ("list", "map") else value for key, value in declared.items()}


def _joined(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else parts or ""


def _bounded(parts: list[Any]) -> list[list[Any]]:
    """The type with each bound of its numbers, the tightest one first."""
    numbers = ("int", "float")
    return [[f"{bound}_{part}".lstrip("_") if part in numbers else part for part in parts] for bound in _BOUNDED]


def _with_choices(parts: list[Any], accepted: list[Any]) -> list[Any]:
    """A type with its choices: the declared ones, those members of enumerations that the reader accepts, and other accepted texts.

    A member is written by its name or by its value; if the reader accepts neither here, the values stay.
    """
    choices = [choice for part in parts if isinstance(part, dict) for choice in part.get("choices", ())]
    members = [choice for part in parts if isinstance(part, dict) for choice in part.get("members", ())]
    others = [part for part in parts if not isinstance(part, dict) or not {"choices", "members"}.intersection(part)]
    choices = [choice for choice in (*choices, *([one for one in members if one in accepted] or members)) if choice is not None]
    if not choices:
        return parts
    if _ANY_TEXT in accepted:
        return [*others, "str"] if "str" not in others else others
    right = choices
    folded = {_folded(choice) for choice in right}
    texts = [value for value in accepted if isinstance(value, str) and value not in right]
    spelled = [text for text in texts if _folded(text) in folded]
    right += [text for text in texts if text not in spelled]
    kept = {"choices": [value for index, value in enumerate(right) if value not in right[:index]], **({"folded": True} if spelled else {})}
    return [*others, kept]


def _folded(value: Any) -> str:
    return f"{value}".lower().replace("-", "_")
