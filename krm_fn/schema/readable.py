"""What of a resource can be read although something in it is wrong, so that one mistake does not hide the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from krm_fn.results import Path, Result

_SERVICE = len(("spec", "services", "name"))


def without(value: Any, broken: list[Path]) -> Any:
    """A copy without the fields at these paths.

    Objects in lists become empty, so that the others keep their places; a list of texts with a broken one goes as a whole.
    """
    here = [path for path in broken if path]
    if not here or not isinstance(value, dict | list):
        return value
    gone = {path[0] for path in here if len(path) == 1}
    if isinstance(value, list):
        if gone and not any(isinstance(entry, dict) for place, entry in enumerate(value) if place not in gone):
            return []
        return [{} if place in gone else without(entry, _below(here, place)) for place, entry in enumerate(value)]
    return {key: without(entry, _below(here, key)) for key, entry in value.items() if key not in gone}


def news(found: Iterable[Result], broken: list[Path]) -> Iterator[Result]:
    """The findings that do more than repeat, further down or higher up, that a field is unreadable.

    What is said of a service as a whole is about its name, which no field of it changes.
    """
    for result in found:
        if not any(_repeats(result.path, path) for path in broken):
            yield result


def _repeats(path: Path, broken: Path) -> bool:
    below, above = path[: len(broken)] == broken, broken[: len(path)] == path
    return below or (above and not len(path) <= _SERVICE < len(broken))


def _below(paths: list[Path], step: str | int) -> list[Path]:
    return [path[1:] for path in paths if path[0] == step]
