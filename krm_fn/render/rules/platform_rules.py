"""Rules about the platform that the configuration describes: a release, or a workload kind, needs a lowest version of each used part."""

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
    for part in _used_parts(plan):
        declared = getattr(plan.config.platform, part)
        if not declared:
            continue
        subject, needed = _floor(plan, part)
        field = f"platform.{settings.key(part)}"
        version = floors.parse_version(declared)
        if version is None:
            message = f"{field} of the configuration is {declared!r}, which is not a version; write for example {needed or '1.30'}"
            yield results.warning(codes.UNREADABLE_PLATFORM_VERSION, message, plan.ref)
        elif needed and version < (floors.parse_version(needed) or ()):
            message = (
                f"{subject} needs {floors.NAMES[part]} {needed} or newer, and {field} of the configuration is {declared}; "
                "upgrade it before you apply the graph, or correct the configuration"
            )
            yield results.warning(codes.PLATFORM_TOO_OLD, message, plan.ref)


def _floor(plan: GraphPlan, part: str) -> tuple[str, str]:
    """Returns what needs the highest version of a part, the release or a kind of objects, and this version; empty if any will do."""
    release = plan.release.number
    needs = [(f"release v{'.'.join(map(str, release))}", getattr(floors.FLOORS[release], part))]
    kinds = (workloads.get(component.placement.workload) for component in plan.components)
    needs += [(f"a {kind.kinds[0]}", kind.platform_floor) for kind in kinds if kind.platform == part]
    return max(needs, key=lambda need: floors.parse_version(need[1]) or ())


def _used_parts(plan: GraphPlan) -> Iterator[str]:
    """Yields the parts of the platform that the objects of a graph use."""
    yield "kubernetes"
    parts = (workloads.get(component.placement.workload).platform for component in plan.components)
    yield from dict.fromkeys(part for part in parts if part)
    if plan.orchestrator in WHOLE_GRAPH and any(grove_schedulers.scheduler(entry) == grove_schedulers.KAI for entry in plan.components):
        yield "kai_scheduler"
