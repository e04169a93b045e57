"""The state of one container, and the status of a pod as a kubelet writes it.

Source of the rules: `getPhase` in `pkg/kubelet/kubelet_pods.go`, `pkg/kubelet/status/generate.go`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Object = dict[str, Any]

_OURS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")


class State:
    """The state of one container. `id` changes with each of its lives."""

    def __init__(self, container: Object, *, init: bool) -> None:
        self.container = container
        self.name: str = container["name"]
        self.init = init
        self.sidecar = init and container.get("restartPolicy") == "Always"
        self.current: Object = {"waiting": {"reason": "PodInitializing" if not init else "ContainerCreating"}}
        self.last: Object = {}
        self.restarts = 0
        self.started = False
        self.ready = False
        self.id = ""

    def wait(self, reason: str, message: str = "") -> None:
        """The container waits. The end of its last life becomes `lastState`."""
        if "terminated" in self.current:
            self.last = self.current
        self.current = {"waiting": {"reason": reason, **({"message": message} if message else {})}}

    def run(self, number: int) -> None:
        """A life of the container begins."""
        if "terminated" in self.current:
            self.last = self.current
        self.restarts = number
        self.current = {"running": {"startedAt": now()}}

    def end(self, code: int, reason: str, message: str) -> None:
        """A life of the container has ended."""
        begun = (self.current.get("running") or {}).get("startedAt", now())
        said = {"message": message} if message else {}
        self.current = {
            "terminated": {"exitCode": code, "reason": reason, **said, "startedAt": begun, "finishedAt": now(), "containerID": self.id}
        }
        self.started = False
        self.ready = self.init and not self.sidecar and code == 0

    def status(self) -> Object:
        """The `containerStatuses` entry."""
        container = self.container
        found: Object = {"name": self.name, "image": container["image"], "imageID": "", "restartCount": self.restarts}
        found |= {"ready": self.ready, "started": self.started, "state": self.current, "lastState": self.last}
        if self.id:
            found |= {"containerID": self.id, "imageID": f"tests://{container['image']}"}
        return found


def status(pod: Object, states: Sequence[State], facts: Object, conditions: Object, written: Sequence[Object] = ()) -> Object:
    """The status of a pod.

    `facts` are addresses and the like. `conditions` are those that a container cannot change, by type. `written` are the conditions that
    were written last: the copy of the pod may be older.
    """
    current = phase(pod, states)
    ready = _ready(pod, states, current)
    initialized = _initialized(states, current)
    found = {**conditions, "Initialized": initialized, "ContainersReady": ready, "Ready": _gated(pod, ready)}
    others = [each for each in pod.get("status", {}).get("conditions") or () if each["type"] not in _OURS or not written]
    before = {each["type"]: each for each in (*written, *others)}
    return {
        "phase": current,
        **facts,
        "conditions": [
            *(each for name, each in before.items() if name not in _OURS),
            *(_condition(name, found[name], before.get(name)) for name in _OURS if name in found),
        ],
        "initContainerStatuses": [each.status() for each in states if each.init] or None,
        "containerStatuses": [each.status() for each in states if not each.init],
    }


def now() -> str:
    """The time as Kubernetes writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def restarts(pod: Object, state: State, code: int) -> bool:
    """True if a container that ended with a code starts again."""
    policy = pod["spec"].get("restartPolicy", "Always")
    if state.sidecar:
        return True
    if state.init:
        return bool(code) and policy != "Never"
    return bool(policy == "Always" or (policy == "OnFailure" and code))


def phase(pod: Object, states: Sequence[State]) -> str:
    """The phase of a pod."""
    plain = [each for each in states if not each.init]
    setup = [each for each in states if each.init and not each.sidecar]
    if pod["spec"].get("restartPolicy") == "Never" and any(_code(each) for each in setup):
        return "Failed"
    begun = any(_code(each) is not None or "running" in each.current for each in plain)
    helpers = [each for each in states if each.sidecar]
    if any(_code(each) is None for each in setup) or (not begun and any(not each.started for each in helpers)):
        return "Pending"
    if any("waiting" in each.current and not each.last for each in plain):
        return "Pending"
    if any("running" in each.current for each in [*plain, *helpers]):
        return "Running"
    codes = [_code(each) or 0 for each in plain]
    if "deletionTimestamp" not in pod["metadata"] and any(restarts(pod, each, code) for each, code in zip(plain, codes, strict=True)):
        return "Running"
    return "Failed" if any(codes) else "Succeeded"


def _code(state: State) -> int | None:
    """The exit code of the last life of a container that does not run."""
    ended = state.current.get("terminated") or ("waiting" in state.current and state.last.get("terminated"))
    return int(ended["exitCode"]) if ended else None


def _initialized(states: Sequence[State], phase: str) -> Object:
    if phase == "Succeeded":
        return {"status": "True", "reason": "PodCompleted"}
    if any(not each.init and ("running" in each.current or each.restarts or each.id) for each in states):
        return {"status": "True"}
    waiting = [each.name for each in states if each.init and not (each.started if each.sidecar else each.ready)]
    return _unless(waiting, "ContainersNotInitialized", "incomplete")


def _ready(pod: Object, states: Sequence[State], phase: str) -> Object:
    if phase in ("Succeeded", "Failed"):
        return {"status": "False", "reason": {"Succeeded": "PodCompleted", "Failed": "PodFailed"}[phase]}
    return _unless([each.name for each in states if (each.sidecar or not each.init) and not each.ready], "ContainersNotReady", "unready")


def _gated(pod: Object, ready: Object) -> Object:
    """The condition Ready: that of the containers, and every readiness gate."""
    if ready["status"] != "True":
        return ready
    said = {each["type"]: each["status"] for each in pod.get("status", {}).get("conditions") or ()}
    missing = [gate["conditionType"] for gate in pod["spec"].get("readinessGates") or () if said.get(gate["conditionType"]) != "True"]
    messages = [
        f'the status of pod readiness gate "{name}" is not "True", but {said[name]}'
        if name in said
        else f'corresponding condition of pod readiness gate "{name}" does not exist.'
        for name in missing
    ]
    return {"status": "False", "reason": "ReadinessGatesNotReady", "message": ", ".join(messages)} if messages else ready


def _unless(names: Iterable[str], reason: str, kind: str) -> Object:
    listed = " ".join(names)
    return {"status": "False", "reason": reason, "message": f"containers with {kind} status: [{listed}]"} if listed else {"status": "True"}


def _condition(name: str, found: Object, before: Object | None) -> Object:
    """A condition. Its time is that of the last change of its status."""
    same = before is not None and before["status"] == found["status"]
    since = before["lastTransitionTime"] if same and before and before.get("lastTransitionTime") else now()
    return {"type": name, "lastProbeTime": None, "lastTransitionTime": since, **found}
