"""LeaderWorkerSets of release 1.5: one set per component (reference: dynamocomponentdeployment_controller.go generateLeaderWorkerSet)."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.render import labels, workload_list
from krm_fn.render.workload_list import WorkloadEntry
from tests.support import given, nodes
from tests.support.cases import cases

LWS = "deployment of 1.5"
SETTINGS = nodes.settings(LWS)
MAIN: dict[str, Any] = {"command": ["python3", "-m", "dynamo.sglang"], "args": ["--model-path", "m"]}


def rendered(**fields: Any) -> dict[str, Any]:
    return given.rendered(given.graph({"Worker": nodes.worker(**{**MAIN, **fields})}), **SETTINGS)


COUNTS = [("replicas not written", None, 1), ("three replicas", 3, 3), ("no replicas", 0, 0)]


@cases(("written", "replicas"), COUNTS)
def test_a_component_has_one_set_whose_groups_are_its_replicas(written, replicas):
    fields = {key: value for key, value in nodes.worker(**MAIN, replicas=written).items() if value is not None}
    found = given.rendered(given.graph({"Worker": fields}), **SETTINGS)
    assert [name for name in found if name.startswith(("LeaderWorkerSet/", "PodGroup/"))] == ["LeaderWorkerSet/chat-worker-0"]
    assert found["LeaderWorkerSet/chat-worker-0"]["spec"]["replicas"] == replicas
    listed = workload_list.read(labels.annotations(found["DynamoGraphDeployment/chat"])[labels.WORKLOADS])
    assert [each._replace(facts=None) for each in listed] == [
        WorkloadEntry("Worker", "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "chat-worker-0", replicas)
    ]


def test_the_fields_of_a_set():
    """No scheduler, PodGroup or index of a replica: those belong to release 0.9."""
    group = rendered(nodes=3, replicas=2)["LeaderWorkerSet/chat-worker-0"]
    templates = group["spec"].pop("leaderWorkerTemplate")
    assert group["spec"] == {"replicas": 2, "startupPolicy": "LeaderCreated"}
    assert (templates["size"], set(templates)) == (3, {"size", "leaderTemplate", "workerTemplate"})
    assert group["metadata"]["annotations"] == {labels.OWNER: "DynamoGraphDeployment/chat"}
    assert labels.INSTANCE not in group["metadata"]["labels"]
    for side in ("leaderTemplate", "workerTemplate"):
        assert "schedulerName" not in templates[side]["spec"]
        assert labels.POD_GROUP not in templates[side]["metadata"].get("annotations", {})


@pytest.mark.parametrize(("side", "role"), [("leaderTemplate", "leader"), ("workerTemplate", "worker")])
def test_pods_know_their_role_and_have_no_selector_of_a_deployment(side, role):
    mine = {"labels": {labels.ROLE: "mine", "zone": "z"}, "annotations": {"note": "a"}}
    template = rendered(extraPodMetadata=mine)["LeaderWorkerSet/chat-worker-0"]["spec"]["leaderWorkerTemplate"][side]
    assert (template["metadata"]["labels"][labels.ROLE], template["metadata"]["labels"]["zone"]) == (role, "z")
    assert labels.SELECTOR not in template["metadata"]["labels"]
    assert template["metadata"]["annotations"]["note"] == "a"


def test_the_service_finds_leaders_only():
    found = rendered()
    selector = found["Service/chat-worker"]["spec"]["selector"]
    group = found["LeaderWorkerSet/chat-worker-0"]["spec"]["leaderWorkerTemplate"]
    assert selector.items() <= group["leaderTemplate"]["metadata"]["labels"].items()
    assert not selector.items() <= group["workerTemplate"]["metadata"]["labels"].items()


def test_an_autoscaler_sets_the_replicas_of_a_set():
    found = rendered(scalingAdapter={"enabled": True}, replicas=2)
    assert "replicas" not in found["LeaderWorkerSet/chat-worker-0"]["spec"]
    (listed,) = workload_list.read(labels.annotations(found["DynamoGraphDeployment/chat"])[labels.WORKLOADS])
    assert listed.replicas is None
    assert nodes.warned(nodes.worker(**MAIN, scalingAdapter={"enabled": True}), LWS) == []


NEEDS = [
    ("no arguments", {"args": []}, ["DYN161"]),
    ("no GPUs", {"gpus": ""}, []),
    ("no replicas", {"args": [], "replicas": 0}, ["DYN161"]),
]


@cases(("fields", "codes"), NEEDS)
def test_what_a_group_needs(fields, codes):
    found = nodes.warned(nodes.worker(**{**MAIN, **fields}), LWS, backendFramework="sglang")
    assert found == [(code, "spec.services.Worker.extraPodSpec.mainContainer.args") for code in codes]


NAMES = [
    ("fifty characters", "w" * 43, 1, []),
    ("one more", "w" * 44, 1, ["DYN143"]),
    ("the index of the last group counts", "w" * 43, 11, ["DYN143"]),
    ("an index of two digits", "w" * 42, 11, []),
    ("a set without groups", "w" * 43, 0, []),
]


@cases(("service", "replicas", "codes"), NAMES)
def test_names_leave_room_for_what_is_put_behind_them(service, replicas, codes):
    """The followers' StatefulSet has the name of the set and the index of the group, and its pods carry that and a hash as a label."""
    found = given.expanded(given.graph({service: nodes.worker(**MAIN, replicas=replicas)}), **SETTINGS)
    assert given.findings(found.results) == [(code, f"spec.services.{service}") for code in codes]


OTHERS = [
    ("the name of the set", "worker-0", ["DYN190"]),
    ("the name of its first group's followers", "worker-0-0", []),
    ("no set", "worker-1", []),
]


@cases(("service", "codes"), OTHERS)
def test_a_service_cannot_have_the_name_of_a_set(service, codes):
    """The LeaderWorkerSet controller creates a headless Service with the name of the set."""
    written = given.graph({"Worker": nodes.worker(**MAIN, replicas=3), service: given.service("frontend")})
    assert given.findings(given.expanded(written, **SETTINGS).results) == [(code, f"spec.services.{service}") for code in codes]


def test_a_set_has_a_name_that_a_service_may_have():
    """The dots in a component's name become dashes in the name of its own Service, but not in that of the set."""
    found = given.expanded(given.graph({"Worker": nodes.worker(**MAIN)}, name="chat.v1"), **SETTINGS)
    assert ("DYN141", "spec.services.Worker") in given.findings(found.results)
    (message,) = [each.message for each in found.results if each.code == "DYN141"]
    assert message.startswith("the LeaderWorkerSet would be named chat.v1-worker-0, which is not a valid name of a Service")
