"""What of a resource can be read although something in it is wrong, so that one mistake does not hide the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from krm_fn.results import Path, Result


def without(value: Any, broken: list[Path]) -> Any:
    """A copy without the fields at these paths; entries of lists become empty, so that the others keep their places."""
    here = [path for path in broken if path]
    if not here or not isinstance(value, dict | list):
        return value
    gone = {path[0] for path in here if len(path) == 1}
    if isinstance(value, list):
        return [{} if place in gone else without(entry, _below(here, place)) for place, entry in enumerate(value)]
    return {key: without(entry, _below(here, key)) for key, entry in value.items() if key not in gone}


def news(found: Iterable[Result], broken: list[Path]) -> Iterator[Result]:
    """The findings that do more than repeat, higher up or further down, that a field is unreadable."""
    for result in found:
        if not any(result.path[: len(path)] == path or path[: len(result.path)] == result.path for path in broken):
            yield result


def _below(paths: list[Path], step: str | int) -> list[Path]:
    return [path[1:] for path in paths if path[0] == step]
