"""Models on a real control plane, with the rights of platform/syncer: their endpoints, their conditions, and their deletion."""

from __future__ import annotations

from krm_fn.render import labels, names
from krm_fn.syncer.controllers.model_controller import FINALIZER
from tests.support import given
from tests.syncer.serving import BASE, MODEL, READY, endpoint, events, gone, is_, listed, model, pod, post, serves
from tests.testbed import lora_workers, server
from tests.testbed.place import Place, conditions


def test_a_graph_and_its_adapters_from_git_are_served(served, fleet):
    """The real controllers make the pods of the graph and the EndpointSlice of its base model. A new pod gets the adapters, too."""
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}}  # endpoints need a node
    assert served.plane.apply(node, dry_run=False).ok
    served.deploy(chat(replicas=2))
    model(served)
    model(served, "plain", "base")
    status = served.wait("support", has(2), MODEL)
    assert status["readyEndpoints"] == 2
    status = served.wait("plain", lambda status: is_("Ready", "EndpointsDiscovered")(status) and status["totalEndpoints"] == 2, MODEL)
    assert all(each["ready"] for each in status["endpoints"])
    served.deploy(chat(replicas=3))
    status = served.wait("support", has(3), MODEL)
    pods = {each["metadata"]["name"]: each["status"]["podIP"] for each in served.listed("Pod")}
    assert {each["podName"]: each["address"] for each in status["endpoints"]} == {n: f"http://{a}:9090" for n, a in pods.items()}
    assert fleet.done(*pods.values()) == [post()] * 3
    server.eventually(lambda: len(events(served, "EndpointsReady")) == 1)
    assert events(served, "NotReady") == events(served, "PartialEndpointFailure") == []


def has(total):
    """True for the status of an adapter that is loaded into so many pods."""
    return lambda status: READY(status) and status["totalEndpoints"] == total


def chat(**fields):
    worker = given.service("worker", modelRef={"name": BASE}, pod={"nodeName": "node-1"}, **fields)
    return given.graph({"Worker": worker}, name="chat")


def test_a_model_without_a_graph_waits_for_one(served, fleet):
    model(served)
    status = served.wait("support", is_("EndpointsReady", "NoEndpoints"), MODEL)
    assert conditions(status)["Ready"]["message"].endswith(f"deploy a graph with modelRef.name: {BASE}")
    server.eventually(lambda: events(served, "NoEndpointsFound") == [f"No endpoint slices found for base model {BASE}"])
    serves(served, "192.0.2.1")
    served.wait("support", READY, MODEL)
    assert fleet.done("192.0.2.1") == [post()]


# Slices that lie


def test_only_the_addresses_of_pods_with_the_label_are_called(served, fleet):
    """Who may write EndpointSlices cannot make the syncer call an address."""
    elsewhere = Place(served.plane, served.plane.namespace(f"{served.namespace}-b"))
    pod(elsewhere, "w-5", "192.0.2.35")
    pod(served, "w-1", "192.0.2.31")
    pod(served, "w-2", "192.0.2.32", base="")
    pod(served, "w-3", "192.0.2.33", base="another")
    forged = [
        endpoint(served, "none", "192.0.2.30"),
        endpoint(served, "w-1", "192.0.2.39"),
        endpoint(served, "w-2", "192.0.2.32"),
        endpoint(served, "w-3", "192.0.2.33"),
        endpoint(served, "w-5", "192.0.2.35", namespace=elsewhere.namespace),
        endpoint(served, "node-1", "192.0.2.36", kind="Node"),
    ]
    listed(served, *forged)
    model(served)
    label = f"no running pod of this name has the label {labels.BASE_MODEL_HASH}: {names.model_hash(BASE)}"
    message = f"0 of 4 endpoints have the adapter; none: {label}; w-1: the pod does not have the address 192.0.2.39; "
    # The pods may arrive after the slices.
    status = served.wait("support", lambda status: conditions(status).get("Ready", {}).get("message", "").startswith(message), MODEL)
    assert [each["podName"] for each in status["endpoints"]] == ["none", "w-1", "w-2", "w-3"]
    assert conditions(status)["EndpointsReady"]["reason"] == "NotReady"
    listed(served, endpoint(served, "w-1", "192.0.2.31"), name="s2")
    served.wait("support", lambda status: status["readyEndpoints"] == 1, MODEL)
    assert fleet.done("192.0.2.31") == [post()]
    assert fleet.to(*(f"192.0.2.{number}" for number in (30, 32, 33, 35, 36, 39))) == []


