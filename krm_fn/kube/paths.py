"""Finds the places in a resource that match a pattern of keys and indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.results import Path

EVERY = "*"
"""Stands for every key of an object and every index of a list."""


def each(value: Any, patterns: Sequence[Path]) -> Iterator[tuple[Path, Any]]:
    """Yields the path and the value of each field that one of the patterns matches. `value` may have any type.

    >>> list(each({"a": [{"b": 1}, {"b": 2}, 3]}, [("a", EVERY, "b")]))
    [(('a', 0, 'b'), 1), (('a', 1, 'b'), 2)]
    """
    for pattern in patterns:
        yield from _reach(value, pattern, ())


def matches(path: Path, pattern: Path) -> bool:
    """True if a path is one of a pattern's.

    >>> matches(("a", 0, "b"), ("a", EVERY, "b")), matches(("a", 0), ("a", EVERY, "b"))
    (True, False)
    """
    return len(path) == len(pattern) and all(wanted in (EVERY, step) for step, wanted in zip(path, pattern, strict=True))


def at(value: Any, path: Path) -> Any:
    """The value at a path without patterns; None if there is none. `value` may have any type.

    >>> at({"a": [{"b": 1}]}, ("a", 0, "b")), at({"a": 1}, ("a", "b"))
    (1, None)
    """
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _reach(value: Any, pattern: Path, at: Path) -> Iterator[tuple[Path, Any]]:
    if not pattern:
        yield at, value
    elif pattern[0] != EVERY:
        if isinstance(value, dict) and pattern[0] in value:
            yield from _reach(value[pattern[0]], pattern[1:], (*at, pattern[0]))
    elif isinstance(value, dict | list):
        steps: Any = value.items() if isinstance(value, dict) else enumerate(value)
        for step, inner in steps:
            yield from _reach(inner, pattern[1:], (*at, step))
