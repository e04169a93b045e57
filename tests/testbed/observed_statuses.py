"""What LeaderWorkerSet v0.10.0 and Grove (August 2026) wrote into their statuses while they created, updated, scaled and lost pods."""

from __future__ import annotations

from typing import Any

from tests.testbed.replay import Child, Life, Step

SETTLED, BUSY = True, False

_WORKERS = "/spec/leaderWorkerTemplate/workerTemplate/metadata/annotations"
_CLIQUE = "/spec/template/cliques/0/annotations"
_REPLICAS = "/spec/replicas"


def _set(path: str, value: Any) -> list[dict[str, Any]]:
    return [{"op": "add", "path": path, "value": value}]


def _stamp(path: str, text: str) -> list[dict[str, Any]]:
    return _set(path, {"nvidia.com/restartAt": text})


_LWS = "groups-decode-0"


def _groups(action: str, settled: bool, status: str, *edit: dict[str, Any]) -> Step:
    return Step(action, settled, {_LWS: status} if status else {}, {_LWS: list(edit)} if edit else {})


# A graph named `groups` with one service, Decode, of one replica on three nodes.
LEADER_WORKER_SET = Life(
    {_LWS: Child("LeaderWorkerSet")},
    (
        _groups("created", BUSY, ""),
        _groups("seen by its controller", BUSY, "0/0/0 P"),
        _groups("pods are created", BUSY, "1/0/1 P"),
        _groups("all pods are ready", SETTLED, "1/1/1 A"),
        _groups("a follower is not ready", BUSY, "1/0/1 P"),
        _groups("the follower is ready again", SETTLED, "1/1/1 A"),
        _groups("a container restarts, so the group is deleted", BUSY, "1/0/0 P"),
        _groups("the group is made anew", BUSY, "1/0/1 P"),
        _groups("the new group is ready", SETTLED, "1/1/1 A"),
        _groups("the template changes, not seen yet", BUSY, "1/1/1 A stale", *_stamp(_WORKERS, "1")),
        _groups("the change is seen, old pods are ready", BUSY, "1/1/0 U"),
        _groups("old pods are deleted", BUSY, "1/0/0 UP"),
        _groups("new pods are created", BUSY, "1/0/1 UP"),
        _groups("new pods are ready", SETTLED, "1/1/1 A"),
        _groups("scaled to 3, not seen yet", BUSY, "1/1/1 A stale", *_set(_REPLICAS, 3)),
        _groups("the number is seen", BUSY, "1/1/1 P"),
        _groups("two groups are created", BUSY, "3/1/3 P"),
        _groups("two of three groups are ready", BUSY, "3/2/3 P"),
        _groups("three groups are ready", SETTLED, "3/3/3 A"),
        _groups("the template changes, not seen yet", BUSY, "3/3/3 A stale", *_stamp(_WORKERS, "2")),
        _groups("the change is seen, old groups are ready", BUSY, "3/3/0 U"),
        _groups("the last group is deleted", BUSY, "3/2/0 UP"),
        _groups("the last group is made anew", BUSY, "3/2/1 UP"),
        _groups("between two groups, all are ready", BUSY, "3/3/1 UP"),
        _groups("the second group is made anew", BUSY, "3/2/2 UP"),
        _groups("between two groups, all are ready again", BUSY, "3/3/2 UP"),
        _groups("the first group is made anew", BUSY, "3/2/3 UP"),
        _groups("the update has ended", SETTLED, "3/3/3 A"),
        _groups("scaled to 1, not seen yet", BUSY, "3/3/3 A stale", *_set(_REPLICAS, 1)),
        _groups("the number is seen, Available stays", BUSY, "3/3/3 A"),
        _groups("two groups are gone", SETTLED, "1/1/1 A"),
        _groups("an update is paused by a partition", BUSY, "1/1/0 A", *_stamp(_WORKERS, "3")),
        _groups("the paused update goes on", BUSY, "1/0/1 UP"),
        _groups("the paused update has ended", SETTLED, "1/1/1 A"),
    ),
)

# Versions before v0.9 write no observedGeneration; then the rule of the reference decides.
OLD_LEADER_WORKER_SET = Life(
    {_LWS: Child("LeaderWorkerSet")},
    (
        _groups("pods are created", BUSY, "1/0/1 P old"),
        _groups("all pods are ready", SETTLED, "1/1/1 A old"),
        _groups("an update deletes the group", BUSY, "1/0/0 UP old", *_stamp(_WORKERS, "1")),
        _groups("the new group is ready", SETTLED, "1/1/1 A old"),
    ),
)

_PCS, _FRONTEND, _DECODE = "cliques", "cliques-0-frontend", "cliques-0-decode"
_MEMBERS = tuple(f"{_DECODE}-{index}-decode-{role}" for index in range(2) for role in ("ldr", "wkr"))
_FIRST, _SECOND = _MEMBERS[:2], _MEMBERS[2:]


def _each(names: tuple[str, ...], text: str) -> dict[str, str]:
    return dict.fromkeys(names, text)


