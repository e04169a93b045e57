"""Rules about the replicas of a component and about the configuration of an endpoint picker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.manifests import components as kinds
from krm_fn.schema import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.manifests.assemblies import Pods
    from krm_fn.plan import GraphPlan
    from krm_fn.results import Result


def check(_plan: GraphPlan, made: Sequence[Pods]) -> Iterator[Result]:
    """Reports `minAvailable` above the number of replicas, and a configuration that no endpoint picker reads."""
    for plan in (each.plan for each in made):
        least, count = plan.features.min_available, plan.placement.replicas_or_one
        if least is not None and least > count > 0:
            yield sentences.error("DYN454", plan.ref, plan.at("min_available"))
        picker = plan.edge.picker
        if (picker.config is not None or picker.by_reference) and not kinds.get(plan.who.type).singleton:
            yield sentences.error("DYN455", plan.ref, plan.at("picker"))
