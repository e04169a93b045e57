"""The writes that the server forbids, so that a missing right does not cost a request for each object."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

FORBIDDEN = 60.0
"""Seconds until a write that we may not make is tried again. The first times are shorter."""


class Denials:
    """Writes that the server forbids: one place is asked again after a second, then after twice as long each time, up to a minute.

    A server that just started forbids everything for a moment. A right that is really missing must not cost a request for each object.
    """

    def __init__(self) -> None:
        self._until: dict[Hashable, float] = {}
        self._pauses: dict[Hashable, float] = {}
        self._messages: dict[Hashable, str] = {}

    def left(self, place: Hashable) -> float:
        """Seconds until the place may be asked again; 0 if it may be asked now."""
        return max(0.0, self._until.get(place, 0.0) - monotonic())

    def message(self, place: Hashable) -> str:
        """What the server said last; empty after a success."""
        return self._messages.get(place, "")

    def add(self, place: Hashable, message: str) -> float:
        """Notes a refusal; returns the seconds to wait. Several refusals at the same moment count once."""
        self._messages[place] = message
        if not self.left(place):
            pause = self._pauses[place] = min(self._pauses.get(place, 0.5) * 2, FORBIDDEN)
            self._until[place] = monotonic() + pause
        return self.left(place)

    def clear(self, place: Hashable) -> None:
        """Notes a success."""
        self._until.pop(place, None)
        self._pauses.pop(place, None)
        self._messages.pop(place, None)
