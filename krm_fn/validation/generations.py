"""Rules about the generation of a graph's workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import version
from krm_fn.manifests import components as kinds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.plan import GraphPlan
    from krm_fn.results import Result

_FOLLOWS_SINCE = (1, 0, 0)


def check_images(plan: GraphPlan) -> Iterator[Result]:
    """Warns of runtimes before 1.0, which do not know the variables of a generation."""
    if not any(component.who.generation for component in plan.components):
        return
    for component in plan.components:
        runtime = version.of_image(component.pod.container.get("image") or "")
        if runtime is None or runtime >= _FOLLOWS_SINCE:
            continue
        if component.who.generation:
            effect = "does not read DYN_NAMESPACE_WORKER_SUFFIX, so old and new workers share a Dynamo namespace during an update"
        elif kinds.get(component.who.type).is_frontend:
            effect = "does not read DYN_NAMESPACE_PREFIX, so it does not find workers of 1.0 or later"
        else:
            continue
        message = (
            f"a Dynamo runtime before 1.0 {effect}; use an image of version 1.0 or later, or set workerHash: none in the configuration"
        )
        yield results.warning("DYN417", message, component.ref, component.at("main", "image"))
