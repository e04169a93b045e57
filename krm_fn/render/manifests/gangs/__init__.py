"""Gang schedulers, which start either all pods of a group or none: each file is a value of the setting `gangScheduling`.

The workload kinds for several nodes ask the gang scheduler of a component for the objects and the pod fields of each group. Grove makes
gangs of its own, and `krm_fn.render.manifests.workloads.grove.grove_schedulers` names their scheduler.
"""

from __future__ import annotations

import sys
from functools import cache

from krm_fn.base import registry
from krm_fn.base.records import NamedTuple
from krm_fn.render.kinds.floors import Floors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kubernetes.native_types import PodTemplateSpec
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.plan import ComponentPlan, GraphPlan


class Gang(NamedTuple):
    """One group of a LeaderWorkerSet: the objects that make it a gang, and its pod templates, which name them."""

    objects: tuple[Resource, ...]
    templates: tuple[PodTemplateSpec, ...]


class GangScheduler:
    """The hooks of a gang scheduler. The defaults are for one that does nothing."""

    objects: tuple[tuple[str, str], ...] = ()
    """Group and kind of the objects that it makes. A later run may replace and remove them."""

    scheduler = ""
    """The `schedulerName` of the pods; empty if they keep that of the author."""

    grove_scheduler = ""
    """The `schedulerName` of the pods under Grove; empty if it starts no gangs there."""

    marks: tuple[str, ...] = ()
    """Annotations of graphs, and labels and annotations of pods, that only this gang scheduler reads."""

    per_replica = False
    """True if each replica of a component needs a LeaderWorkerSet of its own, because its pods name their gang."""

    floors = Floors()
    """The lowest versions of the platform."""

    def gather(self, plan: ComponentPlan, index: int, templates: Iterable[PodTemplateSpec]) -> Gang:
        """Returns the gang of one replica of a component, whose set has only this replica."""
        return Gang((), tuple(map(self.mark, templates)))

    def mark(self, template: PodTemplateSpec) -> PodTemplateSpec:
        """Returns a pod template with the name of the scheduler.

        Rule gangs.scheduler: The pods of a component on several nodes have the scheduler that the setting `gangScheduling` names. (krm-fn)
        """
        return {**template, "spec": {**template["spec"], "schedulerName": self.scheduler}} if self.scheduler else template

    def obstacle(self, graph: GraphPlan) -> str:
        """Returns why this gang scheduler cannot start the pods of a graph, and what to write instead; empty if it can."""
        return ""


def of(plan: ComponentPlan, default: str) -> GangScheduler:
    """Returns the gang scheduler of a component: the configured one, otherwise the one named `default`."""
    return get(plan.config.gang_scheduling or default)


def names() -> tuple[str, ...]:
    """Returns the names of all gang schedulers."""
    return registry.entries(sys.modules[__name__])


def objects() -> tuple[tuple[str, str], ...]:
    """Returns group and kind of the objects of all gang schedulers."""
    return tuple(kind for name in names() for kind in get(name).objects)


@cache
def get(name: str) -> GangScheduler:
    """Returns the gang scheduler of a name. Raises KeyError for an unknown name."""
    scheduler: GangScheduler = registry.get(sys.modules[__name__], name).GANG_SCHEDULER
    return scheduler
