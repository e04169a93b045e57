"""The healthCheckExprs of examples/flux, evaluated by the real kustomize-controller over every kind and state."""

from __future__ import annotations

import json
import time

import pytest

from tests.gitops import cluster, flux
from tests.support import golden
from tests.testbed import server

READY, FAILED, WAITS = "True", "False", "Unknown"
WANTED = "as many as wanted"
ENDPOINTS = {"readyEndpoints": 0, "totalEndpoints": 1}
NOW = "2026-01-01T00:00:00Z"


def said(**conditions):
    """Conditions by type, each told by its status."""
    return [
        {"type": name, "status": status, "reason": "R", "message": "", "lastTransitionTime": NOW} for name, status in conditions.items()
    ]


# reason, example, kind, status, what Flux makes of it.
CASES = [
    ("graph: no status", "agg-vllm", "DynamoGraphDeployment", None, WAITS),
    ("graph: pending", "agg-vllm", "DynamoGraphDeployment", {"state": "pending"}, WAITS),
    ("graph: successful", "agg-vllm", "DynamoGraphDeployment", {"state": "successful"}, READY),
    ("graph: successful before the change", "agg-vllm", "DynamoGraphDeployment", {"state": "successful", "observedGeneration": 7}, WAITS),
    ("graph: failed", "agg-vllm", "DynamoGraphDeployment", {"state": "failed"}, FAILED),
    ("component: no status", "component-alone", "DynamoComponentDeployment", None, WAITS),
    ("component: available", "component-alone", "DynamoComponentDeployment", {"conditions": said(Valid="True", Available="True")}, READY),
    ("component: not available", "component-alone", "DynamoComponentDeployment", {"conditions": said(Available="False")}, WAITS),
    ("component: invalid", "component-alone", "DynamoComponentDeployment", {"conditions": said(Valid="False")}, FAILED),
    ("request: profiling", "", "DynamoGraphDeploymentRequest", {"state": "Profiling"}, WAITS),
    ("request: ready", "", "DynamoGraphDeploymentRequest", {"state": "Ready"}, READY),
    ("request: failed", "", "DynamoGraphDeploymentRequest", {"state": "Failed"}, FAILED),
    ("request: its graph was deleted", "", "DynamoGraphDeploymentRequest", {"state": "DeploymentDeleted"}, FAILED),
    ("adapter: no status", "disagg-vllm-planner", "DynamoGraphDeploymentScalingAdapter", None, WAITS),
    ("adapter: others", "disagg-vllm-planner", "DynamoGraphDeploymentScalingAdapter", {"replicas": 99}, WAITS),
    ("adapter: all", "disagg-vllm-planner", "DynamoGraphDeploymentScalingAdapter", {"replicas": WANTED}, READY),
    ("model: ready", "lora", "DynamoModel", ENDPOINTS | {"conditions": said(EndpointsReady="True")}, READY),
    ("model: not ready", "lora", "DynamoModel", ENDPOINTS | {"conditions": said(EndpointsReady="False")}, WAITS),
    ("model: invalid", "lora", "DynamoModel", ENDPOINTS | {"conditions": said(Valid="False")}, FAILED),
    ("groups: no status", "multinode-vllm", "LeaderWorkerSet", None, WAITS),
    ("groups: available", "multinode-vllm", "LeaderWorkerSet", {"conditions": said(Available="True")}, READY),
    ("groups: not available", "multinode-vllm", "LeaderWorkerSet", {"conditions": said(Available="False")}, WAITS),
    ("groups: an update", "multinode-vllm", "LeaderWorkerSet", {"conditions": said(Available="True", UpdateInProgress="True")}, WAITS),
    ("set: available", "multinode-sglang-grove", "PodCliqueSet", {"observedGeneration": 1, "availableReplicas": 1}, READY),
    ("set: not available", "multinode-sglang-grove", "PodCliqueSet", {"observedGeneration": 1, "availableReplicas": 0}, WAITS),
    ("set: never observed", "multinode-sglang-grove", "PodCliqueSet", {"availableReplicas": 1}, WAITS),
    (
        "set: an update",
        "multinode-sglang-grove",
        "PodCliqueSet",
        {"observedGeneration": 1, "availableReplicas": 1, "updateProgress": {"updateStartedAt": NOW}},
        WAITS,
    ),
    (
        "set: updated",
        "multinode-sglang-grove",
        "PodCliqueSet",
        {"observedGeneration": 1, "availableReplicas": 1, "updateProgress": {"updateStartedAt": NOW, "updateEndedAt": NOW}},
        READY,
    ),
]
REQUEST: cluster.Object = {
    "apiVersion": cluster.DYNAMO,
    "kind": "DynamoGraphDeploymentRequest",
    "metadata": {"name": "request"},
    "spec": {"model": "m", "backend": "vllm", "profilingConfig": {"profilerImage": "profiler:1", "config": {"sla": {}}}},
}


