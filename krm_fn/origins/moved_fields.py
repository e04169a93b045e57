"""Finds where a conversion moves the fields of a resource: a text of the new version that is a copy has the path of its field."""

from __future__ import annotations

from collections.abc import Callable

from krm_fn.base.results import Path
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.types import Resource
from krm_fn.origins import copied_texts
from krm_fn.render.config import Config


def of(resource: Resource, convert: Callable[[Resource], Resource]) -> Callable[[Path], Path]:
    """Returns a function from the path of a field of a resource to its path in the converted resource, or to the nearest field there."""
    inputs = copied_texts.distinct([resource], Config())
    converted = convert(inputs.resources[0])
    leaves = {mark.path: path for path, text in paths.leaves(converted) if (mark := inputs.copied_from(text)) and mark.path}

    def moved(path: Path) -> Path:
        if not path or path in leaves:
            return leaves.get(path, ())
        if below := [new for old, new in leaves.items() if old[: len(path)] == path]:
            return _common(below)
        beside = (*moved(path[:-1]), path[-1])
        return beside if paths.at(converted, beside) is not None else path if paths.at(converted, path) is not None else beside[:-1]

    return moved


def _common(listed: list[Path]) -> Path:
    """Returns the longest path that all paths begin with."""
    first, last = min(listed, key=repr), max(listed, key=repr)
    length = next(
        (number for number, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), min(len(first), len(last))
    )
    return first[:length]
