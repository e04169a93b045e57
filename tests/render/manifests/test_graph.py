"""What the components of a graph have in common: claims, adapters, accounts; and what the function notes on the graph itself."""

from __future__ import annotations

import copy

import pytest

import krm_fn
from krm_fn.render import config, labels
from tests.support import faults, given
from tests.support.cases import cases

CLAIM = {"name": "weights", "create": True, "size": "1024Gi", "storageClass": "fast", "volumeAccessMode": "ReadWriteMany"}


def test_a_claim_that_is_to_be_created():
    claim = given.rendered(given.graph(pvcs=[CLAIM]))["PersistentVolumeClaim/weights"]
    assert claim["metadata"]["namespace"] == "team"
    assert claim["spec"] == {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Ti"}}, "storageClassName": "fast"}


def test_a_claim_that_is_there_already_is_not_written():
    assert not any("PersistentVolumeClaim" in name for name in given.rendered(given.graph(pvcs=[{"name": "weights"}])))


RETAINED = [(True, labels.RETAIN), (False, {})]


@pytest.mark.parametrize(("retain", "notes"), RETAINED, ids=["kept", "left to go"])
def test_data_outlives_its_graph_unless_the_configuration_says_otherwise(retain, notes):
    found = given.rendered(given.graph(pvcs=[CLAIM]), retain_volumes=retain)["PersistentVolumeClaim/weights"]["metadata"]["annotations"]
    assert {key: value for key, value in found.items() if key != labels.OWNER} == notes


ADAPTERS = [
    ("a service that wants one", {"scalingAdapter": {"enabled": True}, "replicas": 3}, True),
    ("no number in the graph", {"scalingAdapter": {"enabled": True}}, True),
    ("no replicas", {"scalingAdapter": {"enabled": True}, "replicas": 0}, True),
    ("a service that does not", {"scalingAdapter": {"enabled": False}}, False),
    ("a service that says nothing", {}, False),
]


@cases(("fields", "adapted"), ADAPTERS)
def test_scaling_adapters(fields, adapted):
    """Reference: reconcileScalingAdapters. An apply must not write the number: the syncer writes that of the graph."""
    found = given.rendered(given.graph({"Worker": given.service("worker", **fields)})).get(
        "DynamoGraphDeploymentScalingAdapter/chat-worker"
    )
    if not adapted:
        assert found is None
    else:
        assert found is not None
        assert found["spec"] == {"dgdRef": {"name": "chat", "serviceName": "Worker"}}
        assert {labels.GRAPH: "chat", labels.COMPONENT: "Worker"}.items() <= found["metadata"]["labels"].items()


def test_the_account_for_discovery_may_read_end_points_and_write_worker_metadata():
    """Reference: discovery/resource.go."""
    found = given.rendered(given.graph())
    name = "chat-k8s-service-discovery"
    role, binding = found[f"Role/{name}-role"], found[f"RoleBinding/{name}-binding"]
    read = ["get", "list", "watch"]
    assert role["rules"] == [
        {"apiGroups": [""], "resources": ["endpoints"], "verbs": read},
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": read},
        {"apiGroups": ["nvidia.com"], "resources": ["dynamoworkermetadatas"], "verbs": ["create", *read, "update", "patch", "delete"]},
    ]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": name, "namespace": "team"}]
    assert binding["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": f"{name}-role"}
    for resource in (found[f"ServiceAccount/{name}"], role, binding):
        assert {labels.PART: "rbac", labels.APP_NAME: name}.items() <= resource["metadata"]["labels"].items()


PLANNERS = [("no planner", [], False), ("a planner", ["planner"], True)]


@cases(("kinds", "made"), PLANNERS)
def test_accounts_are_made_only_for_components_that_are_there(kinds, made):
    services = {kind: given.service(kind) for kind in ["worker", *kinds]}
    found = given.rendered(given.graph(services), rbac=config.RbacSettings(planner_role="my-planner"))
    assert ("ServiceAccount/planner-serviceaccount" in found) is made
    assert ("RoleBinding/planner-serviceaccount-binding" in found) is made
    if made:
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "my-planner"}
        assert found["RoleBinding/planner-serviceaccount-binding"]["roleRef"] == role


def test_a_component_alone_has_none_of_what_graphs_share():
    found = given.rendered(faults.lone(scalingAdapter={"enabled": True}, annotations={}, pod={"serviceAccountName": "mine"}))
    assert set(found) == {"DynamoComponentDeployment/alone", "Deployment/alone", "Service/alone"}


