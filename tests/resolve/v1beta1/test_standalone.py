"""A v1beta1 component without a graph: its names, labels and variables, and the hash of its workers."""

from __future__ import annotations

from krm_fn.config import Ingress
from krm_fn.kube import identity, labels
from tests.support import given


def component(*, metadata=None, pod=None, name="solo", **fields):
    head = {"name": name, "namespace": given.NAMESPACE, **(metadata or {})}
    template = {"spec": {"containers": [{"name": "main", "image": "registry.example/dynamo:1.5.0"}]}, **(pod or {})}
    spec = {"backendFramework": "vllm", "type": "decode", "podTemplate": template, **fields}
    return {"apiVersion": identity.V1BETA1, "kind": "DynamoComponentDeployment", "metadata": head, "spec": spec}


def made(written, kind="Deployment", **settings):
    (found,) = (each for key, each in given.rendered(written, **settings).items() if key.startswith(f"{kind}/"))
    return found


def variables(written):
    (main,) = (each for each in made(written)["spec"]["template"]["spec"]["containers"] if each["name"] == "main")
    return {entry["name"]: entry.get("value") for entry in main["env"]}


def test_it_is_its_own_parent():
    found = variables(component())
    assert (found["DYN_NAMESPACE"], found["DYN_PARENT_DGD_K8S_NAME"]) == ("team-solo", "solo")
    assert made(component())["spec"]["template"]["spec"]["serviceAccountName"] == "solo-k8s-service-discovery"
    assert "ServiceAccount/solo-k8s-service-discovery" not in given.rendered(component())


def test_an_owner_is_its_parent():
    owner = {"apiVersion": identity.V1BETA1, "kind": "DynamoGraphDeployment", "name": "chat", "uid": "0"}
    found = variables(component(metadata={"ownerReferences": [owner]}))
    assert (found["DYN_NAMESPACE"], found["DYN_PARENT_DGD_K8S_NAME"]) == ("team-chat", "chat")


def test_its_pods_have_the_labels_by_which_its_service_selects():
    template, service = made(component())["spec"]["template"], made(component(), "Service")
    assert service["spec"]["selector"] == {
        labels.COMPONENT_TYPE: "decode",
        labels.NAMESPACE: "team-solo",
        labels.COMPONENT: "solo",
    }
    assert service["spec"]["selector"].items() <= template["metadata"]["labels"].items()
    assert labels.GRAPH not in template["metadata"]["labels"]


def test_labels_of_the_operator_win_over_those_of_the_pods():
    metadata = {"labels": {labels.GRAPH: "chat", "tier": "resource", "a": "1"}}
    pod = {"metadata": {"labels": {labels.GRAPH: "other", "tier": "pods"}}}
    found = made(component(metadata=metadata, pod=pod))["spec"]["template"]["metadata"]["labels"]
    assert (found[labels.GRAPH], found["tier"], found["a"]) == ("chat", "pods", "1")


def test_it_has_a_generation_only_if_an_operator_gave_it_one():
    assert "DYN_NAMESPACE_WORKER_SUFFIX" not in variables(component())
    assert variables(component(metadata={"labels": {labels.WORKER_HASH: "0a1b2c3d"}}))["DYN_NAMESPACE_WORKER_SUFFIX"] == "0a1b2c3d"
    in_pods = component(pod={"metadata": {"labels": {labels.WORKER_HASH: "0a1b2c3d"}}})
    assert variables(in_pods)["DYN_NAMESPACE_WORKER_SUFFIX"] == "0a1b2c3d"
    frontend = component(type="frontend", metadata={"labels": {labels.WORKER_HASH: "0a1b2c3d"}})
    assert "DYN_NAMESPACE_WORKER_SUFFIX" not in variables(frontend)


def test_the_name_of_its_component_is_its_own_name_unless_it_says_another():
    assert made(component())["metadata"]["labels"][labels.COMPONENT] == "solo"
    other = component()
    other["spec"]["name"] = "Decode"
    assert made(other)["metadata"]["labels"][labels.COMPONENT] == "Decode"
    assert made(other)["metadata"]["name"] == "solo"


def test_a_frontend_without_a_graph_gets_no_ingress_from_the_configuration():
    found = given.rendered(component(type="frontend"), ingress=Ingress(class_name="nginx"))
    assert not [key for key in found if key.startswith("Ingress/")]


def test_a_component_of_v1alpha1_keeps_its_fields_under_release_1_5():
    spec = given.service("worker", main={"image": "registry.example/dynamo:1.5.0"}, subComponentType="decode")
    spec |= {"dynamoNamespace": "shared", "labels": {"team": "a"}, "backendFramework": "vllm"}
    written = given.item("DynamoComponentDeployment", "solo", api=identity.V1ALPHA1, spec=spec)
    found = made(written, behaviour="v1.5")["spec"]["template"]["metadata"]["labels"]
    assert (found[labels.NAMESPACE], found["team"], found[labels.SUB_COMPONENT_TYPE]) == ("shared", "a", "decode")
    assert made(written, "Service", behaviour="v1.5")["spec"]["selector"][labels.NAMESPACE] == "shared"
