"""The syncer in a cluster that serves v1beta1, with the rights of platform/syncer: status, scaling, restarts, models and requests."""

from __future__ import annotations

import json
from typing import Any

import pytest

from krm_fn.render import dynamo_api, labels, names
from krm_fn.render.schema import schema_check
from krm_fn.schemas.generate import crds
from tests.cli import console
from tests.support import beta, definitions, given
from tests.testbed import control_plane, kubelet, programs, server, syncer
from tests.testbed.place import GRAPH, Place, conditions
from tests.testbed.profiling_requests import PROFILER, REQUEST, ask, generated

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("newer")]  # so that one control plane starts

ADAPTER, COMPONENT, MODEL = "DynamoGraphDeploymentScalingAdapter", "DynamoComponentDeployment", "DynamoModel"
FEATURES = ("requests", "auto-apply", "pods", "restarts", "models", "device-claims")


@pytest.fixture(scope="module")
def plane(tmp_path_factory):
    """A control plane with controllers and a kubelet that serves Dynamo's kinds as v1beta1."""
    needed = control_plane.Programs(*(programs.path(name) for name in ("etcd", "kube-apiserver", "kubectl")))
    manager = programs.path("kube-controller-manager")
    with control_plane.running(tmp_path_factory.mktemp("newer"), needed) as running:
        definitions.serve(running, [*definitions.every(), *crds.definitions("v1beta1")])
        with control_plane.controllers(running, manager), kubelet.running(running):
            yield running


@pytest.fixture(scope="module")
def sync(plane, kustomize, tmp_path_factory):
    """One syncer for all tests."""
    folder = tmp_path_factory.mktemp("syncer")
    account = syncer.installed(plane, kustomize, folder, *FEATURES)
    with syncer.running(account, folder, *(f"--{each}" for each in FEATURES), "--no-leader-election") as running:
        yield running


@pytest.fixture
def place(plane, sync, request):
    """A namespace of its own for each test."""
    name = request.node.originalname.removeprefix("test_").replace("_", "-")[:50].rstrip("-")
    return Place(plane, plane.namespace(f"newer-{name}"), dynamo_api.V1BETA1)


def chat(restart: str = "", **worker: Any) -> Any:
    strategy = {"type": "Sequential", "order": ["Frontend", "Worker"]}
    spec: dict[str, Any] = {"restart": {"id": restart, "strategy": strategy}} if restart else {}
    return beta.graph(beta.component("Frontend", "frontend"), beta.component("Worker", **worker), **spec)


def successful(status):
    return status.get("state") == "successful"


def is_valid(place, kind, name):
    """True if the whole object, with its status, is what the schema of v1beta1 says."""
    found = {"apiVersion": place.version(kind), "kind": kind, **place.get(kind, name)}
    found["metadata"] = {key: found["metadata"][key] for key in ("name", "namespace", "annotations") if key in found["metadata"]}
    return [each for each in schema_check.resource(found, unknown="error") if each.path[:1] == ("status",)] == []


