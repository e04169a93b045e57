"""A fake kubelet and volume controller: every pod starts and is ready, every claim is bound. The image of a container says what goes wrong.

A container whose image has one of these tags does not start: `ImagePullBackOff`, `ErrImagePull`, `CrashLoopBackOff`, `Unschedulable`. For
example, a pod with the image `worker:ImagePullBackOff` waits with that reason, as it would for an image that does not exist. A container
with the tag `NotReady` runs and is never ready. A pod with the tag `Untouched` gets no status: the test writes it. The containers of a pod
with `restartPolicy: Never`, such as that of a Job, end: see `finished_pods`. The kubelet does nothing more to a pod that has a
status, so tests can change the status.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import time
from typing import TYPE_CHECKING, Any

import aiohttp

from tests.testbed import background, finished_pods, watch_client

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from tests.testbed.control_plane import ControlPlane

Object = dict[str, Any]

_ADDRESSES = ipaddress.ip_network("10.244.0.0/16")
_WAITING = {
    "ImagePullBackOff": 'Back-off pulling image "{image}": ErrImagePull: {image}: not found',
    "ErrImagePull": "rpc error: code = NotFound desc = failed to pull and unpack image {image}: not found",
    "CrashLoopBackOff": "back-off 5m0s restarting failed container={name}",
}
_UNSCHEDULABLE = (
    "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes are available: 1 No preemption victims found."
)
_NOT_READY = "NotReady"
_UNTOUCHED = "Untouched"


@contextlib.contextmanager
def running(plane: ControlPlane, seconds: float | Callable[[Object], float] = 0) -> Iterator[None]:
    """Act as kubelet for all pods of a control plane. A pod is ready `seconds` after it was created, and runs from the beginning."""
    with background.running(_Kubelet(plane, seconds if callable(seconds) else lambda _: seconds).work(), "kubelet"):
        yield


def end(pod: Object, message: str = "", **codes: int) -> Object:
    """The status of a pod of a Job whose containers have ended with these exit codes."""
    return finished_pods.status(pod, _WAITING, codes, message)


class _Kubelet:
    def __init__(self, plane: ControlPlane, seconds: Callable[[Object], float]) -> None:
        self._kubeconfig = plane.kubeconfig
        self._seconds = seconds
        self._addresses = _ADDRESSES.hosts()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def work(self) -> None:
        """Work until the task is cancelled. An API server that does not answer is asked again."""
        async with watch_client.open_session(self._kubeconfig) as self._session:
            await asyncio.gather(self._follow("pods", self._pod), self._follow("persistentvolumeclaims", self._claim))

    async def _follow(self, resource: str, act: Callable[[Object], Awaitable[None]]) -> None:
        while True:
            with contextlib.suppress(aiohttp.ClientError, *watch_client.UNAVAILABLE):
                async for kind, each in self._session.changes(f"/api/v1/{resource}"):
                    if kind in ("ADDED", "MODIFIED"):
                        self._begin(each, act)
            await asyncio.sleep(0.2)

    def _begin(self, resource: Object, act: Callable[[Object], Awaitable[None]]) -> None:
        """Act once at a time on an object: the events that our own writes cause find nothing more to do."""
        uid = resource["metadata"]["uid"]
        if uid not in self._tasks or resource["metadata"].get("deletionTimestamp"):
            task = asyncio.ensure_future(self._insist(resource, act))
            self._tasks[uid] = task
            task.add_done_callback(lambda done: self._tasks.pop(uid, None) if self._tasks.get(uid) is done else None)

    async def _insist(self, resource: Object, act: Callable[[Object], Awaitable[None]]) -> None:
        while True:
            with contextlib.suppress(*watch_client.UNAVAILABLE):
                return await act(resource)
            await asyncio.sleep(0.2)

    async def _pod(self, pod: Object) -> None:
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
        if "deletionTimestamp" in pod["metadata"]:
            await self._session.request("DELETE", path, {"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}})
        elif "containerStatuses" not in pod["status"] and not _scheduled_false(pod) and not _untouched(pod):
            address = str(next(self._addresses))
            if seconds := self._seconds(pod):
                await self._report(path, pod, _status(pod, address, held=True))
                await asyncio.sleep(seconds)
            await self._report(path, pod, _status(pod, address))

    async def _claim(self, claim: Object) -> None:
        if claim["status"].get("phase") != "Bound":
            path = f"/api/v1/namespaces/{claim['metadata']['namespace']}/persistentvolumeclaims/{claim['metadata']['name']}"
            await self._report(path, claim, {"phase": "Bound"})

    async def _report(self, path: str, resource: Object, status: Object) -> None:
        """Write a status, unless the object is gone or is another one of the same name."""
        await self._session.request("PATCH", f"{path}/status", {"metadata": {"uid": resource["metadata"]["uid"]}, "status": status})


def _scheduled_false(pod: Object) -> bool:
    return any(each["type"] == "PodScheduled" and each["status"] == "False" for each in pod["status"].get("conditions", ()))


def _untouched(pod: Object) -> bool:
    return any(each["image"].endswith(f":{_UNTOUCHED}") for each in pod["spec"]["containers"])


def _status(pod: Object, address: str, *, held: bool = False) -> Object:
    """The status of a new pod. If `held`, its containers run and are not ready yet."""
    if finished_pods.ends(pod) and not held:
        return finished_pods.status(pod, _WAITING)
    containers = pod["spec"]["containers"]
    tags = [each["image"].rpartition(":")[2] for each in containers]
    if "Unschedulable" in tags:
        refused = _condition("PodScheduled", "False", "Unschedulable", _UNSCHEDULABLE)
        return {"phase": "Pending", "conditions": [refused]}
    statuses = [_container(each, tag, ready=not held and tag != _NOT_READY) for each, tag in zip(containers, tags, strict=True)]
    unready = [each["name"] for each in statuses if not each["ready"]]
    said = ("False", "ContainersNotReady", f"containers with unready status: [{' '.join(unready)}]") if unready else ("True",)
    return {
        "phase": "Pending" if {"ImagePullBackOff", "ErrImagePull"}.intersection(tags) else "Running",
        "podIP": address,
        "podIPs": [{"ip": address}],
        "startTime": _now(),
        "conditions": [
            *(_condition(name, "True") for name in ("PodScheduled", "Initialized")),
            *(_condition(name, *said) for name in ("ContainersReady", "Ready")),
        ],
        "containerStatuses": statuses,
    }


def _container(container: Object, tag: str, *, ready: bool) -> Object:
    own = {"name": container["name"], "image": container["image"], "imageID": "", "restartCount": 0}
    if tag not in _WAITING:
        return {**own, "ready": ready, "started": True, "state": {"running": {"startedAt": _now()}}}
    state = {"waiting": {"reason": tag, "message": _WAITING[tag].format_map(container)}}
    if tag == "CrashLoopBackOff":
        own |= {"restartCount": 5, "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}}
    return {**own, "ready": False, "started": False, "state": state}


def _condition(name: str, status: str, reason: str = "", message: str = "") -> Object:
    said = {"type": name, "status": status, "lastTransitionTime": _now()}
    return said | {key: value for key, value in (("reason", reason), ("message", message)) if value}


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
