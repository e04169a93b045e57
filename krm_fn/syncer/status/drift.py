"""Names what differs in the cluster from the applied render, although the workloads are ready: changed fields, and missing Services.

The operator would write its own values again, or create the Service again. A GitOps tool may do the same, or not. So `Ready` stays as the
operator has it, and a condition of its own, `Drifted`, names the differences.
"""

from __future__ import annotations

from collections.abc import Iterable

from krm_fn.render import names
from krm_fn.render.workload_list import WorkloadEntry
from krm_fn.syncer.status import SyncFeatures, field_changes, replica_status
from krm_fn.syncer.status.cached_object import CachedObject
from krm_fn.syncer.status.conditions import DRIFTED, StatusCondition
from krm_fn.syncer.status.replica_status import ReplicaStatus
from krm_fn.syncer.status.service_index import ServiceIndex

CHANGED, NO_SERVICE = "ChangedInCluster", "ServiceNotFound"
_FIX = "apply the render again"


def of_workload(entry: WorkloadEntry, status: ReplicaStatus) -> str:
    """Names the fields of a workload that somebody changed after the render was applied; empty if there are none.

    Replicas that differ from the graph are named only if no applier and no autoscaler set them. Of an object without field managers, they
    are named without a manager. Replicas of Grove's objects follow the graph in another way (`readiness`).
    """
    changes = status.changes or ()
    texts = [f"{change.field} changed by {change.manager}" for change in changes if change.field != field_changes.REPLICAS]
    reader = replica_status.find(status.key.group, status.key.kind)
    if entry.replicas in (None, status.desired) or reader is None or reader.scaled_by_syncer:
        return ", ".join(texts)
    by_hand = field_changes.by_hand(changes, field_changes.REPLICAS)
    if by_hand or status.changes is None:
        manager = f", changed by {by_hand.manager}" if by_hand else ""
        texts.insert(0, f"replicas={status.desired}, in the graph={entry.replicas}{manager}")
    return ", ".join(texts)


def missing_services(graph: CachedObject, services: ServiceIndex, features: SyncFeatures) -> list[str]:
    """Names the Services of frontends that do not exist: without them, no client reaches the graph.

    Only frontends have a Service with every discovery backend. Its name is that of the component, from release 1.5 on with dashes
    (operator: internal/dynamo/graph.go GenerateComponentService).
    """
    if not features.services:
        return []
    rendered = {entry.service for entry in graph.entries or () if _has_labelled_services(entry)}
    components = [names.component(graph.key.name, frontend) for frontend in graph.frontends if frontend in rendered]
    return [name for name in components if not services.has_any(graph.key.namespace, name, names.service(name))]


def _has_labelled_services(entry: WorkloadEntry) -> bool:
    reader = replica_status.find(entry.api_version.rpartition("/")[0], entry.kind)
    return reader is not None and reader.labels_services


def condition(workloads: Iterable[tuple[WorkloadEntry, str]], services: Iterable[str]) -> list[StatusCondition]:
    """Returns the condition `Drifted`; empty without a difference. `workloads` has the entries with their difference."""
    changed = [f"{entry.kind} {entry.name}: {difference}" for entry, difference in workloads if difference]
    missing = [f"Service {name} not found" for name in services]
    if not changed and not missing:
        return []
    message = f"{'; '.join([*missing, *changed])}; {_FIX}"
    return [StatusCondition(DRIFTED, True, NO_SERVICE if missing else CHANGED, message)]
