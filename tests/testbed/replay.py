"""Plays the lives of a LeaderWorkerSet and of Grove's objects on an API server, because their controllers cannot run in tests.

The tables of tests/testbed/observed_statuses.py say what LeaderWorkerSet v0.10.0 and Grove (August 2026) write into their statuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.testbed.place import Place

Object = dict[str, Any]
Patch = list[Object]

_TIME = "2026-11-22T01:21:06Z"
_JSON_PATCH = "application/json-patch+json"


class Step(NamedTuple):
    """One moment: what has happened, and whether the graph may be called successful then.

    `statuses` are compact texts by name of an object (see `_leader_worker_set` and `_grove`); an object that does not exist is created, and
    has no status if the text is empty. `edits` are JSON patches, applied before the statuses. `gone` are objects that are deleted first.
    """

    action: str
    settled: bool
    statuses: dict[str, str] = {}
    edits: dict[str, Patch] = {}
    gone: tuple[str, ...] = ()


class Child(NamedTuple):
    """An object whose status is played. `spec` is None if the render writes the object. `group` is the scaling group of a PodClique."""

    kind: str
    spec: Object | None = None
    group: str = ""


class Life(NamedTuple):
    """The moments of the objects of one graph. `owner` is the PodCliqueSet of the children."""

    objects: dict[str, Child]
    steps: tuple[Step, ...]
    owner: str = ""


def play(place: Place, life: Life, step: Step) -> None:
    """Do what one step says. Raises AssertionError with the message of the server."""
    for name in step.gone:
        _request(place, "DELETE", place.path(life.objects[name].kind, name))
    for name, patch in step.edits.items():
        _request(place, "PATCH", place.path(life.objects[name].kind, name), patch, _JSON_PATCH)
    for name, text in step.statuses.items():
        _report(place, life, name, text)


def _report(place: Place, life: Life, name: str, text: str) -> None:
    kind = life.objects[name].kind
    found = place.plane.client.request("GET", place.path(kind, name))
    live = found.body if found.ok else _create(place, life, name)
    if text:
        status = _STATUSES[kind](text, live["metadata"]["generation"])
        _request(place, "PUT", place.path(kind, name) + "/status", {**live, "status": status})


def _create(place: Place, life: Life, name: str) -> Object:
    child = life.objects[name]
    labels = {"app.kubernetes.io/managed-by": "grove-operator", "app.kubernetes.io/part-of": life.owner}
    if child.group:
        labels["grove.io/podcliquescalinggroup"] = child.group
    metadata = {"name": name, "namespace": place.namespace, "labels": labels}
    body = {"apiVersion": "grove.io/v1alpha1", "kind": child.kind, "metadata": metadata, "spec": child.spec}
    return _request(place, "POST", place.path(child.kind), body)


def _request(place: Place, method: str, path: str, body: Any = None, media_type: str = "application/json") -> Object:
    answer = place.plane.client.request(method, path, body, media_type)
    assert answer.ok, f"{method} {path}: {answer.message}"
    done: Object = answer.body
    return done


def _leader_worker_set(text: str, generation: int) -> Object:
    """`replicas/ready/updated`, the initials of the conditions that are True, and `stale` if the newest spec is not observed.

    For example, `1/0/1 UP stale`. `old` is a version that has no observedGeneration.
    """
    numbers, letters, *words = text.split()
    status = dict(zip(("replicas", "readyReplicas", "updatedReplicas"), map(int, numbers.split("/")), strict=True))
    status = {key: value for key, value in status.items() if value}
    if "old" not in words:
        status["observedGeneration"] = generation - ("stale" in words)
    conditions = [_condition(name, name[0] in letters) for name in ("Available", "Progressing", "UpdateInProgress")]
    return {**status, "conditions": conditions}


def _grove(third: str, revision: str) -> Callable[[str, int], Object]:
    """`hash replicas/ready/updated`, and `stale` if the newest spec is not observed, or `unseen` if no spec is. `-` is no hash."""

    def status(text: str, generation: int) -> Object:
        name, numbers, *words = text.split()
        said: Object = dict(zip(("replicas", third, "updatedReplicas"), map(int, numbers.split("/")), strict=True))
        if "unseen" not in words:
            said["observedGeneration"] = generation - ("stale" in words)
        return said if name == "-" else {**said, revision: name}

    return status


def _condition(name: str, true: bool) -> Object:
    reason = {"Available": "AllGroupsReady", "Progressing": "GroupsProgressing", "UpdateInProgress": "GroupsUpdating"}[name]
    return {"type": name, "status": str(true), "reason": reason, "message": "", "lastTransitionTime": _TIME}


_STATUSES = {
    "LeaderWorkerSet": _leader_worker_set,
    "PodClique": _grove("readyReplicas", "currentPodCliqueSetGenerationHash"),
    "PodCliqueScalingGroup": _grove("availableReplicas", "currentPodCliqueSetGenerationHash"),
    "PodCliqueSet": _grove("availableReplicas", "currentGenerationHash"),
}