# A graph named `cliques` with Frontend (two replicas) and Decode (two replicas on two nodes each).
GROVE = Life(
    {
        _PCS: Child("PodCliqueSet"),
        _FRONTEND: Child("PodClique", {"replicas": 2, "minAvailable": 1}),
        _DECODE: Child("PodCliqueScalingGroup", {"replicas": 2, "minAvailable": 1, "cliqueNames": ["decode-ldr", "decode-wkr"]}),
        **dict.fromkeys(_MEMBERS, Child("PodClique", {"replicas": 1, "minAvailable": 1}, _DECODE)),
    },
    (
        Step("the set is created", BUSY),
        Step("the set is seen", BUSY, {_PCS: "a 1/0/0 unseen"}),
        Step("the first clique is created", BUSY, {_FRONTEND: ""}),
        Step("all are created", BUSY, {_FRONTEND: "- 0/0/0", _DECODE: "", **_each(_MEMBERS, "")}),
        Step("pods are created", BUSY, {_FRONTEND: "a 2/0/2", _DECODE: "a 2/0/0", **_each(_MEMBERS, "a 1/0/1")}),
        Step("the set has observed its spec", BUSY, {_PCS: "a 1/0/0"}),
        Step("the frontends are ready", BUSY, {_FRONTEND: "a 2/2/2"}),
        Step("one group is ready", BUSY, {**_each(_FIRST, "a 1/1/1"), _DECODE: "a 2/1/1", _PCS: "a 1/1/1"}),
        Step("all groups are ready", SETTLED, {**_each(_SECOND, "a 1/1/1"), _DECODE: "a 2/2/2"}),
        Step("one of two frontends is not ready", BUSY, {_FRONTEND: "a 2/1/2"}),
        Step("the frontend is ready again", SETTLED, {_FRONTEND: "a 2/2/2"}),
        Step("a worker is not ready", BUSY, {_MEMBERS[1]: "a 1/0/1", _DECODE: "a 2/1/1"}),
        Step("the worker is ready again", SETTLED, {_MEMBERS[1]: "a 1/1/1", _DECODE: "a 2/2/2"}),
        Step("a worker's pod is deleted", BUSY, {_MEMBERS[3]: "a 0/0/0", _DECODE: "a 2/1/1"}),
        Step("the worker's new pod is ready", SETTLED, {_MEMBERS[3]: "a 1/1/1", _DECODE: "a 2/2/2"}),
        Step("a clique gets a restart stamp, not seen yet", BUSY, {_PCS: "a 1/1/1 stale"}, {_PCS: _stamp(_CLIQUE, "1")}),
        Step("the stamp is seen by the set only", BUSY, {_PCS: "b 1/1/0 stale"}),
        Step("every child takes part", BUSY, {_FRONTEND: "a 2/2/0", _DECODE: "a 2/2/0", **_each(_MEMBERS, "b 1/1/1")}),
        Step("the groups have nothing to do", BUSY, {_DECODE: "b 2/2/2"}),
        Step("the first frontend is deleted", BUSY, {_FRONTEND: "a 1/1/0"}),
        Step("the first frontend is made anew", BUSY, {_FRONTEND: "a 2/2/1"}),
        Step("the second frontend is made anew", BUSY, {_FRONTEND: "a 2/1/2"}),
        Step("both frontends are ready", BUSY, {_FRONTEND: "b 2/2/2"}),
        Step("the set has observed the stamp", SETTLED, {_PCS: "b 1/1/1"}),
        Step("the image of the group changes, not seen yet", BUSY, {_PCS: "b 1/1/1 stale"}, {_PCS: _stamp(_CLIQUE, "2")}),
        Step("the image is seen", BUSY, {_PCS: "c 1/1/0 stale", _FRONTEND: "c 2/2/2", _DECODE: "b 2/2/0"}),
        Step("the first group is deleted", BUSY, {_DECODE: "b 2/1/0"}, gone=_FIRST),
        Step("the first group is made anew", BUSY, _each(_FIRST, "c 1/0/1")),
        Step("the first group is ready", BUSY, {**_each(_FIRST, "c 1/1/1"), _DECODE: "b 2/2/1"}),
        Step("the second group is made anew", BUSY, {_DECODE: "b 2/1/1", **_each(_SECOND, "c 1/0/1")}, gone=_SECOND),
        Step("the second group is ready", BUSY, {**_each(_SECOND, "c 1/1/1"), _DECODE: "c 2/2/2"}),
        Step("the set has observed the image", SETTLED, {_PCS: "c 1/1/1"}),
        Step("the clique is scaled to 3, not seen yet", BUSY, {_FRONTEND: "c 2/2/2 stale"}, {_FRONTEND: _set(_REPLICAS, 3)}),
        Step("the number is seen", BUSY, {_FRONTEND: "c 2/2/2"}),
        Step("a third frontend is created", BUSY, {_FRONTEND: "c 3/2/3"}),
        Step("the third frontend is ready", SETTLED, {_FRONTEND: "c 3/3/3"}),
        Step("the group is scaled to 1, not seen yet", BUSY, {_DECODE: "c 2/2/2 stale"}, {_DECODE: _set(_REPLICAS, 1)}),
        Step("one group is gone", SETTLED, {_DECODE: "c 1/1/1"}, gone=_SECOND),
        Step("a clique of the group disappears", BUSY, {_DECODE: "c 1/0/0"}, gone=_FIRST[:1]),
    ),
    owner=_PCS,
)
