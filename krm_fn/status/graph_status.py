"""Computes the status of graphs and components, and calls `replica_scaling` for scaling adapters.

Follows the operator's `internal/controller/dynamographdeployment_controller.go`, `dynamocomponentdeployment_controller.go` and
`internal/dynamo/grove.go`. `docs/status.md` names the differences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from krm_fn.kube import labels, names, values
from krm_fn.status import (
    DEFAULT_FEATURES,
    SyncFeatures,
    cached_object,
    conditions,
    live_fields,
    readiness,
    replica_scaling,
    replica_status,
    rolling_restart,
    version_adapter,
)
from krm_fn.status.cached_object import REJECTED, CachedObject
from krm_fn.status.conditions import AVAILABLE, RECONCILING, STALLED, VALID, StatusCondition
from krm_fn.status.readiness import ReadinessContext, WorkloadReadiness
from krm_fn.status.replica_status import ReplicaStatus
from krm_fn.status.workload_index import WorkloadIndex
from krm_fn.workload_list import WorkloadEntry

SUCCESSFUL, PENDING, FAILED = "successful", "pending", "failed"
ALL_READY = "all_resources_are_ready"
GRAPH_CONDITIONS = (conditions.READY, RECONCILING, STALLED)
COMPONENT_CONDITIONS = (VALID, AVAILABLE, RECONCILING, STALLED)
_GROVE = "grove.io"
_RUNTIME = "runtimeNamespace"


def of_resource(
    cached: CachedObject, index: WorkloadIndex, now: str, features: SyncFeatures = DEFAULT_FEATURES, graph: CachedObject | None = None
) -> dict[str, Any]:
    """Computes the status of a graph, a component or a scaling adapter. `now` is an RFC 3339 time.

    `graph` is the graph of a component or an adapter. Any other resource keeps its status. Never raises for what a user or another program
    wrote.
    """
    if cached.key.kind == cached_object.GRAPH:
        return of_graph(cached, index, now, features)
    if cached.key.kind == cached_object.COMPONENT:
        return of_component(cached, index, now, graph, features)
    if cached.key.kind == cached_object.ADAPTER:
        return replica_scaling.adapter_status(cached, index, now, graph, features)
    return cached.status


def of_graph(graph: CachedObject, index: WorkloadIndex, now: str, features: SyncFeatures) -> dict[str, Any]:
    """Computes the whole `.status` of a graph, in its version. `now` is an RFC 3339 time.

    A graph without the annotation `workloads` keeps its status, because another program may write it. A graph with a problem keeps its
    replica counts and its restart.
    """
    if graph.problem:
        return _written(graph, invalid(graph, conditions.READY), GRAPH_CONDITIONS, now, {"state": FAILED})
    if graph.entries is None:
        return graph.status
    workloads = graph_readiness(graph, index, now, features)
    restart = rolling_restart.progress(graph, index)
    warnings = [*_listed_twice(graph, index), *_waiting_restart(restart, graph, features)]
    fields = {"components": _components(graph, workloads, index), "restart": restart}
    return _written(graph, _graph_conditions(workloads, warnings), GRAPH_CONDITIONS, now, {"state": _state(workloads)}, fields)


def of_component(
    component: CachedObject, index: WorkloadIndex, now: str, graph: CachedObject | None, features: SyncFeatures = DEFAULT_FEATURES
) -> dict[str, Any]:
    """Computes the whole `.status` of a component, in its version. `graph` is None for a standalone component. `now` is an RFC 3339 time.

    The annotation `workloads` is that of the graph, or that of a standalone component. Without an annotation the component keeps its
    status.
    """
    owner = graph or component
    if owner.problem:
        return _written(component, invalid(owner, VALID if owner.reason == REJECTED else AVAILABLE), COMPONENT_CONDITIONS, now)
    if owner.entries is None:
        return component.status
    workloads = component_readiness(component, index, now, graph, features)
    # A render annotates valid specs only.
    valid = StatusCondition(VALID, True, "ValidationPassed", "DynamoComponentDeployment spec is valid")
    desired = [valid, _available(workloads), *_progress_conditions(workloads)]
    counts = replica_counts(workloads, index, values.mapping(component.status, "component"))
    return _written(component, desired, COMPONENT_CONDITIONS, now, {}, {"component": counts})


def graph_readiness(graph: CachedObject, index: WorkloadIndex, now: str, features: SyncFeatures) -> list[WorkloadReadiness]:
    """Assesses the workloads of a graph, and its components without a workload."""
    entries = graph.entries or ()
    listed = {entry.service for entry in entries} | set(graph.idle)
    missing = (_unlisted(graph, component) for component in graph.components if component not in listed)
    return [*readiness.assess(entries, _context(graph, index, now, features)), *missing]


def component_readiness(
    component: CachedObject, index: WorkloadIndex, now: str, graph: CachedObject | None, features: SyncFeatures
) -> list[WorkloadReadiness]:
    """Assesses the workloads of a component."""
    context = ReadinessContext(component.key.namespace, graph.key.name if graph else "", index, features, now)
    entries = (graph or component).entries or ()
    return readiness.assess([entry for entry in entries if graph is None or entry.service == component.component], context)


def recheck(graph: CachedObject, index: WorkloadIndex, now: str, features: SyncFeatures) -> float | None:
    """Returns the seconds until the status changes although no object changes, because the time of a pod ends; None if it does not."""
    return readiness.recheck(graph_readiness(graph, index, now, features), _context(graph, index, now, features))


def invalid(owner: CachedObject, type_: str) -> list[StatusCondition]:
    """Returns the conditions of a resource with a problem. `type_` is the condition that shows readiness."""
    return [StatusCondition(type_, False, owner.reason, owner.problem), StatusCondition(STALLED, True, owner.reason, owner.problem)]


def replica_counts(workloads: Sequence[WorkloadReadiness], index: WorkloadIndex, stored: dict[str, Any]) -> dict[str, Any] | None:
    """Computes the replica counts of a component, in v1beta1; None if none of its workloads exists. `stored` are the stored counts.

    The counts of several workloads are added, and the first determines the kind (operator: one LeaderWorkerSet for each replica).
    """
    existing = [workload for workload in workloads if workload.status and workload.status.counts]
    same_kind = [workload for workload in existing if workload.entry.kind == existing[0].entry.kind]
    counts = [workload.status.counts for workload in same_kind if workload.status and workload.status.counts]
    if not counts:
        return None
    fields = {
        "componentKind": existing[0].entry.kind,
        "componentNames": [workload.entry.name for workload in same_kind],
        "replicas": _total(count.replicas for count in counts),
        "updatedReplicas": _total(count.updated for count in counts),
    }
    if counts[0].ready is not None:
        fields["readyReplicas"] = _total(count.ready for count in counts)
    if counts[0].available is not None:
        fields["availableReplicas"] = _total(count.available for count in counts)
    if counts[0].scheduled is not None:
        fields["scheduledReplicas"] = _total(count.scheduled for count in counts)
    statuses = [workload.status for workload in same_kind if workload.status]
    if runtime := _runtime_namespace(statuses, existing[0].entry.service, index, values.text(stored.get(_RUNTIME))):
        fields[_RUNTIME] = runtime
    return fields


def _context(graph: CachedObject, index: WorkloadIndex, now: str, features: SyncFeatures) -> ReadinessContext:
    return ReadinessContext(graph.key.namespace, graph.key.name, index, features, now)


def _written(  # noqa: PLR0913, PLR0917 - the parts of a status
    owner: CachedObject,
    desired: list[StatusCondition],
    owned: tuple[str, ...],
    now: str,
    first: dict[str, Any] | None = None,
    last: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Writes fields and conditions into the stored status. `first` are the fields before the conditions, `last` those after them."""
    merged = conditions.merge(owner.status.get("conditions"), desired, owned, owner.generation, now)
    fields = {"observedGeneration": owner.generation or None, **(first or {}), "conditions": merged, **(last or {})}
    return version_adapter.desired_status(owner.status, fields, owner.version)


