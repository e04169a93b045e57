"""Rules about the platform that the configuration describes: each release needs a lowest version of each part that a graph uses."""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.render import config as settings
from krm_fn.render.kinds import WHOLE_GRAPH, floors
from krm_fn.render.manifests import workloads
from krm_fn.render.manifests.workloads.grove import grove_schedulers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.base.results import Result
    from krm_fn.render.plan import GraphPlan


def check(plan: GraphPlan) -> Iterator[Result]:
    """Warns of each part of the platform that is too old for the release of a graph, or whose version cannot be read."""
    platform = plan.config.platform
    for part in _used_parts(plan):
        declared, needed = getattr(platform, part), _lowest_version(plan, part)
        if not declared:
            continue
        field = f"platform.{settings.key(part)}"
        version = floors.parse_version(declared)
        if version is None:
            message = f"{field} of the configuration is {declared!r}, which is not a version; write for example {needed or '1.30'}"
            yield results.warning(codes.UNREADABLE_PLATFORM_VERSION, message, plan.ref)
        elif needed and version < (floors.parse_version(needed) or ()):
            message = (
                f"{_needs(plan, part)} needs {floors.NAMES[part]} {needed} or newer, and {field} of the configuration is "
                f"{declared}; upgrade it before you apply the graph, or correct the configuration"
            )
            yield results.warning(codes.PLATFORM_TOO_OLD, message, plan.ref)


def _lowest_version(plan: GraphPlan, part: str) -> str:
    """Returns the lowest version of a part: that of the release, or a higher one of a workload kind of the graph; empty if any will do."""
    stated: str = getattr(floors.FLOORS[plan.release.number], part)
    return max((stated, _of_kinds(plan, part)), key=lambda version: floors.parse_version(version) or ())


def _of_kinds(plan: GraphPlan, part: str) -> str:
    """Returns the lowest version of a part that has all workload kinds of the graph; empty if any has them."""
    kinds = [workloads.get(component.placement.workload) for component in plan.components]
    versions = [kind.platform_floor for kind in kinds if kind.platform == part]
    return max(versions, key=lambda version: floors.parse_version(version) or (), default="")


def _needs(plan: GraphPlan, part: str) -> str:
    """Returns the words for what needs the lowest version: the release, or the kind of objects."""
    kind = next((kind for component in plan.components if (kind := workloads.get(component.placement.workload)).platform == part), None)
    if kind and kind.platform_floor and kind.platform_floor == _lowest_version(plan, part):
        return f"a {kind.kinds[0]}"
    return f"release v{'.'.join(map(str, plan.release.number))}"


def _used_parts(plan: GraphPlan) -> Iterator[str]:
    """Yields the parts of the platform that the objects of a graph use."""
    yield "kubernetes"
    parts = (workloads.get(component.placement.workload).platform for component in plan.components)
    yield from dict.fromkeys(part for part in parts if part)
    if plan.orchestrator in WHOLE_GRAPH and any(grove_schedulers.scheduler(entry) == grove_schedulers.KAI for entry in plan.components):
        yield "kai_scheduler"
