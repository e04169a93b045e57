"""Rules about the generation of a graph's workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import version

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.manifests.assemblies import Pods
    from krm_fn.plan import ComponentPlan, GraphPlan
    from krm_fn.results import Result

_KNOWN_SINCE = (1, 0, 0)
_IGNORED_BY_WORKERS = "does not read DYN_NAMESPACE_WORKER_SUFFIX, so old and new workers share a Dynamo namespace during an update"
_IGNORED_BY_ENTRANCES = "does not read DYN_NAMESPACE_PREFIX, so it does not find workers of 1.0 or later"


def check(plan: GraphPlan, _made: Sequence[Pods]) -> Iterator[Result]:
    """Warns of runtimes before 1.0, which do not know the variables of a generation."""
    if not any(component.who.generation for component in plan.components):
        return
    for component in plan.components:
        ignored = _ignored(component)
        runtime = version.core(component.features.runtime_version) or version.of_image(component.pod.container.get("image") or "")
        if ignored and runtime and runtime < _KNOWN_SINCE:
            mend = "use an image of version 1.0 or later, or set workerHash: none in the configuration"
            message = f"a Dynamo runtime before 1.0 {ignored}; {mend}"
            yield results.warning("DYN417", message, component.ref, component.at("main", "image"))


def _ignored(component: ComponentPlan) -> str:
    """What a runtime before 1.0 does instead; empty for a component that has no variable of a generation."""
    if component.who.generation:
        return _IGNORED_BY_WORKERS
    figures = component.behaviour.types.get(component.who.type)
    return _IGNORED_BY_ENTRANCES if figures and figures.finds_generations else ""
