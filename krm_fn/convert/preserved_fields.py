"""The fields of an object that another object lacks, and how to put them into it.

They make an object of the same shape. A field that is null there means: the original does not have the field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from krm_fn.kube.values import is_zero

Path = tuple[str | int, ...]
_ABSENT: Any = ...


def difference(original: dict[str, Any], plain: dict[str, Any]) -> dict[str, Any]:
    """The fields of `original` that differ in `plain`.

    >>> difference({"a": 1, "b": {"c": 2, "d": 3}, "l": [{"name": "x", "e": 4}]}, {"b": {"d": 3}, "l": [{"name": "x"}], "f": 5})
    {'a': 1, 'b': {'c': 2}, 'l': [{'name': 'x', 'e': 4}], 'f': None}
    """
    fields = {}
    for key, value in original.items():
        if key not in plain or plain[key] != value:
            fields[key] = _part(value, plain.get(key))
    return {**fields, **{key: None for key in plain if key not in original}}


def _part(value: Any, plain: Any) -> Any:
    if isinstance(value, dict) and isinstance(plain, dict):
        return difference(value, plain)
    if _are_twins(value, plain):
        return [{"name": one["name"], **difference(one, other)} for one, other in zip(value, plain, strict=True)]
    return value


def ineffective(original: dict[str, Any], change: Callable[[dict[str, Any]], Any], plain: dict[str, Any]) -> list[Path]:
    """The paths of the fields of `original` that differ in `plain`, and that make no difference to what `change` gives."""
    result = change(original)
    paths: list[Path] = []
    todo = [(path, value) for path, value in _edits(plain, difference(original, plain), ()) if value is not _ABSENT]
    while todo:
        path, value = todo.pop(0)
        if change(_without(original, path)) == result:
            paths.extend([] if _is_blank(value) else [path])
        elif isinstance(value, dict):
            todo[:0] = [((*path, key), inner) for key, inner in value.items()]
    return paths


def _is_blank(value: Any) -> bool:
    return is_zero(value) or (isinstance(value, dict) and all(map(_is_blank, value.values())))


def _without(holder: Any, path: Path) -> Any:
    """A copy without the field at a path."""
    step = path[0]
    if isinstance(holder, list):
        return [_without(entry, path[1:]) if index == step else entry for index, entry in enumerate(holder)]
    if len(path) == 1:
        return {key: value for key, value in holder.items() if key != step}
    return {**holder, step: _without(holder[step], path[1:])}


def filled(plain: dict[str, Any], preserved: dict[str, Any], agrees: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """`plain` with the kept fields that `agrees` accepts: with all of them, or else with each that it accepts."""
    edits = [*_edits(plain, preserved, ())]
    whole: dict[str, Any] = _edited(plain, edits)
    if agrees(whole):
        return whole
    result = plain
    for edit in edits:
        wanted = _edited(result, [edit])
        if agrees(wanted):
            result = wanted
    return result


def _edits(plain: dict[str, Any], preserved: dict[str, Any], path: Path) -> Iterator[tuple[Path, Any]]:
    for key, value in preserved.items():
        here = (*path, key)
        there: Any = plain.get(key)
        if isinstance(value, dict) and isinstance(there, dict):
            yield from _edits(there, value, here)
        elif _are_twins(value, there):
            for index, (one, other) in enumerate(zip(value, there, strict=True)):
                yield from _edits(other, one, (*here, index))
        elif value is None and key in plain:
            yield here, _ABSENT
        elif key not in plain or value != there:
            yield here, value


def _are_twins(one: Any, other: Any) -> bool:
    """True for lists of objects with the same names in the same order."""
    if not (isinstance(one, list) and isinstance(other, list)):
        return False
    names = [[entry.get("name") if isinstance(entry, dict) else None for entry in entries] for entries in (one, other)]
    return names[0] == names[1] and all(isinstance(name, str) for name in names[0])


def _edited(value: Any, edits: list[tuple[Path, Any]]) -> Any:
    """A copy of the value with the edits, each of which names a field that exists or an object to put it into."""
    for path, new in edits:
        value = _set(value, path, new)
    return value


def _set(holder: Any, path: Path, new: Any) -> Any:
    step = path[0]
    if isinstance(holder, list):
        return [_set(entry, path[1:], new) if index == step else entry for index, entry in enumerate(holder)]
    if len(path) > 1:
        return {**holder, step: _set(holder[step], path[1:], new)}
    return _without(holder, path) if new is _ABSENT else {**holder, step: new}
