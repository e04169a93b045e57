"""The forecast of a workload whose replicas are all alike: it has one service and one rollout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.review.forecast import kind_rules, rollout
from krm_fn.review.forecast.kind_rules import KindForecast
from krm_fn.review.forecast.rollout import Rollout

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kube.types import Resource
    from krm_fn.provenance.object_changes import ObjectChange
    from krm_fn.results import Path, Result
    from krm_fn.review.forecast.capacity import Demand
    from krm_fn.review.forecast.forecast_types import Service
    from krm_fn.review.forecast.kind_rules import ClusterState
    from krm_fn.review.forecast.rollout import Selector, Steps


class UniformWorkload:
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

    def selector(self, change: ObjectChange) -> Selector:
        """How the pods that run are found."""
        raise NotImplementedError

    def findings(self, change: ObjectChange, causes: tuple[Path, ...]) -> Iterator[Result]:
        """Findings about a change that restarts or updates. By default: none."""
        yield from ()

    def forecast(self, change: ObjectChange, world: ClusterState) -> KindForecast:
        """The forecast for one object."""
        owner = kind_rules.service_of(change)
        services = () if owner is None else (owner,)
        both = kind_rules.differing(change)
        if both is None:
            return KindForecast(kind_rules.simple(change), services, rollouts=(self._rollout(change, world, owner, replaces=False),))
        if (path := self.immutable(*both)) is not None:
            again = rollout.again(self._rollout(change, world, owner, replaces=True))
            return KindForecast("refused", services, services, (path,), (again,))
        changed = self.causes(*both)
        replaces = bool(changed) and not self.waits(both[1])
        moved = self._rollout(change, world, owner, replaces=replaces)
        findings = tuple(self.findings(change, changed))
        return KindForecast("restarts" if replaces else "updated", services, services if replaces else (), changed, (moved,), findings)

    def _rollout(self, change: ObjectChange, world: ClusterState, owner: Service | None, *, replaces: bool) -> Rollout:
        before, after = kind_rules.replicas(change.old, world.old, owner), kind_rules.replicas(change.new, world.new, owner)
        old, new = (() if resource is None else self.size(resource) for resource in (change.old, change.new))
        steps = self.steps(kind_rules.spec(change.new), after)
        return Rollout(before, after, old or new, new or old, steps, replaces, change.new is None, self.selector(change))
