"""The first step of a request: its profiling Job and the Job's pods, and changes of the spec after it began.

Follows the operator's `internal/controller/dynamographdeploymentrequest_controller.go` checkProfilingJobStatus.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import identity, values
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels, names
from krm_fn.syncer.status import conditions, live_fields, replica_status
from krm_fn.syncer.status.cached_request import CachedRequest, ProfilingJob, RequestInputs, RequestStep
from krm_fn.syncer.status.conditions import StatusCondition
from krm_fn.syncer.status.version_adapter import FAILED, PENDING, PROFILING, READY

if TYPE_CHECKING:
    from krm_fn.syncer.profiler_output import ProfilerOutput

TYPE = "Profiling"
RUNNING, COMPLETED, UNSUCCESSFUL = "ProfilingRunning", "ProfilingCompleted", "ProfilingFailed"
WAITING, CONFLICT = "ProfilingPending", "JobConflict"
VALIDATION = "Validation"
INVALID, CHANGE_REJECTED = "ValidationFailed", "SpecChangeRejected"
"""The condition Validation, with its reasons."""
GROUP, KIND = "batch", "Job"
_LOGS = "FallbackToLogsOnError"
_MESSAGE_LIMIT = 1024
"""The most characters of a container's message that are shown."""


class ProfilingPod(NamedTuple):
    """A pod of a Job, whose name is `job`. `problem` is empty if nothing went wrong in it. `since` is the time of creation."""

    key: ObjectKey
    job: str = ""
    failed: bool = False
    problem: str = ""
    since: str = ""


def read_job(resource: Resource, default_namespace: str = "") -> ProfilingJob:
    """Reads a Job. `default_namespace` is that of a resource without one. Never raises for invalid fields.

    The first of its conditions Complete and Failed counts.
    """
    status = values.mapping(resource, "status")
    end = next((condition for condition in values.objects(status.get("conditions")) if _is_end(condition)), {})
    failed = end.get("type") == "Failed"
    return ProfilingJob(
        identity.key(resource, default_namespace),
        live_fields.label(resource, labels.REQUEST),
        values.text(labels.annotations(resource).get(labels.PROFILE_HASH)),
        complete=end.get("type") == "Complete",
        failure=(values.text(end.get("message")) or values.text(end.get("reason")) or "the Job failed") if failed else "",
        suspended=values.mapping(resource, "spec").get("suspend") is True,
    )


def read_pod(resource: Resource, default_namespace: str = "") -> ProfilingPod:
    """Reads a pod. `default_namespace` is that of a resource without one. Never raises for invalid fields."""
    status, metadata = values.mapping(resource, "status"), values.mapping(resource, "metadata")
    failed = status.get("phase") == "Failed"
    key = identity.key(resource, default_namespace)
    problem = _pod_failure(resource) if failed else replica_status.get("Pod").read(resource).problem
    return ProfilingPod(
        key,
        live_fields.label(resource, labels.JOB_NAME) or live_fields.label(resource, labels.OLD_JOB_NAME),
        failed,
        f"Pod: {key.name}, {problem}" if problem else "",
        values.text(metadata.get("creationTimestamp")),
    )


def pod_problem(pods: Iterable[ProfilingPod], job: ObjectKey) -> str:
    """Returns the problem of the newest pod of a Job that has one; failed pods come first. Empty if no pod has one."""
    matches = [pod for pod in pods if pod.problem and (pod.key.namespace, pod.job) == (job.namespace, job.name)]
    return max(matches, key=lambda pod: (pod.failed, pod.since, pod.key.name)).problem if matches else ""


def step(request: CachedRequest, inputs: RequestInputs) -> RequestStep:
    """Computes the step of the Job. Profiling is completed if the output of these settings exists, whatever became of the Job."""
    job, output = inputs.job, inputs.output
    if output and output.profile_hash and output.profile_hash == request.profile_hash:
        return _completed_step()
    if job is None:
        return _without_job(request, output)
    if request.generated and (job.complete or (job.suspended and not _is_newer(job, request, output)) or not is_ours(request, job)):
        return _completed_step()
    return _of_job(job, f". Details: {inputs.pod}" if inputs.pod else "") if is_ours(request, job) else _conflict(job)


def is_ours(request: CachedRequest, job: ProfilingJob) -> bool:
    """Returns True if a Job of the right name is the Job of this request."""
    return job.request == request.key.name


def has_changed(request: CachedRequest, inputs: RequestInputs) -> bool:
    """Returns True if other settings were profiled than the request has now."""
    job, output = inputs.job, inputs.output
    profiled = output.profile_hash if output else ""
    if profiled != request.profile_hash and job and is_ours(request, job):
        profiled = job.profile_hash
    return bool(profiled and request.profile_hash) and profiled != request.profile_hash


