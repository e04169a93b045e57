"""The size of a value as JSON."""

from __future__ import annotations

from typing import Any


def of(value: Any, limit: int) -> int:
    """The number of bytes of a value as compact JSON, about. Counting stops soon after `limit`, whatever YAML aliases repeat.

    >>> of({"a": ["bc", 1, True]}, 100)
    24
    """
    total, rest = 0, [value]
    while rest and total <= limit:
        each = rest.pop()
        if isinstance(each, dict):
            total += 2 + sum(len(key) + 4 for key in each)
            rest.extend(each.values())
        elif isinstance(each, list):
            total += 2 + len(each)
            rest.extend(each)
        else:
            total += len(each.encode(errors="replace")) + 2 if isinstance(each, str) else 4
    return total
