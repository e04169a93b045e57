"""Simulates rollouts unit by unit: which pods run at each moment, on which node, and whether all rollouts end.

The rules are those of the Deployment controller (`pkg/controller/deployment` of Kubernetes: NewRSNewReplicas, reconcileOldReplicaSets).
The other controllers follow them with steps of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.records import NamedTuple
from krm_fn.review.forecast import capacity
from krm_fn.review.forecast.rollout import gpus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.review.forecast.capacity import Demand, Nodes
    from krm_fn.review.forecast.rollout import Placement, Rollout

_PLENTY = 10**9


class End(NamedTuple):
    """The end of the simulation: the largest number of GPUs at one time, and for each rollout True if it waits for ever."""

    peak: int
    stuck: tuple[bool, ...]


def run(rollouts: Sequence[Rollout], nodes: Nodes) -> End:
    """Simulates rollouts that begin at the same time, until nothing changes any more. `nodes` is changed.

    Each round lets each controller act once and then places the units that wait, in the order of the rollouts. Pruned objects go
    last. Rollouts without GPUs always end.
    """
    running = [_Running(rollout, nodes) for rollout in rollouts if gpus(rollout.old) or gpus(rollout.new)]
    most = sum(entry.gpus() for entry in running)
    for pruning in (False, True):
        acting = [entry for entry in running if pruning or not entry.is_pruned]
        while sum(entry.act() + entry.place() for entry in acting):
            most = max(most, sum(entry.gpus() for entry in running))
    waits = {id(entry.rollout): not entry.is_complete() for entry in running}
    return End(most, tuple(waits.get(id(rollout), False) for rollout in rollouts))


def peak(rollouts: Sequence[Rollout]) -> int:
    """The largest number of GPUs at one time, if there are enough."""
    return run(rollouts, _pool(rollouts, _PLENTY)).peak


def needed(rollouts: Sequence[Rollout]) -> int:
    """The smallest number of free GPUs with which all rollouts end, if they are on one node and of one resource."""
    held = sum(gpus(entry.old) * entry.before for entry in rollouts)
    least, most = 0, peak(rollouts) - held
    while least < most:
        middle = (least + most) // 2
        if any(run(rollouts, _pool(rollouts, held + middle)).stuck):
            least = middle + 1
        else:
            most = middle
    return least


def _pool(rollouts: Sequence[Rollout], count: int) -> Nodes:
    """One node with this many GPUs of each resource."""
    return capacity.pool({name: count for entry in rollouts for demand in (*entry.old, *entry.new) for name, _ in demand.amounts})


class _Running:
    """One rollout while it runs: the nodes of old and new units, and the numbers of both that wait for a node."""

    def __init__(self, rollout: Rollout, nodes: Nodes) -> None:
        self._nodes, self.rollout, self._steps = nodes, rollout, rollout.steps
        self._wanted = rollout.after
        self._old: list[Placement] = []
        self._new: list[Placement] = []
        self._old_waiting = self._new_waiting = 0
        self._is_scaled = False
        self.is_pruned = rollout.pruned
        for index in range(rollout.before):
            known = rollout.placed[index] if index < len(rollout.placed) else None
            placed = known if known is not None else nodes.take(rollout.old, unbounded=True)
            self._old.append(placed or ())

    def gpus(self) -> int:
        """The number of GPUs that the units on nodes hold."""
        return len(self._old) * gpus(self.rollout.old) + len(self._new) * gpus(self.rollout.new)

    def is_complete(self) -> bool:
        """True if all wanted units run and no other unit is left."""
        if not self.rollout.replaces:
            return len(self._old) == self._wanted and not self._old_waiting
        return len(self._new) == self._wanted and not self._old and not self._old_waiting

    def act(self) -> bool:
        """Lets the controller act once; returns False if it has nothing to do."""
        if self._scale():
            return True
        if not self.rollout.replaces:
            return False
        if self._steps.at_once:
            return self._recreate()
        return self._grow() or self._shrink()

    def place(self) -> bool:
        """Places waiting units where they fit; returns False if no unit found a place."""
        old = self._place_all(self._old, self._old_waiting, self.rollout.old)
        new = self._place_all(self._new, self._new_waiting, self.rollout.new)
        self._old_waiting, self._new_waiting = self._old_waiting - old, self._new_waiting - new
        return old + new > 0

    def _place_all(self, placed: list[Placement], waiting: int, size: tuple[Demand, ...]) -> int:
        for count in range(waiting):
            placement = self._nodes.take(size)
            if placement is None:
                return count
            placed.append(placement)
        return waiting

    def _scale(self) -> bool:
        """Scales the old units to the new number before the first of them is replaced (syncDeployment, isScalingEvent)."""
        if self._is_scaled:
            return False
        self._is_scaled = True
        more = self._wanted - self.rollout.before
        if more > 0:
            self._old_waiting += more
        else:
            self._remove_old(-more)
        return more != 0

    def _recreate(self) -> bool:
        if self._old or self._old_waiting:
            self._remove_old(len(self._old) + self._old_waiting)
            return True
        missing = self._wanted - len(self._new) - self._new_waiting
        self._new_waiting += missing
        return missing > 0

    def _grow(self) -> bool:
        """Adds new units as far as the surge allows (NewRSNewReplicas)."""
        new = len(self._new) + self._new_waiting
        total = new + len(self._old) + self._old_waiting
        added = min(self._wanted + self._steps.surge - total, self._wanted - new)
        if added > 0:
            self._new_waiting += added
        return added > 0

    def _shrink(self) -> bool:
        """Removes old units: those that wait first, then as many as may be missing (reconcileOldReplicaSets)."""
        old, new = len(self._old) + self._old_waiting, len(self._new) + self._new_waiting
        least = self._wanted - self._steps.unavailable
        allowed = old + new - least - self._new_waiting
        if not old or allowed <= 0:
            return False
        waiting = min(self._old_waiting, allowed)
        self._old_waiting -= waiting
        spare = min(max(len(self._old) + len(self._new) - least, 0), len(self._old))
        self._remove_running(spare)
        return waiting + spare > 0

    def _remove_old(self, count: int) -> None:
        waiting = min(self._old_waiting, count)
        self._old_waiting -= waiting
        self._remove_running(count - waiting)

    def _remove_running(self, count: int) -> None:
        for _ in range(count):
            self._nodes.give(self.rollout.old, self._old.pop())
