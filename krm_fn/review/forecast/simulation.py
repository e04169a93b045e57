"""A simulation of rollouts, which finds the pods of each moment and the rollouts that never end.

A new unit holds its GPUs from its start, and is ready later. Controllers count ready units, so a rollout is at its peak if its units become
ready one after the other. A unit that stops gives its GPUs back at once: the time that a container takes to end does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from krm_fn.base.records import NamedTuple
from krm_fn.review.forecast import gpu_capacity
from krm_fn.review.forecast.gpu_capacity import Demand, Nodes
from krm_fn.review.forecast.rollouts import Rollout, Steps, gpus
from krm_fn.review.forecast.simulated_rollout import SimulatedRollout

_PLENTY = 10**9


class SimulationResult(NamedTuple):
    """The largest number of GPUs at one time, and for each rollout True if it never ends.

    `waited` is true if a unit did not fit on the nodes when its rollout began it.
    """

    peak: int
    stuck: tuple[bool, ...]
    waited: bool = False


def simulate(rollouts: Sequence[Rollout], nodes: Nodes) -> SimulationResult:
    """Simulates rollouts that begin at the same time, until nothing changes any more. `nodes` is changed.

    Each round lets each controller act once and then places the units that wait, in the order of the rollouts. Units become ready when no
    controller acts any more. Pruned objects go last. Rollouts without GPUs always end.
    """
    simulated = [SimulatedRollout(rollout, nodes) for rollout in rollouts if gpus(rollout.old_demands) or gpus(rollout.new_demands)]
    most = held = sum(rollout.gpus() for rollout in simulated)
    waited = False
    for pruning in (False, True):
        active = [rollout for rollout in simulated if pruning or not rollout.is_pruned]
        while active:
            before = sum(rollout.gpus() for rollout in active)
            waiting = {rollout.rollout.together for rollout in active if rollout.rollout.together and not rollout.is_stable()}
            if not sum(_step(rollout, waiting) for rollout in active if not rollout.is_blocked()):
                if sum(rollout.become_ready() for rollout in active):
                    continue
                waited = waited or not all(rollout.is_complete() for rollout in active)
                break
            held += sum(rollout.gpus() for rollout in active) - before
            most = max(most, held)
            waited = waited or any(rollout.has_waiting() for rollout in active)
            active = [rollout for rollout in active if not rollout.is_complete()]
    waits = {id(rollout.rollout): not rollout.is_complete() for rollout in simulated}
    return SimulationResult(most, tuple(waits.get(id(rollout), False) for rollout in rollouts), waited)


def _step(rollout: SimulatedRollout, waiting: set[str]) -> int:
    """Lets a controller act, unless it waits for units of another rollout, and places units. Returns 0 if nothing changes."""
    return (rollout.rollout.together not in waiting and rollout.act()) + rollout.place()


def peak(rollouts: Iterable[Rollout]) -> int:
    """Returns the largest number of GPUs at one time if there are enough, in whatever order the units of all rollouts become ready.

    It is the sum of the peaks of the rollouts: their controllers do not wait for each other, so all may be at their peaks.
    """
    return sum(_peak_alone(_numbers_of(rollout)) for rollout in rollouts)


class _Numbers(NamedTuple):
    """The numbers of a rollout that decide its peak. GPUs are those of one unit."""

    old_units: int
    new_units: int
    old_gpus: int
    new_gpus: int
    steps: Steps
    replaces: bool


def _numbers_of(rollout: Rollout) -> _Numbers:
    old_gpus, new_gpus = gpus(rollout.old_demands), gpus(rollout.new_demands)
    return _Numbers(rollout.old_units, rollout.new_units, old_gpus, new_gpus, rollout.steps, rollout.replaces)


@lru_cache(maxsize=4096)  # most rollouts of a fleet have the same numbers
def _peak_alone(numbers: _Numbers) -> int:
    old_demands, new_demands = ((Demand((("gpus", count),) if count else ()),) for count in (numbers.old_gpus, numbers.new_gpus))
    rollout = Rollout(numbers.old_units, numbers.new_units, old_demands, new_demands, numbers.steps, numbers.replaces)
    return simulate([rollout], _pool([rollout], _PLENTY)).peak


def needed_gpus(rollouts: Sequence[Rollout]) -> int:
    """Returns the smallest number of free GPUs with which all rollouts end, if they are on one node and of one resource."""
    held = sum(gpus(rollout.old_demands) * rollout.old_units for rollout in rollouts)
    least, most, tried = 0, peak(rollouts) - held, 0
    while least < most:
        if any(simulate(rollouts, _pool(rollouts, held + tried)).stuck):
            least = tried + 1
        else:
            most = tried
        is_bounded = most <= 2 * least  # a few GPUs are mostly enough, so the numbers double until they are
        tried = (least + most) // 2 if is_bounded else 2 * least
    return least


def _pool(rollouts: Sequence[Rollout], count: int) -> Nodes:
    """Returns one node with this many GPUs of each resource."""
    demands = (demand for rollout in rollouts for demand in (*rollout.old_demands, *rollout.new_demands))
    return gpu_capacity.pool({name: count for demand in demands for name, _ in demand.amounts})
