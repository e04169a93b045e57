"""The forecast of a change: the pods that restart, the GPUs that the rollouts need, and the rollouts that never end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from krm_fn.base import codes, report, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render.schema.object_changes import ObjectChange
from krm_fn.review.forecast import (
    claimed_gpus,
    disaggregated_sets,
    gpu_capacity,
    leader_worker_sets,
    native_kinds,
    native_workloads,
    object_rules,
    podcliquesets,
    rollouts,
    simulation,
)
from krm_fn.review.forecast.claimed_gpus import ClaimKey, Shared, StateDevices
from krm_fn.review.forecast.object_rules import ClusterState, Effect, KindForecast
from krm_fn.review.forecast.rollouts import Rollout, Service

_DEPLOYMENT = ("apps", "Deployment")
_REPLICAS = ("spec", "replicas")


class _WorkloadRules(NamedTuple):
    """The rules of a kind of workloads. `scalable_parts` and `service_at` are those of a kind that holds several services."""

    forecast: Callable[[ObjectChange, ClusterState], KindForecast]
    scalable_parts: Callable[[Resource, str], Iterator[tuple[Service | None, dict[str, Any]]]] = object_rules.scalable_parts
    service_at: Callable[[Resource, Path, str], Service | None] | None = None


_RULES = {
    _DEPLOYMENT: _WorkloadRules(native_workloads.Deployment().forecast),
    ("", "Pod"): _WorkloadRules(native_workloads.BarePod().forecast),
    ("", "ReplicationController"): _WorkloadRules(native_workloads.ReplicaSet().forecast),
    ("apps", "DaemonSet"): _WorkloadRules(native_workloads.DaemonSet().forecast),
    ("apps", "ReplicaSet"): _WorkloadRules(native_workloads.ReplicaSet().forecast),
    ("apps", "StatefulSet"): _WorkloadRules(native_workloads.StatefulSet().forecast),
    ("disaggregatedset.x-k8s.io", "DisaggregatedSet"): _WorkloadRules(
        disaggregated_sets.forecast, disaggregated_sets.scalable_parts, disaggregated_sets.service_at
    ),
    ("grove.io", "PodCliqueSet"): _WorkloadRules(podcliquesets.forecast, podcliquesets.scalable_parts, podcliquesets.service_at),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): _WorkloadRules(leader_worker_sets.LeaderWorkerSet().forecast),
}
"""The rules of workloads by group and kind."""
_OTHERS = _WorkloadRules(object_rules.forecast)
"""The rules of all other kinds."""


class Gpus(NamedTuple):
    """Numbers of GPUs. `peak` is the largest number at one time.

    `interrupted` is the number held by old pods that are replaced, that are deleted with their object, or that stop until another writer
    scales their object again. `unknown_before`, `unknown_peak` and `unknown_after` are the numbers of claims whose GPUs are unknown, and
    not counted. The claims at the peak are those of both states.
    """

    before: int = 0
    peak: int = 0
    after: int = 0
    interrupted: int = 0
    unknown_before: int = 0
    unknown_after: int = 0
    unknown_peak: int = 0


class ObjectForecast(NamedTuple):
    """The forecast for one object. `services` are the services whose pods it makes, and `restarting` those whose pods are replaced.

    `causes` are the paths of the fields of the new object, or of the old one, that replace the pods or that the cluster refuses. `stuck`
    is None if nothing is known about the nodes, and otherwise True if the rollout waits for GPUs and never ends. `shares` are the GPUs of
    each service of both states. `dropped` is the number of replicas that stop until another writer scales the object again.
    """

    key: ObjectKey
    effect: Effect
    services: tuple[Service, ...] = ()
    restarting: tuple[Service, ...] = ()
    causes: tuple[Path, ...] = ()
    gpus: Gpus = Gpus()
    stuck: bool | None = None
    findings: tuple[Result, ...] = ()
    shares: tuple[tuple[Service, Gpus], ...] = ()
    dropped: int = 0


class Forecast(NamedTuple):
    """The outcomes in the order of the changes, and the GPUs of all objects together.

    `services` are all services of the new state, and `restarting` those with pods that are replaced. `deleted` are the services of the old
    state that the new state does not have, and `created` those that only the new state has. `needed` is the smallest number of
    free GPUs with which all rollouts end, if all free GPUs were on one node. `free` is the number of GPUs that the nodes have free
    while the old pods run; it is None if nothing is known about the nodes. Nodes list no GPUs of claims, so if the nodes are known, these
    are in neither of the two numbers. `rollouts` are those of all objects, in the order of the changes.
    """

    outcomes: tuple[ObjectForecast, ...]
    gpus: Gpus
    services: tuple[Service, ...]
    restarting: tuple[Service, ...]
    needed: int = 0
    free: int | None = None
    findings: tuple[Result, ...] = ()
    deleted: tuple[Service, ...] = ()
    created: tuple[Service, ...] = ()
    rollouts: tuple[Rollout, ...] = ()


def forecast(
    changes: Sequence[ObjectChange],
    nodes: Sequence[Resource] | None = None,
    pods: Sequence[Resource] = (),
    cluster_state: ClusterState | None = None,
) -> Forecast:
    """Forecasts changes that are applied together.

    `changes` has all objects of both states, also those that are the same: they hold GPUs. `nodes` and `pods` are those of the cluster;
    None means that nothing is known about the nodes. `cluster_state` is what the forecast reads of other objects; by default it is read
    from the changes. The function never raises for what the resources contain.
    """
    cluster_state = cluster_state or object_rules.read_cluster_state(changes)
    parts = [kind_forecast(change, cluster_state) for change in changes]
    together = [rollout for part in parts for rollout in part.rollouts]
    free = stuck = None
    if nodes is not None:
        free_nodes, placed = rollouts.place(together, nodes, pods)
        free = free_nodes.free()
        stuck = iter(simulation.simulate(placed, free_nodes).stuck)
    devices = claimed_gpus.read(changes)
    outcomes = tuple(_outcome(change, part, stuck, free, devices) for change, part in zip(changes, parts, strict=True))
    by_object = [(change.key.namespace, part.rollouts) for change, part in zip(changes, parts, strict=True)]
    gpus = _gpus_with_claims(by_object, devices)
    needed = simulation.needed_gpus(together) if nodes is not None else _needed_with_claims(by_object, devices)
    services = tuple(dict.fromkeys(service for change, part in zip(changes, parts, strict=True) if change.new for service in part.services))
    before = tuple(dict.fromkeys(service for change, part in zip(changes, parts, strict=True) for service in _old_services(change, part)))
    findings = (*_findings_of_all(changes, parts), *_node_findings(nodes, gpus.peak))
    deleted, created = tuple(service for service in before if service not in services), tuple(s for s in services if s not in before)
    return Forecast(outcomes, gpus, services, _restarting(changes, parts), needed, free, findings, deleted, created, tuple(together))


def _old_services(change: ObjectChange, part: KindForecast) -> Iterator[Service]:
    """Yields the services whose pods an object makes before the change."""
    if change.old is None:
        return
    if _rules(change.key).service_at:
        yield from (service for service, _ in scalable_parts(change.key, change.old) if service)
    else:
        yield from part.services


def restarting(changes: Sequence[ObjectChange]) -> tuple[Service, ...]:
    """Returns the services with pods that some changes replace, without GPUs: the field `restarting` of their forecast."""
    differing = [change for change in changes if change.fields or change.old is None or change.new is None]
    cluster_state = object_rules.read_cluster_state(differing)
    return _restarting(differing, [kind_forecast(change, cluster_state) for change in differing])


def kind_forecast(change: ObjectChange, cluster_state: ClusterState) -> KindForecast:
    """Forecasts the change of one object by the rules of its kind, without its GPUs."""
    return _rules(change.key).forecast(change, cluster_state)


def scalable_parts(key: ObjectKey, resource: Resource) -> Iterator[tuple[Service | None, dict[str, Any]]]:
    """Yields the parts of a workload that have a number of replicas, each with its service."""
    yield from _rules(key).scalable_parts(resource, key.namespace)


def service_at(key: ObjectKey, resource: Resource, path: Path) -> Service | None:
    """Returns the service that a field of a workload with several services is about; None for a field that is about all of them."""
    rules = _rules(key)
    return rules.service_at(resource, path, key.namespace) if rules.service_at else None


def _rules(key: ObjectKey) -> _WorkloadRules:
    return _RULES.get((key.group, key.kind), _OTHERS)


def _outcome(
    change: ObjectChange, part: KindForecast, stuck_rollouts: Iterator[bool] | None, free: int | None, devices: StateDevices
) -> ObjectForecast:
    """Returns the outcome for one object. `stuck_rollouts` has the next rollouts in the order of the objects."""
    stuck = None if stuck_rollouts is None else True in [next(stuck_rollouts) for _ in part.rollouts]
    findings = [*_object_findings(change, part), *claimed_gpus.findings(change, part.rollouts, devices)]
    if stuck and free is not None:
        findings.append(_stuck(change, part.rollouts, free))
    namespace = change.key.namespace
    gpus, shares = _gpus_with_claims([(namespace, part.rollouts)], devices), tuple(_shares(part, namespace, devices))
    dropped = sum(rollout.dropped for rollout in part.rollouts)
    return ObjectForecast(
        change.key, part.effect, part.services, part.restarting, part.causes, gpus, stuck, tuple(findings), shares, dropped
    )


def _shares(part: KindForecast, namespace: str, devices: StateDevices) -> Iterator[tuple[Service, Gpus]]:
    """Yields the GPUs of each service of an object."""
    rollouts_by_service: dict[Service, list[Rollout]] = {service: [] for service in part.services}
    for rollout in part.rollouts:
        service = rollout.service or next(iter(part.services), None)
        if service:
            rollouts_by_service.setdefault(service, []).append(rollout)
    for service, service_rollouts in rollouts_by_service.items():
        yield service, _gpus_with_claims([(namespace, service_rollouts)], devices)


def _needed_with_claims(rollouts_by_object: Sequence[tuple[str, Sequence[Rollout]]], devices: StateDevices) -> int:
    """Returns the smallest number of free GPUs with which all rollouts end, with those of claims."""
    counted, shared = _claims(rollouts_by_object, devices)
    return simulation.needed_gpus(counted) + shared.peak - shared.before


def _claims(rollouts_by_object: Sequence[tuple[str, Sequence[Rollout]]], devices: StateDevices) -> tuple[list[Rollout], Shared]:
    """Returns the rollouts with the GPUs of claims from templates, and the GPUs of claims with a name."""
    counted = [rollout for namespace, own in rollouts_by_object for rollout in claimed_gpus.count_claims(own, namespace, devices)]
    return counted, claimed_gpus.shared_gpus([(namespace, rollout) for namespace, own in rollouts_by_object for rollout in own], devices)


def _gpus_with_claims(rollouts_by_object: Sequence[tuple[str, Sequence[Rollout]]], devices: StateDevices) -> Gpus:
    """Returns the GPUs of rollouts with those of claims. Each sequence of rollouts comes with its namespace."""
    counted, shared = _claims(rollouts_by_object, devices)
    total = total_gpus(counted)
    unknown = [claimed_gpus.unknown(own, namespace, devices) for namespace, own in rollouts_by_object]
    old, new = (frozenset[ClaimKey]().union(*(claims[state] for claims in unknown)) for state in (0, 1))
    before, peak, after = total.before + shared.before, total.peak + shared.peak, total.after + shared.after
    return Gpus(before, peak, after, total.interrupted, len(old), len(new), len(old | new))


def total_gpus(parallel: Sequence[Rollout]) -> Gpus:
    """Returns the GPUs of rollouts that begin at the same time, if there are enough."""
    old = sum(rollouts.gpus(rollout.old_demands) * rollout.old_units for rollout in parallel)
    new = sum(rollouts.gpus(rollout.new_demands if rollout.replaces else rollout.old_demands) * rollout.new_units for rollout in parallel)
    interrupted = sum(rollouts.gpus(rollout.old_demands) * _interrupted_units(rollout) for rollout in parallel)
    return Gpus(old, simulation.peak(parallel), new, interrupted)


def _interrupted_units(rollout: Rollout) -> int:
    """Returns the number of old units that stop although their service or the number of its replicas does not ask for it."""
    return rollout.old_units if rollout.replaces or rollout.pruned else rollout.dropped


def _restarting(changes: Sequence[ObjectChange], parts: Sequence[KindForecast]) -> tuple[Service, ...]:
    """Returns the services with pods that are replaced: by their own object, or because another object replaces a removed one."""
    pairs = tuple(zip(changes, parts, strict=True))
    created = {service for _, part in pairs if part.rollouts and part.effect == "created" for service in part.services}
    deleted = {service for change, part in pairs if part.effect == "deleted" for service in _with_pods(change, part)}
    moved = created & deleted
    services = (service for part in parts for service in (*part.restarting, *(service for service in part.services if service in moved)))
    return tuple(dict.fromkeys(services))


def _with_pods(change: ObjectChange, part: KindForecast) -> Iterator[Service]:
    """Yields the services that may have pods before the change."""
    for rollout in part.rollouts:
        if rollout.service is None and object_rules.may_have_pods(change.old):
            yield from part.services
        elif rollout.service and rollout.old_units:
            yield rollout.service


def _object_findings(change: ObjectChange, part: KindForecast) -> Iterator[Result]:
    """Yields the findings about one object that do not depend on GPUs."""
    yield from part.findings
    ref = results.ref(change.new or change.old or {})
    if part.effect == "refused" and not results.has_errors([*part.findings]):
        field = results.field(part.causes[0])
        remedy = native_kinds.remedy(change.key).format(name=ref.name)
        yield results.error(
            codes.IMMUTABLE_KUBERNETES_FIELD, f"an API server refuses a change of {field}; set it back, or {remedy}", ref, part.causes[0]
        )
    elif part.causes and part.effect == "updated":
        message = "the rollout does not start: the object is paused, its partition keeps all pods, or it waits until a pod is deleted"
        yield results.warning(
            codes.ROLLOUT_DOES_NOT_START, f"{message}; resume it, lower the partition, or delete the old pods", ref, part.causes[0]
        )
    yield from _removed_replicas(change, part)


def _removed_replicas(change: ObjectChange, part: KindForecast) -> Iterator[Result]:
    """Warns of replicas that leave the file: with both ways of applying, the API server writes the default, which is 1."""
    dropped = sum(rollout.dropped for rollout in part.rollouts)
    if dropped:
        message = f"the change removes replicas, so {dropped + 1} replicas become 1 until another writer scales them"
        fix = "keep the number until the new owner of replicas has written it"
        yield results.warning(codes.REPLICAS_BECOME_ONE, f"{message}; {fix}", results.ref(change.new or {}), _REPLICAS)


def _findings_of_all(changes: Sequence[ObjectChange], parts: Sequence[KindForecast]) -> Iterator[Result]:
    """Yields the findings about several objects."""
    pairs = tuple(zip(changes, parts, strict=True))
    yield from _simultaneous_restarts(pairs)
    yield from _parallel_workloads(pairs)


def _simultaneous_restarts(pairs: Sequence[tuple[ObjectChange, KindForecast]]) -> Iterator[Result]:
    """Warns of services whose replicas are separate workloads: they do not wait for each other."""
    changes_by_service: dict[Service, list[ObjectChange]] = {}
    for change, part in pairs:
        for service in part.restarting:
            changes_by_service.setdefault(service, []).append(change)
    for service, changes in changes_by_service.items():
        if len(changes) > 1:
            kind = changes[0].key.kind
            message = f"all {len(changes)} replicas of {service.name} restart at the same time, because each is a {kind} of its own"
            yield results.warning(
                codes.ALL_REPLICAS_RESTART, f"{message}; apply the change when the service may stop", results.ref(changes[0].new or {})
            )


def _parallel_workloads(pairs: Sequence[tuple[ObjectChange, KindForecast]]) -> Iterator[Result]:
    """Notes new workloads that run beside removed ones of the same graph."""
    removed: dict[tuple[str, str], list[str]] = {}
    for change, part in pairs:
        for service in part.services if part.rollouts and change.new is None else ():
            removed.setdefault(service[:2], []).append(change.key.name)
    for change, part in pairs:
        graphs = dict.fromkeys(service[:2] for service in part.services) if part.rollouts and change.old is None else ()
        if names := [*dict.fromkeys(name for graph in graphs for name in removed.get(graph, ()))]:
            message = f"it runs beside {', '.join(names)} until that is pruned, and both hold GPUs until then"
            yield results.info(
                codes.NEW_WORKLOAD_BESIDE_OLD, f"{message}; prune soon, or make room for both", results.ref(change.new or {})
            )


def _stuck(change: ObjectChange, stuck_rollouts: Sequence[Rollout], free: int) -> Result:
    """Returns the finding about a rollout that waits for GPUs and never ends, with the number of GPUs that it needs."""
    gpus = sum(rollouts.gpus(rollout.new_demands) for rollout in stuck_rollouts if rollout.replaces)
    deadline = object_rules.spec(change.new).get("progressDeadlineSeconds")
    until = f"; it waits until progressDeadlineSeconds ({deadline} s) calls it failed" if isinstance(deadline, int) else ""
    need = f"a new pod needs {report.pluralize(gpus, 'GPU')}, and {report.pluralize(free, 'GPU')} of the nodes are free"
    message = f"the rollout is stuck: {need} while the old pods run{until}"
    return results.warning(codes.ROLLOUT_WITHOUT_FREE_GPUS, f"{message}; {_advice(change, stuck_rollouts)}", results.ref(change.new or {}))


def _advice(change: ObjectChange, stuck_rollouts: Sequence[Rollout]) -> str:
    """Advice: a way to end the rollout with fewer GPUs, and its cost."""
    needed = simulation.needed_gpus(stuck_rollouts)
    is_deployment = (change.key.group, change.key.kind) == _DEPLOYMENT
    for steps, advice, cost in native_workloads.deployment_choices(stuck_rollouts[0].new_units) if is_deployment else ():
        fewer = simulation.needed_gpus([rollout._replace(steps=steps) for rollout in stuck_rollouts])
        if fewer < needed:
            return f"{advice} ({cost}, enough with {report.pluralize(fewer, 'GPU')} free), or make {report.pluralize(needed, 'GPU')} free"
    return f"make {report.pluralize(needed, 'GPU')} free"


def _node_findings(nodes: Sequence[Resource] | None, peak: int) -> Iterator[Result]:
    """Warns of nodes without any GPU, if objects need GPUs."""
    if nodes is not None and peak and not any(gpu_capacity.node_gpus(node) for node in nodes):
        shown = ", ".join(results.ref(node).name for node in nodes[:3]) or "no node at all"
        message = f"the list of nodes has no GPUs ({shown}), so every rollout with GPUs would wait"
        yield results.warning(
            codes.NODES_WITHOUT_GPUS, f"{message}; export the nodes while their device plugin runs: kubectl get nodes -o json"
        )
