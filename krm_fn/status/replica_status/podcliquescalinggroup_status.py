"""PodCliqueScalingGroups, which Grove makes: the replicas of a multinode service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import values
from krm_fn.status import live_fields
from krm_fn.status.replica_status import ReplicaCounts, ReplicaStatus, StatusReader, _grove

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.kube.types import Resource


class PodCliqueScalingGroupReader(StatusReader):
    """A replica is a leader with its workers. It counts as available while one of several workers is missing."""

    group = _grove.GROUP
    version = _grove.VERSION
    kind = "PodCliqueScalingGroup"
    resource = "podcliquescalinggroups"
    label_selectors = (_grove.SELECTOR,)
    scaled_by_syncer = True
    min_replicas = _grove.MIN_REPLICAS

    def read(self, resource: Resource) -> ReplicaStatus:
        """Ready if all replicas are available and of the newest template."""
        status = values.mapping(resource, "status")
        fields = ("replicas", "updatedReplicas", "availableReplicas")
        replicas, updated, available = (live_fields.count(status.get(field)) for field in fields)
        scheduled = live_fields.whole_number(status.get("scheduledReplicas"))
        counts = ReplicaCounts(replicas, updated, available=available, scheduled=scheduled)
        result = _grove.completed(self.common(resource), resource, counts, "available")
        return result._replace(selector=values.text(status.get("selector")))

    def with_family(self, status: ReplicaStatus, family: Sequence[ReplicaStatus]) -> ReplicaStatus:
        """Requires that its PodCliqueSet reports the same, and that all its PodCliques are ready."""
        result = _grove.with_set(status, family)
        clique_set = _grove.set_of(family)
        if not result.ready or clique_set is None or not clique_set.revision:
            return result
        cliques = [other for other in family if other.key.kind == "PodClique" and other.member == status.key.name]
        unready = _unready([_grove.with_set(clique, [clique_set]) for clique in cliques])
        problem = _missing(status, cliques) or unready or _outdated_counts(clique_set, cliques)
        return result._replace(ready=not problem, problem=problem)

    def reported_as(self, graph: str, name: str) -> tuple[str, str]:
        """Names the PodCliqueSet, which is `graph`."""
        return graph, f"pcsg/{name}"


def _missing(group: ReplicaStatus, cliques: Sequence[ReplicaStatus]) -> str:
    """Requires at least one PodClique for each replica."""
    return f"desired={group.desired}, podcliques={len(cliques)}" if len(cliques) < group.desired else ""


def _unready(cliques: Sequence[ReplicaStatus]) -> str:
    """Names the first PodClique that is not ready."""
    return next((f"podclique/{clique.key.name}: {clique.problem}" for clique in sorted(cliques) if not clique.ready), "")


def _outdated_counts(clique_set: ReplicaStatus, cliques: Sequence[ReplicaStatus]) -> str:
    """Names the first PodClique with another pod count than the graph: Grove sets the count only when it makes the PodClique."""
    for clique in sorted(cliques):
        template = _grove.template_of(clique, clique_set)
        if template is not None and template.replicas not in (None, clique.desired):
            counts = f"desired={clique.desired}, in the graph={template.replicas}"
            fix = "Grove does not change a PodClique that exists, delete it to have it made anew"
            return f"podclique/{clique.key.name}: {counts}, {fix}"
    return ""


READER = PodCliqueScalingGroupReader()
