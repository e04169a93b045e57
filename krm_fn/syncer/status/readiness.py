"""Assesses the readiness of the workloads in the annotation `workloads`, with messages that name the fix."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render import labels, names
from krm_fn.render.workload_list import WorkloadEntry
from krm_fn.syncer.status import SyncFeatures, cached_object, component_workloads, drift, live_fields, replica_status
from krm_fn.syncer.status.replica_status import ReplicaStatus, StatusReader, WorkloadFailure
from krm_fn.syncer.status.workload_index import WorkloadIndex

PATIENCE = 600
"""Seconds until a pod that cannot start counts as failed. It is Kubernetes' default of `progressDeadlineSeconds`."""


class _ServicePods(NamedTuple):
    """The newest pod of a service that shows why it is not ready, the newest that failed, and the seconds until another one does."""

    newest: ReplicaStatus | None = None
    failed: ReplicaStatus | None = None
    remaining: float = inf


class ReadinessContext(NamedTuple):
    """The inputs of readiness. `owner` is the graph or the standalone component that the workloads belong to. `now` is an RFC 3339 time.

    `pods` holds the pods of each service that were found.
    """

    owner: ObjectKey
    workloads: WorkloadIndex
    features: SyncFeatures
    now: str
    pods: dict[str, _ServicePods]

    @property
    def graph(self) -> str:
        """The name of the graph; empty for a standalone component."""
        return self.owner.name if self.owner.kind == cached_object.GRAPH else ""


class WorkloadReadiness(NamedTuple):
    """The readiness of one workload.

    `status` is None if it does not exist, `problem` is empty if it is ready, `failure` is set if waiting does not help. `drift` says what
    somebody changed in the cluster. `resource` and `part` name the workload in messages.
    """

    entry: WorkloadEntry
    resource: str
    part: str
    status: ReplicaStatus | None = None
    problem: str = ""
    failure: WorkloadFailure | None = None
    drift: str = ""


def assess(entries: Iterable[WorkloadEntry], context: ReadinessContext) -> list[WorkloadReadiness]:
    """Assesses workloads, in the order of the entries. Entries name objects in the namespace of the graph only."""
    return [_assess(entry, context) for entry in entries]


def problems(workloads: Iterable[WorkloadReadiness]) -> str:
    """Lists the workloads that are not ready, sorted: `demo-decode: REASON; demo-frontend: REASON` (operator: the message of Ready)."""
    parts: dict[str, list[str]] = {}
    for workload in workloads:
        if workload.problem:
            problem = f"{workload.part}: {workload.problem}" if workload.part else workload.problem
            parts.setdefault(workload.resource, []).append(problem)
    return "; ".join(f"{resource}: {'; '.join(sorted(texts))}" for resource, texts in sorted(parts.items()))


def first_failed(workloads: Iterable[WorkloadReadiness]) -> WorkloadReadiness | None:
    """Finds the first workload that failed, by name."""
    failed = (workload for workload in workloads if workload.failure)
    return min(failed, key=lambda workload: (workload.resource, workload.part), default=None)


def recheck(workloads: Iterable[WorkloadReadiness], context: ReadinessContext) -> float | None:
    """Returns the seconds until readiness changes although no object changes; None if it does not."""
    waiting = (workload for workload in workloads if workload.problem and not workload.failure)
    times = (_failing_pods(workload, context).remaining for workload in waiting)
    return min((time for time in times if time < inf), default=None)


def _assess(entry: WorkloadEntry, context: ReadinessContext) -> WorkloadReadiness:
    key = cached_object.workload_key(entry, context.owner.namespace)
    reader = replica_status.find(key.group, key.kind)
    if reader is None:
        problem = f"this version does not know the kind {entry.kind} of {entry.api_version}, update krm-fn"
        return WorkloadReadiness(entry, entry.name, "", None, problem)
    resource, part = reader.reported_as(names.graph_of(entry.kind, entry.name, entry.service) or context.graph, entry.name)
    status = context.workloads.of_owner(key, context.owner, entry.service)
    if status is None:
        problem = context.workloads.foreign([key], context.owner) or "resource not found"
        return WorkloadReadiness(entry, resource, part, None, problem)
    wrong_count = _wrong_count(entry, status, reader, context.features)
    changed = drift.of_workload(entry, status)
    if wrong_count or not status.problem or replica_status.explain_unprocessed(status):
        return WorkloadReadiness(entry, resource, part, status, wrong_count or status.problem, drift=changed)
    workload = WorkloadReadiness(entry, resource, part, status, f"{status.problem}, {_hint(entry, status, context)}", drift=changed)
    return workload._replace(failure=_failure(workload, context))