def _progress_conditions(workloads: list[WorkloadReadiness]) -> list[StatusCondition]:
    """Returns the conditions from which kstatus sees whether waiting helps."""
    failed = readiness.first_failed(workloads)
    if failed and failed.failure:
        return [StatusCondition(STALLED, True, failed.failure.reason, f"{failed.part or failed.resource}: {failed.failure.message}")]
    ready = sum(1 for workload in workloads if not workload.problem)
    if ready == len(workloads):
        return []
    return [StatusCondition(RECONCILING, True, version_adapter.NOT_READY, f"{ready} of {len(workloads)} workloads are ready")]


def _unlisted(graph: CachedObject, component: str) -> WorkloadReadiness:
    """Reports a component that the annotation leaves out."""
    problem = f"service {component} is not in the annotation {labels.WORKLOADS}, render the graph again"
    return WorkloadReadiness(WorkloadEntry(component, "", "", ""), names.component(graph.key.name, component), "", problem=problem)


def _state(workloads: list[WorkloadReadiness]) -> str:
    if readiness.first_failed(workloads):
        return FAILED
    return PENDING if any(workload.problem for workload in workloads) else SUCCESSFUL


def _graph_conditions(workloads: list[WorkloadReadiness], warnings: list[str]) -> list[StatusCondition]:
    problems = readiness.problems(workloads)
    message = f"Resources not ready: {problems}" if problems else "All resources are ready"
    reason = _reason(workloads) if problems else ALL_READY
    ready = StatusCondition(conditions.READY, not problems, reason, "; ".join([message, *warnings]))
    return [ready, *_progress_conditions(workloads)]


