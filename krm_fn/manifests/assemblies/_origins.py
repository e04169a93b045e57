"""The origin of each entry of a pod's lists, for pods with the main container first: their parts are found by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.manifests import components, volumes
from krm_fn.manifests.strata import Entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from krm_fn.kube.types import PodSpec, VolumeMount
    from krm_fn.manifests.strata import Origin, Part
    from krm_fn.plan import ComponentPlan


def entry(plan: ComponentPlan, pod: PodSpec, part: Part, field: str, index: int) -> Entry:
    """The origin of an entry of a list of the pod, or of a mount of the main container. The main container counts as the engine's."""
    listed: Any = pod["containers"][0] if part == "container" else pod
    found = listed[field][index]
    if field == "volumeMounts":
        return _of_mount(plan, found)
    if field == "volumes":
        return _of_volume(plan, found.get("name"))
    written: Any = plan.pod.spec
    return _named("user", written.get(field) or (), found.get("name"))


def _of_volume(plan: ComponentPlan, name: str | None) -> Entry:
    if plan.pod.shared_memory and name == volumes.SHARED_MEMORY:
        return Entry("shared memory", 0)
    for found in (
        _named("user", plan.pod.spec.get("volumes") or (), name),
        _named("claims", plan.pod.container.get("volumeMounts") or (), name),
        _named("defaults", components.get(plan.who.type).pod(plan).get("volumes") or (), name),
    ):
        if found.origin != "engine":
            return found
    return Entry("cache", 0) if plan.pod.cache and plan.pod.cache.name == name else Entry("engine", 0)


def _of_mount(plan: ComponentPlan, mount: VolumeMount) -> Entry:
    written = plan.pod.container.get("volumeMounts") or ()
    if plan.pod.shared_memory and mount.get("name") == volumes.SHARED_MEMORY:
        return Entry("shared memory", 0)
    place = next((index for index, own in enumerate(written) if own == mount), None)
    if place is not None:
        return Entry("user", place)
    if plan.pod.cache and plan.pod.cache.name == mount.get("name"):
        return Entry("cache", 0)
    return Entry("engine" if written else "defaults", 0)


def _named(origin: Origin, listed: Iterable[Mapping[str, Any]], name: str | None) -> Entry:
    """The entry of this name in a list of one origin; the engine's if the list has none."""
    place = next((index for index, own in enumerate(listed) if own.get("name") == name), None)
    return Entry("engine", 0) if place is None else Entry(origin, place)
