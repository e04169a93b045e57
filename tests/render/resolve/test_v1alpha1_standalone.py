"""A DynamoComponentDeployment without a graph (reference: dynamocomponentdeployment_controller.go)."""

from __future__ import annotations

import json

from krm_fn.render import config, labels, workload_list
from tests.support import given, nodes
from tests.support.cases import cases

KIND = "DynamoComponentDeployment"


def component(written=None, *, name="lone", metadata=None, **fields):
    """A component with an account and a Dynamo namespace of its own."""
    spec = {
        **(given.service("worker", pod={"serviceAccountName": "mine"}) if written is None else written),
        "dynamoNamespace": "d",
        **fields,
    }
    found = given.item(KIND, name, api="nvidia.com/v1alpha1", spec={key: value for key, value in spec.items() if value is not None})
    found["metadata"].update(metadata or {})
    return found


def test_it_is_a_deployment_with_a_service_and_nothing_that_graphs_share():
    found = given.rendered(component())
    assert set(found) == {"Deployment/lone", "Service/lone", f"{KIND}/lone"}
    notes = labels.annotations(found[f"{KIND}/lone"])
    assert workload_list.read(notes[labels.WORKLOADS]) == [workload_list.WorkloadEntry("lone", "apps/v1", "Deployment", "lone", 1)]
    assert notes[labels.SUMMARY] == "1 service, 1 pod, 0 GPUs"
    assert labels.annotations(found["Deployment/lone"])[labels.OWNER] == f"{KIND}/lone"


KINDS = [
    (
        "a frontend has no ingress of the installation's",
        given.service("frontend", pod={"serviceAccountName": "a"}),
        {"ingress": config.IngressSettings("n")},
    ),
    ("a planner has no account or binding", given.service("planner", main={"args": ["x"]}), {}),
    ("an endpoint picker has no pool", given.picker(eppConfig={"configMapRef": {"name": "a", "key": "b"}}), {}),
]


@cases(("written", "settings"), KINDS)
def test_no_type_brings_more(written, settings):
    found = given.rendered(component(written), **settings)
    assert {name.partition("/")[0] for name in found} == {"Deployment", "Service", KIND}


def main(found):
    return found["Deployment/lone"]["spec"]["template"]["spec"]["containers"][-1]


OWNER = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "name": "chat", "uid": "1"}
PARENTS = [
    ("nobody", {}, {}, "team-", None),
    ("its labels say one, which changes nothing", {}, {"labels": {labels.GRAPH: "chat"}}, "team-", None),
    ("an owner reference says one", {"ownerReferences": [OWNER]}, {}, "team-chat", "chat"),
    ("an owner of another kind", {"ownerReferences": [{**OWNER, "kind": "Other"}]}, {}, "team-", None),
    ("the Dynamo namespace that all share", {}, {"globalDynamoNamespace": True}, "dynamo", None),
]


@cases(("metadata", "fields", "namespace", "parent"), PARENTS)
def test_pods_are_told_their_graph_by_owner_references_only(metadata, fields, namespace, parent):
    variables = given.variables(main(given.rendered(component(metadata=metadata, **fields))))
    assert variables["DYN_NAMESPACE"] == namespace
    assert variables["DYN_PARENT_DGD_K8S_NAME"] == parent
    assert variables["DYN_PARENT_DGD_K8S_NAMESPACE"] == "team"


def test_its_account_is_never_that_of_a_graph_without_a_name():
    etcd = component(given.service("worker", annotations={labels.DISCOVERY_BACKEND: "etcd"}))
    assert given.rendered(etcd)["Deployment/lone"]["spec"]["template"]["spec"]["serviceAccountName"] == "default"
    configured = given.rendered(component(given.service("worker")), discovery_backend="etcd")
    assert configured["Deployment/lone"]["spec"]["template"]["spec"]["serviceAccountName"] == "default"


ACCOUNTS = [
    ("discovery through Kubernetes and no account", given.service("worker"), {}, [("DYN156", "spec.extraPodSpec.serviceAccountName")]),
    ("an account of its own", given.service("worker", pod={"serviceAccountName": "mine"}), {}, []),
    ("a planner, which has one", given.service("planner", main={"args": ["x"]}), {}, []),
    ("discovery through etcd", given.service("worker"), {"discovery_backend": "etcd"}, []),
    ("a switch on the component", given.service("worker", annotations={labels.DISCOVERY_BACKEND: "etcd"}), {}, []),
]


@cases(("written", "settings", "said"), ACCOUNTS)
def test_discovery_needs_an_account(written, settings, said):
    assert given.findings(given.expanded(component(written), **settings).results) == said


NAMESPACES = [
    ("not written", {"dynamoNamespace": None}, [("DYN124", "spec.dynamoNamespace")]),
    ("empty", {"dynamoNamespace": ""}, []),
    ("written", {"dynamoNamespace": "d"}, []),
]


@cases(("fields", "said"), NAMESPACES)
def test_its_service_is_found_by_a_dynamo_namespace(fields, said):
    found = given.expanded(component(**fields)).results
    assert [entry for entry in given.findings(found) if entry[0] == "DYN124"] == said


