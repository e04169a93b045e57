"""Growing random delays between attempts, so that many clients do not return to a server at the same moment."""

from __future__ import annotations

import random


class Backoff:
    """Delays in seconds: random between 0 and a limit that doubles with each attempt, from `first` to `cap`."""

    def __init__(self, first: float = 0.2, cap: float = 5.0) -> None:
        self._first = first
        self._cap = cap
        self._limit = first

    def next(self) -> float:
        """The next delay."""
        limit = self._limit
        self._limit = min(limit * 2, self._cap)
        return random.uniform(0, limit)  # noqa: S311 - spreads clients, protects nothing

    def reset(self) -> None:
        """Starts again with the first delay."""
        self._limit = self._first
