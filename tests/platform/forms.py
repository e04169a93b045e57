"""The forms in which the operator writes objects, where they differ from our render.

Follows the reference's `internal/controller/dynamocomponentdeployment_controller.go` and `internal/rbac/manager.go`.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from krm_fn.render import labels

if TYPE_CHECKING:
    from collections.abc import Iterator

Resource = dict[str, Any]

_RBAC = "rbac.authorization.k8s.io"
_PLANNERS = "planner-serviceaccount"
_BY_THE_OPERATOR = {"app.kubernetes.io/component": "rbac", labels.MANAGED_BY: "dynamo-operator"}


def is_newer(graph: Resource) -> bool:
    """True if an operator that stores v1beta1 writes the objects of a graph, which is in its stored version."""
    return str(graph["apiVersion"]).endswith("/v1beta1")


def typed(resource: Resource) -> Resource:
    """A graph or component as a Go program sends it back: fields of a struct type are never omitted."""
    sent: Resource = _with_resources(resource)
    spec = sent["spec"]
    for each in (spec, *spec.get("services", {}).values(), *spec.get("components", ())):
        if main := each.get("extraPodSpec", {}).get("mainContainer"):
            each["extraPodSpec"]["mainContainer"] = {"name": "", "resources": {}} | main
        if template := each.get("podTemplate"):
            each["podTemplate"] = {"metadata": {}} | template
    return sent


def _with_resources(value: Any) -> Any:
    """A deep copy in which every container of a pod has `resources`."""
    if isinstance(value, list):
        return [_with_resources(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {key: _with_resources(inner) for key, inner in value.items()}
    pods = {key: [{"resources": {}} | each for each in found[key]] for key in ("containers", "initContainers") if key in found}
    return found | pods


def written(resource: Resource, graph: Resource) -> Resource:
    """A rendered object without our additions, and with the fields that only the operator writes."""
    bare: Resource = _with_resources(resource)
    metadata = bare["metadata"]
    metadata["annotations"] = {
        key: value for key, value in labels.annotations(resource).items() if key not in {labels.OWNER, *labels.RETAIN}
    }
    metadata["labels"] = {key: value for key, value in labels.of(resource).items() if key != labels.MANAGED_BY}
    if resource["kind"] in {"ServiceAccount", "Role", "RoleBinding"}:
        metadata["labels"] |= _BY_THE_OPERATOR
    if resource["kind"] == "Deployment":
        bare["spec"].pop("progressDeadlineSeconds")
        bare["spec"]["replicas"] = _replicas(graph, labels.of(resource["spec"]["template"])[labels.COMPONENT])
    return bare


def _replicas(graph: Resource, name: str) -> int:
    services = graph["spec"].get("services") or {each["name"]: each for each in graph["spec"]["components"]}
    return int(services[name].get("replicas", 1))


def twins(service: Resource) -> Iterator[Resource]:
    """The two Services for debugging that an operator before 1.0 makes for a component, with etcd discovery only for frontends."""
    (port,) = service["spec"]["ports"]
    found = labels.of(service).get("nvidia.com/dynamo-discovery-backend") == "kubernetes" or port["name"] == "http"
    if found and not service["metadata"]["name"].startswith("dynamo-model-"):
        for suffix, more in (("-p", {}), ("-d", {"nvidia.com/dynamo-deployment-target-type": "debug"})):
            twin = copy.deepcopy(service)
            twin["metadata"]["name"] += suffix
            twin["spec"]["selector"] |= more
            yield twin


def for_planners(namespace: str, role: str) -> Iterator[Resource]:
    """The account of planners with its role. The operator makes both for every graph, also without a planner."""
    metadata = {"name": _PLANNERS, "namespace": namespace, "labels": {**_BY_THE_OPERATOR, "app.kubernetes.io/name": _PLANNERS}}
    yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
    yield {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": {**metadata, "name": f"{_PLANNERS}-binding"},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": _PLANNERS, "namespace": namespace}],
    }
