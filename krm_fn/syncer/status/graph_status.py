"""Computes the status of graphs and components, and calls `replica_scaling` for scaling adapters.

Follows the operator's `internal/controller/dynamographdeployment_controller.go`, `dynamocomponentdeployment_controller.go` and
`internal/dynamo/grove.go`. `docs/status.md` names the differences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import values
from krm_fn.render import labels, names
from krm_fn.render.workload_list import WorkloadEntry
from krm_fn.syncer.status import (
    DEFAULT_FEATURES,
    SyncFeatures,
    cached_object,
    conditions,
    drift,
    live_fields,
    pod_facts,
    readiness,
    replica_scaling,
    replica_status,
    rolling_restart,
    version_adapter,
)
from krm_fn.syncer.status.cached_object import REJECTED, CachedObject
from krm_fn.syncer.status.conditions import AVAILABLE, RECONCILING, STALLED, VALID, StatusCondition
from krm_fn.syncer.status.readiness import ReadinessContext, WorkloadReadiness
from krm_fn.syncer.status.replica_status import ReplicaStatus
from krm_fn.syncer.status.workload_index import WorkloadIndex

SUCCESSFUL, PENDING, FAILED = "successful", "pending", "failed"
INITIALIZING = "initializing"
"""The operator's state of a graph of which nothing is known yet."""
NOT_RENDERED = "NotRendered"
ALL_READY = "all_resources_are_ready"
GRAPH_CONDITIONS = (conditions.READY, RECONCILING, STALLED, conditions.DRIFTED)
COMPONENT_CONDITIONS = (VALID, AVAILABLE, RECONCILING, STALLED)
_GROVE = "grove.io"
_RUNTIME = "runtimeNamespace"