def _available(workloads: list[WorkloadReadiness]) -> StatusCondition:
    """Returns Available, with the operator's reasons. Only a component with LeaderWorkerSets may have no workload: with 0 replicas."""
    problems = readiness.problems(workloads)
    kind = workloads[0].entry.kind if workloads else "LeaderWorkerSet"
    reason, message = "WorkloadsNotReady", "Workloads are not ready"
    if kind.lower() in replica_status.kinds():
        reason, message = replica_status.get(kind).available(ready=not problems)
    return StatusCondition(AVAILABLE, not problems, reason, f"{message}: {problems}" if problems else message)


def _components(graph: CachedObject, workloads: list[WorkloadReadiness], index: WorkloadIndex) -> dict[str, Any] | None:
    """Computes the replica counts of each component that has a workload. Components that the graph does not have are left out."""
    by_component: dict[str, list[WorkloadReadiness]] = {}
    for workload in workloads:
        by_component.setdefault(workload.entry.service, []).append(workload)
    stored = values.mapping(graph.status, "components")
    counts = {
        name: replica_counts(group, index, values.mapping(stored, name)) for name, group in by_component.items() if name in graph.components
    }
    return {name: fields for name, fields in counts.items() if fields is not None} or None


def _listed_twice(graph: CachedObject, index: WorkloadIndex) -> list[str]:
    """Reports the workloads that another graph lists, too. The cluster does not show which of the two graphs owns them."""
    warnings = []
    for key in graph.workloads:
        others = sorted(f"{other.kind} {other.name}" for other in index.listed_by(key) if other != graph.key)
        if others:
            warnings.append(f"{key.kind} {key.name} is also a workload of {', '.join(others)}; remove or rename one of them")
    return warnings


def _waiting_restart(restart: dict[str, Any] | None, graph: CachedObject, features: SyncFeatures) -> list[str]:
    """Reports a restart that waits for a feature that is off."""
    if not restart or restart.get("phase") != rolling_restart.RESTARTING or not graph.restart_by_syncer or features.restarts:
        return []
    return [f"restart {restart.get('observedID')} waits, because krm-fn sync runs without --restarts"]


def _reason(workloads: Iterable[WorkloadReadiness]) -> str:
    """Returns the reason of a graph that is not ready, in v1beta1."""
    reasons = {_grove_reason(workload) for workload in workloads if workload.problem}
    if "" in reasons:
        return version_adapter.NOT_READY
    return reasons.pop() if len(reasons) == 1 else version_adapter.MIXED


def _grove_reason(workload: WorkloadReadiness) -> str:
    """Returns the reason of a workload of Grove, in the order of the operator; empty for another workload and for a missing one."""
    status = workload.status
    if status is None or status.counts is None or status.key.group != _GROVE:
        return ""
    if status.counts.scheduled is not None and status.counts.scheduled < status.desired:
        return version_adapter.NO_CAPACITY
    return version_adapter.UPDATING if status.updating else version_adapter.PODS_NOT_READY


def _runtime_namespace(statuses: Sequence[ReplicaStatus], service: str, index: WorkloadIndex, stored: str) -> str:
    """Returns the Dynamo namespace of the pods that run: that of their template, and while the template is new, the stored one."""
    if any(status.updating for status in statuses):
        return stored
    owners = (index.template_owner(status) for status in statuses)
    namespaces = {template.runtime for owner in owners if owner for template in owner.templates if template.serves(service)}
    return namespaces.pop() if len(namespaces) == 1 else ""


def _total(counts: Iterable[int | None]) -> int:
    return min(sum(count or 0 for count in counts), live_fields.MAX_REPLICAS)
