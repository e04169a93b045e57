"""PodCliques, which Grove makes: the pods of one role."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import labels, values
from krm_fn.status import live_fields
from krm_fn.status.replica_status import ReplicaCounts, ReplicaStatus, StatusReader, _grove

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.kube.types import Resource


class PodCliqueReader(StatusReader):
    """A single-node service, or one role in one replica of a scaling group."""

    group = _grove.GROUP
    version = _grove.VERSION
    kind = "PodClique"
    resource = "podcliques"
    label_selectors = (_grove.SELECTOR,)
    scaled_by_syncer = True
    min_replicas = _grove.MIN_REPLICAS

    def read(self, resource: Resource) -> ReplicaStatus:
        """Ready if all pods are ready and of the newest template."""
        status = values.mapping(resource, "status")
        replicas, updated, ready = (live_fields.count(status.get(field)) for field in ("replicas", "updatedReplicas", "readyReplicas"))
        counts = ReplicaCounts(replicas, updated, ready, scheduled=live_fields.whole_number(status.get("scheduledReplicas")))
        result = _grove.completed(self.common(resource), resource, counts, "ready")
        return result._replace(selector=values.text(status.get("hpaPodSelector")), member=live_fields.label(resource, labels.GROVE_GROUP))

    def with_family(self, status: ReplicaStatus, family: Sequence[ReplicaStatus]) -> ReplicaStatus:
        """Requires that its PodCliqueSet reports the same."""
        return _grove.with_set(status, family)

    def reported_as(self, graph: str, name: str) -> tuple[str, str]:
        """Names the PodCliqueSet, which is `graph`."""
        return graph, f"podclique/{name}"


READER = PodCliqueReader()
