"""The statuses of pods whose containers end, as a kubelet writes them for the pods of Jobs.

The tag of an image says how its container ends: `worker:Exit3` with exit code 3. The tag `Runs` runs until a test ends it, a tag of a
waiting container (`tests.testbed.kubelet`) does not start, and each other container ends with exit code 0. Init containers run first.
"""

from __future__ import annotations

import re
import time
from typing import Any

Object = dict[str, Any]

_EXIT = re.compile(r"Exit([0-9]+)")
_RUNS = "Runs"


def ends(pod: Object) -> bool:
    """True for a pod whose containers are not started again."""
    return bool(pod["spec"].get("restartPolicy") == "Never")


def status(pod: Object, waiting: dict[str, str], codes: dict[str, int] | None = None, message: str = "") -> Object:
    """The status of a pod. `codes` are the exit codes of containers by their names; they overrule the images.

    `waiting` has the messages of containers that do not start, by the reason. `message` is the last message of a container that failed.
    """
    first, main = pod["spec"].get("initContainers", []), pod["spec"]["containers"]
    told: list[Object] = []
    for group in (first, main):
        reached = all("terminated" in each["state"] and each["state"]["terminated"]["exitCode"] == 0 for each in told)
        for each in group:
            state = _state(each, waiting, codes or {}, message) if reached else {"waiting": {"reason": "PodInitializing"}}
            told.append(_told(each, state))
            if group is first:
                reached = state.get("terminated", {}).get("exitCode") == 0
    ended = [each["state"]["terminated"]["exitCode"] for each in told if "terminated" in each["state"]]
    phase = "Failed" if any(ended) else "Succeeded" if len(ended) == len(told) else "Running" if ended or not first else "Pending"
    ready = {"type": "Ready", "status": "False", "reason": "PodCompleted", "lastTransitionTime": _now()}
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": _now()}
    counts = {"initContainerStatuses": told[: len(first)]} if first else {}
    return {"phase": phase, "startTime": _now(), "conditions": [scheduled, ready], **counts, "containerStatuses": told[len(first) :]}


def _state(container: Object, waiting: dict[str, str], codes: dict[str, int], message: str) -> Object:
    tag = container["image"].rpartition(":")[2]
    found = _EXIT.fullmatch(tag)
    code = codes.get(container["name"], int(found[1]) if found else None)
    if code is None and tag in waiting:
        return {"waiting": {"reason": tag, "message": waiting[tag].format_map(container)}}
    if code is None and tag == _RUNS:
        return {"running": {"startedAt": _now()}}
    said = {"message": message} if code and message else {}
    reason = "Error" if code else "Completed"
    return {"terminated": {"exitCode": code or 0, "reason": reason, "startedAt": _now(), "finishedAt": _now(), **said}}


def _told(container: Object, state: Object) -> Object:
    own = {"name": container["name"], "image": container["image"], "imageID": "", "restartCount": 0}
    return {**own, "ready": False, "started": "running" in state, "state": state}


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
