"""The healthCheckExprs of examples/flux, evaluated by the real kustomize-controller over every kind and state."""

from __future__ import annotations

import json
import re

import pytest

from krm_fn.render.convert import versions
from tests.gitops import cluster, flux
from tests.support import golden

ADAPTER = "DynamoGraphDeploymentScalingAdapter"
READY, FAILED, WAITS = "True", "False", "Unknown"
WANTED = 2
NEW = "adapter: no number yet"
ENDPOINTS = {"readyEndpoints": 0, "totalEndpoints": 1}
NOW = "2026-01-01T00:00:00Z"


def said(**conditions):
    """A list of conditions from types and their statuses."""
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
    ("component: stalled", "component-alone", "DynamoComponentDeployment", {"conditions": said(Available="False", Stalled="True")}, FAILED),
    (
        "component: reconciling",
        "component-alone",
        "DynamoComponentDeployment",
        {"conditions": said(Available="False", Reconciling="True")},
        WAITS,
    ),
    ("request: profiling", "", "DynamoGraphDeploymentRequest", {"state": "Profiling"}, WAITS),
    ("request: ready", "", "DynamoGraphDeploymentRequest", {"state": "Ready"}, READY),
    ("request: failed", "", "DynamoGraphDeploymentRequest", {"state": "Failed"}, FAILED),
    ("request: its graph was deleted", "", "DynamoGraphDeploymentRequest", {"state": "DeploymentDeleted"}, FAILED),
    (
        "request: a change is refused",
        "",
        "DynamoGraphDeploymentRequest",
        {"state": "Ready", "conditions": said(Ready="False", Stalled="True")},
        FAILED,
    ),
    ("adapter: no status", "older-planner", ADAPTER, None, WAITS),
    (NEW, "older-planner", ADAPTER, {"replicas": WANTED}, WAITS),
    ("adapter: others", "older-planner", ADAPTER, {"replicas": 99}, WAITS),
    ("adapter: all", "older-planner", ADAPTER, {"replicas": WANTED}, READY),
    (
        "adapter: stalled",
        "older-planner",
        ADAPTER,
        {"replicas": 99, "conditions": said(Stalled="True")},
        FAILED,
    ),
    ("model: ready", "lora", "DynamoModel", ENDPOINTS | {"conditions": said(EndpointsReady="True")}, READY),
    ("model: not ready", "lora", "DynamoModel", ENDPOINTS | {"conditions": said(EndpointsReady="False")}, WAITS),
    ("model: invalid", "lora", "DynamoModel", ENDPOINTS | {"conditions": said(Valid="False")}, FAILED),
    (
        "model: a pod is not ready",
        "lora",
        "DynamoModel",
        ENDPOINTS | {"conditions": said(EndpointsReady="True", Ready="False", Reconciling="True")},
        WAITS,
    ),
    (
        "model: nothing is loaded",
        "lora",
        "DynamoModel",
        ENDPOINTS | {"conditions": said(EndpointsReady="False", Ready="False", Stalled="True")},
        FAILED,
    ),
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
    """The first object of that kind in the example, in the version of the expressions."""
    objects = cluster.read(golden.EXAMPLES / example / "expected.yaml") if example else [REQUEST]
    found = versions.to("v1alpha1", next(each for each in objects if each["kind"] == kind))
    return {**found, "metadata": {**found["metadata"], "namespace": namespace}}


def exists(plane, wanted, status, numbered):
    """Create an object with its status before Flux applies it. An adapter gets its number from the syncer, so it has none in Git."""
    cluster.put(plane, wanted)
    if numbered and wanted["kind"] == ADAPTER:
        cluster.patch(plane, wanted, {"spec": {"replicas": WANTED}})
    if status is not None:
        cluster.report(plane, wanted, status)


@pytest.fixture(scope="module")
def names(controller, tmp_path_factory):
    """One Kustomization for each case, all at once; its name by reason. Flux gives up waiting after a few seconds, and says for what."""
    (deploy,) = cluster.read(golden.EXAMPLES / "flux" / "cluster" / "deploy.yaml")
    plane, named = controller.plane, {}
    for number, (reason, example, kind, status, health) in enumerate(CASES):
        name = named[reason] = plane.namespace(f"flux-health-{number}")
        wanted = resource(example, kind, name)
        exists(plane, wanted, status, reason != NEW)
        folder = tmp_path_factory.mktemp(name)
        (folder / "resource.yaml").write_text(json.dumps(wanted))
        controller.publish(name, folder)
        settings = {"sourceRef": {"kind": "ExternalArtifact", "name": name}, "timeout": "5s" if health == WAITS else "60s"}
        cluster.put(plane, {**deploy, "metadata": {"name": name, "namespace": flux.NAMESPACE}, "spec": deploy["spec"] | settings})
    return named


@pytest.mark.parametrize(("reason", "kind", "health"), [(case[0], case[2], case[-1]) for case in CASES], ids=[case[0] for case in CASES])
def test_health(reason, kind, health, names, controller):
    """A graph without a status is in progress, too: no expression is an error."""
    status = READY if health == READY else FAILED
    said = controller.wait_for(names[reason], lambda condition: condition.get("status") == status)["message"]
    assert re.findall(rf"{kind}/\S+ status: '(\w+)'", said) == {READY: [], FAILED: ["Failed"], WAITS: ["InProgress"]}[health], said


def test_every_kind_has_its_cases():
    """Each kind has a case for ready and for waiting, and one for failed if its status can be failed."""
    (deploy,) = cluster.read(golden.EXAMPLES / "flux" / "cluster" / "deploy.yaml")
    wanted = {(each["kind"], health) for each in deploy["spec"]["healthCheckExprs"] for health in (READY, WAITS)}
    wanted |= {(each["kind"], FAILED) for each in deploy["spec"]["healthCheckExprs"] if "failed" in each}
    assert wanted == {(kind, health) for _, _, kind, _, health in CASES}
