"""The goals of the status syncer on two cores, with everything on one machine. They are the same at every size unless the name says so."""

from __future__ import annotations

from typing import NamedTuple


class Goal(NamedTuple):
    """A figure must be at most `limit`."""

    limit: float
    unit: str

    def verdict(self, figure: float) -> str:
        """The goal in words, and whether the figure reaches it."""
        return f"at most {self.limit:g} {self.unit}".rstrip() + (": ok" if figure <= self.limit else ": MISSED")


MEDIAN = Goal(20, "ms")
P99 = Goal(100, "ms")
MAXIMUM = Goal(500, "ms")
BURST_VISIBLE = Goal(3, "s")
BURST_P99_RATIO = Goal(1.2, "x client-go")
P99_RATIO = Goal(1, "x client-go")
MEMORY_RATIO = Goal(0.25, "x client-go")
WRITES_PER_CHANGE = Goal(1, "")
RESTART_WRITES = Goal(0, "")
READS_PER_CHANGE = Goal(0, "")
CONFLICTS = Goal(1, "% of writes")
IDLE = Goal(0.5, "% of a core")
MEMORY_RATIO_FROM = 10_000
"""The goal for the ratio of memory holds from this number of objects on. With fewer, most memory is that of programs and libraries."""


def cold_start(objects: int) -> Goal:
    """The limit of a start until all objects are reconciled: 5 s up to 11,000 objects, 25 s for more."""
    return Goal(5 if objects <= 11_000 else 25, "s")


def memory(objects: int) -> Goal:
    """The limit of resident memory: 56 MiB up to 1,100 objects, 64 MiB up to 11,000, 84 MiB for more."""
    return Goal(56 if objects <= 1100 else 64 if objects <= 11_000 else 84, "MiB")