def is_computed(place, kind, name):
    """True if `krm-fn status` says the same of the objects of the namespace."""
    listed = place.kubectl("get", "dgd,dgdsa,dcd,dgdr,deployments,jobs,configmaps,pods", "-o", "json")
    found = json.loads(console.status(*json.loads(listed)["items"], arguments=["-o", "json"]))["items"]
    (status,) = [each["status"] for each in found if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    return status == place.status(name, kind)


def test_the_status_of_a_graph(place):
    place.deploy(chat(replicas=2))
    status = place.wait("chat", successful)
    worker = status["components"]["Worker"]
    (name,) = worker["componentNames"]
    assert worker["componentKind"] == "Deployment"
    assert (worker["replicas"], worker["availableReplicas"]) == (2, 2)
    assert worker["runtimeNamespace"].startswith(f"{place.namespace}-chat")
    assert place.get("Deployment", name)["metadata"]["labels"][labels.COMPONENT] == "Worker"
    assert "services" not in status
    assert is_valid(place, GRAPH, "chat")
    server.eventually(lambda: is_computed(place, GRAPH, "chat"))


def device(kind: str, name: str, namespace: str = "", **spec: Any) -> Any:
    return given.item(kind, name, api="resource.k8s.io/v1", namespace=namespace, spec=spec)


def test_the_gpus_of_claims_follow_the_claims_in_the_cluster(place):
    """A build that does not have the claims leaves them to the syncer. A class belongs to no namespace."""
    main, listed = {"resources": {"claims": [{"name": "mine"}]}}, [{"name": "mine", "resourceClaimTemplateName": "gpus"}]
    place.deploy(beta.graph(beta.component("Worker", main=main, pod={"resourceClaims": listed})))
    missing = f"the ResourceClaimTemplate gpus is not in namespace {place.namespace}"
    place.wait("chat", lambda status: missing in conditions(status).get("Ready", {}).get("message", ""))
    status = place.wait("chat", lambda status: "Worker" in status.get("components", {}))
    assert "gpusPerEngine" not in status["components"]["Worker"]
    asked = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "accelerators.example.com", "count": 2}}]}}
    place.apply([device("ResourceClaimTemplate", "gpus", place.namespace, spec=asked)])
    place.wait("chat", lambda status: "accelerators.example.com, which does not exist" in conditions(status)["Ready"]["message"])
    place.apply([device("DeviceClass", "accelerators.example.com", extendedResourceName="nvidia.com/gpu")])
    status = place.wait("chat", lambda status: "gpusPerEngine" in status["components"]["Worker"])
    assert {field: count for field, count in status["components"]["Worker"].items() if field.startswith("gpus")} == {
        "gpusPerEngine": 2,
        "gpusPerReplica": 2,
    }
    assert is_valid(place, GRAPH, "chat")


def test_a_graph_owns_its_adapters_while_it_has_a_planner(place):
    """A planner of Dynamo 1.7 trusts no other adapter. Argo CD prunes no object with an owner."""
    graph = chat(replicas=2, scalingAdapter={})
    planned = {**graph, "spec": {**graph["spec"], "components": [*graph["spec"]["components"], beta.component("Planner", "planner")]}}
    place.deploy(planned)
    server.eventually(lambda: place.get(ADAPTER, "chat-worker")["metadata"].get("ownerReferences"))
    (owner,) = place.get(ADAPTER, "chat-worker")["metadata"]["ownerReferences"]
    uid = place.get(GRAPH, "chat")["metadata"]["uid"]
    assert owner == {"apiVersion": dynamo_api.V1BETA1, "kind": GRAPH, "name": "chat", "uid": uid, "controller": True}
    place.deploy(planned)
    assert place.get(ADAPTER, "chat-worker")["metadata"]["ownerReferences"] == [owner]
    place.deploy(graph)
    server.eventually(lambda: not place.get(ADAPTER, "chat-worker")["metadata"].get("ownerReferences"))
    assert place.get(ADAPTER, "chat-worker")["spec"]["replicas"] == 2


def test_an_adapter_scales_its_component(place):
    """The number of `kubectl scale` reaches the Deployment, and neither the Deployment nor the graph takes it back."""
    rendered = place.render(chat(scalingAdapter={}))
    place.apply(rendered)
    place.wait("chat", successful)
    place.kubectl("scale", f"{ADAPTER.lower()}s/chat-worker", "--replicas=3")
    status = place.wait(
        "chat-worker", lambda status: status.get("replicas") == 3 and conditions(status)["Ready"]["status"] == "True", ADAPTER
    )
    assert status["selector"]
    place.apply(each for each in rendered if each["kind"] != ADAPTER)
    place.wait("chat", lambda status: successful(status) and status["components"]["Worker"]["replicas"] == 3)
    assert is_valid(place, ADAPTER, "chat-worker")
    server.eventually(lambda: is_computed(place, ADAPTER, "chat-worker"))


def test_a_sequential_restart(place):
    place.deploy(chat(), restart="sync")
    place.wait("chat", successful)
    place.deploy(chat("r1"), restart="sync")
    place.wait("chat", lambda status: status.get("restart") == {"observedID": "r1", "phase": "Completed"} and successful(status))
    stamps = [each["spec"]["template"]["metadata"]["annotations"].get(labels.RESTART_AT) for each in place.listed("Deployment")]
    assert stamps == ["r1", "r1"]
    assert is_valid(place, GRAPH, "chat")


