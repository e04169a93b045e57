"""Real controllers replace exactly those pods of StatefulSets, DaemonSets and ReplicaSets that the forecast says."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.review import forecast
from krm_fn.review.forecast import object_rules
from tests.review.forecast import given
from tests.review.forecast.edits import written
from tests.review.forecast.native_objects import json_copy
from tests.testbed import api, server

SPACE = "strategies"
NOTHING = object_rules.ClusterState({}, {}, {})
IMAGE = ("spec", "template", "spec", "containers", 0, "image")
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "strategies"}}
SET: dict[str, Any] = {"replicas": 2, "serviceName": "none", "podManagementPolicy": "Parallel"}

ROWS = [
    # name, kind, further fields of the spec, the number of pods, and of those that are replaced
    ("rolling", "StatefulSet", SET, 2, 2),
    ("all-by-hand", "StatefulSet", {**SET, "updateStrategy": {"type": "OnDelete"}}, 2, 0),
    ("above-one", "StatefulSet", {**SET, "updateStrategy": {"rollingUpdate": {"partition": 1}}}, 2, 1),
    ("above-two", "StatefulSet", {**SET, "updateStrategy": {"rollingUpdate": {"partition": 2}}}, 2, 0),
    ("every-node", "DaemonSet", {}, 1, 1),
    ("every-node-by-hand", "DaemonSet", {"updateStrategy": {"type": "OnDelete"}}, 1, 0),
    ("replicas", "ReplicaSet", {"replicas": 2}, 2, 0),
]


def workload(name: str, kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "worker:1"}]}}
    spec = {"selector": {"matchLabels": labels}, "template": template, **fields}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": SPACE}, "spec": spec}


def changed(old):
    return written(json_copy(old), IMAGE, "worker:2")


def pods(plane):
    """The pods that are ready, by their workload."""
    uids: dict[str, set[str]] = {name: set() for name, *_ in ROWS}
    for pod in plane.client.get(f"/api/v1/namespaces/{SPACE}/pods")["items"]:
        ready = {entry["type"]: entry["status"] for entry in pod["status"].get("conditions", ())}.get("Ready") == "True"
        if ready and not pod["metadata"].get("deletionTimestamp"):
            uids[pod["metadata"]["labels"]["app"]].add(pod["metadata"]["uid"])
    return uids


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_the_forecast_says_how_many_pods_are_replaced(row):
    name, kind, fields, count, replaced = row
    old = workload(name, kind, fields)
    part = forecast.kind_forecast(given.change(old, changed(old)), NOTHING)
    assert part.effect == ("restarts" if replaced else "updated")
    assert part.causes == (IMAGE,)
    if kind != "DaemonSet":  # the number of its pods depends on the nodes
        assert sum(rollout.old_units for rollout in part.rollouts) == count
        assert sum(rollout.old_units for rollout in part.rollouts if rollout.replaces) == replaced


def untainted(plane):
    """Remove the taint of a node that is not ready: nothing here makes it ready, and a DaemonSet waits for that."""
    assert plane.client.request("PATCH", plane.client.path(NODE), {"spec": {"taints": None}}, api.MERGE).ok


def test_the_controllers_replace_as_many(control_plane, controllers, kubelet):
    control_plane.namespace(SPACE)
    assert control_plane.apply(NODE, dry_run=False).ok
    try:
        untainted(control_plane)
        states = [workload(*row[:3]) for row in ROWS]
        for state in states:
            assert control_plane.apply(state, dry_run=False).ok
        server.eventually(lambda: {name: len(uids) for name, uids in pods(control_plane).items()} == {row[0]: row[3] for row in ROWS})
        before = pods(control_plane)
        for state in states:
            assert control_plane.apply(changed(state), dry_run=False).ok

        def replaced():
            live = [control_plane.client.get(control_plane.client.path(state)) for state in states]
            seen = all(entry["status"].get("observedGeneration") == entry["metadata"]["generation"] for entry in live)
            now = pods(control_plane)
            is_complete = all(len(now[row[0]]) == row[3] for row in ROWS)
            return seen and is_complete and {name: len(now[name] - before[name]) for name in now} == {row[0]: row[4] for row in ROWS}

        server.eventually(replaced)
    finally:
        control_plane.client.request("DELETE", control_plane.client.path(NODE))