# notes on the graph


def notes(graph, **settings):
    found: dict[str, str] = given.rendered(graph, **settings)["DynamoGraphDeployment/chat"]["metadata"]["annotations"]
    return found


SUMMARIES = [
    ("one of each", {"A": given.service("worker", resources={"limits": {"gpu": "1"}})}, "1 service, 1 pod, 1 GPU"),
    ("none of some", {"A": given.service("frontend", replicas=0)}, "1 service, 0 pods, 0 GPUs"),
    (
        "many",
        {"A": given.service("frontend", replicas=2), "B": given.service("worker", replicas=3, resources={"limits": {"gpu": "4"}})},
        "2 services, 5 pods, 12 GPUs",
    ),
    (
        "on several nodes",
        {"A": given.service("worker", main={"args": ["run"]}, replicas=2, multinode={"nodeCount": 3}, resources={"limits": {"gpu": "8"}})},
        "1 service, 6 pods, 48 GPUs",
    ),
]


@cases(("services", "summary"), SUMMARIES)
def test_the_summary_counts_as_a_person_would(services, summary):
    assert notes(given.graph(services))[labels.SUMMARY] == summary


def test_the_notes_are_a_function_of_the_input():
    """No time, no host, no user: the same input gives the same notes, and only the spec decides the hash."""
    one, other = notes(given.graph()), notes(given.graph(annotations={"a": "b"}))
    assert one[labels.SPEC_HASH] == other[labels.SPEC_HASH]
    assert notes(given.graph({"Worker": given.service("worker", replicas=2)}))[labels.SPEC_HASH] != one[labels.SPEC_HASH]
    assert notes(given.graph())[labels.RENDERED_BY] == f"krm-fn {krm_fn.__version__} v0.9"
    assert notes(given.graph(), orchestrator="grove")[labels.ORCHESTRATOR] == "grove"


RESTARTS = [
    ("the syncer restarts", "sync", {"restart": {"id": "r1"}}, {labels.RESTART: "sync"}),
    ("the render restarts", "render", {"restart": {"id": "r1"}}, {}),
    ("no restart is requested", "sync", {}, {}),
]


@cases(("mode", "spec", "written"), RESTARTS)
def test_a_render_asks_the_syncer_for_a_restart(mode, spec, written):
    """The request is an annotation, because the syncer does not know the configuration. A stale request of an earlier render goes away."""
    for before in ({}, {labels.RESTART: "sync"}):
        found = notes(given.graph(annotations=before, **spec), restart=mode)
        assert {key: value for key, value in found.items() if key == labels.RESTART} == written


def test_the_order_of_keys_does_not_change_the_hash():
    graph = given.graph({"A": given.service("worker", replicas=1), "B": given.service("frontend")})
    turned = copy.deepcopy(graph)
    turned["spec"]["services"] = dict(reversed(list(graph["spec"]["services"].items())))
    assert notes(graph)[labels.SPEC_HASH] == notes(turned)[labels.SPEC_HASH]


# the inventory


def test_components_are_listed_where_the_configuration_asks():
    services = {"Front": given.service("frontend"), "Plan": given.service("planner", replicas=1)}
    graph = given.graph(services, envs=[{"name": "A", "value": "b"}], backendFramework="vllm")
    assert not any(name.startswith("DynamoComponentDeployment/") for name in given.rendered(graph))
    found = given.rendered(graph, components=True)
    front, plan = (found[f"DynamoComponentDeployment/chat-{name}"] for name in ("front", "plan"))
    assert front["spec"]["ingress"] == {"host": "chat"}
    for listed, service in ((front, "Front"), (plan, "Plan")):
        assert (listed["spec"]["serviceName"], listed["spec"]["dynamoNamespace"], listed["spec"]["backendFramework"]) == (
            service,
            "team-chat",
            "vllm",
        )
        assert listed["spec"]["envs"] == [{"name": "A", "value": "b"}]
    assert plan["spec"]["extraPodSpec"]["serviceAccountName"] == "planner-serviceaccount"
    assert plan["spec"]["replicas"] == 1


def test_listed_components_are_not_expanded_again():
    found = given.expanded(given.graph(), components=True)
    again = given.expanded(*found.resources, components=True)
    assert again.resources == found.resources


def test_under_grove_there_is_nothing_between_a_graph_and_its_set():
    found = given.rendered(given.graph(), components=True, orchestrator="grove")
    assert not any(name.startswith("DynamoComponentDeployment/") for name in found)
