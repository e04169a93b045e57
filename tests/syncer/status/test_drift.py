"""What somebody changed in the cluster is named in the condition `Drifted`. What a tool applied, or an autoscaler set, is no difference."""

from __future__ import annotations

from typing import Any

from krm_fn.render import labels
from krm_fn.syncer.status import DEFAULT_FEATURES
from tests.support.cases import cases
from tests.syncer.status import given

MAIN = 'k:{"name":"main"}'
SERVICES = DEFAULT_FEATURES._replace(services=True)


def fields(replicas: bool = True, *running: str, mark: str = "") -> dict[str, Any]:
    """The fields of a manager: `spec.replicas`, fields of the container main, and the annotation of an applier."""
    containers: dict[str, Any] = {MAIN: {f"f:{name}": {} for name in running}}
    container: dict[str, Any] = {"f:template": {"f:spec": {"f:containers": containers}}} if running else {}
    metadata: dict[str, Any] = {"f:metadata": {"f:annotations": {f"f:{mark}": {}}}} if mark else {}
    return {**metadata, "f:spec": {**({"f:replicas": {}} if replicas else {}), **container}}


def manager(name: str, set_fields: dict[str, Any], operation: str = "Update", subresource: str = "") -> dict[str, Any]:
    more = {"subresource": subresource} if subresource else {}
    return {"manager": name, "operation": operation, "fieldsType": "FieldsV1", "fieldsV1": set_fields, **more}


def flux(*running: str, replicas: bool = True) -> dict[str, Any]:
    """The tool that applied the render, with the fields that it still owns."""
    return manager("kustomize-controller", fields(replicas, *running, mark=labels.OWNER), "Apply")


ALL = flux("image", "command", "args")
STATUS = manager("kube-controller-manager", {"f:status": {}}, subresource="status")


def drifted(*managers: dict[str, Any] | None, live: int = 1, in_git: int | None = 3, kind: str = "Deployment") -> str:
    """The message of the condition about one workload; empty without the condition."""
    entry = given.entry("Decode", kind, replicas=in_git)
    workload = given.deployment(replicas=live) if kind == "Deployment" else given.workload(kind, "demo-decode", {}, replicas=live)
    if managers != (None,):
        workload["metadata"]["managedFields"] = list(managers)
    status = given.status(given.graph(entry), given.children(workload), given.NOW)
    condition = given.found(status, "Drifted")
    return "" if condition is None else f"{condition['status']} {condition['reason']}: {condition['message']}"


BY_HAND = "True ChangedInCluster: Deployment demo-decode: replicas=1, in the graph=3, changed by kubectl; apply the render again"
IMAGE = "True ChangedInCluster: Deployment demo-decode: image of container main changed by kubectl-set; apply the render again"
SCALED = manager("kubectl", fields(), subresource="scale")
SET = manager("kubectl-set", fields(False, "image"))
CLIENT = manager("argocd-controller", fields(True, "image", mark="kubectl.kubernetes.io/last-applied-configuration"))

ROWS = [
    ("the render as it was applied", [ALL, STATUS], 3, 3, ""),
    ("kubectl scale", [flux("image", replicas=False), SCALED, STATUS], 1, 3, BY_HAND),
    ("a tool and kubectl of the same name", [manager("kubectl", fields(False, mark=labels.OWNER), "Apply"), SCALED], 1, 3, BY_HAND),
    ("scaled back to the number in Git", [flux("image", replicas=False), SCALED], 3, 3, ""),
    ("a layer around the function sets other replicas", [ALL], 1, 3, ""),
    ("two managers set the same number", [ALL, SCALED], 1, 3, ""),
    ("a HorizontalPodAutoscaler", [flux(replicas=False), manager("kube-controller-manager", fields(), subresource="scale")], 1, 3, ""),
    ("KEDA", [flux(replicas=False), manager("keda-operator", fields(), subresource="scale")], 0, 3, ""),
    ("an adapter of the graph", [flux(replicas=False), manager("dynamo-status-syncer", fields(), subresource="scale")], 7, None, ""),
    ("an autoscaler owns the count, and kubectl set it", [flux(replicas=False), SCALED], 7, None, ""),
    ("a foreign image", [flux("command"), SET], 3, 3, IMAGE),
    ("the same image", [flux("image"), SET], 3, 3, ""),
    ("the tool applied on the client", [CLIENT, SET], 3, 3, ""),
    ("a patch of the same tool, as of its admission webhook", [flux(), manager("kustomize-controller", fields(False, "image"))], 3, 3, ""),
    ("variables and resources are not compared", [ALL, manager("Reloader", fields(False, "env", "resources"))], 3, 3, ""),
    ("nobody applied a render", [manager("manager", fields(True, "image"))], 1, 3, ""),
    ("an export without field managers", [None], 1, 3, BY_HAND.replace(", changed by kubectl", "")),
    ("such an export of what Git says", [None], 3, 3, ""),
]


