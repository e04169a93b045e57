"""Removes invalid fields from a resource so that the remaining rules can still run, and drops follow-up findings about these fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from krm_fn.results import Path, Result

_SERVICE = len(("spec", "services", "name"))
_NULL = "DYN028"
_TWINS = "DYN080"  # both entries are readable; if the key were removed, other rules would report the entry


def broken(found: Iterable[Result]) -> list[Path]:
    """Paths of the fields that have an error."""
    return [result.path for result in found if result.severity == "error"]


def usable(value: Any, found: Iterable[Result]) -> Any:
    """Copies a resource without the invalid fields."""
    return without(value, [result.path for result in found if result.severity == "error" and result.code != _TWINS])


def without_nulls(value: Any, found: Iterable[Result]) -> Any:
    """Copies a resource without the fields that were reported as null. Returns the resource itself if there are none."""
    return without(value, [result.path for result in found if result.code == _NULL])


def without(value: Any, broken: Iterable[Path]) -> Any:
    """Copies a value without the fields at these paths. Returns the value itself if the paths name no field of it.

    An invalid object in a list becomes empty, so that the other entries keep their indices. A list of strings with an invalid entry
    becomes empty.
    """
    gone, inner = _parted(broken)
    if not (gone or inner) or not isinstance(value, dict | list):
        return value
    if isinstance(value, list):
        if gone and not any(isinstance(entry, dict) for place, entry in enumerate(value) if place not in gone):
            return []
        return [{} if place in gone else without(entry, inner.get(place, ())) for place, entry in enumerate(value)]
    return {key: without(entry, inner.get(key, ())) for key, entry in value.items() if key not in gone}


def news(found: Iterable[Result], broken: Iterable[Path]) -> Iterator[Result]:
    """Yields the findings that do not follow from the invalid fields `broken`.

    A finding follows from an invalid field if its field is that field, is inside it or contains it. A finding about a whole service
    always stays, because it concerns the service's name.
    """
    paths = set(broken)
    around = {path[:length] for path in paths for length in range(len(path)) if not length <= _SERVICE < len(path)}
    for result in found:
        inside = any(result.path[:length] in paths for length in range(len(result.path) + 1))
        if not inside and result.path not in around:
            yield result


def _parted(broken: Iterable[Path]) -> tuple[set[str | int], dict[str | int, list[Path]]]:
    """Splits paths into fields of this level, and paths of lower levels by their first step."""
    gone: set[str | int] = set()
    inner: dict[str | int, list[Path]] = {}
    for path in broken:
        if len(path) == 1:
            gone.add(path[0])
        elif path:
            inner.setdefault(path[0], []).append(path[1:])
    return gone, inner