def test_a_base_model_with_the_hash_of_another_one_gets_nothing(served, fleet):
    graph = given.graph({"Worker": given.service("worker", modelRef={"name": "acme/tiny-89280"})}, name="chat")
    served.apply([each for each in served.render(graph) if each["kind"] == "DynamoGraphDeployment"])
    serves(served, "192.0.2.40", base="acme/tiny-83308")
    model(served, base="acme/tiny-83308")
    status = served.wait("support", is_("ServicesFound", "HashCollision"), MODEL)
    assert "same hash as acme/tiny-89280 of DynamoGraphDeployment chat" in conditions(status)["Stalled"]["message"]
    server.eventually(lambda: len(events(served, "HashCollision")) == 1)
    served.kubectl("delete", "dgd", "chat")
    served.wait("support", READY, MODEL)
    assert fleet.done("192.0.2.40") == [post()]


# Deletion


def test_a_deleted_adapter_is_unloaded_before_it_is_gone(served, fleet):
    serves(served, "192.0.2.50")
    model(served, modelName="org/support")
    served.wait("support", READY, MODEL)
    assert served.get(MODEL, "support")["metadata"]["finalizers"] == [FINALIZER]
    served.kubectl("delete", "dynamomodel", "support", "--timeout=120s")
    assert fleet.done("192.0.2.50") == [post("org/support"), "DELETE org%2Fsupport"]
    server.eventually(lambda: events(served, "LoRAUnloaded") == ["Unloaded LoRA from 1 endpoint(s)"])


def test_a_worker_that_does_not_unload_delays_the_deletion_for_a_while_only(served, fleet):
    """Other finalizers stay, and the model with them."""
    serves(served, "192.0.2.51")
    model(served)
    served.wait("support", READY, MODEL)
    served.patch(MODEL, "support", {"metadata": {"finalizers": ["example.com/keep", FINALIZER]}})
    fleet.behave("192.0.2.51", lora_workers.SLOW)
    served.kubectl("delete", "dynamomodel", "support", "--wait=false")
    server.eventually(lambda: served.get(MODEL, "support")["metadata"]["finalizers"] == ["example.com/keep"])
    server.eventually(lambda: events(served, "LoRAUnloadFailed") == ["Failed to unload LoRA from some endpoints: 1 task(s) failed"])
    served.patch(MODEL, "support", {"metadata": {"finalizers": None}})
    server.eventually(lambda: gone(served))


def test_an_invalid_model_can_be_deleted(served, fleet):
    """The operator keeps it for ever. What may have been loaded before is unloaded."""
    serves(served, "192.0.2.52")
    model(served)
    served.wait("support", READY, MODEL)
    model(served, uri="s3://models/../support")
    status = served.wait("support", is_("Valid", "ValidationFailed"), MODEL)
    assert (status["totalEndpoints"], conditions(status)["Stalled"]["status"]) == (0, "True")
    server.eventually(lambda: "s3://models/../support" in "".join(events(served, "ValidationFailed")))
    served.kubectl("delete", "dynamomodel", "support", "--timeout=120s")
    assert fleet.done("192.0.2.52") == [post(), "DELETE support-v1"]


def test_models_of_the_operator_can_be_deleted(served, fleet):
    """It put its finalizer on all models. A base model has nothing to unload, and an adapter without endpoints neither."""
    for name, type_ in (("plain", "base"), ("support", "lora")):
        model(served, name, type_)
        served.wait(name, is_("Ready", "NoEndpoints"), MODEL)
        served.patch(MODEL, name, {"metadata": {"finalizers": [FINALIZER]}})
        served.kubectl("delete", "dynamomodel", name, "--timeout=120s")