@cases(("managers", "live", "in_git", "expected"), ROWS)
def test_what_was_changed_in_the_cluster_is_named(managers, live, in_git, expected):
    assert drifted(*managers, live=live, in_git=in_git) == expected


def test_the_status_stays_ready():
    """The operator has no such condition, and kstatus reads only its own, so nothing that waits for a graph sees a difference."""
    entry, workload = given.entry("Decode", replicas=3), given.deployment(replicas=1)
    workload["metadata"]["managedFields"] = [flux("command", replicas=False), SCALED]
    status = given.status(given.graph(entry), given.children(workload), given.NOW)
    assert status["state"] == "successful"
    assert given.ready(status)["status"] == "True"
    again = given.status(given.graph(entry, status=status), given.children(given.deployment(replicas=3)), given.LATER)
    assert given.found(again, "Drifted") is None


def test_both_templates_of_a_leader_worker_set_are_compared():
    changed: dict[str, Any] = {"f:spec": {"f:containers": {MAIN: {"f:args": {}}}}}
    spec = {"f:spec": {"f:leaderWorkerTemplate": {"f:workerTemplate": changed}}}
    message = drifted(flux(), manager("kubectl-edit", spec), kind="LeaderWorkerSet", live=3)
    assert message.startswith("True ChangedInCluster: LeaderWorkerSet demo-decode: args of container main changed by kubectl-edit")


def test_managers_of_any_form_never_raise():
    odd: Any
    for odd in ([1], {"f:spec": 1}, [{"fieldsV1": []}], "x", [{"manager": {}, "fieldsV1": {"f:spec": {"f:template": {"f:spec": 1}}}}]):
        workload = given.deployment(replicas=3)
        workload["metadata"]["managedFields"] = odd
        assert given.status(given.graph(given.entry("Decode", replicas=3)), given.children(workload), given.NOW)["state"] == "successful"


def frontend(*services: str, features=SERVICES, type_: str = "frontend", name: str = "demo") -> str:
    """The message about the Services of a graph with a frontend."""
    entry = given.entry("Frontend", replicas=1, name=f"{name}-frontend")
    graph = given.graph(entry)
    graph["metadata"]["name"] = name
    graph["spec"]["services"]["Frontend"] = {"componentType": type_}
    existing = [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": each, "namespace": "team-a"}} for each in services]
    status = given.status(graph, given.children(given.deployment(f"{name}-frontend"), *existing), given.NOW, features)
    condition = given.found(status, "Drifted")
    return "" if condition is None else f"{condition['reason']}: {condition['message']}"


def test_a_missing_service_of_a_frontend_is_named():
    assert frontend("demo-frontend") == ""
    assert frontend("other") == "ServiceNotFound: Service demo-frontend not found; apply the render again"
    assert frontend("llm-v1-frontend", name="llm.v1") == ""


def test_without_services_none_is_missing():
    """The feature is off, or the component has no Service with other backends than Kubernetes."""
    assert (frontend(features=DEFAULT_FEATURES), frontend(type_="worker")) == ("", "")


def test_services_under_grove_are_not_judged():
    """They have no label of Dynamo, so the syncer does not list them."""
    graph = given.graph(given.entry("Frontend", "PodClique", replicas=1))
    graph["spec"]["services"]["Frontend"] = {"componentType": "frontend"}
    assert given.found(given.status(graph, given.children(), given.NOW, SERVICES), "Drifted") is None
