"""Graphs and workloads for the tests of the status."""

from __future__ import annotations

from typing import Any

from krm_fn.render import labels, workload_list
from krm_fn.render.workload_list import WorkloadEntry
from krm_fn.syncer.status import DEFAULT_FEATURES, SyncFeatures, cached_object, graph_status
from krm_fn.syncer.status.cached_object import CachedObject
from krm_fn.syncer.status.workload_index import WorkloadIndex

NOW, LATER = "2026-03-01T12:00:00Z", "2026-03-01T13:00:00Z"
APIS = {
    "Deployment": "apps/v1",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1",
    "PodCliqueSet": "grove.io/v1alpha1",
    "PodClique": "grove.io/v1alpha1",
    "PodCliqueScalingGroup": "grove.io/v1alpha1",
    "Pod": "v1",
}
PODS = SyncFeatures(pods=True)


def graph(*entries: WorkloadEntry, status: Any = None, annotations: Any = None, **spec: Any) -> dict[str, Any]:
    """A graph whose annotation lists these workloads, in generation 3."""
    listed = {labels.WORKLOADS: workload_list.write(entries), **(annotations or {})}
    metadata = {"name": "demo", "namespace": "team-a", "generation": 3, "annotations": listed}
    services: dict[str, Any] = {entry.service: {} for entry in entries}
    found = {"apiVersion": "nvidia.com/v1alpha1", "kind": cached_object.GRAPH, "metadata": metadata, "spec": {"services": services, **spec}}
    return found if status is None else {**found, "status": status}


def read(*entries: WorkloadEntry, **more: Any) -> CachedObject:
    """The same graph as the status logic sees it."""
    return cached_object.read(graph(*entries, **more))


def managed(time: str, manager: str = "dynamo-status-syncer", subresource: str = "status") -> dict[str, Any]:
    """An entry of `metadata.managedFields`. The default is a write of the syncer."""
    fields: dict[str, Any] = {"f:status": {"f:state": {}}}
    return {
        "manager": manager,
        "operation": "Update",
        "time": time,
        "subresource": subresource,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }


def entry(service: str, kind: str = "Deployment", name: str = "", replicas: int | None = None) -> WorkloadEntry:
    """An entry of the annotation."""
    return WorkloadEntry(service, APIS[kind], kind, name or f"demo-{service.lower()}", replicas)


def workload(kind: str, name: str, status: Any = None, *, generation: int = 1, marks: Any = None, **spec: Any) -> dict[str, Any]:
    """A workload as `kubectl get -o json` prints it."""
    metadata = {"name": name, "namespace": "team-a", "generation": generation, "labels": marks or {}}
    found = {"apiVersion": APIS[kind], "kind": kind, "metadata": metadata, "spec": spec}
    return found if status is None else {**found, "status": status}


def condition(name: str, status: bool, reason: str = "", message: str = "") -> dict[str, str]:
    """A condition of a workload."""
    since = "2026-03-01T11:00:00Z"
    return {"type": name, "status": str(status), "reason": reason, "message": message, "lastTransitionTime": since}


def deployment(name: str = "demo-decode", replicas: int = 1, *conditions: Any, generation: int = 1, spec: Any = None, **status: Any) -> Any:
    """A Deployment. By default all its replicas are ready."""
    counts = {f"{each}eplicas": replicas for each in ("r", "updatedR", "readyR", "availableR")}
    told = {"observedGeneration": 1, **counts, "conditions": list(conditions) or [condition("Available", True)], **status}
    return workload("Deployment", name, told, generation=generation, **{"replicas": replicas, **(spec or {})})


def pod(name: str, service: str = "Decode", since: str = "2026-03-01T11:00:00Z", **status: Any) -> dict[str, Any]:
    """A pod of the graph that is not ready since then."""
    ready = {**condition("Ready", False), "lastTransitionTime": since}
    told = {"conditions": [ready, *status.pop("conditions", [])], **status}
    return workload("Pod", name, told, marks={labels.GRAPH: "demo", labels.COMPONENT: service})


def waiting(reason: str, message: str = "", **more: Any) -> dict[str, Any]:
    """A container that waits."""
    return {"name": "main", "ready": False, "state": {"waiting": {"reason": reason, "message": message}}, **more}


def children(*resources: Any) -> WorkloadIndex:
    """Their observations."""
    return WorkloadIndex.of(resources)


def ready(status: dict[str, Any]) -> dict[str, Any]:
    """The condition Ready."""
    return found(status, "Ready") or {}


def found(status: dict[str, Any], name: str) -> dict[str, Any] | None:
    """The condition of a type; None if there is none."""
    return next((each for each in status["conditions"] if each["type"] == name), None)


def status(
    resource: Any, index: WorkloadIndex, now: str, features: SyncFeatures = DEFAULT_FEATURES, graph: CachedObject | None = None
) -> dict[str, Any]:
    return graph_status.of_resource(cached_object.read(resource), index, now, features, graph)
