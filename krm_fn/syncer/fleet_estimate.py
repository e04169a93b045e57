"""Estimates the memory, the CPU time and the API traffic of a syncer for a fleet.

`make bench-fleet` measured the figures, with Python 3.11 and the component `pods`, for graphs of three Deployments with two pods each.
docs/syncer.md has its table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

BASE = 51.0
"""MiB of a process without objects, after its start."""
START = 2.0
"""MiB that a process needs more for a moment: for large documents, and to list a kind again."""
BYTES = {"Pod": 400, "DynamoGraphDeployment": 1030, "DynamoComponentDeployment": 1030, "DynamoGraphDeploymentScalingAdapter": 1030}
"""Bytes of one object in the caches and their indexes, by kind."""
OTHER_BYTES = 560
"""Bytes of an object of another kind, most of which are Deployments."""
DOCUMENT_BYTES = 10_000
"""Bytes of a document in the API, for a kind of which the input has no document. Half of them are managedFields."""
WITH_MANAGED_FIELDS = 2.1
"""The size of a document in the API, as a multiple of its size without managedFields."""
START_SECONDS = 0.6
"""CPU seconds to start without objects."""
READ_SECONDS = 0.25
"""CPU seconds to read 1,000 objects, most of which is the parsing of JSON."""
CHANGE_SECONDS = 0.007
"""CPU seconds for one change: an event, a reconcile and the write of a status. `make bench-sync` measured 6.3 to 6.9 ms (CPU per change),
with 1,100 to 50,000 objects."""
IDLE_SECONDS = 14.0
"""CPU seconds of an hour without changes: the leader's Lease, probes and scrapes. `make bench-fleet` measured it for 1,000 and 5,000
graphs."""
IDLE_BYTES = 2_300_000
"""Bytes of an hour without changes: the answers to writes of the Lease, and bookmarks of watches."""
SHARE = 0.8
"""The part of the memory limit that a process may use at its peak. Larger documents and changes at the same time need the rest."""
STEP = 32
"""Memory limits are multiples of this, in MiB."""
UNEVEN = 1.25
"""The share of the largest shard, as a multiple of an equal share: namespaces differ in their size."""
SHIPPED_LIMIT = 160
"""The memory limit in `platform/syncer`, in MiB."""
_MIB = 2**20
_HOUR = 3600
_DOCUMENTS_OF_CHANGE = 3
"""Documents that one change sends: its object, the graph in the answer to the write, and the graph in the watch."""
_WATCH_SECONDS = 440
"""The mean time after which the server ends a watch and the syncer starts it again."""
_LEASE_SECONDS = 2
"""The time between two writes of the leader's Lease."""


class Memory(NamedTuple):
    """The memory of a process, in MiB: at rest, at its peak, and the limit to set."""

    steady: int
    peak: int
    limit: int


class Fleet(NamedTuple):
    """The objects that a syncer caches: their number by namespace and kind, and the mean bytes of a document by kind."""

    objects: Mapping[str, Mapping[str, int]]
    document_bytes: Mapping[str, int] = {}

    @property
    def kinds(self) -> dict[str, int]:
        """The number of objects by kind, sorted."""
        total: dict[str, int] = {}
        for counts in self.objects.values():
            for kind, number in counts.items():
                total[kind] = total.get(kind, 0) + number
        return dict(sorted(total.items()))


class Traffic(NamedTuple):
    """The use of CPU and API: CPU seconds and received bytes of a start and of an hour, and the requests of an hour."""

    start_cpu: float
    start_bytes: int
    hour_cpu: float
    hour_bytes: int
    hour_requests: int


def memory(objects: Mapping[str, int]) -> Memory:
    """Estimates the memory for objects by kind.

    >>> memory({})
    Memory(steady=51, peak=53, limit=96)
    """
    steady = BASE + sum(BYTES.get(kind, OTHER_BYTES) * number for kind, number in objects.items()) / _MIB
    return Memory(math.ceil(steady), math.ceil(steady + START), round_limit((steady + START) / SHARE))


def round_limit(limit: float) -> int:
    """Returns the next memory limit that a person would write, in MiB."""
    return math.ceil(limit / STEP) * STEP


def shards(fleet: Fleet, limit: int = SHIPPED_LIMIT) -> int | None:
    """Returns the number of shards whose processes fit a memory limit in MiB; None if one namespace alone does not fit."""
    if any(memory(counts).limit > limit for counts in fleet.objects.values()):
        return None
    return parts(fleet.kinds, limit)


def parts(objects: Mapping[str, int], limit: int) -> int | None:
    """Returns the number of processes that divide objects by kind and fit a memory limit in MiB; None if no number is enough.

    >>> parts({"Pod": 90_000}, 96), parts({}, 96), parts({}, 64)
    (2, 1, None)
    """
    for number in range(1, 2 + sum(objects.values())):
        if memory(_part(objects, number)).limit <= limit:
            return number
    return None


def traffic(fleet: Fleet, changes: int, watches: int) -> Traffic:
    """Estimates the use of CPU and API by a process with this number of watches. `changes` are those of all objects in an hour."""
    documents = {kind: number * fleet.document_bytes.get(kind, DOCUMENT_BYTES) for kind, number in fleet.kinds.items()}
    number, size = sum(fleet.kinds.values()), sum(documents.values())
    mean = size / number if number else 0
    return Traffic(
        start_cpu=START_SECONDS + READ_SECONDS * number / 1000,
        start_bytes=size,
        hour_cpu=IDLE_SECONDS + CHANGE_SECONDS * changes,
        hour_bytes=IDLE_BYTES + round(changes * mean * _DOCUMENTS_OF_CHANGE),
        hour_requests=changes + round(watches * _HOUR / _WATCH_SECONDS) + _HOUR // _LEASE_SECONDS,
    )


def _part(kinds: Mapping[str, int], shards: int) -> dict[str, int]:
    """Returns the objects of the largest of several shards."""
    return {kind: math.ceil(number * min(UNEVEN / shards, 1)) for kind, number in kinds.items()}