def _wrong_count(entry: WorkloadEntry, status: ReplicaStatus, reader: StatusReader, features: SyncFeatures) -> str:
    """Reports other replicas than in Git, where only a scale request changes them. Grove makes 1 pod of 0 replicas."""
    if not reader.scaled_by_syncer or entry.replicas is None:
        return ""
    if status.desired in (entry.replicas, max(entry.replicas, component_workloads.min_replicas(entry, status) or 0)):
        return ""
    problem = f"desired={status.desired}, in the graph={entry.replicas}"
    if status.defers_scaling:
        return f"{problem}, the number changes when Grove has updated all pods of the graph"
    if features.grove_counts:
        return problem
    scale = f"kubectl scale {reader.kind.lower()} -n {status.key.namespace} {status.key.name} --replicas={entry.replicas}"
    return f"{problem}, Grove does not follow the graph, run krm-fn sync with --grove-counts or {scale}"


def _hint(entry: WorkloadEntry, status: ReplicaStatus, context: ReadinessContext) -> str:
    """Names the problem of a pod, or the command that shows it."""
    if pod := _pods(entry.service, context).newest:
        message = f', last message "{pod.last_message}"' if pod.last_message and context.features.pod_messages else ""
        return f"pod {pod.key.name}: {pod.problem}{message}"
    selector = f"{labels.GRAPH}={context.graph},{labels.COMPONENT}={entry.service}" if context.graph else status.selector
    return f"see kubectl describe pods -n {context.owner.namespace} -l {selector}"


def _failure(workload: WorkloadReadiness, context: ReadinessContext) -> WorkloadFailure | None:
    """Returns the failure of the workload, or of a pod for too long if the controller of the workload has no deadline."""
    if workload.status and workload.status.failure:
        return WorkloadFailure(workload.status.failure.reason, workload.problem)
    pod = _failing_pods(workload, context).failed
    return WorkloadFailure(pod.failure.reason, workload.problem) if pod and pod.failure else None


def _failing_pods(workload: WorkloadReadiness, context: ReadinessContext) -> _ServicePods:
    """Returns the pods that cannot start, if their time is limited here."""
    if workload.status and not replica_status.get(workload.entry.kind).has_deadline:
        return _pods(workload.entry.service, context)
    return _ServicePods()


def _pods(service: str, context: ReadinessContext) -> _ServicePods:
    """Finds the pods of a service that show why they are not ready, once for all its workloads."""
    if not context.features.pods:
        return _ServicePods()
    if service not in context.pods:
        pods = context.workloads.family(context.owner.namespace, context.graph).pods_with_problem(service)
        times = [(_remaining(pod, context.now), pod) for pod in pods if pod.failure]
        failed = _newest(pod for remaining, pod in times if remaining <= 0)
        context.pods[service] = _ServicePods(_newest(pods), failed, min((remaining for remaining, _ in times), default=inf))
    return context.pods[service]


def _newest(pods: Iterable[ReplicaStatus]) -> ReplicaStatus | None:
    """Returns the newest pod; a pod that cannot start comes before a pod that waits."""
    return max(pods, key=lambda pod: (pod.failure is not None, pod.since, pod.key.name), default=None)


def _remaining(pod: ReplicaStatus, now: str) -> float:
    """Returns the seconds until a pod counts as failed; infinite if its times cannot be read."""
    begin, end = live_fields.seconds(pod.since), live_fields.seconds(now)
    return inf if begin is None or end is None else begin + PATIENCE - end
