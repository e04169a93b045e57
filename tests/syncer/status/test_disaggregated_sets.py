"""The status of the services of a DisaggregatedSet, from the LeaderWorkerSets that its controller makes."""

from __future__ import annotations

import copy

import pytest

from krm_fn.render import labels
from krm_fn.syncer.status import SyncFeatures, cached_object, graph_status
from krm_fn.syncer.status.workload_index import WorkloadIndex
from tests.support import disaggregated_faults, given
from tests.support.cases import cases

REPLICAS = {"prefill": {"replicas": 3}, "decode": {"replicas": 2}}
NOW = "2026-11-30T12:00:00Z"
FEATURES = SyncFeatures()


def rendered():
    return copy.deepcopy(given.rendered(disaggregated_faults.pair(**REPLICAS), **disaggregated_faults.SETTINGS))


def made(joined, role, *, name="", ready=None, updated=None, **fields):
    """The LeaderWorkerSet of a role as the controller makes it, with all groups ready, or with these counts."""
    written = next(entry for entry in joined["spec"]["roles"] if entry["name"] == role)
    count = written["spec"]["replicas"]
    marks = {**written["metadata"]["labels"], labels.SET_NAME: "chat", labels.SET_ROLE: role}
    counts = {
        "replicas": count,
        "readyReplicas": count if ready is None else ready,
        "updatedReplicas": count if updated is None else updated,
    }
    conditions = [{"type": "Available", "status": "True" if ready is None else "False"}]
    metadata = {"name": name or f"chat-1234abcd-{role}", "namespace": given.NAMESPACE, "generation": 1}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {**metadata, "labels": marks, "annotations": dict(written["metadata"]["annotations"])},
        "spec": {"replicas": count, "leaderWorkerTemplate": written["spec"]["leaderWorkerTemplate"], **fields},
        "status": {"observedGeneration": 1, "conditions": conditions, **counts},
    }


def status(objects, *sets):
    """The status of the graph beside its set and these LeaderWorkerSets."""
    graph = cached_object.read(objects["DynamoGraphDeployment/chat"])
    index = WorkloadIndex.of([objects["DisaggregatedSet/chat"], *sets])
    return graph_status.of_graph(graph, index, NOW, FEATURES)


def message(computed):
    return next(condition["message"] for condition in computed["conditions"] if condition["type"] == "Ready")


def both(objects, **of_prefill):
    joined = objects["DisaggregatedSet/chat"]
    return [made(joined, "prefill", **of_prefill), made(joined, "decode")]


def outdated(workload):
    """The same as a LeaderWorkerSet of an older revision."""
    older = copy.deepcopy(workload)
    older["metadata"]["name"] = older["metadata"]["name"].replace("1234abcd", "00000000")
    older["metadata"]["annotations"][labels.SET_REVISION] = "older"
    return older


def test_a_graph_is_ready_with_the_newest_leader_worker_set_of_each_role():
    objects = rendered()
    computed = status(objects, *both(objects))
    assert computed["state"] == "successful"
    assert computed["components"]["Prefill"]["componentKind"] == "LeaderWorkerSet"
    assert computed["components"]["Prefill"]["componentNames"] == ["chat-1234abcd-prefill"]
    counts = {
        name: [entry[field] for field in ("replicas", "updatedReplicas", "readyReplicas")] for name, entry in computed["components"].items()
    }
    assert counts == {"Prefill": [3, 3, 3], "Decode": [2, 2, 2]}


ROWS = [
    ("a replica is not ready", lambda sets: [*sets, *[]], {"ready": 2}, "role prefill: desired=3, ready=2"),
    (
        "an older revision is left",
        lambda sets: [outdated(sets[0]), *sets],
        {},
        "role prefill: performing rolling update: desired=3, updated=3, replicas=6",
    ),
    (
        "the controller has not seen the newest spec",
        lambda sets: [outdated(sets[0]), sets[1]],
        {},
        "role prefill: the controller has made no",
    ),
    ("another number than in the set", lambda sets: sets, {"replicas": 1}, "role prefill: desired=3, of its LeaderWorkerSet=1"),
    (
        "no LeaderWorkerSet at all",
        lambda sets: sets[1:],
        {},
        "role prefill: the controller has made no LeaderWorkerSet of the newest revision",
    ),
]


@cases(("change", "fields", "problem"), ROWS)
def test_a_graph_is_not_ready_while(change, fields, problem):
    objects = rendered()
    computed = status(objects, *change(both(objects, **fields)))
    assert computed["state"] == "pending"
    assert problem in message(computed)
    assert "role decode" not in message(computed)


def test_a_service_without_any_leader_worker_set_has_no_counts():
    objects = rendered()
    computed = status(objects, both(objects)[1])
    assert sorted(computed["components"]) == ["Decode"]


@pytest.mark.parametrize("value", [None, "text", [], [{"name": 1}], [{"spec": {"replicas": "x"}}]])
def test_roles_of_any_form_are_never_ready_and_never_fail(value):
    objects = rendered()
    objects["DisaggregatedSet/chat"]["spec"]["roles"] = value
    assert status(objects)["state"] == "pending"
