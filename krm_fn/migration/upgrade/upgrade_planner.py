"""Plans the upgrade of a fleet. The plan depends on the arguments only."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from krm_fn.base import codes, report, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.version import Version
from krm_fn.migration.upgrade import fleet_parts, required_versions, restart_causes, step_effects, upgrade_routes, upgrade_steps, waves
from krm_fn.migration.upgrade.fleet_parts import FleetPart
from krm_fn.migration.upgrade.step_effects import StepPart
from krm_fn.migration.upgrade.upgrade_plan import StepPlan, UpgradePlan
from krm_fn.migration.upgrade.upgrade_routes import FleetRoutes
from krm_fn.migration.upgrade.upgrade_steps import UpgradeStep
from krm_fn.migration.upgrade.waves import Waves
from krm_fn.render import dynamo_api
from krm_fn.render.config import PlatformSettings
from krm_fn.render.resolve import release_choice
from krm_fn.review import image_names
from krm_fn.review.diff import rendered_state
from krm_fn.review.diff.rendered_state import Render


class UpgradeOptions(NamedTuple):
    """The options of a plan. `api_version` is that of graphs after the last step, such as `nvidia.com/v1beta1`; empty: it stays.

    `new_origin`: graphs get the origin version of the new release. `downgrade`: newer graphs go back, and older ones stay.
    `newer_patches`: newer patches of the minor version of the target are at the target too. `gpus` is the largest number of GPUs of a
    wave. `nodes` and `pods` are those of the cluster in which a wave must fit. Both are None if there is no limit.
    """

    api_version: str = ""
    new_origin: bool = False
    gpus: int | None = None
    nodes: Sequence[Resource] | None = None
    pods: Sequence[Resource] = ()
    downgrade: bool = False
    newer_patches: bool = False


_NO_OPTIONS = UpgradeOptions()


def plan(parts: Sequence[FleetPart], target: Version, options: UpgradeOptions = _NO_OPTIONS) -> UpgradePlan:
    """Plans the upgrade of a fleet to a version of Dynamo. Each step begins with the state that the step before leaves.

    An error in one graph does not hide the plan of the others. The function never raises for what the resources contain.
    """
    routes = upgrade_routes.find(parts, target, downgrade=options.downgrade, newer_patches=options.newer_patches)
    states = [rendered_state.render(part.resources, part.config) for part in parts]
    steps, findings = list[StepPlan](), [*_of_target(target), *routes.findings]
    findings += [finding for index, part in enumerate(parts) for finding in _report_failed(index, part, states[index], routes)]
    for number, step in enumerate(routes.steps, 1):
        is_last = number == len(routes.steps)
        chosen = step._replace(api_version=options.api_version if is_last else "", new_origin=options.new_origin)
        step_plan, states = _step(parts, states, routes, chosen)
        steps.append(_in_waves(_with_platform(step_plan, states, options), options))
        parts = [part.new for part in step_plan.parts]
    return UpgradePlan(target, tuple(steps), routes.unchanged, tuple(findings), options.downgrade)


def _step(parts: Sequence[FleetPart], states: Sequence[Render], routes: FleetRoutes, step: UpgradeStep) -> tuple[StepPlan, list[Render]]:
    """Plans one step. Returns it with the states after it."""
    after, step_parts, findings = list[Render](), list[StepPart](), list[Result]()
    for index, part in enumerate(parts):
        moved = restart_causes.move_part(part, step, routes.numbers(index, part, step, states[index].failed))
        new = rendered_state.render(moved.new.resources, moved.new.config) if moved.edits else states[index]
        failed = [number for number in routes.on_route(index, step) if part.key(part.resources[number]) in states[index].failed]
        versions = {number: routes.versions((index, number), step) for number in {*moved.edits, *failed}}
        findings += _report_held(part, {*routes.on_route(index, step)} - versions.keys(), failed)
        known = {number: pair for number, pair in versions.items() if pair}
        step_parts.append(StepPart(moved, states[index], new, known))
        after.append(new)
    planned = [step_effects.graphs(part, step) for part in step_parts]
    graphs = tuple(graph for upgrades, _ in planned for graph in upgrades)
    findings += [finding for _, others in planned for finding in others]
    return StepPlan(step, graphs, tuple(part.moved for part in step_parts), tuple(findings)), after


def _report_held(part: FleetPart, numbers: Collection[int], failed: Sequence[int]) -> Iterator[Result]:
    """Yields a finding about each graph that stays, because it shares the configuration with a graph that has errors."""
    shown = ", ".join(results.ref(part.resources[number]).name for number in failed)
    for number in sorted(numbers):
        message = f"the graph shares its configuration with {shown}, which has errors before the upgrade, so it has no plan"
        fix = "fix what krm-fn check reports, or give the graph a configuration of its own, and plan again"
        yield results.error(codes.NO_PLAN_BECAUSE_OF_ERRORS, f"{message}; {fix}", results.ref(part.resources[number]), ("spec",))


def _with_platform(plan: StepPlan, states: Sequence[Render], options: UpgradeOptions) -> StepPlan:
    """Returns a step with the parts of the platform that its graphs need."""
    before, after = map(release_choice.number, (plan.step.old_release, plan.step.release))
    exported = [resource for part in plan.parts for resource in part.old.resources if not dynamo_api.is_dynamo(resource)]
    exported += [*(options.nodes or ()), *options.pods]
    objects: dict[PlatformSettings, list[Resource]] = {}
    for part, state in zip(plan.parts, states, strict=True):
        if part.edits:
            objects.setdefault(part.new.config.platform, []).extend((*state.objects, *state.sources))
    rows = [required_versions.required_versions(before, after, platform, rendered, exported) for platform, rendered in objects.items()]
    required = tuple(dict.fromkeys(row for platform_rows in rows for row in platform_rows))
    changed = next((graph.edits.resource for graph in plan.graphs if graph.edits), {})
    return plan._replace(required=required, findings=(*plan.findings, *required_versions.findings(required, changed)))


def _in_waves(plan: StepPlan, options: UpgradeOptions) -> StepPlan:
    """Returns a step with the changed graphs, each with its wave. All graphs hold GPUs, also those that stay."""
    rollouts = [waves.of_graph(fleet_parts.wave_key(graph.key), graph.rollouts) for graph in plan.graphs if graph.rollouts]
    order = Waves((), ())
    if options.nodes is not None:
        order = waves.on_nodes(rollouts, options.nodes, options.pods)
    elif options.gpus is not None:
        order = waves.within(rollouts, options.gpus)
    numbers = {key: number for number, wave in reversed([*enumerate(order.waves, 1)]) for key in wave}
    graphs = [graph._replace(wave=numbers.get(fleet_parts.wave_key(graph.key), 0)) for graph in plan.graphs if graph.is_changed]
    resources = {fleet_parts.wave_key(graph.key): graph.edits.resource for graph in graphs if graph.edits}
    return plan._replace(graphs=tuple(graphs), waves=order, findings=(*plan.findings, *waves.findings(order, resources)))


def _of_target(target: Version) -> Iterator[Result]:
    """Warns of a patch that is newer than krm-fn."""
    known = [version for version in image_names.published_versions() if version[:2] == target[:2]]
    if target not in known:
        new, newest = upgrade_steps.version_text(target), upgrade_steps.version_text(known[-1])
        message = f"krm-fn does not know the patch {new}, and checks command lines with the flags of {newest}"
        yield results.warning(codes.UPGRADE_TO_UNKNOWN_PATCH, f"{message}; check that the registry has images with the tag {new}")


def _report_failed(index: int, part: FleetPart, state: Render, routes: FleetRoutes) -> Iterator[Result]:
    """Yields a finding about each resource that the upgrade would move, and that has errors before it."""
    graphs = {number for number, _ in fleet_parts.graphs(part)}
    has_route = any(part_index == index for part_index, _ in routes.routes)
    for number, resource in enumerate(part.resources):
        is_moved = (index, number) in routes.routes if number in graphs else has_route and dynamo_api.is_dynamo(resource)
        if is_moved and part.key(resource) in state.failed:
            ref = results.ref(resource)
            errors = [result for result in state.findings if result.severity == "error" and result.ref == ref]
            first = f", the first is {errors[0].code}" if errors else ""
            noun = "graph" if number in graphs else "resource"
            message = f"the {noun} has {report.count(errors) or 'errors'} before the upgrade{first}, so it has no plan"
            path = errors[0].path if errors else ()
            yield results.error(
                codes.NO_PLAN_BECAUSE_OF_ERRORS, f"{message}; fix what krm-fn check reports about it, and plan again", ref, path
            )
