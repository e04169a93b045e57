"""Whether a syncer runs, by its Leases and by the last status that it wrote."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from krm_fn.kubernetes import identity, values
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.syncer.status import FIELD_MANAGER, live_fields

NAMESPACE = "dynamo-system"
"""The namespace of the syncer in `platform/syncer`."""
LEASE = "krm-fn-sync"
"""The name of the Lease of the leader, and the beginning of the names of the Leases of members (`krm_fn.syncer.membership`)."""
_KIND, _GROUP = "Lease", "coordination.k8s.io"
_PATIENCE = 60
"""Seconds without a renewal after which no process holds a Lease. It is renewed every two seconds, and the clocks of machines differ."""


class HeldLease(NamedTuple):
    """A Lease of a syncer. `holder` is empty if a process released it. `renewed` is an RFC 3339 time."""

    key: ObjectKey
    holder: str
    renewed: str

    def is_live(self, now: str) -> bool:
        """Returns True if a process renewed the Lease in the last minute."""
        renewed, today = live_fields.seconds(self.renewed), live_fields.seconds(now)
        return bool(self.holder) and renewed is not None and today is not None and today - renewed <= _PATIENCE


class LastWrite(NamedTuple):
    """The last status that a syncer wrote, and its time in RFC 3339."""

    time: str
    key: ObjectKey


class SyncerState(NamedTuple):
    """The Leases of syncers, newest first, and the last write. `namespaces` are those whose Leases were read.

    `problem` is the reason why Leases cannot be read.
    """

    leases: tuple[HeldLease, ...] = ()
    last_write: LastWrite | None = None
    namespaces: tuple[str, ...] = ()
    problem: str = ""

    def live(self, now: str) -> list[HeldLease]:
        """Returns the Leases that processes hold now."""
        return [lease for lease in self.leases if lease.is_live(now)]

    def is_dead(self, now: str) -> bool:
        """Returns True if the Leases can be read, and no process holds one. A syncer outside of a cluster may have none."""
        return bool(self.leases) and not self.live(now)


def read(resources: Iterable[Resource], namespaces: Iterable[str] = (), problem: str = "") -> SyncerState:
    """Reads the Leases and the last write from objects of a cluster."""
    listed = list(resources)
    leases = [lease for resource in listed if (lease := _lease(resource))]
    writes = [write for resource in listed if (write := _last_write(resource))]
    newest = sorted(leases, key=lambda lease: lease.renewed, reverse=True)
    return SyncerState(tuple(newest), max(writes, default=None), tuple(dict.fromkeys(namespaces)), problem)


def _lease(resource: Resource) -> HeldLease | None:
    key = identity.key(resource)
    if (key.group, key.kind) != (_GROUP, _KIND) or not key.name.startswith(LEASE):
        return None
    spec = values.mapping(resource, "spec")
    return HeldLease(key, values.text(spec.get("holderIdentity")), values.text(spec.get("renewTime")))


def _last_write(resource: Resource) -> LastWrite | None:
    """Returns the time of the field manager of the syncer; None if it wrote no status, or if the object does not show it."""
    entries = values.objects(values.mapping(resource, "metadata").get("managedFields"))
    own = [entry for entry in entries if entry.get("manager") == FIELD_MANAGER and entry.get("subresource") == "status"]
    times = [time for entry in own if (time := values.text(entry.get("time")))]
    return LastWrite(max(times), identity.key(resource)) if times else None