class _RuntimeNamespace(NamedTuple):
    """The Dynamo namespace of the pods that serve. `is_old` is true while pods of another namespace replace them."""

    serving: str
    is_old: bool


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

    A graph without the annotation `workloads` keeps its status, because another program may write it. If the syncer wrote the status, it
    becomes unknown. A graph with a problem keeps its replica counts and its restart, but no numbers of GPUs: a planner would use them for
    the newest pods.
    """
    if graph.problem:
        graph = graph._replace(status=pod_facts.without(graph.status))
        return _write_status(graph, invalid(graph, conditions.READY), GRAPH_CONDITIONS, now, {"state": FAILED})
    if graph.entries is None:
        return _not_rendered(graph, graph, conditions.READY, GRAPH_CONDITIONS, now, {"state": INITIALIZING})
    workloads = graph_readiness(graph, index, now, features)
    restart = rolling_restart.progress(graph, index)
    unknown = _unknown_gpus(graph.entries, graph.key.namespace, index, features)
    warnings = [*_waiting_restart(restart, graph, index, features), *unknown]
    fields = {"components": _components(graph, workloads, index, features), "restart": restart}
    missing = drift.missing_services(graph, index.services, features)
    drifted = drift.condition(((workload.entry, workload.drift) for workload in workloads), missing)
    desired, first = [*_graph_conditions(workloads, warnings), *drifted], {"state": _state(workloads)}
    return _write_status(graph, desired, GRAPH_CONDITIONS, now, first, fields, first_release=_follows_first_release(graph))


def of_component(
    component: CachedObject, index: WorkloadIndex, now: str, graph: CachedObject | None, features: SyncFeatures = DEFAULT_FEATURES
) -> dict[str, Any]:
    """Computes the whole `.status` of a component, in its version. `graph` is None for a standalone component. `now` is an RFC 3339 time.

    The annotation `workloads` is that of the graph, or that of a standalone component. Without an annotation the component keeps its
    status, unless the syncer wrote it.
    """
    owner = graph or component
    if owner.problem:
        component = component._replace(status=pod_facts.without(component.status))
        return _write_status(component, invalid(owner, VALID if owner.reason == REJECTED else AVAILABLE), COMPONENT_CONDITIONS, now)
    if owner.entries is None:
        if graph is None and component.graph:
            return component.status
        return _not_rendered(component, owner, AVAILABLE, COMPONENT_CONDITIONS, now)
    workloads = component_readiness(component, index, now, graph, features)
    # A render annotates valid specs only.
    valid = StatusCondition(VALID, True, "ValidationPassed", "DynamoComponentDeployment spec is valid")
    unknown = _unknown_gpus((workload.entry for workload in workloads), component.key.namespace, index, features)
    desired = [valid, _available(workloads, unknown), *_progress_conditions(workloads)]
    stored = version_adapter.stored_counts(component.status, component.version)
    counts = replica_counts(workloads, index, stored, features)
    return _write_status(
        component, desired, COMPONENT_CONDITIONS, now, {}, {"component": counts}, first_release=_follows_first_release(owner)
    )


def graph_readiness(graph: CachedObject, index: WorkloadIndex, now: str, features: SyncFeatures) -> list[WorkloadReadiness]:
    """Assesses the workloads of a graph, and its components without a workload."""
    entries = graph.entries or ()
    listed = {entry.service for entry in entries} | set(graph.idle)
    missing = (_report_unlisted(graph, component) for component in graph.components if component not in listed)
    return [*readiness.assess(entries, _context(graph, index, now, features)), *missing]


def component_readiness(
    component: CachedObject, index: WorkloadIndex, now: str, graph: CachedObject | None, features: SyncFeatures
) -> list[WorkloadReadiness]:
    """Assesses the workloads of a component."""
    context = _context(graph or component, index, now, features)
    entries = (graph or component).entries or ()
    return readiness.assess([entry for entry in entries if graph is None or entry.service == component.component], context)


def recheck(graph: CachedObject, index: WorkloadIndex, now: str, features: SyncFeatures) -> float | None:
    """Returns the seconds until the status changes although no object changes, because the time of a pod ends; None if it does not."""
    return readiness.recheck(graph_readiness(graph, index, now, features), _context(graph, index, now, features))


def invalid(owner: CachedObject, type_: str) -> list[StatusCondition]:
    """Returns the conditions of a resource with a problem. `type_` is the condition that shows readiness."""
    return [StatusCondition(type_, False, owner.reason, owner.problem), StatusCondition(STALLED, True, owner.reason, owner.problem)]


def replica_counts(
    workloads: Sequence[WorkloadReadiness], index: WorkloadIndex, stored: dict[str, Any], features: SyncFeatures
) -> dict[str, Any] | None:
    """Computes the fields of a component, in v1beta1; None if none of its workloads exists. `stored` are the stored fields.

    The counts of several workloads are added, and the first determines the kind (operator: one LeaderWorkerSet for each replica). While the
    pods of a new worker revision start, the names stay those of the pods that serve.
    """
    existing = [workload for workload in workloads if workload.status and workload.status.counts]
    same_kind = [workload for workload in existing if workload.entry.kind == existing[0].entry.kind]
    counts = [workload.status.counts for workload in same_kind if workload.status and workload.status.counts]
    if not counts:
        return None
    entry, statuses = existing[0].entry, [workload.status for workload in same_kind if workload.status]
    runtime = _runtime_namespace(statuses, entry.service, index, values.text(stored.get(_RUNTIME)))
    fields = {
        "componentKind": statuses[0].key.kind,
        "componentNames": [status.key.name for status in statuses],
        **({_RUNTIME: runtime.serving} if runtime.serving else {}),
        **(pod_facts.stored_names(stored) if runtime.is_old else pod_facts.names(entry)),
        **pod_facts.gpu_numbers(entry, statuses[0].key.namespace, index.claims, features),
        "replicas": _total(count.replicas for count in counts),
        "updatedReplicas": _total(count.updated for count in counts),
    }
    if counts[0].ready is not None:
        fields["readyReplicas"] = _total(count.ready for count in counts)
    if counts[0].available is not None:
        fields["availableReplicas"] = _total(count.available for count in counts)
    if counts[0].scheduled is not None:
        fields["scheduledReplicas"] = _total(count.scheduled for count in counts)
    return fields


def _not_rendered(  # noqa: PLR0913, PLR0917 - those of `_write_status`
    resource: CachedObject, owner: CachedObject, type_: str, owned: tuple[str, ...], now: str, first: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Computes the status of a resource whose `owner` has lost the annotation. Nothing shows any more which workloads it has."""
    if not resource.status_by_syncer:
        return resource.status
    message = f"{owner.key.kind} {owner.key.name} has lost the annotation {labels.WORKLOADS}, so its workloads are unknown; render it again"
    unknown = StatusCondition(type_, None, NOT_RENDERED, message)
    return _write_status(resource._replace(status=pod_facts.without(resource.status)), [unknown], owned, now, first)


def _context(owner: CachedObject, index: WorkloadIndex, now: str, features: SyncFeatures) -> ReadinessContext:
    return ReadinessContext(owner.key, index, features, now, {})


def _write_status(  # noqa: PLR0913, PLR0917 - the parts of a status
    owner: CachedObject,
    desired: list[StatusCondition],
    owned: tuple[str, ...],
    now: str,
    first: dict[str, Any] | None = None,
    last: dict[str, Any] | None = None,
    *,
    first_release: bool = False,
) -> dict[str, Any]:
    """Writes fields and conditions into the stored status. `first` are the fields before the conditions, `last` those after them."""
    merged = conditions.merge(owner.status.get("conditions"), desired, owned, owner.generation, now)
    fields = {"observedGeneration": owner.generation or None, **(first or {}), "conditions": merged, **(last or {})}
    return version_adapter.desired_status(owner.status, fields, owner.version, first_release=first_release)


