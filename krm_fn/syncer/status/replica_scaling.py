"""Computes the status of scaling adapters, and the replicas that the syncer writes to the subresource `scale` of workloads.

Follows the operator's `internal/controller/dynamographdeploymentscalingadapter_controller.go`. Two differences: `status.replicas` is the
observed count, and conditions show why a count does not reach the workload. An adapter sets the replicas of one component; without an
adapter, Git sets them. Grove reads a count from its PodCliqueSet only when it creates an object, so the counts in the annotation
`workloads` are written to its objects (operator: reconcileGroveScaling).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render import dynamo_api, labels, names
from krm_fn.render.workload_list import WorkloadEntry
from krm_fn.syncer.status import SyncFeatures, component_workloads, conditions, live_fields, replica_status, version_adapter
from krm_fn.syncer.status.cached_object import CachedObject, workload_key
from krm_fn.syncer.status.component_workloads import ComponentWorkloads
from krm_fn.syncer.status.conditions import READY, RECONCILING, STALLED, StatusCondition
from krm_fn.syncer.status.workload_index import WorkloadIndex

ADAPTER_CONDITIONS = (READY, RECONCILING, STALLED)
REJECTED = "UpdateFailed"
_NOT_FOUND, _SCALING = "WorkloadNotFound", "Scaling"
NOT_IN_OPERATOR_CRD = {"conditions", "observedGeneration"}
"""Fields of the status that the operator's CRD does not have."""


class ScaleRequest(NamedTuple):
    """A replica count to write: the workload `key` of `component` has `before` replicas in its spec and gets `replicas`.

    `adapter` is the scaling adapter that requests it; None if the annotation of the graph requests it.
    """

    key: ObjectKey
    component: str
    replicas: int
    before: int
    adapter: ObjectKey | None = None


class AdapterReadiness(NamedTuple):
    """Ready if the workload has the replica count of the adapter. `stalled` is true if waiting does not help."""

    ready: bool
    reason: str
    message: str
    stalled: bool = False


def scale_requests(
    graph: CachedObject, adapters: Mapping[str, CachedObject], index: WorkloadIndex, features: SyncFeatures
) -> list[ScaleRequest]:
    """Returns the replica counts to write now for a graph. `adapters` has the scaling adapter of each component that has one.

    An object that belongs to another graph gets none.
    """
    return _scale_requests(graph, graph.entries or (), adapters, index, features)


def adapter_requests(graph: CachedObject, adapter: CachedObject, index: WorkloadIndex, features: SyncFeatures) -> list[ScaleRequest]:
    """Returns the replica counts to write now for the component of an adapter."""
    entries = index.component(graph, adapter.component).entries
    return _scale_requests(graph, entries, {adapter.component: adapter}, index, features._replace(grove_counts=False))


def adapters_by_component(adapters: Iterable[CachedObject]) -> dict[str, CachedObject]:
    """Chooses the adapter of each component of a graph: of several, the one with the name that a render gives, or the first by name."""
    chosen: dict[str, CachedObject] = {}
    for adapter in sorted(adapters, key=lambda adapter: _rank(adapter.key.name, adapter.graph, adapter.component)):
        if not adapter.deleted:
            chosen.setdefault(adapter.component, adapter)
    return chosen


def adapter_rank(name: str, graph: ObjectKey, component: str) -> tuple[bool, str]:
    """Returns the rank of the name of an adapter among those of its component; see `adapters_by_component`."""
    return _rank(name, graph.name, component)


def replicas_for_planner(graph: CachedObject, adapters: Mapping[str, CachedObject]) -> dict[str, int]:
    """Returns the replicas that a planner reads in its graph and that differ there, by component.

    These are the replicas of adapters (operator: the adapter's controller writes them there), and in v1beta1 those of components that Git
    leaves at the default (operator: its webhook writes 1). A planner of v1beta1 reads absent replicas as 0, and waits for 0 pods.
    """
    if graph.deleted:
        return {}
    missing = {component.name for component in graph.planned if component.replicas is None and graph.version == dynamo_api.BETA1}
    defaults = {entry.service: entry.replicas for entry in graph.entries or () if entry.service in missing and entry.replicas is not None}
    autoscaled = {entry.service for entry in graph.entries or () if entry.replicas is None}
    components = [component for component in graph.planned if component.name in autoscaled and component.name in adapters]
    desired = ((component, adapters[component.name].replicas) for component in components)
    scaled = {component.name: replicas for component, replicas in desired if replicas is not None and replicas != component.replicas}
    return {**defaults, **scaled}


