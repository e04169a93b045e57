"""The forecast of workloads whose replicas are all alike: each has one service.

`native_workloads` has the kinds of Kubernetes, and `leader_worker_sets` the LeaderWorkerSet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from krm_fn.base.results import Path, Result
from krm_fn.kubernetes.types import Resource
from krm_fn.render.schema.object_changes import ObjectChange
from krm_fn.review.forecast import native_kinds, object_rules, rollouts
from krm_fn.review.forecast.gpu_capacity import Demand
from krm_fn.review.forecast.object_rules import ClusterState, KindForecast
from krm_fn.review.forecast.rollouts import Rollout, RolloutPods, Service, Steps

_PERCENTAGE = re.compile(r"([0-9]{1,9})%")
_DEFAULT_STEP = "25%"


class UniformWorkload:
    """Hooks of one kind of workload, and its forecast."""

    def refused_fields(self, change: ObjectChange, old: Resource, new: Resource) -> tuple[Path, ...]:
        """Returns the paths of the fields whose change an API server or a webhook refuses. The default is the table of native kinds."""
        return native_kinds.refused_fields(change.key.group, change.key.kind, old, new)

    def causes(self, old: Resource, new: Resource) -> tuple[Path, ...]:
        """Returns the paths of the fields that replace the pods."""
        raise NotImplementedError

    def waits(self, new: Resource) -> bool:
        """True if the object replaces no pods until a user resumes it or deletes them."""
        return False

    def units(self, count: int) -> int:
        """Returns the number of units whose GPUs count; the default is the number of replicas."""
        return count

    def unchanged_units(self, new: Resource) -> int:
        """Returns the number of units that keep their pods while the others are replaced. The default is none."""
        return 0

    def demands(self, resource: Resource) -> tuple[Demand, ...]:
        """Returns the demands of the pods of one replica."""
        raise NotImplementedError

    def steps(self, spec: Mapping[str, Any], replicas: int) -> Steps:
        """Returns the steps of a rollout."""
        raise NotImplementedError

    def selector(self, change: ObjectChange) -> RolloutPods:
        """Labels of the pods that run."""
        raise NotImplementedError

    def findings(self, change: ObjectChange, causes: tuple[Path, ...]) -> Iterator[Result]:
        """Findings about a change that restarts or updates. The default is none."""
        yield from ()

    def forecast(self, change: ObjectChange, cluster_state: ClusterState) -> KindForecast:
        """Forecasts the change of one object."""
        service = object_rules.service_of_workload(change)
        services = () if service is None else (service,)
        states = object_rules.differing_states(change)
        if states is None:
            rollout = self._rollout(change, cluster_state, service, replaces=False)
            return KindForecast(object_rules.simple_effect(change), services, rollouts=(rollout,))
        if refused := self.refused_fields(change, *states):
            rollout = rollouts.recreate(self._rollout(change, cluster_state, service, replaces=True))
            return KindForecast("refused", services, services, refused, (rollout,))
        causes = self.causes(*states)
        replaces = bool(causes) and not self.waits(states[1])
        rollout = self._rollout(change, cluster_state, service, replaces=replaces)
        parts = tuple(_parts(rollout, self.unchanged_units(states[1]))) if replaces else (rollout,)
        findings = tuple(self.findings(change, causes))
        restarting = services if replaces and object_rules.may_have_pods(change.old) else ()
        return KindForecast("restarts" if replaces else "updated", services, restarting, causes, parts, findings)

    def _rollout(self, change: ObjectChange, cluster_state: ClusterState, service: Service | None, *, replaces: bool) -> Rollout:
        old_replicas = self.units(object_rules.replicas(change.old, cluster_state.old_replicas, service))
        new_replicas = self.units(object_rules.replicas(change.new, cluster_state.new_replicas, service))
        old, new = (() if resource is None else self.demands(resource) for resource in (change.old, change.new))
        steps = self.steps(object_rules.spec(change.new), new_replicas)
        rollout = Rollout(old_replicas, new_replicas, old or new, new or old, steps, replaces, change.new is None, self.selector(change))
        return rollout._replace(dropped=self.units(object_rules.dropped_replicas(change, cluster_state)))


def _parts(rollout: Rollout, unchanged: int) -> Iterator[Rollout]:
    """Yields the rollout of the units that are replaced, and that of those that stay."""
    stay = min(unchanged, rollout.old_units, rollout.new_units)
    yield rollout._replace(old_units=rollout.old_units - stay, new_units=rollout.new_units - stay)
    if stay:
        yield rollout._replace(old_units=stay, new_units=stay, replaces=False)


def scale_step(step: Any, replicas: int, *, up: bool, default: int | str = _DEFAULT_STEP) -> int:
    """Number of units of a step: a number, or a percentage of the replicas, rounded up or down. An invalid step counts as zero."""
    value = default if step is None else step
    if isinstance(value, int):
        return max(value, 0)
    match = _PERCENTAGE.fullmatch(f"{value}")
    if not match:
        return 0
    share = int(match[1]) * replicas
    return -(-share // 100) if up else share // 100
