"""Reads pods, for the reasons in messages and for the adapters that are loaded into them. The syncer reads pods only for these features."""

from __future__ import annotations

from typing import Any

from krm_fn.base import report
from krm_fn.kubernetes import values
from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels
from krm_fn.syncer.status import SyncFeatures, conditions, live_fields
from krm_fn.syncer.status.replica_status import ReplicaStatus, StatusReader, WorkerPod, WorkloadFailure

LASTING = {
    "ErrImagePull": "ImagePullBackOff",
    "ImagePullBackOff": "ImagePullBackOff",
    "InvalidImageName": "InvalidImageName",
    "ErrImageNeverPull": "ErrImageNeverPull",
    "CreateContainerConfigError": "CreateContainerConfigError",
    "CreateContainerError": "CreateContainerError",
    "RunContainerError": "RunContainerError",
    "CrashLoopBackOff": "CrashLoopBackOff",
}
"""Reasons of a waiting container that rarely end by themselves. The kubelet alternates between the first two."""
LABEL_OF_FEATURE = (("pods", labels.GRAPH), ("loras", labels.BASE_MODEL_HASH))
"""The features that read pods, and the label of the pods that they read."""
_MESSAGE_LIMIT = 300
_ENDED = ("Succeeded", "Failed")
CRASHES = 3
"""From this number of restarts on, a container that is not ready is in a crash loop, also while it runs again."""


class PodReader(StatusReader):
    """A pod of a graph, or of a base model."""

    kind = "Pod"
    resource = "pods"

    def selectors(self, features: SyncFeatures) -> tuple[str, ...]:
        """Returns one selector for each feature that is on. A pod with the labels of two features is selected once."""
        keys = [label for feature, label in LABEL_OF_FEATURE if getattr(features, feature)]
        return tuple(",".join([*(f"!{other}" for other in keys[:index]), label]) for index, label in enumerate(keys))

    def read(self, resource: Resource) -> ReplicaStatus:
        """Reads one pod. Its condition Ready shows readiness. A pod that is being deleted has no problem."""
        status = values.mapping(resource, "status")
        ready = conditions.find(status, "Ready")
        metadata = values.mapping(resource, "metadata")
        failure = None if ready.is_true or "deletionTimestamp" in metadata else _failure(status)
        problem = f"{failure.reason}: {failure.message}" if failure else ""
        if not problem and not ready.is_true and "deletionTimestamp" not in metadata:
            problem = _delay(status)
        return self.common(resource)._replace(
            ready=ready.is_true,
            problem=problem,
            failure=failure,
            last_message=_last_line(status) if problem else "",
            since=ready.since or values.text(metadata.get("creationTimestamp")),
            family=live_fields.label(resource, labels.GRAPH),
            member=live_fields.label(resource, labels.COMPONENT),
            worker=_worker(resource, status),
        )

    def read_cached(self, resource: Resource) -> ReplicaStatus:
        """Reads the fields of one pod that `krm-fn sync` caches. Only the time of a pod with a problem has an effect."""
        status = self.read(resource)
        return status if status.problem else status._replace(since="")


def _worker(resource: Resource, status: dict[str, Any]) -> WorkerPod | None:
    """Reads how to call the pod. A pod that has ended keeps its addresses, and another pod may have them by now."""
    model = live_fields.label(resource, labels.BASE_MODEL_HASH)
    if not model or status.get("phase") in _ENDED:
        return None
    addresses = (values.text(entry.get("ip")) for entry in values.objects(status.get("podIPs")))
    restarts = sum(live_fields.count(container.get("restartCount")) for container in values.objects(status.get("containerStatuses")))
    return WorkerPod(values.text(values.mapping(resource, "metadata").get("uid")), model, tuple(filter(None, addresses)), restarts)


def _containers(status: dict[str, Any]) -> list[dict[str, Any]]:
    """Lists the statuses of the containers. Init containers run first."""
    return [*values.objects(status.get("initContainerStatuses")), *values.objects(status.get("containerStatuses"))]


def _read_end(container: dict[str, Any]) -> dict[str, Any]:
    """Reads how a container ended, now or before its last restart."""
    return values.mapping(container, "state", "terminated") or values.mapping(container, "lastState", "terminated")


def _failure(status: dict[str, Any]) -> WorkloadFailure | None:
    """Finds the first container that cannot start, or that ends again and again."""
    for container in _containers(status):
        waiting = values.mapping(container, "state", "waiting")
        reason = LASTING.get(values.text(waiting.get("reason")), "")
        ended = values.mapping(container, "lastState", "terminated")
        restarts = live_fields.count(container.get("restartCount"))
        name = values.text(container.get("name"))
        if reason == "CrashLoopBackOff" or (ended and restarts >= CRASHES and container.get("ready") is not True):
            return WorkloadFailure("CrashLoopBackOff", f"container {name} {_end(ended)}, restarts={restarts}")
        if reason:
            message = values.text(waiting.get("message"))
            return WorkloadFailure(reason, f"container {name}{f', {message}' if message else ''}")
    return None


def _end(ended: dict[str, Any]) -> str:
    """Describes the end of a container. Its message may be a part of its log, which fewer people may read than the status of a graph."""
    reason, code = values.text(ended.get("reason")), ended.get("exitCode")
    return f"ended{f' with exit code {code}' if type(code) is int else ''}{f' ({reason})' if reason not in ('', 'Error') else ''}"


def _last_line(status: dict[str, Any]) -> str:
    """Returns the last line of the termination message of a failed container: from /dev/termination-log, or from its log."""
    for container in _containers(status):
        ended = _read_end(container)
        lines = [line for line in values.text(ended.get("message")).splitlines() if line.strip()]
        if lines and container.get("ready") is not True and ended.get("exitCode") != 0:
            line = report.visible(lines[-1].strip())
            return line if len(line) <= _MESSAGE_LIMIT else f"{line[: _MESSAGE_LIMIT - 1]}…"
    return ""


def _delay(status: dict[str, Any]) -> str:
    """Describes the cause of a delay that may end by itself: no node, or a container that is started again."""
    scheduled = conditions.find(status, "PodScheduled")
    if scheduled.status == "False":
        return _with_reason(scheduled.reason or "Unschedulable", scheduled.message)
    if status.get("phase") == "Failed":
        return _with_reason(values.text(status.get("reason")) or "Failed", values.text(status.get("message")))
    for container in _containers(status):
        ended = _read_end(container)
        if ended and ended.get("exitCode") != 0 and container.get("ready") is not True:
            return _with_reason(
                values.text(ended.get("reason")) or "Error", f"container {values.text(container.get('name'))} {_end(ended)}"
            )
    return ""


def _with_reason(reason: str, message: str) -> str:
    return f"{reason}: {message}" if message else reason


READERS = (PodReader(),)
