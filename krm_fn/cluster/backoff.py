"""Delays between attempts: random ones after a lost connection, and long ones for requests that the server forbids."""

from __future__ import annotations

import random
from collections.abc import Hashable
from time import monotonic

FORBIDDEN = 60.0
"""The longest delay in seconds before a forbidden request is repeated."""


class Backoff:
    """Computes random delays in seconds, between 0 and a limit that doubles with each attempt, from `first` to `cap`.

    They are random so that many clients do not return to a server at the same moment.
    """

    def __init__(self, first: float = 0.2, cap: float = 5.0) -> None:
        self._first = first
        self._cap = cap
        self._limit = first

    def next(self) -> float:
        """Returns the next delay."""
        limit = self._limit
        self._limit = min(limit * 2, self._cap)
        return random.uniform(0, limit)  # noqa: S311 - spreads clients, protects nothing

    def reset(self) -> None:
        """Starts again with the first delay."""
        self._limit = self._first


class ForbiddenBackoff:
    """Computes delays after answers of 403: one second for the first refusal of a right, then twice as long each time, up to a minute.

    A server that just started forbids everything for a moment. A right that is really missing must not cost a request for each object.
    """

    def __init__(self) -> None:
        self._until: dict[Hashable, float] = {}
        self._pauses: dict[Hashable, float] = {}
        self._messages: dict[Hashable, str] = {}

    def remaining(self, right: Hashable) -> float:
        """Returns the seconds until a request that needs the right may be sent again; 0 if it may be sent now."""
        return max(0.0, self._until.get(right, 0.0) - monotonic())

    def message(self, right: Hashable) -> str:
        """Returns the last message of the server; empty after a success."""
        return self._messages.get(right, "")

    def add(self, right: Hashable, message: str) -> float:
        """Records a refusal; returns the seconds to wait. Several refusals at the same moment count once."""
        self._clear_ended()
        self._messages[right] = message
        if not self.remaining(right):
            pause = self._pauses[right] = min(self._pauses.get(right, 0.5) * 2, FORBIDDEN)
            self._until[right] = monotonic() + pause
        return self.remaining(right)

    def clear(self, right: Hashable) -> None:
        """Records a success."""
        self._until.pop(right, None)
        self._pauses.pop(right, None)
        self._messages.pop(right, None)

    def _clear_ended(self) -> None:
        """Forgets rights that were not used for a minute after their delay, such as those in deleted namespaces."""
        ended = monotonic() - FORBIDDEN
        for right in [right for right, until in self._until.items() if until < ended]:
            self.clear(right)
