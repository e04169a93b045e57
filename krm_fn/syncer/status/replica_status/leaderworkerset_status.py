"""Reads the status of LeaderWorkerSets. All counts in their status are counts of groups.

Follows the operator's `internal/controller/dynamocomponentdeployment_controller.go` IsLeaderWorkerSetReady. From version 0.9 on, their
status has an `observedGeneration`, and shows an update that is under way. Their conditions keep the reason of the last success while they
are False, so that only `status` of a condition is read.
"""

from __future__ import annotations

from krm_fn.kubernetes import values
from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels, names
from krm_fn.syncer.status import conditions, field_changes, live_fields, replica_status
from krm_fn.syncer.status.replica_status import ReplicaCounts, ReplicaStatus, StatusReader

_TEMPLATES = tuple(("spec", "leaderWorkerTemplate", role, "metadata") for role in ("leaderTemplate", "workerTemplate"))


class LeaderWorkerSetReader(StatusReader):
    """A LeaderWorkerSet. It holds all replicas of a multinode service, or one of them."""

    group = "leaderworkerset.x-k8s.io"
    kind = "LeaderWorkerSet"
    resource = "leaderworkersets"
    label_selectors = replica_status.WITH_LABEL
    min_replicas = 0
    scaled_by_adapters_only = True

    def read(self, resource: Resource) -> ReplicaStatus:
        """Reads one set. It is ready if all groups are ready, and of the newest template if the status shows the template."""
        status = values.mapping(resource, "status")
        result = self.common(resource)
        counts = ReplicaCounts(*(live_fields.count(status.get(field)) for field in ("replicas", "updatedReplicas", "readyReplicas")))
        available = conditions.find(status, "Available")
        problem = _problem(result, counts)
        if not problem and result.desired and not available.is_true:
            problem = "condition Available is not True"
        rolling = conditions.find(status, "UpdateInProgress").is_true
        outdated = result.observed is not None and counts.updated != result.desired
        return result._replace(
            counts=counts,
            ready=not problem,
            problem=problem,
            updating=bool(replica_status.explain_unprocessed(result)) or rolling or outdated,
            since=available.since if available.is_true is not bool(problem) else "",
            selector=values.text(status.get("hpaPodSelector")),
            owner=replica_status.owner(resource),
            family=live_fields.label(resource, labels.SET_NAME),
            member=live_fields.label(resource, labels.SET_ROLE),
            revision=live_fields.intern_text(labels.annotations(resource).get(labels.SET_REVISION)),
            changes=field_changes.read(resource, (path[:-1] for path in _TEMPLATES)),
            templates=tuple(replica_status.template(values.mapping(resource, *path), path) for path in _TEMPLATES),
        )

    def reported_as(self, graph: str, name: str) -> tuple[str, str]:
        """Names the component, which may have one set for each replica."""
        return names.component_of(self.kind, name) or name, name

    def available(self, *, ready: bool) -> tuple[str, str]:
        """Returns the reason and the message of the operator."""
        if ready:
            return "AllLeaderWorkerSetsReady", "All LeaderWorkerSets are ready"
        return "SomeLeaderWorkerSetsNotReady", "Some LeaderWorkerSets are not ready"


def _problem(status: ReplicaStatus, counts: ReplicaCounts) -> str:
    """Returns the first check that fails."""
    observes = status.observed is not None
    ready = counts.ready or 0
    if unprocessed := replica_status.explain_unprocessed(status):
        return unprocessed
    if ready < status.desired or (observes and ready != status.desired):
        return f"desired={status.desired}, ready={ready}"
    if observes and counts.updated != status.desired:
        return f"desired={status.desired}, updated={counts.updated}"
    if observes and counts.replicas != status.desired:
        return f"performing rolling update: desired={status.desired}, replicas={counts.replicas}"
    return ""


READERS = (LeaderWorkerSetReader(),)
