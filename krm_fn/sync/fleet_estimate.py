"""Estimates the memory, the CPU time and the API traffic of a syncer for a fleet.

`make bench-fleet` measured the figures, with Python 3.11 and the component `pods`, for graphs of three Deployments with two pods each.
docs/syncer.md has its table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

BASE = 54.0
"""MiB of a process without objects, after its start."""
START = 3.0
"""MiB that a process needs more while it reads a cluster for the first time, for the documents in its buffers."""
BYTES = {"Pod": 420, "DynamoGraphDeployment": 1700, "DynamoComponentDeployment": 1700, "DynamoGraphDeploymentScalingAdapter": 1400}
"""Bytes of one object in the caches and their indexes, by kind."""
OTHER_BYTES = 700
"""Bytes of an object of another kind, most of which are Deployments."""
DOCUMENT_BYTES = 5000
"""Bytes of a document in the API, for a kind of which the input has no document."""
READ_SECONDS = 0.26
"""CPU seconds to read 1,000 objects, most of which is the parsing of JSON."""
CHANGE_SECONDS = 0.004
"""CPU seconds for one change: an event, a reconcile and the write of a status."""
IDLE_SECONDS = 25.0
"""CPU seconds of an hour without changes: the leader's Lease, probes and scrapes."""
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
    Memory(steady=54, peak=57, limit=96)
    """
    steady = BASE + sum(BYTES.get(kind, OTHER_BYTES) * number for kind, number in objects.items()) / _MIB
    return Memory(math.ceil(steady), math.ceil(steady + START), rounded((steady + START) / SHARE))


def rounded(limit: float) -> int:
    """Returns the next memory limit that a person would write, in MiB."""
    return math.ceil(limit / STEP) * STEP


def shards(fleet: Fleet, limit: int = SHIPPED_LIMIT) -> int | None:
    """Returns the number of shards whose processes fit a memory limit in MiB; None if one namespace alone does not fit."""
    if any(memory(counts).limit > limit for counts in fleet.objects.values()):
        return None
    kinds, number = fleet.kinds, 1
    while memory(_part(kinds, number)).limit > limit:
        number += 1
    return number


def traffic(fleet: Fleet, changes: int, watches: int) -> Traffic:
    """Estimates the use of CPU and API by a process with this number of watches. `changes` are those of all objects in an hour."""
    documents = {kind: number * fleet.document_bytes.get(kind, DOCUMENT_BYTES) for kind, number in fleet.kinds.items()}
    number, size = sum(fleet.kinds.values()), sum(documents.values())
    mean = size / number if number else 0
    return Traffic(
        start_cpu=READ_SECONDS * number / 1000,
        start_bytes=size,
        hour_cpu=IDLE_SECONDS + CHANGE_SECONDS * changes,
        hour_bytes=round(changes * mean * _DOCUMENTS_OF_CHANGE),
        hour_requests=changes + round(watches * _HOUR / _WATCH_SECONDS) + _HOUR // _LEASE_SECONDS,
    )


def _part(kinds: Mapping[str, int], shards: int) -> dict[str, int]:
    """Returns the objects of the largest of several shards."""
    return {kind: math.ceil(number * min(UNEVEN / shards, 1)) for kind, number in kinds.items()}