def adapter_status(
    adapter: CachedObject, index: WorkloadIndex, now: str, graph: CachedObject | None, features: SyncFeatures
) -> dict[str, Any]:
    """Computes the whole `.status` of an adapter. `graph` is None if it does not exist. `now` is an RFC 3339 time.

    An adapter of a graph without the annotation `workloads` keeps its status, because another program may write it.
    """
    if graph is not None and graph.entries is None and not graph.problem:
        return adapter.status
    workloads = index.component(graph, adapter.component) if graph else ComponentWorkloads()
    fields = {
        **adapter.status,
        "observedGeneration": adapter.generation or None,
        "replicas": workloads.replicas,
        "selector": f"{labels.GRAPH}={adapter.graph},{labels.COMPONENT}={adapter.component}",
    }
    readiness = _readiness(adapter, graph, workloads, features)
    if workloads.foreign and readiness.reason in (_NOT_FOUND, _SCALING):
        readiness = AdapterReadiness(False, "WorkloadOfAnotherOwner", workloads.foreign, True)
    return with_readiness({field: value for field, value in fields.items() if value is not None}, adapter, readiness, now)


def with_readiness(desired: dict[str, Any], adapter: CachedObject, readiness: AdapterReadiness, now: str) -> dict[str, Any]:
    """Returns the status with the conditions of a readiness, for callers that have seen more than the cached objects show."""
    state = StatusCondition(READY, readiness.ready, readiness.reason, readiness.message)
    progress = StatusCondition(STALLED if readiness.stalled else RECONCILING, True, readiness.reason, readiness.message)
    new = [state] if readiness.ready else [state, progress]
    merged = conditions.merge(adapter.status.get("conditions"), new, ADAPTER_CONDITIONS, adapter.generation, now)
    return {**desired, "conditions": merged}


def adapter_patch(stored: dict[str, Any], desired: dict[str, Any], *, conditions_stored: bool = True) -> dict[str, Any] | None:
    """Computes the JSON merge patch from the stored to the desired status of an adapter; None if nothing is to be written.

    The operator's CRD drops `conditions` and `observedGeneration`. A stored status that lacks only these is not written if they say nothing
    bad, or if the caller has seen that the API server drops them: then `conditions_stored` is false.
    """
    patch = conditions.patch(stored, desired)
    if patch and patch.keys() <= NOT_IN_OPERATOR_CRD and not NOT_IN_OPERATOR_CRD & stored.keys():
        return patch if conditions_stored and not conditions.find(desired, READY).is_true else None
    return patch


def second_adapter(first: CachedObject) -> AdapterReadiness:
    """Returns the readiness of an adapter that is the second for its component. `first` is the first."""
    message = f"{first.key.name} scales service {first.component}; delete one of the two adapters"
    return AdapterReadiness(False, "AdapterConflict", message, True)


def rejected_readiness(request: ScaleRequest, message: str) -> AdapterReadiness:
    """Returns the readiness after the API server rejected a request. `message` is its reason."""
    workload = f"{request.key.kind} {request.key.name}"
    counts = f"from {request.before} to {request.replicas} replicas"
    return AdapterReadiness(False, REJECTED, f"{workload} cannot be scaled {counts}: {message}", True)


def _rank(name: str, graph: str, component: str) -> tuple[bool, str]:
    return name != names.component(graph, component), name


def rejected_initialization(replicas: int, message: str) -> AdapterReadiness:
    """Returns the readiness of an adapter into which the first replicas cannot be written. `message` is the reason of the API server."""
    return AdapterReadiness(False, REJECTED, f"the adapter cannot get its first number, {replicas} replicas: {message}", True)


def _scale_requests(
    graph: CachedObject,
    entries: Iterable[WorkloadEntry],
    adapters: Mapping[str, CachedObject],
    index: WorkloadIndex,
    features: SyncFeatures,
) -> list[ScaleRequest]:
    if graph.deleted:
        return []
    requests = (_scale_request(graph, entry, adapters.get(entry.service), index, features) for entry in entries)
    return [request for request in requests if request]


