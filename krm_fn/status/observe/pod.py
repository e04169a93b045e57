"""Pods, for the reason in a message and for the adapters that are loaded into them. The syncer reads them only for these features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import report
from krm_fn.kube import labels, values
from krm_fn.status import fields
from krm_fn.status.observe import Failure, Observation, Observer, Peer

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.status.features import Features

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
READERS = (("pods", labels.GRAPH), ("loras", labels.BASE_MODEL_HASH))
"""The features that read pods, and the label of the pods that each reads."""
_LONGEST = 300
_ENDED = ("Succeeded", "Failed")
CRASHES = 3
"""From this number of restarts on, a container that is not ready is in a crash loop, also while it runs again."""


class Pod(Observer):
    """One pod of a graph, or of a base model."""

    kind = "Pod"
    resource = "pods"

    def selectors(self, features: Features) -> tuple[str, ...]:
        """One for each feature that is on. A pod with the labels of two features is selected once."""
        read = [label for feature, label in READERS if getattr(features, feature)]
        return tuple(",".join([*(f"!{other}" for other in read[:at]), label]) for at, label in enumerate(read))

    def observe(self, resource: Resource) -> Observation:
        """Ready as its condition says. A pod that is being deleted has no reason."""
        status = values.mapping(resource, "status")
        ready = fields.condition(status, "Ready")
        metadata = values.mapping(resource, "metadata")
        failure = None if ready.get("status") == "True" or "deletionTimestamp" in metadata else _failure(status)
        why = f"{failure.reason}: {failure.message}" if failure else ""
        if not why and ready.get("status") != "True" and "deletionTimestamp" not in metadata:
            why = _delayed(status)
        return self.start(resource)._replace(
            ready=ready.get("status") == "True",
            why=why,
            failure=failure,
            said=_last_words(status) if why else "",
            since=fields.since(ready) or values.text(metadata.get("creationTimestamp")),
            family=fields.label(resource, labels.GRAPH),
            member=fields.label(resource, labels.COMPONENT),
            peer=_peer(resource, status),
        )


def _peer(resource: Resource, status: dict[str, Any]) -> Peer | None:
    """How to call the pod. A pod that has ended keeps its addresses, and another pod may have them by now."""
    model = fields.label(resource, labels.BASE_MODEL_HASH)
    if not model or status.get("phase") in _ENDED:
        return None
    addresses = (values.text(each.get("ip")) for each in values.objects(status.get("podIPs")))
    restarts = sum(fields.count(each.get("restartCount")) for each in values.objects(status.get("containerStatuses")))
    return Peer(values.text(values.mapping(resource, "metadata").get("uid")), model, tuple(filter(None, addresses)), restarts)


def _failure(status: dict[str, Any]) -> Failure | None:
    """The first container that cannot start, or that ends again and again. Init containers run first."""
    for each in (*values.objects(status.get("initContainerStatuses")), *values.objects(status.get("containerStatuses"))):
        waiting = values.mapping(each, "state", "waiting")
        reason = LASTING.get(values.text(waiting.get("reason")), "")
        ended = values.mapping(each, "lastState", "terminated")
        restarts = fields.count(each.get("restartCount"))
        if reason == "CrashLoopBackOff" or (ended and restarts >= CRASHES and each.get("ready") is not True):
            return Failure("CrashLoopBackOff", f"container {values.text(each.get('name'))} {_end(ended)}, restarts={restarts}")
        if reason:
            said = values.text(waiting.get("message"))
            return Failure(reason, f"container {values.text(each.get('name'))}{f', {said}' if said else ''}")
    return None


def _end(ended: dict[str, Any]) -> str:
    """How a container ended. Its message may be a part of its log, which fewer people may read than the status of a graph."""
    reason, code = values.text(ended.get("reason")), ended.get("exitCode")
    return f"ended{f' with exit code {code}' if type(code) is int else ''}{f' ({reason})' if reason not in ('', 'Error') else ''}"


def _last_words(status: dict[str, Any]) -> str:
    """The last line that a container left behind when it failed: that of /dev/termination-log, or of its log."""
    for each in (*values.objects(status.get("initContainerStatuses")), *values.objects(status.get("containerStatuses"))):
        ended = values.mapping(each, "state", "terminated") or values.mapping(each, "lastState", "terminated")
        lines = [line for line in values.text(ended.get("message")).splitlines() if line.strip()]
        if lines and each.get("ready") is not True and ended.get("exitCode") != 0:
            line = report.visible(lines[-1].strip())
            return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
    return ""


def _delayed(status: dict[str, Any]) -> str:
    """What the pod waits for, and waiting may help: a node, or a container that is started again."""
    scheduled = fields.condition(status, "PodScheduled")
    if scheduled.get("status") == "False":
        return _joined(values.text(scheduled.get("reason")) or "Unschedulable", values.text(scheduled.get("message")))
    if status.get("phase") == "Failed":
        return _joined(values.text(status.get("reason")) or "Failed", values.text(status.get("message")))
    for each in (*values.objects(status.get("initContainerStatuses")), *values.objects(status.get("containerStatuses"))):
        ended = values.mapping(each, "state", "terminated") or values.mapping(each, "lastState", "terminated")
        if ended and ended.get("exitCode") != 0 and each.get("ready") is not True:
            return _joined(values.text(ended.get("reason")) or "Error", f"container {values.text(each.get('name'))} {_end(ended)}")
    return ""


def _joined(reason: str, said: str) -> str:
    return f"{reason}: {said}" if said else reason


OBSERVER = Pod()
