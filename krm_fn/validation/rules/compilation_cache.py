"""Rules about the compilation cache of an engine (reference: GenerateBasePodSpec in `internal/dynamo/graph.go`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.validation.components import cache_without_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.manifests.assemblies import Pods
    from krm_fn.plan import ComponentPlan, GraphPlan
    from krm_fn.results import Result


def check(_plan: GraphPlan, made: Sequence[Pods]) -> Iterator[Result]:
    """Reports a cache without a folder, and a cache in the folder of another mount or of a mount that cannot be written."""
    for each in made:
        yield from _check(each.plan)


def _check(plan: ComponentPlan) -> Iterator[Result]:
    cache = plan.pod.cache
    if cache is None:
        return
    if not cache.path:
        yield cache_without_path(plan, plan.at("cache.path"))
        return
    for index, mount in enumerate(plan.pod.container.get("volumeMounts") or ()):
        if mount.get("mountPath") != cache.path:
            continue
        at = plan.at("main", "volumeMounts", index)
        if mount.get("name") != cache.name:
            message = f"the compilation cache is mounted at {cache.path}, too; mount one of the two elsewhere"
            yield results.error("DYN459", message, plan.ref, (*at, "mountPath"))
        elif mount.get("readOnly"):
            yield results.error("DYN459", "the engine writes into the compilation cache; remove readOnly", plan.ref, (*at, "readOnly"))
