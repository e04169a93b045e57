"""The profiling Job of a request and its pods, as the status of the request sees them.

Follows the reference's `internal/controller/dynamographdeploymentrequest_controller.go` checkProfilingJobStatus.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import identity, labels, values
from krm_fn.kube.identity import ObjectKey
from krm_fn.records import NamedTuple
from krm_fn.status import fields
from krm_fn.status.observe import pod as pods_

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kube.types import Resource

GROUP, KIND = "batch", "Job"
_PROFILER = "profiler"
_LOGS = "FallbackToLogsOnError"
_LONGEST = 1024
"""The most characters of a container's message that are shown."""


class Job(NamedTuple):
    """A Job. `request` is its label `dgdr`, `profile_hash` its annotation. `failure` is the reason of a Job that failed, for people."""

    key: ObjectKey
    request: str = ""
    profile_hash: str = ""
    complete: bool = False
    failure: str = ""
    suspended: bool = False


class Pod(NamedTuple):
    """A pod of a Job, whose name is `job`. `detail` says what went wrong in it; empty if nothing did. `since` is the time of creation."""

    key: ObjectKey
    job: str = ""
    failed: bool = False
    detail: str = ""
    since: str = ""


def read(resource: Resource, home: str = "") -> Job:
    """Reads one Job. `home` is the namespace of a resource without one. Never raises for what somebody wrote.

    The first of its conditions Complete and Failed counts.
    """
    status = values.mapping(resource, "status")
    ended = next((each for each in values.objects(status.get("conditions")) if _ends(each)), {})
    failed = ended.get("type") == "Failed"
    return Job(
        identity.key(resource, home),
        fields.label(resource, labels.REQUEST),
        values.text(labels.notes(resource).get(labels.PROFILE_HASH)),
        complete=ended.get("type") == "Complete",
        failure=(values.text(ended.get("message")) or values.text(ended.get("reason")) or "the Job failed") if failed else "",
        suspended=values.mapping(resource, "spec").get("suspend") is True,
    )


def pod(resource: Resource, home: str = "") -> Pod:
    """Reads one pod. `home` is the namespace of a resource without one. Never raises for what somebody wrote."""
    status, metadata = values.mapping(resource, "status"), values.mapping(resource, "metadata")
    failed = status.get("phase") == "Failed"
    key = identity.key(resource, home)
    why = _failure(resource) if failed else pods_.OBSERVER.observe(resource).why
    return Pod(
        key,
        fields.label(resource, labels.JOB_NAME) or fields.label(resource, labels.OLD_JOB_NAME),
        failed,
        f"Pod: {key.name}, {why}" if why else "",
        values.text(metadata.get("creationTimestamp")),
    )


def detail(pods: Iterable[Pod], job: ObjectKey) -> str:
    """The detail of the newest pod of a Job that has one; failed pods come first. Empty if no pod has one."""
    own = [each for each in pods if each.detail and (each.key.namespace, each.job) == (job.namespace, job.name)]
    return max(own, key=lambda each: (each.failed, each.since, each.key.name)).detail if own else ""


def _ends(condition: dict[str, Any]) -> bool:
    return condition.get("status") == "True" and condition.get("type") in ("Complete", "Failed")


def _failure(resource: Resource) -> str:
    """Why a pod failed: the first container that ended with an error, else one that cannot start, else what Kubernetes says of the pod."""
    status = values.mapping(resource, "status")
    containers = [*values.objects(status.get("initContainerStatuses")), *values.objects(status.get("containerStatuses"))]
    for each in containers:
        ended = values.mapping(each, "state", "terminated")
        if ended and ended.get("exitCode") != 0:
            name = values.text(each.get("name"))
            said = "" if name == _PROFILER and _shows_log(resource) else values.text(ended.get("message"))
            return f"Container: {name}, ExitCode: {ended.get('exitCode')}, {_reason(ended, said)}"
    for each in containers:
        if waiting := values.mapping(each, "state", "waiting"):
            return f"Container: {values.text(each.get('name'))}, Waiting - {_reason(waiting, values.text(waiting.get('message')))}"
    return _reason(status, values.text(status.get("message"))) if status.get("reason") else ""


def _shows_log(resource: Resource) -> bool:
    """True if the message of the profiler may be a part of its log, which fewer people may read than the status of a request."""
    spec = values.mapping(resource, "spec")
    containers = [*values.objects(spec.get("initContainers")), *values.objects(spec.get("containers"))]
    return any(each.get("name") == _PROFILER and each.get("terminationMessagePolicy") == _LOGS for each in containers)


def _reason(state: dict[str, Any], said: str) -> str:
    said = said.strip()
    short = said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"
    return f"Reason: {values.text(state.get('reason')) or 'Unknown'}{f', Message: {short}' if short else ''}"