def test_a_component_alone(place):
    item = given.item(COMPONENT, "alone", api=dynamo_api.V1BETA1)
    place.deploy({**item, "spec": {**beta.component("Worker"), "backendFramework": "vllm"}})
    status = place.wait("alone", lambda status: conditions(status).get("Available", {}).get("status") == "True", COMPONENT)
    assert status["component"]["componentNames"]
    assert is_valid(place, COMPONENT, "alone")
    server.eventually(lambda: is_computed(place, COMPONENT, "alone"))


def test_a_model_finds_the_workers_of_a_graph(place):
    """Models have v1alpha1 in both sets of definitions."""
    base = "Qwen/Qwen3-0.6B"
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}}  # endpoints need a node
    assert place.plane.apply(node, dry_run=False).ok
    place.deploy(chat(modelRef={"name": base}, pod={"nodeName": "node-1"}))
    model = {"modelName": base, "baseModelName": base, "modelType": "base"}
    place.deploy({"apiVersion": "nvidia.com/v1alpha1", "kind": MODEL, "metadata": {"name": "plain"}, "spec": model})
    place.wait("plain", lambda status: status.get("totalEndpoints") == 1, MODEL)


def request(**spec: Any) -> Any:
    return {
        "apiVersion": dynamo_api.V1BETA1,
        "kind": REQUEST,
        "metadata": {"name": "llm"},
        "spec": {"model": "Qwen/Qwen3-0.6B", "backend": "vllm", "image": PROFILER, **spec},
    }


def test_a_request_offers_its_graph(place):
    asked = ask(place, request(autoApply=False), job=False)
    asked.state("Pending")
    asked = ask(place, request(autoApply=False))
    status = asked.state("Profiling")
    assert status["profilingJobName"] == "profile-llm"
    asked.profiled(generated())
    status = asked.state("Ready")
    assert status["profilingResults"]["selectedConfig"]["metadata"]["name"] == "chat"
    assert "dgdName" not in status
    assert place.listed(GRAPH) == []
    assert is_valid(place, REQUEST, "llm")
    server.eventually(lambda: is_computed(place, REQUEST, "llm"))
    columns = place.kubectl("get", "dgdr", "llm").splitlines()
    assert columns[1].split()[:4] == ["llm", "Qwen/Qwen3-0.6B", "vllm", "Ready"]
    place.kubectl("delete", "dgdr", "llm")
    server.eventually(lambda: names.profiling_output("llm") not in {each["metadata"]["name"] for each in place.listed("ConfigMap")})


def test_a_request_deploys_its_graph(place):
    """The profiler writes a graph of v1alpha1. It is stored as v1beta1, and its objects follow the release of its images."""
    named = {"apiVersion": dynamo_api.V1BETA1, "kind": GRAPH, "metadata": {"name": "served", "labels": {"team": "a"}}}
    asked = ask(place, request(overrides={"dgd": named}))
    asked.profiled(generated())
    status = asked.state("Deployed")
    assert (status["dgdName"], status["deploymentInfo"]) == ("served", {"replicas": 2, "availableReplicas": 2})
    graph = place.get(GRAPH, "served")
    assert [each["name"] for each in graph["spec"]["components"]] == ["Frontend", "Worker"]
    assert labels.of(graph)["team"] == "a"
    owner = place.get("ConfigMap", "planner-profile-data")["metadata"]["ownerReferences"][0]
    assert (owner["apiVersion"], owner["uid"]) == (dynamo_api.V1BETA1, graph["metadata"]["uid"])
    assert any(labels.WORKER_HASH in each["spec"]["template"]["metadata"]["labels"] for each in place.listed("Deployment"))
    place.kubectl("delete", "dgd", "served")
    status = asked.state("Failed")
    assert conditions(status)["Succeeded"]["message"].startswith("Deployment was deleted by user")
    server.eventually(lambda: place.listed("Deployment") == [])
    assert is_valid(place, REQUEST, "llm")
