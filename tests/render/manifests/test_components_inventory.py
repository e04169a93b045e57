"""DynamoComponentDeployments as an inventory (reference: graph.go GenerateDynamoComponentsDeployments, whose resources these are)."""

from __future__ import annotations

from krm_fn.render import config, labels
from krm_fn.render.schema import schema_check
from tests.support import given, nodes
from tests.support.cases import cases

KIND = "DynamoComponentDeployment"


def inventory(services, *, annotations=None, settings=None, **spec):
    found = given.rendered(given.graph(services, annotations=annotations, **spec), components=True, **(settings or {}))
    return {name.partition("/")[2]: each for name, each in found.items() if each["kind"] == KIND}


def spec_of(written, **more):
    return inventory({"Worker": written}, **more)["chat-worker"]["spec"]


def test_there_is_none_unless_it_is_asked_for():
    assert KIND not in {each["kind"] for each in given.rendered(given.graph()).values()}


def test_each_service_is_one():
    found = inventory({"Frontend": given.service("frontend"), "Worker": nodes.worker(args=["python3 -m dynamo.sglang"])})
    assert set(found) == {"chat-frontend", "chat-worker"}
    assert found["chat-worker"]["metadata"] == {
        "name": "chat-worker",
        "namespace": "team",
        "labels": {
            labels.COMPONENT: "Worker",
            labels.NAMESPACE: "team-chat",
            labels.GRAPH: "chat",
            labels.MANAGED_BY: "krm-fn",
        },
        "annotations": {labels.OWNER: "DynamoGraphDeployment/chat"},
    }


def test_it_says_what_was_written_and_what_the_graph_decides():
    written = given.service(
        "worker", replicas=2, resources={"limits": {"gpu": "1"}}, serviceName="mine", dynamoNamespace="mine", labels={"a": "b"}
    )
    found = spec_of(written, backendFramework="vllm")
    assert found == {
        **written,
        "backendFramework": "vllm",
        "serviceName": "Worker",
        "dynamoNamespace": "team-chat",
        "labels": {labels.COMPONENT: "Worker", labels.NAMESPACE: "team-chat", labels.GRAPH: "chat"},
    }


ENVS = [
    ("a graph without variables leaves them in their order", [], [{"name": "B", "value": "1"}, {"name": "A", "value": "2"}], ["B", "A"]),
    ("those of the graph are merged in, sorted", [{"name": "C", "value": "3"}], [{"name": "B", "value": "1"}], ["B", "C"]),
    ("those of the service win", [{"name": "B", "value": "3"}], [{"name": "B", "value": "1"}], ["B"]),
]


@cases(("of_graph", "own", "names"), ENVS)
def test_variables(of_graph, own, names):
    found = spec_of(given.service("worker", envs=own), envs=of_graph)["envs"]
    assert [variable["name"] for variable in found] == names
    assert {"name": "B", "value": "1"} in found


HANDED = [
    ("discovery", {labels.DISCOVERY_BACKEND: "etcd"}, {}, {labels.DISCOVERY_BACKEND: "etcd"}),
    (
        "metrics, over the service's own",
        {labels.ENABLE_METRICS: "false"},
        {labels.ENABLE_METRICS: "true"},
        {labels.ENABLE_METRICS: "false"},
    ),
    ("nothing else", {"note": "a"}, {"own": "b"}, {"own": "b"}),
    ("nothing at all", None, {}, None),
]


@cases(("of_graph", "own", "found"), HANDED)
def test_annotations_that_the_graph_hands_down(of_graph, own, found):
    assert spec_of(given.service("worker", annotations=own), annotations=of_graph).get("annotations") in (found, found or {})


def test_a_restart_is_handed_down():
    assert spec_of(given.service("worker"), restart={"id": "r-1"})["annotations"] == {labels.RESTART_AT: "r-1"}


def test_a_planner_has_the_planners_account():
    planner = given.service("planner", main={"args": ["x"]}, pod={"serviceAccountName": "mine"})
    assert inventory({"Planner": planner})["chat-planner"]["spec"]["extraPodSpec"]["serviceAccountName"] == "planner-serviceaccount"
    worker = given.service("worker", pod={"serviceAccountName": "mine"})
    assert spec_of(worker)["extraPodSpec"]["serviceAccountName"] == "mine"


OPEN = config.IngressSettings(class_name="nginx", tls_secret_name="tls", host_suffix="example.org", istio_gateway="a/b")  # noqa: S106 - a name
INGRESSES = [
    ("the installation's", given.service("frontend"), OPEN, {"enabled": True, "useVirtualService": True, "hostSuffix": "example.org"}),
    ("a host only, where nothing is configured", given.service("frontend"), config.IngressSettings(), {"host": "chat"}),
    ("its own, where it has one", given.service("frontend", ingress={"enabled": False}), OPEN, {"enabled": False}),
    ("none for a worker", given.service("worker"), OPEN, None),
]


@cases(("written", "default", "found"), INGRESSES)
def test_ingress(written, default, found):
    ingress = spec_of(written, settings={"ingress": default}).get("ingress")
    if found is None or "enabled" not in found or found["enabled"] is False:
        assert ingress == found
    else:
        assert ingress == {
            **found,
            "host": "chat",
            "ingressControllerClassName": "nginx",
            "tls": {"secretName": "tls"},
            "virtualServiceGateway": "a/b",
        }


def test_under_grove_there_is_nothing_between_a_graph_and_its_set():
    assert inventory({"Worker": given.service("worker")}, settings={"orchestrator": "grove"}) == {}


def test_a_component_alone_is_no_inventory_of_itself():
    spec = {**given.service("worker", pod={"serviceAccountName": "mine"}), "dynamoNamespace": "d"}
    alone = given.item(KIND, "lone", api="nvidia.com/v1alpha1", spec=spec)
    found = given.rendered(alone, components=True)
    assert [name for name in found if name.startswith(KIND)] == [f"{KIND}/lone"]


def test_it_is_a_sound_resource_that_is_never_expanded():
    found = given.rendered(
        given.graph({"Frontend": given.service("frontend"), "Worker": given.service("worker")}, envs=[]), components=True
    )
    listed = [each for each in found.values() if each["kind"] == KIND]
    assert [result for each in listed for result in schema_check.resource(each)] == []
    alone = given.expanded(*listed)
    assert alone.resources == listed
    assert {result.code for result in alone.results} == {"DYN053"}
