"""Graphs, adapters and workloads as an API server returns them, for tests of restarts and scaling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.render import labels, workload_list
from krm_fn.render.workload_list import WorkloadEntry
from krm_fn.syncer.status import cached_object
from krm_fn.syncer.status.workload_index import WorkloadIndex

if TYPE_CHECKING:
    from krm_fn.kubernetes.types import Resource
    from krm_fn.syncer.status.cached_object import CachedObject

NAMESPACE = "team"
NOW = "2026-02-03T10:00:00Z"
APIS = {"Deployment": "apps/v1", "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1"}
GROVE = "grove.io/v1alpha1"
OF_DEMO = {labels.GRAPH: "demo"}


def entry(service: str, kind: str = "Deployment", replicas: int | None = None, name: str = "") -> WorkloadEntry:
    """An entry of the annotation `workloads`, with the name that a render gives."""
    prefix = "demo-" if kind in APIS else "demo-0-"
    return WorkloadEntry(service, APIS.get(kind, GROVE), kind, name or f"{prefix}{service.lower()}", replicas)


def graph(
    *entries: WorkloadEntry, status: Any = None, sync: bool = True, services: Any = None, name: str = "demo", **spec: Any
) -> CachedObject:
    """A graph that a render wrote."""
    notes = {labels.WORKLOADS: workload_list.write(entries), **({labels.RESTART: "sync"} if sync else {})}
    services = {each.service: {} for each in entries} if services is None else services
    return cached_object.read(
        {
            "apiVersion": "nvidia.com/v1alpha1",
            "kind": "DynamoGraphDeployment",
            "metadata": {"name": name, "namespace": NAMESPACE, "generation": 3, "annotations": notes},
            "spec": {"services": services, **spec},
            "status": status or {},
        }
    )


def adapter(service: str, replicas: int | None, status: Any = None, name: str = "", **metadata: Any) -> CachedObject:
    """The scaling adapter of a service of the graph `demo`."""
    return cached_object.read(
        {
            "apiVersion": "nvidia.com/v1alpha1",
            "kind": "DynamoGraphDeploymentScalingAdapter",
            "metadata": {"name": name or f"demo-{service.lower()}", "namespace": NAMESPACE, "generation": 2, **metadata},
            "spec": {**({} if replicas is None else {"replicas": replicas}), "dgdRef": {"name": "demo", "serviceName": service}},
            "status": status or {},
        }
    )


def deployment(service: str, replicas: int = 1, restarted: str = "", running: int | None = None) -> Resource:
    """A Deployment, with all its pods ready unless `running` says how many are."""
    running = replicas if running is None else running
    counts = {"replicas": running, "updatedReplicas": running, "readyReplicas": running, "availableReplicas": running}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": f"demo-{service.lower()}", "namespace": NAMESPACE, "generation": 1, "labels": OF_DEMO},
        "spec": {"replicas": replicas, "template": {"metadata": _restarted(restarted)}},
        "status": {"observedGeneration": 1, "conditions": [{"type": "Available", "status": "True"}], **counts},
    }


def leader_worker_set(service: str, index: int = 0, restarted: str = "") -> Resource:
    """A LeaderWorkerSet, ready."""
    return {
        "apiVersion": APIS["LeaderWorkerSet"],
        "kind": "LeaderWorkerSet",
        "metadata": {"name": f"demo-{service.lower()}-{index}", "namespace": NAMESPACE, "generation": 1, "labels": OF_DEMO},
        "spec": {
            "replicas": 1,
            "leaderWorkerTemplate": {
                "leaderTemplate": {"metadata": _restarted(restarted)},
                "workerTemplate": {"metadata": _restarted(restarted)},
            },
        },
        "status": {"replicas": 1, "readyReplicas": 1, "updatedReplicas": 1, "conditions": [{"type": "Available", "status": "True"}]},
    }


def grove(kind: str, service: str, replicas: int = 1, **spec: Any) -> Resource:
    """A PodClique or a PodCliqueScalingGroup that Grove made for the PodCliqueSet `demo`, ready."""
    ready = "readyReplicas" if kind == "PodClique" else "availableReplicas"
    marks = {labels.MANAGED_BY: labels.GROVE_MANAGER, labels.PART_OF: "demo", **OF_DEMO}
    return {
        "apiVersion": GROVE,
        "kind": kind,
        "metadata": {"name": f"demo-0-{service.lower()}", "namespace": NAMESPACE, "generation": 1, "labels": marks},
        "spec": {"replicas": replicas, **spec},
        "status": {"observedGeneration": 1, "replicas": replicas, "updatedReplicas": replicas, ready: replicas},
    }


def pod_clique_set(**cliques: tuple[str, str]) -> Resource:
    """The PodCliqueSet `demo`: for each clique its service and the restart that it carries."""
    listed = [
        {"name": name.replace("_", "-"), "labels": {labels.COMPONENT: service}, **_restarted(restarted)}
        for name, (service, restarted) in cliques.items()
    ]
    return {
        "apiVersion": GROVE,
        "kind": "PodCliqueSet",
        "metadata": {"name": "demo", "namespace": NAMESPACE, "generation": 1, "labels": OF_DEMO},
        "spec": {"replicas": 1, "template": {"cliques": listed}},
        "status": {"observedGeneration": 1, "replicas": 1, "availableReplicas": 1, "updatedReplicas": 1},
    }


def index(*resources: Resource, graphs: tuple[CachedObject, ...] = ()) -> WorkloadIndex:
    """The observations of live objects."""
    found = WorkloadIndex.of(resources)
    for each in graphs:
        found.put_graph(each)
    return found


def _restarted(restarted: str) -> dict[str, Any]:
    return {"annotations": {labels.RESTART_AT: restarted}} if restarted else {}
