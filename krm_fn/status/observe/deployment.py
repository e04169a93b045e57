"""Deployments.

Follows the reference's `internal/controller/dynamocomponentdeployment_controller.go` IsDeploymentReady.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import values
from krm_fn.status import fields, observe
from krm_fn.status.observe import Counts, Failure, Observation, Observer, _templates

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource

_TEMPLATE = ("spec", "template", "metadata")
DEADLINE = "ProgressDeadlineExceeded"


class Deployment(Observer):
    """Its controller gives up an update after `spec.progressDeadlineSeconds`."""

    group = "apps"
    kind = "Deployment"
    resource = "deployments"
    label_selectors = observe.LABELLED
    has_deadline = True
    least_replicas = 0

    def observe(self, resource: Resource) -> Observation:
        """Ready if all replicas are of the newest template and available, and no older replica remains."""
        spec, status = values.mapping(resource, "spec"), values.mapping(resource, "status")
        own = self.start(resource)
        counts = Counts(*(fields.count(status.get(each)) for each in ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")))
        available = fields.condition(status, "Available")
        late = observe.behind(own._replace(observed=own.observed or 0))
        why = "the Deployment is paused" if spec.get("paused") is True else (late or _why(own, counts, available)) if own.desired else ""
        failure = _failure(status) if why and not late else None
        if failure:
            why = f"{failure.reason}: {failure.message}"
        elif why and not late:
            why = _refused(status) or why
        return own._replace(
            counts=counts,
            ready=not why,
            why=why,
            updating=bool(late) or counts.updated < own.desired or counts.replicas > counts.updated,
            failure=failure,
            since=fields.since(available) if (available.get("status") == "True") is not bool(why) else "",
            selector=_selector(values.mapping(spec, "selector", "matchLabels")),
            templates=(_templates.read(values.mapping(resource, *_TEMPLATE), _TEMPLATE),),
        )


def _why(own: Observation, counts: Counts, available: dict[str, Any]) -> str:
    """The first check that fails, in the order of the reference."""
    if counts.updated < own.desired:
        return f"desired={own.desired}, updated={counts.updated}"
    if (counts.available or 0) < own.desired:
        return f"desired={own.desired}, available={counts.available}"
    if counts.replicas != own.desired:
        return f"performing rolling update: desired={own.desired}, replicas={counts.replicas}"
    return "" if available.get("status") == "True" else "condition Available is not True"


def _refused(status: dict[str, Any]) -> str:
    """Why the controller cannot create pods, such as an exceeded quota; empty if it can."""
    condition = fields.condition(status, "ReplicaFailure")
    return values.text(condition.get("message")) if condition.get("status") == "True" else ""


def _failure(status: dict[str, Any]) -> Failure | None:
    """An update that made no progress in time."""
    progressing = fields.condition(status, "Progressing")
    if progressing.get("status") != "False" or progressing.get("reason") != DEADLINE:
        return None
    return Failure(DEADLINE, _refused(status) or values.text(progressing.get("message")).rstrip("."))


def _selector(wanted: dict[str, Any]) -> str:
    """The text of a selector."""
    return ",".join(sorted(f"{key}={value}" for key, value in wanted.items()))


OBSERVER = Deployment()
