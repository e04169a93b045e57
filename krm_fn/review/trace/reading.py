"""Reads the marks of rendered objects: the leaves of each object, with their origins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn.review.trace import marks
from krm_fn.review.trace.marks import NONE, RuleMark, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.results import Path
    from krm_fn.review.trace.marks import Marks, Won


class Leaf(NamedTuple):
    """A value of an object that is no mapping and no list, or an empty one.

    `marks` are what the value was made of. `placed` are the marks of the key that is nearest to it: what put the value there. `won` are the
    values that it replaced.
    """

    path: Path
    value: Any
    marks: Marks
    placed: Marks
    won: tuple[Won, ...]


def leaves(value: Any, path: Path = (), key: Any = "") -> Iterator[Leaf]:
    """The leaves of a value. `key` is the nearest key above the value."""
    if type(value) is dict and value:
        for name, inner in value.items():
            yield from leaves(inner, (*path, marks.plain(name)), name)
    elif type(value) is list and value:
        for index, inner in enumerate(value):
            yield from leaves(inner, (*path, index), key)
    else:
        placed = key.marks if type(key) is Text else NONE
        yield Leaf(path, marks.plain(value), marks.of(value) or placed, _rules(placed), key.won if type(key) is Text else ())


def _rules(found: Marks) -> Marks:
    """The marks that are rules."""
    return frozenset(mark for mark in found if isinstance(mark, RuleMark))
