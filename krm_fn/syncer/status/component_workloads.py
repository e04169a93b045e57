"""The workloads of one component of a graph, as its scaling adapters need them.

A tenant may write thousands of adapters for one graph. `WorkloadIndex.component` reads the workloads once for all of them, so their time is
not quadratic.
"""

from __future__ import annotations

from collections.abc import Sequence

from krm_fn.base.records import NamedTuple
from krm_fn.render.workload_list import WorkloadEntry
from krm_fn.syncer.status import live_fields, replica_status
from krm_fn.syncer.status.replica_status import ReplicaStatus


class ComponentWorkloads(NamedTuple):
    """The entries of a component, in the order of the annotation, and the state of their workloads."""

    entries: tuple[WorkloadEntry, ...] = ()
    minimum: int | None = None
    """The smallest replica count of an adapter; None if only Git can change the count of a workload."""
    replicas: int = 0
    """The pods of all workloads."""
    by_count: dict[int, ReplicaStatus] = {}
    """The first workload with each number of desired replicas."""
    all_exist: bool = True
    """False if a workload does not exist, or belongs to another owner."""
    foreign: str = ""
    """The reason why the syncer does not change one of the workloads."""

    @property
    def in_git(self) -> list[int]:
        """The replica counts of the entries that have one."""
        return [entry.replicas for entry in self.entries if entry.replicas is not None]

    def with_other_count(self, replicas: int | None) -> ReplicaStatus | None:
        """Finds the first workload that has another number of desired replicas."""
        return next((status for count, status in self.by_count.items() if count != replicas), None)


def read(entries: Sequence[WorkloadEntry], statuses: Sequence[ReplicaStatus | None], foreign: str) -> ComponentWorkloads:
    """Reads the workloads of a component. `statuses` are those of the entries, each None if its workload does not exist."""
    minima = [min_replicas(entry, status) for entry, status in zip(entries, statuses, strict=True)]
    by_count: dict[int, ReplicaStatus] = {}
    for status in statuses:
        if status:
            by_count.setdefault(status.desired, status)
    return ComponentWorkloads(
        tuple(entries),
        None if not entries or None in minima else max(minimum or 0 for minimum in minima),
        min(sum(status.counts.replicas for status in statuses if status and status.counts), live_fields.MAX_REPLICAS),
        by_count,
        all(statuses),
        foreign,
    )


def min_replicas(entry: WorkloadEntry, status: ReplicaStatus | None = None) -> int | None:
    """Returns the smallest replica count of a workload. None if only Git can change the count, or the kind is not known.

    `status` is that of the workload, if it exists.
    """
    reader = replica_status.find(entry.api_version.rpartition("/")[0], entry.kind)
    if reader is None or (reader.scaled_by_adapters_only and entry.replicas is not None):
        return None
    minimum = reader.min_replicas
    return minimum if minimum is None or status is None else max(minimum, status.min_available)