def _scale_request(
    graph: CachedObject, entry: WorkloadEntry, adapter: CachedObject | None, index: WorkloadIndex, features: SyncFeatures
) -> ScaleRequest | None:
    """Returns the request for one workload. None if its count is right, or if the syncer must not change it."""
    if adapter is None if entry.replicas is None else not features.grove_counts:
        return None
    status = index.scale_target(workload_key(entry, graph.key.namespace), graph.key, entry.service)
    minimum = component_workloads.min_replicas(entry, status)
    if status is None or minimum is None or status.defers_scaling:
        return None
    requester, replicas = None, None
    if entry.replicas is not None:
        if replica_status.get(status.key.kind).scaled_by_syncer:
            replicas = entry.replicas
    elif features.scaling and adapter and not adapter.deleted:
        requester, replicas = adapter.key, adapter.replicas
    if replicas is None or replicas == status.desired or not minimum <= replicas <= live_fields.MAX_REPLICAS:
        return None
    return ScaleRequest(status.key, entry.service, replicas, status.desired, requester)


def _readiness(
    adapter: CachedObject, graph: CachedObject | None, workloads: ComponentWorkloads, features: SyncFeatures
) -> AdapterReadiness:
    component, fields = adapter.component, version_adapter.FIELDS
    if graph is None:
        message = f"graph {adapter.graph} does not exist in namespace {adapter.key.namespace}; create it"
        return AdapterReadiness(False, "GraphNotFound", message)
    if graph.problem:
        message = f"the annotation {labels.WORKLOADS} of graph {adapter.graph} cannot be read"
        return AdapterReadiness(False, "InvalidWorkloads", message, True)
    if component not in graph.components:
        message = f"graph {adapter.graph} has no service {component}; correct {fields[adapter.version].adapter_target}"
        return AdapterReadiness(False, "ServiceNotFound", message)
    if workloads.minimum is None:
        return _set_in_git(adapter, sum(workloads.in_git))
    if workloads.in_git:
        switch = f"set {fields[graph.version].adapter_switch} in service {component} of graph {adapter.graph}"
        return AdapterReadiness(False, "AdapterNotEnabled", f"{switch}; until then its replicas change in Git", True)
    if adapter.replicas is None:
        return _without_number(adapter, features)
    if adapter.replicas < (minimum := workloads.minimum):
        message = f"a {workloads.entries[0].kind} needs {minimum} or more replicas; scale the adapter to {minimum} or more"
        return AdapterReadiness(False, "TooFewReplicas", message, True)
    return _scaling_progress(adapter, workloads, features)


def _scaling_progress(adapter: CachedObject, workloads: ComponentWorkloads, features: SyncFeatures) -> AdapterReadiness:
    """Compares the replicas of the workloads with those of the adapter."""
    other = workloads.with_other_count(adapter.replicas)
    if not workloads.all_exist:
        return AdapterReadiness(False, _NOT_FOUND, f"service {adapter.component} has no workload yet")
    if other is None:
        message = f"service {adapter.component} has the number of replicas that the adapter asks for"
        return AdapterReadiness(True, "Scaled", message)
    workload = f"{other.key.kind} {other.key.name}"
    if other.defers_scaling:
        message = f"{workload} keeps {other.desired} replicas until Grove has updated all pods of the graph"
        return AdapterReadiness(False, version_adapter.SCALING_DEFERRED, message)
    if features.scaling:
        return AdapterReadiness(False, _SCALING, f"{workload} goes from {other.desired} to {adapter.replicas} replicas")
    message = f"krm-fn sync runs without --scaling, so {workload} stays at replicas: {other.desired}"
    return AdapterReadiness(False, "ScalingDisabled", message, True)


def _without_number(adapter: CachedObject, features: SyncFeatures) -> AdapterReadiness:
    """Reports that an adapter has no number of replicas."""
    if features.scaling:
        return AdapterReadiness(False, _SCALING, f"service {adapter.component} gets the number of replicas of its graph")
    message = "krm-fn sync runs without --scaling, so the adapter has no spec.replicas; scale it, or run the syncer with --scaling"
    return AdapterReadiness(False, "ScalingDisabled", message, True)


def _set_in_git(adapter: CachedObject, replicas: int) -> AdapterReadiness:
    """Reports that replicas change in Git only: a render writes them into LeaderWorkerSets, or makes a set for each replica."""
    component = adapter.component
    message = f"service {component} has {replicas} replicas in LeaderWorkerSets, and only a render can change that"
    if adapter.replicas == replicas:
        return AdapterReadiness(True, "ReplicasChangeInGit", message)
    fix = f"set replicas: {adapter.replicas} for service {component} in Git"
    return AdapterReadiness(False, "ReplicasChangeInGit", f"{message}; {fix}", True)
