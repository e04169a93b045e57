"""What stays of an object of a cluster."""

from __future__ import annotations

from krm_fn.review.live import server_fields
from tests.support import given

ADDED = {
    "uid": "0",
    "resourceVersion": "7",
    "generation": 2,
    "creationTimestamp": "2026-01-01T00:00:00Z",
    "managedFields": [{"manager": "x"}],
    "ownerReferences": [{"kind": "DynamoGraphDeployment", "name": "chat"}],
    "selfLink": "/x",
}
BOOKKEEPING = {
    "kubectl.kubernetes.io/last-applied-configuration": "{}",
    "deployment.kubernetes.io/revision": "3",
    "nvidia.com/last-applied-hash": "x",
    "nvidia.com/last-applied-generation": "1",
    "argocd.argoproj.io/tracking-id": "x",
    "meta.helm.sh/release-name": "x",
    "nvidia.com/dgd-status": "{}",
}
TOOLS = {"kustomize.toolkit.fluxcd.io/name": "x", "argocd.argoproj.io/instance": "x", "helm.sh/chart": "x"}


def live(resource, **metadata):
    found = resource["metadata"]
    added = {
        "annotations": {**found.get("annotations", {}), **BOOKKEEPING},
        "labels": {**found.get("labels", {}), **TOOLS},
    }
    return {**resource, "metadata": {**found, **ADDED, **added, **metadata}, "status": {"replicas": 1}}


def test_what_a_cluster_adds_is_removed():
    written = given.item("Deployment", "chat", api="apps/v1", spec={"replicas": 1})
    assert server_fields.native(live(written)) == written
    graph = given.graph({"Frontend": given.service("frontend")}, annotations={"team": "search", "nvidia.com/enable-grove": "false"})
    assert server_fields.as_written(live(graph, finalizers=["nvidia.com/finalizer"])) == graph


def test_finalizers_of_users_stay():
    graph = given.graph({})
    assert server_fields.as_written(live(graph, finalizers=["example.com/mine", "nvidia.com/finalizer"]))["metadata"]["finalizers"] == [
        "example.com/mine"
    ]


def test_marks_of_an_earlier_render_stay_on_its_objects_only():
    marks = {"labels": {"app.kubernetes.io/managed-by": "krm-fn"}, "annotations": {"dynamo.krm-fn.io/owner": "DynamoGraphDeployment/chat"}}
    made = given.item("Service", "chat")
    made["metadata"].update(marks)
    assert server_fields.native(live(made))["metadata"] == made["metadata"]
    graph = given.graph({})
    assert server_fields.as_written(live({**graph, "metadata": {**graph["metadata"], **marks}})) == graph


def test_metadata_of_wrong_types_is_no_exception():
    assert server_fields.native({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "labels": 1, "finalizers": [1]}}) == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "a"},
    }
