"""The routes of the graphs of a fleet to the target of an upgrade, and the graphs that have none."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.version import Version
from krm_fn.migration.upgrade import fleet_parts, resource_edits, upgrade_steps
from krm_fn.migration.upgrade.fleet_parts import FleetPart
from krm_fn.migration.upgrade.upgrade_steps import UpgradeStep, Versions
from krm_fn.render import dynamo_api

GraphNumber = tuple[int, int]
"""The number of a part of the fleet, and the number of a graph among its resources."""


class Route(NamedTuple):
    """The versions of a graph before the upgrade, and after each of its steps."""

    start: Versions
    points: tuple[Versions, ...]


class FleetRoutes(NamedTuple):
    """The steps of a fleet, and the routes of its graphs.

    `unchanged` are the graphs that are at the target, and `findings` those about graphs without a route.
    """

    steps: tuple[UpgradeStep, ...]
    routes: Mapping[GraphNumber, Route]
    unchanged: tuple[tuple[str, ObjectKey], ...]
    findings: tuple[Result, ...]

    def numbers(self, index: int, part: FleetPart, step: UpgradeStep, failed: Collection[ObjectKey]) -> list[int]:
        """Returns the numbers of the resources of a part that a step edits.

        They are the graphs whose route has the step. With them go all other Dynamo resources of the part, such as requests and adapters.
        Those in `failed` have no plan, so they stay. If the step edits the configuration that they share with the others, all stay.
        """
        on_route = self.on_route(index, step)
        moved = {number for number in on_route if part.key(part.resources[number]) not in failed}
        if len(moved) < len(on_route) and resource_edits.names_other_release(part.config, step):
            return []
        graphs = {number for number, _ in fleet_parts.graphs(part)}
        others = [number for number, resource in enumerate(part.resources) if number not in graphs and dynamo_api.is_dynamo(resource)]
        return sorted((*moved, *(number for number in others if part.key(part.resources[number]) not in failed))) if moved else []

    def on_route(self, index: int, step: UpgradeStep) -> list[int]:
        """Returns the numbers of the graphs of a part whose route has a step."""
        point = Versions(step.release, step.runtime)
        return [number for (part_index, number), route in self.routes.items() if part_index == index and point in route.points]

    def versions(self, number: GraphNumber, step: UpgradeStep) -> tuple[Versions, Versions] | None:
        """Returns the versions of a graph before and after a step; None for a step that is not on its route."""
        route, point = self.routes.get(number), Versions(step.release, step.runtime)
        if route is None or point not in route.points:
            return None
        position = route.points.index(point)
        return (route.start, *route.points)[position], point


def find(parts: Sequence[FleetPart], target: Version, *, downgrade: bool = False, newer_patches: bool = False) -> FleetRoutes:
    """Finds the route of each graph to a version of Dynamo.

    All routes lead to newer versions, and graphs that are newer than the target stay. If `downgrade` is true, the newer graphs go back,
    and the older ones stay. If `newer_patches` is true, newer patches of the minor version of the target are at the target too.
    """
    graphs = {(index, number): resource for index, part in enumerate(parts) for number, resource in fleet_parts.graphs(part)}
    ends = {number: _ends(resource, parts[number[0]]) for number, resource in graphs.items()}
    accepted = target if newer_patches else None
    known = {number: tuple(_accepting(end, accepted) for end in versions) for number, versions in ends.items() if versions}
    older = _routes({number: lowest for number, (lowest, _) in known.items()}, target, is_back=False)
    newer = _routes({number: highest for number, (_, highest) in known.items()}, target, is_back=True)
    routes, opposite = (newer, older) if downgrade else (older, newer)
    staying = {number: route for number, route in opposite.items() if number not in routes}
    findings = [_without_version(graphs[number]) for number in graphs if number not in known]
    findings += [_stays(graphs[number], route, target, is_newer=not downgrade) for number, route in staying.items()]
    findings += [_keeps_images(graphs[number], opposite[number], target, is_newer=not downgrade) for number in routes if number in opposite]
    left_out = {*routes, *staying, *(number for number in graphs if number not in known)}
    unchanged = tuple(
        (parts[number[0]].name, parts[number[0]].key(resource)) for number, resource in graphs.items() if number not in left_out
    )
    steps = upgrade_steps.steps((route.start, route.points) for route in routes.values())
    return FleetRoutes(steps, routes, unchanged, tuple(findings))


def _ends(resource: Resource, part: FleetPart) -> tuple[Versions, Versions] | None:
    """Returns the versions of a graph with its lowest and with its highest runtime; None if no version is known."""
    lowest, highest = (fleet_parts.versions(resource, part.config, highest=highest) for highest in (False, True))
    return (lowest, highest) if lowest and highest else None


def _accepting(versions: Versions, target: Version | None) -> Versions:
    """Returns the versions of a graph at the patch of the target, if it has a newer patch of the same minor version. None accepts none."""
    is_accepted = target and versions.runtime[:2] == target[:2] and versions.runtime > target
    return versions._replace(runtime=target) if is_accepted and target else versions


def _routes(starts: Mapping[GraphNumber, Versions], target: Version, *, is_back: bool) -> dict[GraphNumber, Route]:
    """Returns the routes in one direction, of the graphs that are not at the target."""
    routes = {number: Route(start, upgrade_steps.path(start, target)) for number, start in starts.items()}
    return {
        number: route
        for number, route in routes.items()
        if route.points and upgrade_steps.is_before(route.points[-1], route.start) == is_back
    }


def _without_version(resource: Resource) -> Result:
    message = (
        "no image has a version of Dynamo in its tag, and the configuration names no release, so the graph has no plan; set "
        "runtimeVersionOverride, use tags with a version, or set behaviour in the configuration"
    )
    return results.error(codes.NO_PLAN_WITHOUT_VERSION, message, results.ref(resource), ("spec",))


def _stays(resource: Resource, route: Route, target: Version, *, is_newer: bool) -> Result:
    present, wanted = upgrade_steps.version_text(route.start.runtime), upgrade_steps.version_text(target)
    message = f"the graph has {present}, which is newer than {wanted}, so it stays; to move newer graphs back, add --downgrade"
    if not is_newer:
        message = f"the graph has {present}, which is older than {wanted}, so a downgrade leaves it; to upgrade it, remove --downgrade"
    return results.warning(codes.GRAPH_NEWER_THAN_TARGET, message, results.ref(resource), ("spec",))


def _keeps_images(resource: Resource, route: Route, target: Version, *, is_newer: bool) -> Result:
    """Returns the finding about a graph on a route that also has images on the other side of the target."""
    present, wanted = upgrade_steps.version_text(route.start.runtime), upgrade_steps.version_text(target)
    compared, fix = ("newer", "choose a newer target") if is_newer else ("older", "upgrade them without --downgrade")
    message = (
        f"images of the graph have {present}, which is {compared} than {wanted}, so these images stay; write {wanted} for them, or {fix}"
    )
    return results.warning(codes.GRAPH_NEWER_THAN_TARGET, message, results.ref(resource), ("spec",))
