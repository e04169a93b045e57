"""A component without a graph under release 1.5: its names, labels and namespaces, in both versions of the API."""

from __future__ import annotations

import pytest

from krm_fn.kubernetes.types import Resource
from krm_fn.render import config, dynamo_api, labels
from krm_fn.render.convert import versions
from tests.support import beta, given

KIND = "DynamoComponentDeployment"
OWNER = {"apiVersion": dynamo_api.V1BETA1, "kind": "DynamoGraphDeployment", "name": "chat", "uid": "1"}
ACCOUNT = {"pod": {"serviceAccountName": "mine"}}


def component(kind="worker", *, name="lone", of=None, marks=None, owner=False, annotations=None, **fields):
    """A component of v1beta1 with an account of its own."""
    spec = beta.component(name if of is None else of, kind, **{**ACCOUNT, **fields})
    found = given.item(KIND, name, api=dynamo_api.V1BETA1, annotations=annotations, spec=spec)
    found["metadata"].update({**({"labels": marks} if marks else {}), **({"ownerReferences": [OWNER]} if owner else {})})
    return found


def pods(made, name="lone"):
    return made[f"Deployment/{name}"]["spec"]["template"]


def variables(made):
    return {entry["name"]: entry.get("value") for entry in pods(made)["spec"]["containers"][0]["env"]}


def test_it_is_a_deployment_with_a_service_and_nothing_that_graphs_share():
    made = given.rendered(component())
    assert set(made) == {"Deployment/lone", "Service/lone", f"{KIND}/lone"}


@pytest.mark.parametrize(
    ("reason", "written", "wanted"),
    [
        ("alone", component(), {"graph": "lone", "namespace": "team-lone", "label": None}),
        ("owned by a graph", component(owner=True), {"graph": "chat", "namespace": "team-chat", "label": "chat"}),
        ("labelled with a graph", component(marks={labels.GRAPH: "other"}), {"graph": "lone", "namespace": "team-lone", "label": "other"}),
        ("in the shared namespace", component(globalDynamoNamespace=True), {"graph": "lone", "namespace": "dynamo", "label": None}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_its_graph_is_its_owner_or_its_own_name(reason, written, wanted):
    made = given.rendered(written)
    found = variables(made)
    assert found["DYN_PARENT_DGD_K8S_NAME"] == wanted["graph"]
    assert found["DYN_NAMESPACE"] == wanted["namespace"]
    assert pods(made)["metadata"]["labels"].get(labels.GRAPH) == wanted["label"]


def test_its_service_selects_by_labels_that_its_pods_carry():
    """The labels of the resource win, so the selector follows them."""
    marks = {labels.NAMESPACE: "own", labels.COMPONENT: "other", "team": "a"}
    made = given.rendered(component(marks=marks, metadata={"labels": {labels.COMPONENT: "third", "team": "b"}}))
    selector = made["Service/lone"]["spec"]["selector"]
    assert selector == {labels.COMPONENT: "other", labels.NAMESPACE: "own", labels.COMPONENT_TYPE: "worker"}
    assert {**selector, "team": "b"}.items() <= pods(made)["metadata"]["labels"].items()


@pytest.mark.parametrize(
    ("reason", "written", "wanted"),
    [
        ("nobody hashes it", component(), None),
        ("the resource has a hash", component(marks={labels.WORKER_HASH: "0a"}), "0a"),
        ("its pods have a hash", component(metadata={"labels": {labels.WORKER_HASH: "0b"}}), "0b"),
        (
            "the resource wins",
            component(marks={labels.WORKER_HASH: "0a"}, metadata={"labels": {labels.WORKER_HASH: "0b"}}),
            "0a",
        ),
        ("a frontend has no generation", component("frontend", marks={labels.WORKER_HASH: "0a"}), None),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_it_has_the_worker_hash_of_its_labels(reason, written, wanted):
    made = given.rendered(written)
    assert variables(made).get("DYN_NAMESPACE_WORKER_SUFFIX") == wanted
    assert "Deployment/lone" in made


def test_its_name_is_that_of_the_resource_unless_it_has_one():
    written = component()
    del written["spec"]["name"]
    assert pods(given.rendered(written))["metadata"]["labels"][labels.COMPONENT] == "lone"
    assert pods(given.rendered(component(of="Other")))["metadata"]["labels"][labels.COMPONENT] == "Other"


def test_a_frontend_has_no_ingress_of_the_installations():
    made = given.rendered(component("frontend"), ingress=config.IngressSettings("nginx"))
    assert not [name for name in made if name.startswith("Ingress/")]


def test_replicas_are_left_to_kubernetes():
    assert "replicas" not in given.rendered(component())["Deployment/lone"]["spec"]
    assert given.rendered(component(replicas=3))["Deployment/lone"]["spec"]["replicas"] == 3


def test_discovery_needs_an_account_that_somebody_makes():
    written = component(pod={})
    (found,) = given.expanded(written).results
    assert (found.code, found.severity) == ("DYN156", "warning")
    assert "; create lone-k8s-service-discovery, set serviceAccountName" in found.message
    assert pods(given.rendered(written))["spec"]["serviceAccountName"] == "lone-k8s-service-discovery"
    account = given.item("ServiceAccount", "lone-k8s-service-discovery")
    assert given.findings(given.expanded(written, account).results) == []
    assert given.findings(given.expanded(component(pod={}, owner=True)).results) == []


def older():
    """A component of v1alpha1 with fields that only this version has."""
    ingress: Resource = {"enabled": True, "host": "chat", "hostSuffix": "example.com", "ingressControllerClassName": "nginx"}
    fields: Resource = {"dynamoNamespace": "own", "labels": {"cost": "a"}, "annotations": {"note": "b"}, "ingress": ingress}
    written = beta.service(pod={"serviceAccountName": "mine"}, subComponentType="decode", **fields)
    return given.item(KIND, "lone", api=dynamo_api.V1ALPHA1, spec={**written, "serviceName": "Other"})


@pytest.mark.parametrize("version", ["v1alpha1", "v1beta1"])
def test_fields_that_only_v1alpha1_has_act_in_both_versions(version):
    made = given.rendered(versions.to(version, older()), behaviour="v1.5")
    found = pods(made)["metadata"]
    wanted = {"cost": "a", labels.COMPONENT: "Other", labels.NAMESPACE: "own", labels.SUB_COMPONENT_TYPE: "decode"}
    assert wanted.items() <= found["labels"].items()
    assert found["annotations"]["note"] == "b"
    assert made["Ingress/lone"]["spec"]["rules"][0]["host"] == "chat.example.com"
    assert variables(made)["DYN_NAMESPACE"] == "team-lone"
