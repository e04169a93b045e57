"""Finds the paths at which two stored values differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.results import Path


def between(old: Any, new: Any, at: Path = ()) -> Iterator[Path]:
    """Yields the paths in `new` where two stored values differ. A removed field has its own path, as in the old value.

    Entries of lists are found by their names. A list whose entries only have another order differs as a whole.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*new, *old)):
            if key not in old or key not in new:
                yield (*at, key)
            else:
                yield from between(old[key], new[key], (*at, key))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _in_lists(old, new, at)
    elif old != new or type(old) is not type(new):
        yield at


def _in_lists(old: list[Any], new: list[Any], at: Path) -> Iterator[Path]:
    before, after = _names(old), _names(new)
    if before is None or after is None:
        if len(old) != len(new):
            yield at
        else:
            for index, (was, now) in enumerate(zip(old, new, strict=True)):
                yield from between(was, now, (*at, index))
        return
    if [name for name in before if name in after] != [name for name in after if name in before] or any(
        name not in after for name in before
    ):
        yield at
    for name, index in after.items():
        if name not in before:
            yield (*at, index)
        else:
            yield from between(old[before[name]], new[index], (*at, index))


def _names(entries: list[Any]) -> dict[str, int] | None:
    """The index of each entry by its name; None if the entries have no names of their own."""
    named = {entry["name"]: index for index, entry in enumerate(entries) if isinstance(entry, dict) and isinstance(entry.get("name"), str)}
    return named if len(named) == len(entries) else None
