"""Reads field paths as people write them and as reports print them, and compares them with the paths of fields.

An entry of a list has its index (`components[0]`), its key (`components[Decode]`, `components.Decode`), or both sides of its key
(`components[name=Decode]`). A key with dots is in quotes: `metadata.labels['nvidia.com/dynamo-component']`.
"""

from __future__ import annotations

import re
from typing import Any

from krm_fn.base.results import Path
from krm_fn.kubernetes import paths

_KEYS = ("name", "key", "mountPath", "containerPort", "port")
"""The fields by which entries of lists are named, as in `krm_fn.review.live.server_fields`."""
_STEP = re.compile(r"""\.?(?P<name>[^.\[\]'"]+)|\[(?P<quote>['"])(?P<quoted>.*?)(?P=quote)\]|\[(?P<key>[^\]'"]*)\]""")


def parse(text: str) -> Path | None:
    """Returns the steps of a field path; None for a text that is no path.

    >>> parse("spec.components[0].replicas"), parse("spec.components[name=Decode].replicas"), parse("a['b.c']"), parse("a[")
    (('spec', 'components', 0, 'replicas'), ('spec', 'components', 'Decode', 'replicas'), ('a', 'b.c'), None)
    """
    steps: list[str | int] = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            return None
        key = match["key"]
        steps.append(match["name"] or match["quoted"] or "" if key is None else _key(key))
        position = match.end()
    return tuple(steps) or None


def _key(text: str) -> str | int:
    """Returns the step in brackets: an index, or the key of an entry."""
    return int(text) if text.isdecimal() and len(text) < 10 else text.partition("=")[2] or text


def is_at_or_below(path: Path, selected: Path, value: Any) -> bool:
    """True if a path is the selected field of a value, or below it."""
    return len(path) >= len(selected) and all(
        _is_step(step, selected[number], paths.at(value, path[: number + 1]) if isinstance(step, int) else None)
        for number, step in enumerate(path[: len(selected)])
    )


def _is_step(step: str | int, selected: str | int, entry: Any) -> bool:
    if step == selected or not isinstance(step, int):
        return step == selected
    names = (entry.get(key) for key in _KEYS) if isinstance(entry, dict) else ()
    return any(name is not None and f"{name}" == f"{selected}" for name in names) if isinstance(selected, str) else False
