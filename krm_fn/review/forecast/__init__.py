"""What a cluster does with changed objects: which pods restart, which GPUs that takes, and whether the rollouts can end.

`kinds` has one file for each kind of object with pods; `kinds.others` has the rules of all other kinds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.review.forecast import findings, kinds, placing, rollout, simulation, world
from krm_fn.review.forecast.outcome import Forecast, Gpus, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.review.changes import Change
    from krm_fn.review.forecast.kinds import Part, World
    from krm_fn.review.forecast.outcome import Service
    from krm_fn.review.forecast.rollout import Rollout

__all__ = ["forecast"]


def forecast(changes: Sequence[Change], nodes: Sequence[Resource] | None = None, pods: Sequence[Resource] = ()) -> Forecast:
    """Forecasts changes that are applied together.

    `changes` has all objects of both states, also those that are the same: they hold GPUs. `nodes` and `pods` are those of the cluster;
    None means that nothing is known about the nodes. The function never raises for what the resources contain.
    """
    around = world.read(changes)
    parts = [kinds.get(change.key)(change, around) for change in changes]
    rollouts = [each for part in parts for each in part.rollouts]
    free = waits = None
    if nodes is not None:
        room, placed = placing.place(rollouts, nodes, pods)
        free = room.free()
        waits = iter(simulation.run(placed, room).stuck)
    outcomes = tuple(_outcome(change, part, around, waits, free) for change, part in zip(changes, parts, strict=True))
    total = _gpus(rollouts)
    services = tuple(dict.fromkeys(each for change, part in zip(changes, parts, strict=True) if change.new for each in part.services))
    found = (*findings.together(changes, parts), *findings.about_nodes(nodes, total.peak))
    return Forecast(outcomes, total, services, _restarting(changes, parts), simulation.needed(rollouts), free, found)


def _outcome(change: Change, part: Part, around: World, waits: Iterator[bool] | None, free: int | None) -> Outcome:
    """The outcome for one object. `waits` has the next rollouts in the order of the objects."""
    stuck = None if waits is None else True in [next(waits) for _ in part.rollouts]
    found = [*findings.of_change(change, part, around)]
    if stuck and free is not None:
        found.append(findings.stuck(change, part.rollouts, free))
    gpus, shares = _gpus(part.rollouts), tuple(_shares(part))
    return Outcome(change.key, part.effect, part.services, part.restarting, part.causes, gpus, stuck, tuple(found), shares)


def _shares(part: Part) -> Iterator[tuple[Service, Gpus]]:
    """The GPUs of each service of an object."""
    found: dict[Service, list[Rollout]] = {service: [] for service in part.services}
    for each in part.rollouts:
        service = each.service or next(iter(part.services), None)
        if service:
            found.setdefault(service, []).append(each)
    yield from ((service, _gpus(rollouts)) for service, rollouts in found.items())


def _gpus(rollouts: Sequence[Rollout]) -> Gpus:
    """The GPUs of rollouts that begin at the same time, if there are enough."""
    before = sum(rollout.gpus(each.old) * each.before for each in rollouts)
    after = sum(rollout.gpus(each.new if each.replaces else each.old) * each.after for each in rollouts)
    interrupted = sum(rollout.gpus(each.old) * each.before for each in rollouts if each.replaces)
    return Gpus(before, simulation.peak(rollouts), after, interrupted)


def _restarting(changes: Sequence[Change], parts: Sequence[Part]) -> tuple[Service, ...]:
    """The services with pods that are replaced: by their own object, or because another object takes the place of a removed one."""
    come, go = (
        {each for change, part in zip(changes, parts, strict=True) if part.rollouts and part.effect == effect for each in part.services}
        for effect in ("created", "deleted")
    )
    found = dict.fromkeys(each for part in parts for each in (*part.restarting, *(one for one in part.services if one in come & go)))
    return tuple(found)
