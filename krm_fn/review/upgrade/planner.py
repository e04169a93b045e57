"""Plans the upgrade of a fleet. The plan depends on the arguments only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn import report, results
from krm_fn.kube.version import Version
from krm_fn.records import NamedTuple
from krm_fn.results import Result
from krm_fn.review.diff import rendered_state
from krm_fn.review.diff.rendered_state import RenderedState
from krm_fn.review.upgrade import restart_causes, step_effects, upgrade_routes
from krm_fn.review.upgrade.fleet_parts import FleetPart
from krm_fn.review.upgrade.step_effects import StepPart
from krm_fn.review.upgrade.upgrade_plan import StepPlan, UpgradePlan
from krm_fn.review.upgrade.upgrade_routes import FleetRoutes
from krm_fn.review.upgrade.upgrade_steps import UpgradeStep


class UpgradeOptions(NamedTuple):
    """The options of a plan. `api_version` is that of graphs after the last step, such as `nvidia.com/v1beta1`; empty: it stays.

    `new_origin`: graphs get the origin version of the new release.
    """

    api_version: str = ""
    new_origin: bool = False


_NO_OPTIONS = UpgradeOptions()


def plan(parts: Sequence[FleetPart], target: Version, options: UpgradeOptions = _NO_OPTIONS) -> UpgradePlan:
    """Plans the upgrade of a fleet to a version of Dynamo. Each step begins with the state that the step before leaves.

    An error in one graph does not hide the plan of the others. The function never raises for what the resources contain.
    """
    routes = upgrade_routes.find(parts, target)
    states = [rendered_state.render(part.resources, part.config) for part in parts]
    steps, findings = list[StepPlan](), list(routes.findings)
    findings += [finding for index, part in enumerate(parts) for finding in _failed(index, part, states[index], routes)]
    for number, step in enumerate(routes.steps, 1):
        is_last = number == len(routes.steps)
        chosen = step._replace(api_version=options.api_version if is_last else "", new_origin=options.new_origin)
        step_plan, states = _step(parts, states, routes, chosen)
        steps.append(step_plan)
        parts = [part.new for part in step_plan.parts]
    return UpgradePlan(target, tuple(steps), routes.unchanged, tuple(findings))


def _step(
    parts: Sequence[FleetPart], states: Sequence[RenderedState], routes: FleetRoutes, step: UpgradeStep
) -> tuple[StepPlan, list[RenderedState]]:
    """Plans one step. Returns it with the states after it."""
    after, step_parts = list[RenderedState](), list[StepPart]()
    for index, part in enumerate(parts):
        moved = restart_causes.moved(part, step, routes.numbers(index, part, step))
        new = rendered_state.render(moved.new.resources, moved.new.config) if moved.edits else states[index]
        versions = {number: routes.versions((index, number), step) for number in moved.edits}
        known = {number: pair for number, pair in versions.items() if pair}
        step_parts.append(StepPart(moved, states[index], new, known))
        after.append(new)
    planned = [step_effects.graphs(part, step) for part in step_parts if part.moved.edits]
    graphs = tuple(graph for upgrades, _ in planned for graph in upgrades)
    findings = tuple(finding for _, others in planned for finding in others)
    return StepPlan(step, graphs, tuple(part.moved for part in step_parts), findings), after


def _failed(index: int, part: FleetPart, state: RenderedState, routes: FleetRoutes) -> Iterator[Result]:
    """Yields a finding about each graph that the upgrade moves, and that has errors before it."""
    for number, resource in enumerate(part.resources):
        if (index, number) in routes.routes and part.key(resource) in state.failed:
            ref = results.ref(resource)
            errors = [result for result in state.findings if result.severity == "error" and result.ref == ref]
            first = f", the first is {errors[0].code}" if errors else ""
            message = f"the graph has {report.count(errors) or 'errors'} before the upgrade{first}, so it has no plan"
            path = errors[0].path if errors else ()
            yield results.error("DYN651", f"{message}; fix what krm-fn check reports about it, and plan again", ref, path)
