"""Services in front of components, and the headless ones through which a model's pods are found."""

from __future__ import annotations

from krm_fn.render import labels, names
from tests.support import faults, given
from tests.support.cases import cases


def service(written, name="chat-worker", **settings):
    return given.rendered(given.graph({"Worker": written}), **settings)[f"Service/{name}"]


PORTS = [
    ("a frontend", given.service("frontend"), {"name": "http", "port": 8000, "targetPort": "http", "protocol": "TCP"}),
    ("a worker", given.service("worker"), {"name": "system", "port": 9090, "targetPort": "system", "protocol": "TCP"}),
    (
        "a planner, which has no such port",
        given.service("planner"),
        {"name": "system", "port": 9090, "targetPort": "system", "protocol": "TCP"},
    ),
    ("an endpoint picker", given.picker(), {"name": "grpc", "port": 9002, "targetPort": 9002, "protocol": "TCP"}),
]


@cases(("written", "port"), PORTS)
def test_the_one_port_of_a_type(written, port):
    """Reference: generateService."""
    assert service(written)["spec"]["ports"] == [port]


SELECTORS = [
    ("by type and Dynamo namespace", given.service("worker"), {labels.COMPONENT_TYPE: "worker", labels.NAMESPACE: "team-chat"}),
    ("an untyped component by an empty type", given.service(), {labels.COMPONENT_TYPE: "", labels.NAMESPACE: "team-chat"}),
    (
        "in the shared Dynamo namespace",
        given.service("worker", globalDynamoNamespace=True),
        {labels.COMPONENT_TYPE: "worker", labels.NAMESPACE: "dynamo"},
    ),
    (
        "of several nodes the leader",
        given.service("worker", main={"args": ["run"]}, multinode={}, resources={"limits": {"gpu": "1"}}),
        {labels.COMPONENT_TYPE: "worker", labels.NAMESPACE: "team-chat", "role": "leader"},
    ),
]


@cases(("written", "selector"), SELECTORS)
def test_how_a_service_finds_its_pods(written, selector):
    assert service(written)["spec"]["selector"] == selector


DISCOVERY = [
    ("a worker is discovered", given.service("worker"), {}, {labels.DISCOVERY_BACKEND: "kubernetes", labels.DISCOVERY_ENABLED: "true"}),
    ("a frontend is not", given.service("frontend"), {}, {labels.DISCOVERY_BACKEND: "kubernetes"}),
    ("with etcd nobody is", given.service("worker"), {"discovery_backend": "etcd"}, {}),
    ("an unknown backend is not Kubernetes", given.service("worker", annotations={labels.DISCOVERY_BACKEND: "consul"}), {}, {}),
]


@cases(("written", "settings", "marks"), DISCOVERY)
def test_labels_for_discovery(written, settings, marks):
    found = service(written, **settings)["metadata"]["labels"]
    assert {key: found[key] for key in (labels.DISCOVERY_BACKEND, labels.DISCOVERY_ENABLED) if key in found} == marks


def test_a_service_says_whose_it_is():
    metadata = service(
        given.service("worker", annotations={"a": "b"}, extraPodMetadata={"annotations": {"c": "d"}}, modelRef={"name": "acme/tiny"})
    )["metadata"]
    assert (metadata["name"], metadata["namespace"]) == ("chat-worker", "team")
    expected = {
        labels.COMPONENT: "Worker",
        labels.GRAPH: "chat",
        labels.NAMESPACE: "team-chat",
        labels.BASE_MODEL_HASH: names.model_hash("acme/tiny"),
    }
    assert expected.items() <= metadata["labels"].items()
    assert {"a": "b", "c": "d", labels.BASE_MODEL: "acme/tiny"}.items() <= metadata["annotations"].items()


STEALING = {labels.STEALING_DEBUG: "true"}
DEBUG = [
    ("one Service", given.service("worker"), {"chat-worker"}),
    ("a debugger alone adds none", given.service("worker", annotations={labels.DEBUG: "true"}), {"chat-worker"}),
    (
        "one for each side while traffic is stolen",
        given.service("worker", annotations=STEALING),
        {"chat-worker", "chat-worker-p", "chat-worker-d"},
    ),
]


@cases(("written", "expected"), DEBUG)
def test_how_many_services_a_component_has(written, expected):
    found = given.rendered(given.graph({"Worker": written}))
    assert {name.removeprefix("Service/") for name in found if name.startswith("Service/")} == expected


def test_the_debug_sides_service_finds_the_debug_pods_only():
    found = given.rendered(given.graph({"Worker": given.service("worker", annotations=STEALING)}))
    pods = {name: found[f"Deployment/{name}"]["spec"]["template"]["metadata"]["labels"] for name in ("chat-worker", "chat-worker-d")}
    selector = found["Service/chat-worker-d"]["spec"]["selector"].items()
    assert {name: selector <= carried.items() for name, carried in pods.items()} == {"chat-worker": False, "chat-worker-d": True}
    assert found["Service/chat-worker-p"]["spec"] == found["Service/chat-worker"]["spec"]


ALONE = [
    ("its pods carry nothing but the type", {}, {labels.COMPONENT_TYPE: "worker"}),
    (
        "its pods carry the Dynamo namespace too",
        {"labels": {labels.NAMESPACE: "shared"}},
        {labels.COMPONENT_TYPE: "worker", labels.NAMESPACE: "shared"},
    ),
]


@cases(("fields", "selector"), ALONE)
def test_the_service_of_a_component_alone_selects_by_what_its_pods_carry(fields, selector):
    found = given.rendered(faults.lone(**fields))
    assert found["Service/alone"]["spec"]["selector"] == selector
    assert selector.items() <= found["Deployment/alone"]["spec"]["template"]["metadata"]["labels"].items()


def test_a_model_has_one_headless_service_however_many_services_serve_it():
    """Reference: ReconcileModelServicesForComponents."""
    serving = {name: given.service("worker", modelRef={"name": "acme/tiny", "revision": name}) for name in "ab"}
    found = given.rendered(given.graph({**serving, "c": given.service("worker", modelRef={"name": "acme/large"})}))
    assert len([name for name in found if name.startswith("Service/dynamo-model-")]) == 2
    model = found[f"Service/{names.model_service('acme/tiny')}"]
    mark = {labels.BASE_MODEL_HASH: names.model_hash("acme/tiny")}
    assert model["spec"] == {
        "clusterIP": "None",
        "selector": mark,
        "ports": [{"name": "system", "port": 9090, "targetPort": 9090, "protocol": "TCP"}],
    }
    assert {**mark, labels.MODEL_MANAGED_BY: "dynamo-operator"}.items() <= model["metadata"]["labels"].items()
    assert model["metadata"]["annotations"][labels.BASE_MODEL] == "acme/tiny"
    assert mark.items() <= found["Deployment/chat-a"]["spec"]["template"]["metadata"]["labels"].items()


def test_an_empty_model_is_none():
    assert not any(
        "dynamo-model" in name for name in given.rendered(given.graph({"Worker": given.service("worker", modelRef={"name": ""})}))
    )