def _follows_first_release(owner: CachedObject) -> bool:
    """Returns True if no entry of the annotation has facts about pods: a render under release 0.9 writes none."""
    return not any(entry.facts for entry in owner.entries or ())


def _unknown_gpus(entries: Iterable[WorkloadEntry], namespace: str, index: WorkloadIndex, features: SyncFeatures) -> list[str]:
    """Reports components whose numbers of GPUs are unknown."""
    problems = (pod_facts.gpu_problem(entry, namespace, index.claims, features) for entry in entries)
    return [problem for problem in problems if problem]


def _progress_conditions(workloads: list[WorkloadReadiness]) -> list[StatusCondition]:
    """Returns the conditions from which kstatus sees whether waiting helps."""
    failed = readiness.first_failed(workloads)
    if failed and failed.failure:
        return [StatusCondition(STALLED, True, failed.failure.reason, f"{failed.part or failed.resource}: {failed.failure.message}")]
    ready = sum(1 for workload in workloads if not workload.problem)
    if ready == len(workloads):
        return []
    return [StatusCondition(RECONCILING, True, version_adapter.NOT_READY, f"{ready} of {len(workloads)} workloads are ready")]


def _report_unlisted(graph: CachedObject, component: str) -> WorkloadReadiness:
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


def _available(workloads: list[WorkloadReadiness], warnings: list[str]) -> StatusCondition:
    """Returns Available, with the operator's reasons. Only a component with LeaderWorkerSets may have no workload: with 0 replicas."""
    problems = readiness.problems(workloads)
    kind = workloads[0].entry.kind if workloads else "LeaderWorkerSet"
    reason, message = "WorkloadsNotReady", "Workloads are not ready"
    if kind.lower() in replica_status.kinds():
        reason, message = replica_status.get(kind).available(ready=not problems)
    return StatusCondition(AVAILABLE, not problems, reason, "; ".join([f"{message}: {problems}" if problems else message, *warnings]))


def _components(
    graph: CachedObject, workloads: list[WorkloadReadiness], index: WorkloadIndex, features: SyncFeatures
) -> dict[str, Any] | None:
    """Computes the fields of each component that has a workload. Components that the graph does not have are left out."""
    by_component: dict[str, list[WorkloadReadiness]] = {}
    for workload in workloads:
        by_component.setdefault(workload.entry.service, []).append(workload)
    counts = {
        name: replica_counts(group, index, version_adapter.stored_counts(graph.status, graph.version, name), features)
        for name, group in by_component.items()
        if name in graph.components
    }
    return {name: fields for name, fields in counts.items() if fields is not None} or None


def _waiting_restart(restart: dict[str, Any] | None, graph: CachedObject, index: WorkloadIndex, features: SyncFeatures) -> list[str]:
    """Reports a restart that waits for a feature that is off, or for a render."""
    if not restart or restart.get("phase") != rolling_restart.RESTARTING:
        return []
    id_, in_progress = restart.get("observedID"), restart.get("inProgress") or ()
    if graph.restart_by_syncer:
        if features.restarts:
            chosen = set(in_progress)
            entries = (entry for entry in graph.entries or () if entry.service in chosen)
            foreign = index.foreign((cached_object.workload_key(entry, graph.key.namespace) for entry in entries), graph.key)
            return [foreign] if foreign else []
        return [f"restart {id_} waits, because krm-fn sync runs without --restarts"]
    components = ", ".join(rolling_restart.without_restart(graph, index, in_progress))
    return [f"restart {id_} waits, because the pods of {components} are not rendered with it; render the graph again"] if components else []


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
    if status.defers_scaling and workload.entry.replicas not in (None, status.desired):
        return version_adapter.SCALING_DEFERRED
    if status.counts.scheduled is not None and status.counts.scheduled < status.desired:
        return version_adapter.NO_CAPACITY
    return version_adapter.UPDATING if status.updating else version_adapter.PODS_NOT_READY


def _runtime_namespace(statuses: Sequence[ReplicaStatus], service: str, index: WorkloadIndex, stored: str) -> _RuntimeNamespace:
    """Returns the Dynamo namespace of the pods that run: that of their template, and while the template is new, the stored one."""
    holders = {owner.key: templates for owner, templates in (index.templates(status, service) for status in statuses) if owner}
    namespaces = {template.runtime for templates in holders.values() for template in templates}
    newest = namespaces.pop() if len(namespaces) == 1 else ""
    if any(status.updating for status in statuses):
        return _RuntimeNamespace(stored, bool(stored) and stored != newest)
    return _RuntimeNamespace(newest, False)


def _total(counts: Iterable[int | None]) -> int:
    return min(sum(count or 0 for count in counts), live_fields.MAX_REPLICAS)