def rejection(request: CachedRequest, inputs: RequestInputs, state: str, *, begun: bool) -> StatusCondition | None:
    """Returns the condition that rejects the newest spec; None if it counts. `state` is the state of what was profiled."""
    if request.problem:
        return StatusCondition(VALIDATION, False, INVALID, request.problem)
    if not begun or not has_changed(request, inputs):
        return None
    message = (
        f"Cannot modify spec in state '{state}'. DynamoGraphDeploymentRequest is immutable once profiling starts. "
        "Create a new resource with a different name instead, or undo the change."
    )
    return StatusCondition(VALIDATION, False, CHANGE_REJECTED, message)


def _is_newer(job: ProfilingJob, request: CachedRequest, output: ProfilerOutput | None) -> bool:
    """Returns True if the Job has the settings of the request, and the output is of other settings: the Job exists to profile again."""
    return bool(output and output.profile_hash and request.profile_hash) and job.profile_hash == request.profile_hash


def _of_job(job: ProfilingJob, details: str) -> RequestStep:
    """Computes the step of the Job of the request. `details` are about its pods."""
    if job.complete:
        return _completed_step()
    if job.failure:
        fix = f"; correct the cause, then delete the Job {job.key.name} and apply it again"
        return _failed_step(f"profiling job failed: {job.failure}{details}", fix)
    message = f"Profiling is in progress{details}"
    if job.suspended:
        message = f"the Job {job.key.name} is suspended; set its spec.suspend to false, or delete the Job and apply it again"
    return RequestStep(PROFILING, StatusCondition(TYPE, False, RUNNING, message))


def _without_job(request: CachedRequest, output: ProfilerOutput | None) -> RequestStep:
    if request.generated:
        return _completed_step()
    name = request.job.name
    stored = conditions.find(request.status, TYPE)
    if stored.reason in (RUNNING, COMPLETED, UNSUCCESSFUL) or request.state == PROFILING:
        return _failed_step(f'jobs.batch "{name}" not found', "; apply the rendered Job again, and profiling starts from the beginning")
    message = f"the Job {name} does not exist yet; apply it together with the request"
    if output is None and request.state not in ("", PENDING, FAILED):
        missing = f"the Job {name} and the ConfigMap {request.output.name} with its output do not exist"
        message = f"{missing}, although the status was {request.state}; apply the Job to profile again"
    return RequestStep(PENDING, StatusCondition(TYPE, False, WAITING, message))


def _completed_step() -> RequestStep:
    return RequestStep(READY, StatusCondition(TYPE, True, COMPLETED, "Profiling job completed successfully"), done=True)


def _failed_step(problem: str, fix: str) -> RequestStep:
    return RequestStep(FAILED, StatusCondition(TYPE, False, UNSUCCESSFUL, f"{problem}{fix}"), stalled=True)


def _conflict(job: ProfilingJob) -> RequestStep:
    label = f"has the label {labels.REQUEST}: {job.request}" if job.request else f"has no label {labels.REQUEST}"
    message = f"the Job {job.key.name} is not the Job of this request: it {label}; delete that Job, or give the request another name"
    return RequestStep(FAILED, StatusCondition(TYPE, False, CONFLICT, message), stalled=True)


def _is_end(condition: dict[str, Any]) -> bool:
    return condition.get("status") == "True" and condition.get("type") in ("Complete", "Failed")


def _pod_failure(resource: Resource) -> str:
    """Describes the failure of a pod by the first container that ended with an error, else by one that cannot start, else by the pod."""
    status = values.mapping(resource, "status")
    containers = [*values.objects(status.get("initContainerStatuses")), *values.objects(status.get("containerStatuses"))]
    for container in containers:
        ended = values.mapping(container, "state", "terminated")
        if ended and ended.get("exitCode") != 0:
            name = values.text(container.get("name"))
            message = "" if name == names.PROFILER and _shows_log(resource) else values.text(ended.get("message"))
            return f"Container: {name}, ExitCode: {ended.get('exitCode')}, {_reason(ended, message)}"
    for container in containers:
        if waiting := values.mapping(container, "state", "waiting"):
            reason = _reason(waiting, values.text(waiting.get("message")))
            return f"Container: {values.text(container.get('name'))}, Waiting - {reason}"
    return _reason(status, values.text(status.get("message"))) if status.get("reason") else ""


def _shows_log(resource: Resource) -> bool:
    """Returns True if the message of the profiler may be a part of its log, which fewer people may read than the status of a request."""
    spec = values.mapping(resource, "spec")
    containers = [*values.objects(spec.get("initContainers")), *values.objects(spec.get("containers"))]
    return any(container.get("name") == names.PROFILER and container.get("terminationMessagePolicy") == _LOGS for container in containers)


def _reason(state: dict[str, Any], message: str) -> str:
    message = message.strip()
    short = message if len(message) <= _MESSAGE_LIMIT else f"{message[: _MESSAGE_LIMIT - 1]}…"
    return f"Reason: {values.text(state.get('reason')) or 'Unknown'}{f', Message: {short}' if short else ''}"
