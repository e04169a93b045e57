"""Rules about a container beside the main one that runs a frontend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.manifests.assemblies import Pods
    from krm_fn.plan import GraphPlan
    from krm_fn.results import Result


def check(_plan: GraphPlan, made: Sequence[Pods]) -> Iterator[Result]:
    """Reports a frontend sidecar that is not among the containers, and one whose name another container has."""
    for plan in (each.plan for each in made):
        name, names = plan.features.frontend_sidecar, plan.features.containers
        if name and name not in names:
            known = f"write one of {', '.join(names)}, or " if names else ""
            message = f"the pod has no container {name}; {known}add the container"
            yield results.error("DYN460", message, plan.ref, plan.at("frontend_sidecar"))
