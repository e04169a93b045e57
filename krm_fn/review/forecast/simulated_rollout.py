"""One rollout in a simulation, by the rules of the controllers.

Follows the Deployment controller (`pkg/controller/deployment` of Kubernetes: NewRSNewReplicas, reconcileOldReplicaSets), and for units with
numbers the controllers of StatefulSets and LeaderWorkerSets (`updateStatefulSet`; `rollingUpdateParameters`).
"""

from __future__ import annotations

from krm_fn.review.forecast.gpu_capacity import Demand, Nodes, Placement
from krm_fn.review.forecast.rollouts import Rollout


class SimulatedRollout:
    """One rollout while it runs: the nodes of old and new units, and the numbers of both that wait, or that are not ready.

    The units that are not ready are the last ones of those with nodes.
    """

    def __init__(self, rollout: Rollout, nodes: Nodes) -> None:
        self._nodes, self.rollout, self._steps = nodes, rollout, rollout.steps
        self._wanted = rollout.new_units
        self._old_gpus, self._new_gpus = (sum(demand.gpus for demand in demands) for demands in (rollout.old_demands, rollout.new_demands))
        self._old: list[Placement] = []
        self._new: list[Placement] = []
        self._old_waiting = self._new_waiting = 0
        self._old_unready = self._new_unready = 0
        self._is_scaled = self._is_started = self._is_idle = False
        self.is_pruned = rollout.pruned
        for index in range(rollout.old_units):
            placement = rollout.placements[index] if index < len(rollout.placements) else None
            self._old.append(placement if placement is not None else nodes.take(rollout.old_demands, unbounded=True) or ())

    def gpus(self) -> int:
        """Returns the number of GPUs that the units on nodes hold."""
        return len(self._old) * self._old_gpus + len(self._new) * self._new_gpus

    def is_complete(self) -> bool:
        """True if all wanted units run and no other unit is left."""
        if not self.rollout.replaces:
            return len(self._old) == self._wanted and not self._old_waiting
        return len(self._new) == self._wanted and not self._old and not self._old_waiting

    def has_waiting(self) -> bool:
        """True if a unit has no node yet."""
        return self._old_waiting + self._new_waiting > 0

    def is_stable(self) -> bool:
        """True if all its units run and are ready, so that a controller of several rollouts takes the next step."""
        return not self.has_waiting() and not self._old_unready + self._new_unready

    def is_blocked(self) -> bool:
        """True if the rollout only waits for GPUs, and none were freed since units of the same demands did not fit."""
        return self._is_idle and self._nodes.is_full(self.rollout.new_demands)

    def act(self) -> bool:
        """Lets the controller act once; returns False if it has nothing to do."""
        acts = self._act()
        self._is_idle = not acts and not self._old_waiting and self._new_waiting > 0
        return acts

    def _act(self) -> bool:
        if self._scale():
            return True
        if not self.rollout.replaces:
            return False
        if self._steps.at_once:
            return self._recreate()
        return self._renumber() if self._steps.numbered else self._grow() or self._shrink()

    def place(self) -> bool:
        """Places waiting units where they fit; returns False if no unit fits."""
        if not self._old_waiting and not self._new_waiting:
            return False
        old = self._place_all(self._old, self._old_waiting, self.rollout.old_demands)
        new = self._place_all(self._new, self._new_waiting, self.rollout.new_demands)
        self._old_waiting, self._new_waiting = self._old_waiting - old, self._new_waiting - new
        self._old_unready, self._new_unready = self._old_unready + old, self._new_unready + new
        self._is_idle = self._is_idle and not old + new
        return old + new > 0

    def become_ready(self) -> bool:
        """Lets units with nodes become ready, the oldest first; returns False if all are.

        It is one unit at the end of a rollout, where the order decides the peak, and before that as many as have the same effect together.
        """
        if self.is_complete() or not self._old_unready + self._new_unready:
            return False
        most = len(self._old) if self._steps.numbered else self._wanted - len(self._new) - self._new_waiting
        count = max(1, min(most, self._old_unready + self._new_unready))
        old = min(count, self._old_unready)
        self._old_unready, self._new_unready = self._old_unready - old, max(self._new_unready - count + old, 0)
        self._is_idle = False
        return True

    def _place_all(self, placements: list[Placement], waiting: int, demands: tuple[Demand, ...]) -> int:
        for count in range(waiting):
            placement = self._nodes.take(demands)
            if placement is None:
                return count
            placements.append(placement)
        return waiting

    def _scale(self) -> bool:
        """Scales the old units to the new number before the first of them is replaced (syncDeployment, isScalingEvent)."""
        if self._is_scaled:
            return False
        self._is_scaled = True
        more = self._wanted - self.rollout.old_units
        if more > 0 and self._steps.numbered and self.rollout.replaces:
            return False
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
        """Removes old units: those that are not ready first, then as many as may be missing (reconcileOldReplicaSets)."""
        old, new = len(self._old) + self._old_waiting, len(self._new) + self._new_waiting
        least = self._wanted - self._steps.unavailable
        allowed = old + new - least - self._new_waiting - self._new_unready
        if not old or allowed <= 0:
            return False
        unhealthy = min(self._old_waiting + self._old_unready, allowed)
        self._remove_old(unhealthy)
        ready = len(self._old) - self._old_unready + len(self._new) - self._new_unready
        spare = min(max(ready - least, 0), len(self._old))
        self._remove_old(spare)
        return unhealthy + spare > 0

    def _renumber(self) -> bool:
        """Adds the surge, then replaces the last old unit whenever all others are ready, and removes the surge when few are left.

        A StatefulSet replaces one pod at a time: the feature gate MaxUnavailableStatefulSet is off by default.
        """
        is_first, self._is_started = not self._is_started, True
        surge, unavailable = self._steps.surge, self._steps.unavailable
        ready, total = len(self._new) - self._new_unready, len(self._old) + len(self._new) + self._new_waiting
        missing = self._wanted if is_first else min(self._wanted, total - ready)
        wanted = self._wanted + (surge if missing > surge else max(missing - unavailable, 0))
        removed = 0 if is_first else max(total - wanted, 0)
        is_waiting = is_first or self.has_waiting() or bool(self._new_unready)
        replaced = 0 if is_waiting else min(1, max(len(self._old) - max(self._wanted - unavailable - ready, 0), 0))
        self._remove_old(replaced)
        self._new_waiting += max(wanted - total, 0) * is_first + replaced
        for _ in range(removed):
            self._nodes.give(self.rollout.new_demands, self._new.pop(0))
        return is_first or replaced + removed > 0

    def _remove_old(self, count: int) -> None:
        """Removes old units: those without a node first, and those that are not ready before others."""
        waiting = min(self._old_waiting, count)
        self._old_waiting -= waiting
        self._old_unready = max(self._old_unready - count + waiting, 0)
        for _ in range(count - waiting):
            self._nodes.give(self.rollout.old_demands, self._old.pop())
