"""Deployments run components on one node (reference: dynamocomponentdeployment_controller.go generateDeployment)."""

from __future__ import annotations

import json

from krm_fn.render import labels, workload_list
from krm_fn.render.config import LeaderWorkerSetSettings
from krm_fn.render.workload_list import WorkloadEntry
from tests.support import given
from tests.support.cases import cases

ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}


def rolling(surge, unavailable):
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


STRATEGIES = [
    ("no annotation", {}, {}, ROLLING),
    ("recreate", {labels.STRATEGY: "Recreate"}, {}, {"type": "Recreate"}),
    ("recreate has no steps", {labels.STRATEGY: "Recreate", labels.MAX_SURGE: "1"}, {}, {"type": "Recreate"}),
    ("a number is a number of pods", {labels.MAX_SURGE: "1"}, {}, rolling(1, "25%")),
    ("a share stays text", {labels.MAX_UNAVAILABLE: "10%"}, {}, rolling("25%", "10%")),
    ("both steps", {labels.MAX_SURGE: "0", labels.MAX_UNAVAILABLE: "+2"}, {}, rolling(0, 2)),
    ("the largest number", {labels.MAX_SURGE: "2147483647"}, {}, rolling(2147483647, "25%")),
    ("steps are read from the pods' annotations too, which win", {labels.MAX_SURGE: "1"}, {labels.MAX_SURGE: "2"}, rolling(2, "25%")),
    ("the type is not", {}, {labels.STRATEGY: "Recreate"}, ROLLING),
    ("the type is compared exactly", {labels.STRATEGY: "recreate"}, {}, ROLLING),
]


@cases(("own", "of_pods", "strategy"), STRATEGIES)
def test_strategy(own, of_pods, strategy):
    written = given.service("worker", annotations=own, extraPodMetadata={"annotations": of_pods})
    assert given.deployment(written)["spec"]["strategy"] == strategy


REPLICAS = [
    ("as written", {"replicas": 3}, 3),
    ("zero", {"replicas": 0}, 0),
    ("not written: left to Kubernetes", {}, None),
    ("an autoscaler owns the number", {"replicas": 3, "scalingAdapter": {"enabled": True}}, None),
    ("an adapter that is switched off", {"replicas": 3, "scalingAdapter": {"enabled": False}}, 3),
]


@cases(("fields", "replicas"), REPLICAS)
def test_replicas(fields, replicas):
    found = given.rendered(given.graph({"Worker": given.service("worker", **fields)}))
    assert found["Deployment/chat-worker"]["spec"].get("replicas") == replicas
    counted = None if fields.get("scalingAdapter", {}).get("enabled") else fields.get("replicas", 1)
    listed = workload_list.read(labels.annotations(found["DynamoGraphDeployment/chat"])[labels.WORKLOADS])
    assert listed == [WorkloadEntry("Worker", "apps/v1", "Deployment", "chat-worker", counted)]


START = {"httpGet": {"path": "/live", "port": "system"}}
DEADLINES = [
    ("a worker loads for up to two hours", given.service("worker"), 7500),
    ("a frontend is there at once", given.service("frontend"), 600),
    ("a longer start", given.service("worker", main={"startupProbe": {**START, "periodSeconds": 60, "failureThreshold": 200}}), 12300),
    ("a shorter start", given.service("worker", main={"startupProbe": {**START, "periodSeconds": 1, "failureThreshold": 1}}), 600),
    (
        "a delay counts too",
        given.service("worker", main={"startupProbe": {**START, "initialDelaySeconds": 500, "periodSeconds": 10, "failureThreshold": 10}}),
        900,
    ),
    ("Kubernetes' own figures where none are written", given.service("worker", main={"startupProbe": START}), 600),
]


@cases(("written", "seconds"), DEADLINES)
def test_a_long_start_is_no_failed_rollout(written, seconds):
    """Longer than the longest start by five minutes, and never below Kubernetes' own ten; on the Deployment, never on the pod."""
    found = given.deployment(written)
    assert found["spec"]["progressDeadlineSeconds"] == seconds
    assert "progressDeadlineSeconds" not in json.dumps(found["spec"]["template"])


def test_it_selects_its_own_pods_and_no_others():
    found = given.rendered(given.graph({"A": given.service("worker"), "B": given.service("worker")}))
    for name, other in (("chat-a", "chat-b"), ("chat-b", "chat-a")):
        selector = found[f"Deployment/{name}"]["spec"]["selector"]["matchLabels"]
        assert selector.items() <= found[f"Deployment/{name}"]["spec"]["template"]["metadata"]["labels"].items()
        assert not selector.items() <= found[f"Deployment/{other}"]["spec"]["template"]["metadata"]["labels"].items()


def test_a_service_that_is_debugged_has_a_deployment_for_it():
    written = given.service("worker", replicas=4, annotations={labels.STEALING_DEBUG: "true"})
    found = given.rendered(given.graph({"Worker": written}))
    main, debug = found["Deployment/chat-worker"]["spec"], found["Deployment/chat-worker-d"]["spec"]
    assert (main["replicas"], debug["replicas"]) == (4, 1)
    assert [container["name"] for container in main["template"]["spec"]["containers"]] == ["main"]
    assert [container["name"] for container in debug["template"]["spec"]["containers"]] == ["main", "debugger"]
    assert debug["selector"]["matchLabels"] == {labels.SELECTOR: "chat-worker-d"}
    assert debug["progressDeadlineSeconds"] == main["progressDeadlineSeconds"]


ORCHESTRATORS = [
    (
        "several nodes without LeaderWorkerSets",
        {"multinode": {"nodeCount": 2}},
        LeaderWorkerSetSettings(enabled=False),
        [("DYN144", "multinode")],
    ),
    ("several nodes and LeaderWorkerSets", {"multinode": {"nodeCount": 2}}, LeaderWorkerSetSettings(enabled=True), []),
    ("one node", {}, LeaderWorkerSetSettings(enabled=False), []),
]


@cases(("fields", "sets", "said"), ORCHESTRATORS)
def test_several_nodes_need_an_orchestrator(fields, sets, said):
    written = given.service("worker", main={"args": ["x"]}, resources={"limits": {"gpu": "1"}}, **fields)
    found = given.expanded(given.graph({"Worker": written}), leader_worker_set=sets)
    assert given.findings(found.results) == [(code, f"spec.services.Worker.{field}") for code, field in said]