SELECTORS = [
    ("what its pods carry: the type only", {}, {labels.COMPONENT_TYPE: "worker"}),
    (
        "the namespace too, where the user writes it",
        {"labels": {labels.NAMESPACE: "d"}},
        {labels.COMPONENT_TYPE: "worker", labels.NAMESPACE: "d"},
    ),
    ("not another namespace", {"labels": {labels.NAMESPACE: "e"}}, {labels.COMPONENT_TYPE: "worker"}),
    (
        "on pods alone it counts as well",
        {"extraPodMetadata": {"labels": {labels.NAMESPACE: "d"}}},
        {labels.COMPONENT_TYPE: "worker", labels.NAMESPACE: "d"},
    ),
]


@cases(("fields", "selector"), SELECTORS)
def test_its_service_selects_its_pods(fields, selector):
    """The reference asks for the namespace always, which its pods carry only where the user wrote it."""
    found = given.rendered(component(**fields))
    assert found["Service/lone"]["spec"]["selector"] == selector
    assert selector.items() <= found["Deployment/lone"]["spec"]["template"]["metadata"]["labels"].items()


def test_labels_of_the_resource_and_of_its_spec_reach_its_pods():
    metadata = {"labels": {"a": "metadata", "b": "metadata", labels.MANAGED_BY: "somebody"}}
    found = given.rendered(component(metadata=metadata, labels={"b": "spec", "c": "spec"}))["Deployment/lone"]
    pods = found["spec"]["template"]["metadata"]["labels"]
    assert {key: pods[key] for key in "abc"} == {"a": "metadata", "b": "metadata", "c": "spec"}
    assert labels.MANAGED_BY not in pods
    assert found["metadata"]["labels"][labels.MANAGED_BY] == "krm-fn"


def test_labels_are_no_warning_here():
    """In a graph they would reach no pod."""
    assert given.expanded(component(labels={"a": "b"})).results == []


def test_a_deployment_config_is_not_read():
    """The reference reads it while it makes components of a graph."""
    content = json.dumps({"lone": {"ServiceArgs": {"workers": 5}}})
    found = given.rendered(component(envs=[{"name": "DYN_DEPLOYMENT_CONFIG", "value": content}]))
    assert "replicas" not in found["Deployment/lone"]["spec"]
    assert given.expanded(component(envs=[{"name": "DYN_DEPLOYMENT_CONFIG", "value": "nope"}])).results == []


def test_its_replicas_stay_because_it_has_no_adapter():
    """Only a graph makes a DynamoGraphDeploymentScalingAdapter, so nothing else sets the number."""
    found = given.rendered(component(replicas=3, scalingAdapter={"enabled": True}))
    assert found["Deployment/lone"]["spec"]["replicas"] == 3
    (entry,) = workload_list.read(labels.annotations(found[f"{KIND}/lone"])[labels.WORKLOADS])
    assert entry.replicas == 3
    assert not [name for name in found if "ScalingAdapter" in name]


def test_a_label_by_which_its_service_does_not_select_may_be_overridden():
    """In a graph this is a warning, because the Service would not find the pods."""
    expansion = given.expanded(component(extraPodMetadata={"labels": {labels.NAMESPACE: "mine"}}))
    assert expansion.results == []
    found = given.by_address(expansion.resources)
    pods = found["Deployment/lone"]["spec"]["template"]["metadata"]["labels"]
    assert found["Service/lone"]["spec"]["selector"].items() <= pods.items()


def test_it_spans_nodes_like_a_service():
    written = nodes.worker(args=["python3 -m dynamo.sglang"], replicas=2)
    written["extraPodSpec"]["serviceAccountName"] = "mine"
    found = given.rendered(component(written))
    assert {name for name in found if not name.startswith(KIND)} == {
        *(f"{kind}/lone-{index}" for kind in ("LeaderWorkerSet", "PodGroup") for index in (0, 1)),
        "Service/lone",
    }
    refused = given.expanded(component(written), leader_worker_set=config.LeaderWorkerSetSettings(enabled=False))
    assert given.findings(refused.results) == [("DYN144", "spec.multinode")]


def test_grove_carries_graphs_only():
    assert "Deployment/lone" in given.rendered(component(), orchestrator="grove")


def test_one_that_a_graph_of_ours_made_is_left_alone():
    marks = {"annotations": {labels.OWNER: "DynamoGraphDeployment/chat"}, "labels": {labels.MANAGED_BY: labels.MANAGER}}
    made = component(metadata=marks)
    found = given.expanded(made, given.graph(name="other"))
    assert made in found.resources
    assert not [each for each in found.resources if each["metadata"]["name"] == "lone" and each["kind"] != KIND]


def test_a_second_run_changes_nothing():
    once = given.expanded(component(), component(name="other")).resources
    twice = given.expanded(*once)
    assert twice.results == []
    assert all(one is other for one, other in zip(once, twice.resources, strict=True))
