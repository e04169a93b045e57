"""LeaderWorkerSets run multinode components (reference: dynamocomponentdeployment_controller.go generateLeaderWorkerSet)."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.render import labels, workload_list
from krm_fn.render.workload_list import WorkloadEntry
from tests.support import given, nodes
from tests.support.cases import cases

ARGS: dict[str, Any] = {"args": ["python3 -m dynamo.sglang"]}


def rendered(**fields):
    return given.rendered(given.graph({"Worker": nodes.worker(**{**ARGS, **fields})}))


def of_workloads(found):
    return sorted(name for name in found if name.startswith(("LeaderWorkerSet/", "PodGroup/", "Deployment/")))


COUNTS = [
    ("one replica", {"replicas": 1}, ["0"]),
    ("three replicas", {"replicas": 3}, ["0", "1", "2"]),
    ("no replicas", {"replicas": 0}, []),
    ("replicas not written", {"replicas": None}, ["0"]),
]


@cases(("fields", "indices"), COUNTS)
def test_each_replica_is_a_set_with_a_pod_group(fields, indices):
    written = nodes.worker(**ARGS, **fields)
    found = given.rendered(given.graph({"Worker": {key: value for key, value in written.items() if value is not None}}))
    assert of_workloads(found) == [f"{kind}/chat-worker-{index}" for kind in ("LeaderWorkerSet", "PodGroup") for index in indices]
    listed = workload_list.read(labels.annotations(found["DynamoGraphDeployment/chat"])[labels.WORKLOADS])
    assert listed == [
        WorkloadEntry("Worker", "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", f"chat-worker-{index}", 1) for index in indices
    ]


def test_a_set_and_its_pod_group():
    found = rendered(nodes=3, replicas=2, modelRef={"name": "acme/tiny"}, annotations={"note": "a"})
    group = found["LeaderWorkerSet/chat-worker-1"]
    assert group["metadata"]["labels"] == {
        labels.COMPONENT: "Worker",
        labels.NAMESPACE: "team-chat",
        labels.GRAPH: "chat",
        labels.BASE_MODEL_HASH: group["metadata"]["labels"][labels.BASE_MODEL_HASH],
        labels.INSTANCE: "1",
        labels.MANAGED_BY: "krm-fn",
    }
    assert group["metadata"]["annotations"] == {labels.OWNER: "DynamoGraphDeployment/chat"}
    templates = group["spec"].pop("leaderWorkerTemplate")
    assert group["spec"] == {"replicas": 1, "startupPolicy": "LeaderCreated"}
    assert (templates["size"], set(templates)) == (3, {"size", "leaderTemplate", "workerTemplate"})
    pods = found["PodGroup/chat-worker-1"]
    assert pods["spec"] == {"minMember": 3}
    assert pods["metadata"]["labels"] == {labels.INSTANCE: "1", labels.MANAGED_BY: "krm-fn"}


def test_no_rollout_strategy_is_written():
    """The reference writes an empty type, which no server takes and an admission webhook must replace."""
    assert "rolloutStrategy" not in rendered()["LeaderWorkerSet/chat-worker-0"]["spec"]


@pytest.mark.parametrize(("side", "role"), [("leaderTemplate", "leader"), ("workerTemplate", "worker")])
def test_pods_are_scheduled_as_one_and_know_their_role(side, role):
    mine = {labels.ROLE: "mine", labels.INSTANCE: "7", labels.COMPONENT: "Mine", "zone": "z"}
    fields = nodes.worker(**ARGS, extraPodMetadata={"labels": mine, "annotations": {"note": "a"}}, replicas=2)
    fields["extraPodSpec"]["schedulerName"] = "mine"
    template = given.rendered(given.graph({"Worker": fields}))["LeaderWorkerSet/chat-worker-1"]["spec"]["leaderWorkerTemplate"][side]
    found = template["metadata"]["labels"]
    assert (found[labels.ROLE], found[labels.INSTANCE], found[labels.COMPONENT], found["zone"]) == (role, "1", "Worker", "z")
    assert labels.SELECTOR not in found
    assert template["metadata"]["annotations"] == {"note": "a", labels.POD_GROUP: "chat-worker-1"}
    assert template["spec"]["schedulerName"] == "volcano"


def test_the_service_finds_leaders_only():
    found = rendered(replicas=2)
    selector = found["Service/chat-worker"]["spec"]["selector"]
    for index in ("0", "1"):
        group = found[f"LeaderWorkerSet/chat-worker-{index}"]["spec"]["leaderWorkerTemplate"]
        assert selector.items() <= group["leaderTemplate"]["metadata"]["labels"].items()
        assert not selector.items() <= group["workerTemplate"]["metadata"]["labels"].items()


def test_services_on_one_node_stay_deployments():
    found = given.rendered(given.graph({"Frontend": given.service("frontend"), "Worker": nodes.worker(**ARGS)}))
    assert of_workloads(found) == ["Deployment/chat-frontend", "LeaderWorkerSet/chat-worker-0", "PodGroup/chat-worker-0"]
    assert labels.ROLE not in found["Service/chat-frontend"]["spec"]["selector"]


@pytest.mark.parametrize("kind", ["frontend", "planner", ""])
def test_a_component_that_runs_no_engine_runs_the_same_on_every_node(kind):
    written = {**nodes.worker(command=["x"], args=["y"]), "componentType": kind}
    leader, follower = nodes.mains({key: value for key, value in written.items() if value})
    assert leader == follower


FAULTS = [
    ("a main container of another name", {"name": "mine"}, [("DYN160", "extraPodSpec.mainContainer.name")]),
    ("the main container by its name", {"name": "main"}, []),
    ("no arguments", {"args": []}, [("DYN161", "extraPodSpec.mainContainer.args")]),
    ("no GPUs", {"gpus": ""}, [("DYN162", "resources.limits.gpu")]),
    ("GPUs as a request only", {"gpus": "", "resources": {"requests": {"gpu": "1"}}}, [("DYN162", "resources.limits.gpu")]),
    ("nothing at all, and no replicas", {"args": [], "gpus": "", "replicas": 0}, []),
]


@cases(("fields", "said"), FAULTS)
def test_what_a_group_needs(fields, said):
    found = given.expanded(given.graph({"Worker": nodes.worker(**{**ARGS, **fields})}))
    errors = [result for result in found.results if result.severity == "error"]
    assert given.findings(errors) == [(code, f"spec.services.Worker.{field}") for code, field in said]


def test_a_group_without_a_command_is_refused_too():
    """Only endpoint pickers have none by default, and they cannot have several nodes."""
    written = {**nodes.worker(**ARGS), "componentType": "epp", "eppConfig": given.picker()["eppConfig"]}
    assert ("DYN161", "spec.services.Worker.extraPodSpec.mainContainer.command") in nodes.warned(written)


NAMES = [
    ("fifty characters with the index", "w" * 43, 1, []),
    ("one more", "w" * 44, 1, ["DYN143"]),
    ("the last index counts", "w" * 43, 11, ["DYN143"]),
    ("an index of one digit", "w" * 43, 10, []),
]


@cases(("service", "replicas", "codes"), NAMES)
def test_names_leave_room_for_what_is_put_behind_them(service, replicas, codes):
    """`-0` makes the followers' StatefulSet of it, a dash and a hash of ten characters the label of its pods, of 63 at most."""
    found = given.expanded(given.graph({service: nodes.worker(**ARGS, replicas=replicas)}))
    assert given.findings(found.results) == [(code, f"spec.services.{service}") for code in codes]


def test_a_restart_reaches_leaders_and_followers():
    found = given.rendered(given.graph({"Worker": nodes.worker(**ARGS)}, restart={"id": "r-1"}))
    group = found["LeaderWorkerSet/chat-worker-0"]["spec"]["leaderWorkerTemplate"]
    assert [group[side]["metadata"]["annotations"][labels.RESTART_AT] for side in ("leaderTemplate", "workerTemplate")] == ["r-1", "r-1"]
