"""The status of the services of a DisaggregatedSet, from the LeaderWorkerSets that its controller makes."""

from __future__ import annotations

import copy

import pytest

from krm_fn.render import labels
from krm_fn.syncer.status import SyncFeatures, cached_object, graph_status, replica_scaling
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


@pytest.mark.parametrize(("observed", "state"), [(1, "pending"), (2, "successful")])
def test_the_controller_of_a_later_version_tells_which_spec_it_has_seen(observed, state):
    """A patch after the render changes pods, and leaves the annotation with the revision as it is."""
    objects = rendered()
    joined = objects["DisaggregatedSet/chat"]
    joined["metadata"]["generation"], joined["status"] = 2, {"observedGeneration": observed}
    assert status(objects, *both(objects))["state"] == state


def test_a_service_without_any_leader_worker_set_has_no_counts():
    objects = rendered()
    computed = status(objects, both(objects)[1])
    assert sorted(computed["components"]) == ["Decode"]


def scaled(replicas=3):
    """The objects of a graph whose prefill workers have an adapter that asks for some replicas, and of its set."""
    workers = {"prefill": {"replicas": 2, "scalingAdapter": {}}, "decode": {"replicas": 2}}
    objects = copy.deepcopy(given.rendered(disaggregated_faults.pair(**workers), **disaggregated_faults.SETTINGS))
    objects["DynamoGraphDeploymentScalingAdapter/chat-prefill"]["spec"]["replicas"] = replicas
    roles = objects["DisaggregatedSet/chat"]["spec"]["roles"]
    roles[0]["spec"]["replicas"] = 1  # the default of the definition
    return objects


def scaler(replicas, *, owner="chat"):
    """The scaler that the controller makes for the prefill workers."""
    owners = [{"apiVersion": "disaggregatedset.x-k8s.io/v1", "kind": "DisaggregatedSet", "name": owner, "uid": "1", "controller": True}]
    marks = {labels.SET_NAME: "chat", labels.SET_ROLE: "prefill"}
    return {
        "apiVersion": "disaggregatedset.x-k8s.io/v1",
        "kind": "DisaggregatedSetRoleScaler",
        "metadata": {"name": "chat-prefill", "namespace": given.NAMESPACE, "generation": 1, "labels": marks, "ownerReferences": owners},
        "spec": {"replicas": replicas},
        "status": {"replicas": replicas},
    }


def scaling(objects, *others):
    """The requests, and the status of the adapter."""
    graph, adapter = (cached_object.read(objects[key]) for key in ("DynamoGraphDeployment/chat", ADAPTER))
    index = WorkloadIndex.of([objects["DisaggregatedSet/chat"], *others])
    requests = replica_scaling.adapter_requests(graph, adapter, index, FEATURES)
    return requests, replica_scaling.adapter_status(adapter, index, NOW, graph, FEATURES)


ADAPTER = "DynamoGraphDeploymentScalingAdapter/chat-prefill"


def test_an_adapter_scales_the_scaler_of_its_role():
    objects = scaled(3)
    (request,), written = scaling(objects, scaler(1), *both(objects))
    assert (request.key.kind, request.key.name, request.before, request.replicas) == ("DisaggregatedSetRoleScaler", "chat-prefill", 1, 3)
    assert message(written) == "DisaggregatedSetRoleScaler chat-prefill goes from 1 to 3 replicas"
    requests, written = scaling(objects, scaler(3), *both(objects))
    assert (requests, written["replicas"]) == ([], 3)
    assert message(written) == "service Prefill has the number of replicas that the adapter asks for"


NO_SCALER = [
    ("none", ()),
    ("one that another set controls", (scaler(1, owner="other"),)),
]


@cases("others", NO_SCALER)
def test_without_a_scaler_nothing_is_scaled_and_the_graph_is_not_ready(others):
    """LeaderWorkerSet 0.9 makes none, if something applied the set without its field `scaling`."""
    objects = scaled()
    requests, written = scaling(objects, *others, *both(objects))
    assert (requests, message(written)) == ([], "service Prefill has no workload yet")
    said = message(status(objects, *others, *both(objects)))
    assert "role prefill: the controller has made no DisaggregatedSetRoleScaler; LeaderWorkerSet must be 0.10 or newer" in said


def test_a_scaled_role_is_ready_with_the_replicas_of_its_scaler():
    objects = scaled(3)
    sets = both(objects)
    sets[0]["spec"]["replicas"] = 3
    sets[0]["status"].update(replicas=3, readyReplicas=3, updatedReplicas=3)
    assert status(objects, scaler(3), *sets)["state"] == "successful"
    assert "role prefill: desired=2, of its LeaderWorkerSet=3" in message(status(objects, scaler(2), *sets))


def test_a_role_without_the_field_scaling_has_its_number_in_the_set():
    """The adapter then says that Git has the number: an adapter of an older render does not scale a role."""
    objects = rendered()
    objects[ADAPTER] = scaled()[ADAPTER]
    requests, written = scaling(objects, *both(objects))
    assert requests == []
    assert "only a render can change that" in message(written)


@pytest.mark.parametrize("value", [None, "text", [], [{"name": 1}], [{"spec": {"replicas": "x"}}]])
def test_roles_of_any_form_are_never_ready_and_never_fail(value):
    objects = rendered()
    objects["DisaggregatedSet/chat"]["spec"]["roles"] = value
    assert status(objects)["state"] == "pending"
