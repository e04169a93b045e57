"""Plans the upgrades of fleets, moves their workloads step by step, and compares the pods that are replaced with the plan."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from krm_fn.kubernetes import identity
from krm_fn.migration.upgrade import fleet_parts, upgrade_planner, upgrade_steps
from krm_fn.render import dynamo_resources
from krm_fn.review.diff import rendered_state
from tests.upgrades import live_pods

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from krm_fn.kubernetes.types import Resource
    from krm_fn.migration.upgrade.upgrade_plan import StepPlan, UpgradePlan
    from krm_fn.migration.upgrade.upgrade_planner import UpgradeOptions
    from krm_fn.render.config import Config
    from krm_fn.review.forecast.rollouts import Service
    from tests.testbed.control_plane import ControlPlane
    from tests.upgrades.live_pods import LivePods, Workloads


class Planned(NamedTuple):
    """A fleet, its plan, and its workloads before the first step and after each step."""

    reason: str
    plan: UpgradePlan
    states: tuple[Workloads, ...]


class Difference(NamedTuple):
    """A difference between a step of a plan and the pods. `kind` is `unannounced` or `in vain`."""

    reason: str
    step: int
    kind: str
    message: str


class Outcome(NamedTuple):
    """The differences between the plans and the pods, and what was moved. `counts` are totals by name."""

    differences: tuple[Difference, ...]
    counts: Counter[str]

    def __str__(self) -> str:
        """The totals in one line."""
        return ", ".join(f"{count} {name}" for name, count in self.counts.items())


def planned(reason: str, resources: Sequence[Resource], config: Config, target: str, options: UpgradeOptions) -> Planned:
    """Plans the upgrade of a fleet. Graphs that do not render before the upgrade are left out."""
    failed = rendered_state.render(resources, config).failed
    valid = [resource for resource in resources if identity.key(resource) not in failed]
    parts = fleet_parts.parts("", valid, config, is_configured=True)
    version = upgrade_steps.target(target)
    assert version is not None
    plan = upgrade_planner.plan(parts, version, options)
    renders = [rendered_state.render(part.resources, part.config) for part in parts]
    states = [live_pods.workloads(resource for render in renders for resource in render.objects)]
    for step in plan.steps:
        states.append(_after(step, states[-1]))
    return Planned(reason, plan, tuple(states))


def _after(step: StepPlan, before: Workloads) -> Workloads:
    """The workloads after a step. Those of a graph that the new release rejects stay as they are."""
    renders = [rendered_state.render(part.new.resources, part.new.config) for part in step.parts]
    failed = {key for render in renders for key in render.failed}
    stay = {key: entry for key, entry in before.items() if failed.intersection(dynamo_resources.owner_keys(entry, key.namespace))}
    return {**stay, **live_pods.workloads(resource for render in renders for resource in render.objects)}


def run(plane: ControlPlane, pods: LivePods, fleets: Sequence[Planned]) -> Outcome:
    """Moves all fleets at the same time, and compares the pods after each step."""
    for namespace in sorted({key.namespace for fleet in fleets for state in fleet.states for key in state}):
        plane.namespace(namespace)
    for fleet in fleets:
        pods.move({}, fleet.states[0])
    pods.settle()
    counts = Counter({"fleets": len(fleets), "services autoscaled": sum(pods.scale(fleet.states[0], 2) for fleet in fleets)})
    found: list[Difference] = []
    pods.settle()
    now = pods.pods()
    for number in range(max(len(fleet.plan.steps) for fleet in fleets)):
        moving, before = [fleet for fleet in fleets if number < len(fleet.plan.steps)], now
        for fleet in moving:
            pods.move(fleet.states[number], fleet.states[number + 1])
        pods.settle()
        now = pods.pods()
        for fleet in moving:
            step = fleet.plan.steps[number]
            found += (Difference(fleet.reason, step.step.number, kind, text) for kind, text in differences(step, before, now))
            counts["graphs moved"] += len(step.graphs)
        counts["pods before a step"] += sum(map(len, before.values()))
        counts["pods replaced"] += sum(len(old - now.get(service, frozenset())) for service, old in before.items())
    for kind in ("unannounced", "in vain"):
        counts[f"services {kind}"] = sum(difference.kind == kind for difference in found)
    return Outcome(tuple(found), counts)


def differences(step: StepPlan, before: Mapping[Service, frozenset[str]], now: Mapping[Service, frozenset[str]]) -> list[tuple[str, str]]:
    """The services whose pods were replaced without an announcement, and those that were announced in vain, each with its kind."""
    announced = {service for graph in step.graphs for service in graph.restarting}
    namespaces = {key.namespace for part in step.parts for key in map(part.old.key, part.old.resources)}
    found = [("in vain", f"{service} had no pod") for service in sorted(announced.difference(before))]
    for service, old in before.items():
        stay = len(old & now.get(service, frozenset()))
        if service in announced and stay:
            found.append(("in vain", f"{stay} of {len(old)} pods of {service} stay"))
        if service.namespace in namespaces and service not in announced and stay < len(old):
            found.append(("unannounced", f"{len(old) - stay} of {len(old)} pods of {service} are gone"))
    return found
