"""Computes the status of a DynamoGraphDeploymentRequest, and the events about its changes.

Follows the operator's `internal/controller/dynamographdeploymentrequest_controller.go`. One difference in principle: the state follows
from the objects that exist now. The stored status counts only for what the objects no longer show: the generated graph, whether it was
deployed, and whether it was ready. Another difference: under v1beta1, the name of a graph stays in the status after the graph was deleted,
so that it is not deployed again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import values
from krm_fn.syncer.status import SyncFeatures, conditions, request_deployment, request_generation, request_profiling, version_adapter
from krm_fn.syncer.status.cached_request import CachedRequest, RequestInputs, RequestStep
from krm_fn.syncer.status.conditions import READY, RECONCILING, STALLED, StatusCondition
from krm_fn.syncer.status.version_adapter import SUCCEEDED, RequestProgress

STEPS = (request_profiling.VALIDATION, request_profiling.TYPE, request_generation.TYPE, request_deployment.TYPE)
REQUEST_CONDITIONS = (*STEPS, SUCCEEDED, READY, RECONCILING, STALLED)
INITIALIZED = "Initialized"
_SUCCEEDED = {version_adapter.READY: "SpecGenerated", version_adapter.DEPLOYED: version_adapter.DEPLOYED}
"""The phases in which a request has succeeded, and their reasons. The reason of another phase is its name."""
_NORMAL_EVENTS = {
    request_profiling.RUNNING: ("ProfilingJobCreated", "Profiling job created"),
    request_generation.GENERATED: ("SpecGenerated", ""),
    request_deployment.CREATED: ("DeploymentCreated", ""),
    request_deployment.IS_READY: ("DeploymentReady", ""),
}
"""Reasons of conditions that become Normal events; the reasons and messages of these. An empty message is that of the condition."""
_WARNING_EVENTS = {
    request_profiling.INVALID: "ValidationFailed",
    request_profiling.CHANGE_REJECTED: "SpecChangeRejected",
    request_profiling.CONFLICT: "ProfilingJobFailed",
    request_profiling.UNSUCCESSFUL: "ProfilingCheckFailed",
    request_generation.UNSUCCESSFUL: "GenerationFailed",
    request_deployment.DISABLED: "AutoApplyDisabled",
    request_deployment.FAILING: "DeploymentCreationFailed",
    request_deployment.REJECTED: "DeploymentRefused",
    request_deployment.DEGRADED: "DeploymentDegraded",
    request_deployment.GONE: "DeploymentDeleted",
}
"""Reasons of conditions that become Warning events, and the reasons of these. A changed message is another event."""


class RequestEvent(NamedTuple):
    """An event about a request."""

    reason: str
    message: str
    warning: bool = False


class _Lifecycle(NamedTuple):
    """The steps of a request. `last` is the step that it has come to, `rejection` the condition that rejects its newest spec."""

    profiling: RequestStep
    generation: RequestStep
    deployment: RequestStep
    last: RequestStep
    state: str
    rejection: StatusCondition | None

    @property
    def conditions(self) -> list[StatusCondition]:
        """The conditions of the steps that have begun."""
        return [step.condition for step in (self.profiling, self.generation, self.deployment) if step.condition]

    @property
    def cause(self) -> StatusCondition:
        """The condition that explains the state."""
        return self.rejection or self.last.condition or self.conditions[-1]


def of_request(request: CachedRequest, inputs: RequestInputs, now: str, features: SyncFeatures) -> dict[str, Any]:
    """Computes the whole `.status` of a request, in its version. `now` is an RFC 3339 time.

    A request without the annotation `profile-hash` keeps its status, because another program may write it. So does one that is deleted.
    """
    if not request.managed or request.deleted:
        return request.status
    lifecycle = _lifecycle(request, inputs, features)
    progress = _progress(request, inputs, lifecycle)
    phase = progress.phase
    succeeded = StatusCondition(SUCCEEDED, phase in _SUCCEEDED, _SUCCEEDED.get(phase, phase), progress.message)
    desired = [*_conditions(lifecycle), succeeded]
    merged = conditions.merge(request.status.get("conditions"), desired, REQUEST_CONDITIONS, request.generation, now)
    shared = {"observedGeneration": request.generation or None, "conditions": merged}
    return version_adapter.request_status(request.status, progress, shared, request.version)


def events(before: dict[str, Any], after: dict[str, Any]) -> Iterator[RequestEvent]:
    """Yields the events of a change from one status to the next, with the operator's reasons. A first status is an event, too."""
    if not before.get("state") and not before.get("phase"):
        yield RequestEvent(INITIALIZED, "DGDR initialized successfully")
    for type_ in STEPS:
        old, new = (conditions.find(status, type_) for status in (before, after))
        if new.reason in _NORMAL_EVENTS and old.reason != new.reason:
            name, message = _NORMAL_EVENTS[new.reason]
            yield RequestEvent(name, message or new.message)
        elif new.reason in _WARNING_EVENTS and (old.reason, old.message) != (new.reason, new.message):
            yield RequestEvent(_WARNING_EVENTS[new.reason], new.message, warning=True)


def _lifecycle(request: CachedRequest, inputs: RequestInputs, features: SyncFeatures) -> _Lifecycle:
    profiling = request_profiling.step(request, inputs)
    generation = request_generation.step(request, inputs, profiling)
    deployment = request_deployment.step(request, inputs, features, due=profiling.done and generation.done)
    undone = next((step for step in (profiling, generation, deployment) if not step.done), deployment)
    last = deployment if deployment.value and request.auto_apply else undone
    begun = profiling.state != version_adapter.PENDING
    rejection = request_profiling.rejection(request, inputs, last.state, begun=begun)
    state = version_adapter.FAILED if request.problem and not begun else last.state
    return _Lifecycle(profiling, generation, deployment, last, state, rejection)


def _progress(request: CachedRequest, inputs: RequestInputs, lifecycle: _Lifecycle) -> RequestProgress:
    job = request.job.name if inputs.job and request_profiling.is_ours(request, inputs.job) else ""
    backend = values.text(request.status.get("backend")) if lifecycle.rejection else request.backend
    graph, deployed = lifecycle.generation.value or {}, lifecycle.deployment.value or {}
    graph_status = inputs.graph.status if inputs.graph else {}
    message = lifecycle.cause.message
    return RequestProgress(lifecycle.state, backend, job, request.output.name, message, graph, deployed, graph_status)


def _conditions(lifecycle: _Lifecycle) -> list[StatusCondition]:
    """Returns the conditions of the steps, and those for kstatus."""
    cause, rejection = lifecycle.cause, lifecycle.rejection
    ready = lifecycle.state == version_adapter.READY and not rejection
    desired = [*([rejection] if rejection else []), *lifecycle.conditions, StatusCondition(READY, ready, cause.reason, cause.message)]
    if not ready:
        stalled = rejection or lifecycle.last.stalled
        desired.append(StatusCondition(STALLED if stalled else RECONCILING, True, cause.reason, cause.message))
    return desired
