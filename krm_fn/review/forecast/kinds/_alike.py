"""What forecasts have in common if all replicas of a workload are alike: such a workload has one service and one rollout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.review.forecast import kinds, rollout
from krm_fn.review.forecast.kinds import Part
from krm_fn.review.forecast.rollout import Rollout

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kube.types import Resource
    from krm_fn.results import Path, Result
    from krm_fn.review.changes import Change
    from krm_fn.review.forecast.capacity import Demand
    from krm_fn.review.forecast.kinds import World
    from krm_fn.review.forecast.outcome import Service
    from krm_fn.review.forecast.rollout import Selector, Steps


class Alike:
    """The hooks of one kind."""

    def immutable(self, old: Resource, new: Resource) -> Path | None:
        """The path of a field whose change an API server or a webhook refuses; None if the change is allowed."""
        raise NotImplementedError

    def causes(self, old: Resource, new: Resource) -> tuple[Path, ...]:
        """The paths of the fields that replace the pods."""
        raise NotImplementedError

    def waits(self, new: Resource) -> bool:
        """True if the object replaces no pods for now."""
        return False

    def size(self, resource: Resource) -> tuple[Demand, ...]:
        """The demands of the pods of one replica."""
        raise NotImplementedError

    def steps(self, spec: Mapping[str, Any], replicas: int) -> Steps:
        """The steps of a rollout."""
        raise NotImplementedError

    def selector(self, change: Change) -> Selector:
        """How the pods that run are found."""
        raise NotImplementedError

    def findings(self, change: Change, causes: tuple[Path, ...]) -> Iterator[Result]:
        """Findings about a change that restarts or updates. By default: none."""
        yield from ()

    def forecast(self, change: Change, world: World) -> Part:
        """The forecast for one object."""
        found = kinds.service_of(change)
        services = () if found is None else (found,)
        both = kinds.differing(change)
        if both is None:
            return Part(kinds.simple(change), services, rollouts=(self._rollout(change, world, found, replaces=False),))
        if (path := self.immutable(*both)) is not None:
            again = rollout.again(self._rollout(change, world, found, replaces=True))
            return Part("refused", services, services, (path,), (again,))
        changed = self.causes(*both)
        replaces = bool(changed) and not self.waits(both[1])
        moved = self._rollout(change, world, found, replaces=replaces)
        said = tuple(self.findings(change, changed))
        return Part("restarts" if replaces else "updated", services, services if replaces else (), changed, (moved,), said)

    def _rollout(self, change: Change, world: World, found: Service | None, *, replaces: bool) -> Rollout:
        before, after = kinds.replicas(change.old, world.old, found), kinds.replicas(change.new, world.new, found)
        old, new = (() if each is None else self.size(each) for each in (change.old, change.new))
        steps = self.steps(kinds.spec(change.new), after)
        return Rollout(before, after, old or new, new or old, steps, replaces, change.new is None, self.selector(change))
