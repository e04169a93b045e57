"""The forecast of a change: the pods that restart, the GPUs that the rollouts need, and the rollouts that never end.

`kinds` has one file for each kind of object with pods; `kind_rules.others` has the rules of all other kinds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.review.forecast import cluster_state, forecast_findings, kind_rules, pod_placement, rollout, simulation
from krm_fn.review.forecast.forecast_types import Forecast, Gpus, ObjectForecast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.provenance.object_changes import ObjectChange
    from krm_fn.review.forecast.forecast_types import Service
    from krm_fn.review.forecast.kind_rules import ClusterState, KindForecast
    from krm_fn.review.forecast.rollout import Rollout

__all__ = ["forecast"]


def forecast(changes: Sequence[ObjectChange], nodes: Sequence[Resource] | None = None, pods: Sequence[Resource] = ()) -> Forecast:
    """Forecasts changes that are applied together.

    `changes` has all objects of both states, also those that are the same: they hold GPUs. `nodes` and `pods` are those of the cluster;
    None means that nothing is known about the nodes. The function never raises for what the resources contain.
    """
    state = cluster_state.read(changes)
    parts = [kind_rules.get(change.key)(change, state) for change in changes]
    rollouts = [item for part in parts for item in part.rollouts]
    free = waits = None
    if nodes is not None:
        room, placed = pod_placement.place(rollouts, nodes, pods)
        free = room.free()
        waits = iter(simulation.run(placed, room).stuck)
    outcomes = tuple(_outcome(change, part, state, waits, free) for change, part in zip(changes, parts, strict=True))
    total = _gpus(rollouts)
    services = tuple(dict.fromkeys(item for change, part in zip(changes, parts, strict=True) if change.new for item in part.services))
    findings_of_all = (*forecast_findings.together(changes, parts), *forecast_findings.about_nodes(nodes, total.peak))
    return Forecast(outcomes, total, services, _restarting(changes, parts), simulation.needed(rollouts), free, findings_of_all)


def _outcome(
    change: ObjectChange, part: KindForecast, state: ClusterState, waits: Iterator[bool] | None, free: int | None
) -> ObjectForecast:
    """The outcome for one object. `waits` has the next rollouts in the order of the objects."""
    stuck = None if waits is None else True in [next(waits) for _ in part.rollouts]
    findings = [*forecast_findings.of_change(change, part, state)]
    if stuck and free is not None:
        findings.append(forecast_findings.stuck(change, part.rollouts, free))
    gpus, shares = _gpus(part.rollouts), tuple(_shares(part))
    return ObjectForecast(change.key, part.effect, part.services, part.restarting, part.causes, gpus, stuck, tuple(findings), shares)


def _shares(part: KindForecast) -> Iterator[tuple[Service, Gpus]]:
    """The GPUs of each service of an object."""
    rollouts_by_service: dict[Service, list[Rollout]] = {service: [] for service in part.services}
    for entry in part.rollouts:
        service = entry.service or next(iter(part.services), None)
        if service:
            rollouts_by_service.setdefault(service, []).append(entry)
    yield from ((service, _gpus(rollouts)) for service, rollouts in rollouts_by_service.items())


def _gpus(rollouts: Sequence[Rollout]) -> Gpus:
    """The GPUs of rollouts that begin at the same time, if there are enough."""
    before = sum(rollout.gpus(entry.old) * entry.before for entry in rollouts)
    after = sum(rollout.gpus(entry.new if entry.replaces else entry.old) * entry.after for entry in rollouts)
    interrupted = sum(rollout.gpus(entry.old) * entry.before for entry in rollouts if entry.replaces)
    return Gpus(before, simulation.peak(rollouts), after, interrupted)


def _restarting(changes: Sequence[ObjectChange], parts: Sequence[KindForecast]) -> tuple[Service, ...]:
    """The services with pods that are replaced: by their own object, or because another object takes the place of a removed one."""
    come, go = (
        {
            service
            for change, part in zip(changes, parts, strict=True)
            if part.rollouts and part.effect == effect
            for service in part.services
        }
        for effect in ("created", "deleted")
    )
    services = dict.fromkeys(
        service for part in parts for service in (*part.restarting, *(one for one in part.services if one in come & go))
    )
    return tuple(services)