def resource(example, kind, namespace):
    """An object of that kind, as the example has it."""
    objects = cluster.read(golden.EXAMPLES / example / "expected.yaml") if example else [REQUEST]
    found = next(each for each in objects if each["kind"] == kind)
    return {**found, "metadata": {**found["metadata"], "namespace": namespace}}


def report(controller, wanted, status):
    """Write a status, once Flux has applied what it belongs to. Raises TimeoutError with what Flux says instead."""
    plane, namespace = controller.plane, wanted["metadata"]["namespace"]
    try:
        server.eventually(lambda: plane.client.request("GET", plane.client.path(wanted)).ok)
    except TimeoutError:
        raise TimeoutError(f"{wanted['kind']} is not applied: {controller.ready(namespace)}") from None
    if status is not None:
        cluster.report(plane, wanted, {key: wanted["spec"]["replicas"] if value == WANTED else value for key, value in status.items()})


@pytest.fixture(scope="module")
def names(controller, tmp_path_factory):
    """All cases at once, for those that wait take a while to be believed; the name of each Kustomization by reason."""
    (deploy,) = cluster.read(golden.EXAMPLES / "flux" / "cluster" / "deploy.yaml")
    plane, named = controller.plane, {}
    for number, (reason, example, kind, _, _) in enumerate(CASES):
        name = named[reason] = plane.namespace(f"flux-health-{number}")
        folder = tmp_path_factory.mktemp(name)
        (folder / "resource.yaml").write_text(json.dumps(resource(example, kind, name)))
        controller.publish(name, folder)
        source = {"sourceRef": {"kind": "ExternalArtifact", "name": name}}
        cluster.put(plane, {**deploy, "metadata": {"name": name, "namespace": flux.NAMESPACE}, "spec": deploy["spec"] | source})
    for reason, example, kind, status, _ in CASES:
        report(controller, resource(example, kind, named[reason]), status)
    server.eventually(lambda: all(controller.ready(named[case[0]]).get("status") == case[-1] for case in CASES if case[-1] != WAITS), 60)
    time.sleep(3)  # those that wait could have been taken for ready as well by now
    return named


@pytest.mark.parametrize(("reason", "health"), [(case[0], case[-1]) for case in CASES], ids=[case[0] for case in CASES])
def test_health(reason, health, names, controller):
    assert controller.ready(names[reason])["status"] == health


def test_every_kind_has_its_cases():
    """Ready and waiting for each, failed where its status can say so."""
    (deploy,) = cluster.read(golden.EXAMPLES / "flux" / "cluster" / "deploy.yaml")
    wanted = {(each["kind"], health) for each in deploy["spec"]["healthCheckExprs"] for health in (READY, WAITS)}
    wanted |= {(each["kind"], FAILED) for each in deploy["spec"]["healthCheckExprs"] if "failed" in each}
    assert wanted == {(kind, health) for _, _, kind, _, health in CASES}
