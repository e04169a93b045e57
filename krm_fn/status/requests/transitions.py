"""What happened to a request between two statuses, for events. The reasons are the reference's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import values
from krm_fn.records import NamedTuple
from krm_fn.status import fields
from krm_fn.status.requests import deployment, generation, profiling, validation

if TYPE_CHECKING:
    from collections.abc import Iterator

INITIALIZED = "Initialized"
_TYPES = (validation.TYPE, profiling.TYPE, generation.TYPE, deployment.TYPE)
_NEWS = {
    profiling.RUNNING: ("ProfilingJobCreated", "Profiling job created"),
    generation.GENERATED: ("SpecGenerated", ""),
    deployment.CREATED: ("DeploymentCreated", ""),
    deployment.IS_READY: ("DeploymentReady", ""),
}
"""Reasons of conditions with good news; the reasons of their events, and their messages. Without one, it is that of the condition."""
_TROUBLE = {
    validation.INVALID: "ValidationFailed",
    validation.REJECTED: "SpecChangeRejected",
    profiling.CONFLICT: "ProfilingJobFailed",
    profiling.UNSUCCESSFUL: "ProfilingCheckFailed",
    generation.UNSUCCESSFUL: "GenerationFailed",
    deployment.DISABLED: "AutoApplyDisabled",
    deployment.FAILING: "DeploymentCreationFailed",
    deployment.REFUSED: "DeploymentRefused",
    deployment.DEGRADED: "DeploymentDegraded",
    deployment.GONE: "DeploymentDeleted",
}
"""Reasons of conditions with bad news, and the reasons of their events. They are told again if the message changes."""


class Transition(NamedTuple):
    """One event."""

    reason: str
    message: str
    warning: bool = False


def between(before: dict[str, Any], after: dict[str, Any]) -> Iterator[Transition]:
    """The events of a change from one status to the next. A first status tells that the request was seen."""
    if not before.get("state") and not before.get("phase"):
        yield Transition(INITIALIZED, "DGDR initialized successfully")
    for type_ in _TYPES:
        was, now = (fields.condition(each, type_) for each in (before, after))
        reason, message = values.text(now.get("reason")), values.text(now.get("message"))
        if reason in _NEWS and was.get("reason") != reason:
            name, fixed = _NEWS[reason]
            yield Transition(name, fixed or message)
        elif reason in _TROUBLE and (was.get("reason"), was.get("message")) != (reason, message):
            yield Transition(_TROUBLE[reason], message, warning=True)
