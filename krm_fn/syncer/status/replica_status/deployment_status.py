"""Reads the status of Deployments.

Follows the operator's `internal/controller/dynamocomponentdeployment_controller.go` IsDeploymentReady.
"""

from __future__ import annotations

from typing import Any

from krm_fn.kubernetes import values
from krm_fn.kubernetes.types import Resource
from krm_fn.syncer.status import conditions, field_changes, live_fields, replica_status
from krm_fn.syncer.status.conditions import ObservedCondition
from krm_fn.syncer.status.replica_status import ReplicaCounts, ReplicaStatus, StatusReader, WorkloadFailure

_TEMPLATE = ("spec", "template", "metadata")
_COUNTS = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
DEADLINE = "ProgressDeadlineExceeded"


class DeploymentReader(StatusReader):
    """A Deployment. Its controller gives up an update after `spec.progressDeadlineSeconds`."""

    group = "apps"
    kind = "Deployment"
    resource = "deployments"
    label_selectors = replica_status.WITH_LABEL
    has_deadline = True
    min_replicas = 0

    def read(self, resource: Resource) -> ReplicaStatus:
        """Reads one Deployment. It is ready if all replicas are of the newest template and available, and no older replica remains."""
        spec, status = values.mapping(resource, "spec"), values.mapping(resource, "status")
        result = self.common(resource)
        counts = ReplicaCounts(*(live_fields.count(status.get(field)) for field in _COUNTS))
        available = conditions.find(status, "Available")
        unprocessed = replica_status.explain_unprocessed(result._replace(observed=result.observed or 0))
        problem = ""
        if spec.get("paused") is True:
            problem = "the Deployment is paused"
        elif result.desired:
            problem = unprocessed or _problem(result, counts, available)
        failure = _failure(status) if problem and not unprocessed else None
        if failure:
            problem = f"{failure.reason}: {failure.message}"
        elif problem and not unprocessed:
            problem = _rejected_pods(status) or problem
        return result._replace(
            counts=counts,
            ready=not problem,
            problem=problem,
            updating=bool(unprocessed) or counts.updated < result.desired or counts.replicas > counts.updated,
            failure=failure,
            since=available.since if available.is_true is not bool(problem) else "",
            selector=_selector(values.mapping(spec, "selector", "matchLabels")),
            owner=replica_status.owner(resource),
            changes=field_changes.read(resource, (_TEMPLATE[:-1],)),
            templates=(replica_status.template(values.mapping(resource, *_TEMPLATE), _TEMPLATE),),
        )


def _problem(status: ReplicaStatus, counts: ReplicaCounts, available: ObservedCondition) -> str:
    """Returns the first check that fails, in the order of the operator."""
    if counts.updated < status.desired:
        return f"desired={status.desired}, updated={counts.updated}"
    if (counts.available or 0) < status.desired:
        return f"desired={status.desired}, available={counts.available}"
    if counts.replicas != status.desired:
        return f"performing rolling update: desired={status.desired}, replicas={counts.replicas}"
    return "" if available.is_true else "condition Available is not True"


def _rejected_pods(status: dict[str, Any]) -> str:
    """Explains why the controller cannot create pods, such as an exceeded quota; empty if it can."""
    condition = conditions.find(status, "ReplicaFailure")
    return condition.message if condition.is_true else ""


def _failure(status: dict[str, Any]) -> WorkloadFailure | None:
    """Returns the failure of an update that made no progress in time."""
    progressing = conditions.find(status, "Progressing")
    if progressing.status != "False" or progressing.reason != DEADLINE:
        return None
    return WorkloadFailure(DEADLINE, _rejected_pods(status) or progressing.message.rstrip("."))


def _selector(match_labels: dict[str, Any]) -> str:
    """Writes a selector as text."""
    return ",".join(sorted(f"{key}={value}" for key, value in match_labels.items()))


READERS = (DeploymentReader(),)
