"""Rules about the default shared memory, which replaces volumes and mounts of the user in this release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.manifests import volumes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.manifests.assemblies import Pods
    from krm_fn.plan import ComponentPlan, GraphPlan
    from krm_fn.results import Path, Result


def check(_plan: GraphPlan, made: Sequence[Pods]) -> Iterator[Result]:
    """Warns of a volume with the name of shared memory, and of a mount in its folder: the reference drops both silently."""
    for plan in (each.plan for each in made if each.plan.pod.shared_memory):
        yield from _check(plan)


def _check(plan: ComponentPlan) -> Iterator[Result]:
    own = volumes.shared_memory(plan.pod.shared_memory)[1]["volumeMounts"][0]
    for index, volume in enumerate(plan.pod.spec.get("volumes") or ()):
        if volume.get("name") == own["name"]:
            yield _replaced(plan, "this volume", plan.at("pod", "volumes", index))
    for index, mount in enumerate(plan.pod.container.get("volumeMounts") or ()):
        if mount.get("mountPath") == own["mountPath"] and mount.get("name") != own["name"]:
            yield _replaced(plan, "this mount", plan.at("main", "volumeMounts", index))


def _replaced(plan: ComponentPlan, part: str, path: Path) -> Result:
    message = f"the default shared memory replaces {part}; {plan.remedy('shared_memory.off')} to leave out the default, or remove {part}"
    return results.warning("DYN427", message, plan.ref, path)
