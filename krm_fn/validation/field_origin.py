"""Where in the user's resource a field of a finished pod comes from.

Not its business: what is wrong with it (`krm_fn.kube.admission.pod`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from krm_fn.manifests import backends, components

if TYPE_CHECKING:
    from krm_fn.kube.admission.fields import Fault
    from krm_fn.kube.types import PodSpec
    from krm_fn.plan import ComponentPlan
    from krm_fn.results import Path

Source = Literal["user", "type", "claim", "memory", "engine"]


def of(plan: ComponentPlan, spec: PodSpec, fault: Fault) -> Path | None:
    """The field to mend; None only where a rule over that field has said the same."""
    extra, path = (*plan.path, "extraPodSpec"), fault.path
    if path[:1] == ("volumes",):
        return _of_volume(plan, path, spec["volumes"][path[1]].get("name"), fault.code)
    if path[:2] != ("containers", len(plan.pod.spec.get("containers") or ())):
        return (*extra, *path)
    rest = path[2:]
    if (rest[:1] == ("livenessProbe",) and plan.pod.liveness is not None) or (
        rest[:1] == ("readinessProbe",) and plan.pod.readiness is not None
    ):
        return (*plan.path, *rest)
    if rest[:1] == ("resources",) and not plan.pod.container.get("resources"):
        return (*plan.path, *rest)
    if rest[:1] == ("env",):
        return (*plan.path, "envs")
    if rest[:1] == ("volumeMounts",):
        return _of_mount(plan, rest, spec["containers"][path[1]]["volumeMounts"][rest[1]].get("mountPath"), fault.code)
    return (*extra, "mainContainer", *rest)


def _of_volume(plan: ComponentPlan, path: Path, name: Any, code: str) -> Path | None:
    """A generated volume that has another one's name is mended there; a claim's is judged where it is mounted."""
    at = (*plan.path, "extraPodSpec", "volumes")
    source, place = _source(plan, plan.pod.spec.get("volumes"), components.get(plan.who.type).pod(plan).get("volumes"), path[1])
    written, claims = [volume.get("name") for volume in plan.pod.spec.get("volumes") or ()], [mount.name for mount in plan.pod.mounts]
    if source == "user":
        return (*plan.path, "extraPodSpec", *path)
    if code == "DYN207" and source != "claim" and name in written and name not in claims:
        return (*at, written.index(name), "name")
    if code == "DYN207" and source == "engine" and name in claims:
        return (*plan.path, "volumeMounts", claims.index(name), "name")
    if source == "claim":
        return (*plan.path, "volumeMounts", place, "name") if name and code != "DYN207" else None
    if source == "memory":
        return (*plan.path, "sharedMemory", "size") if code != "DYN207" else None
    return at if source == "engine" else None


def _of_mount(plan: ComponentPlan, path: Path, place: Any, code: str) -> Path | None:
    """The same of mounts; those of the type lose their volumes to the user's."""
    main = (*plan.path, "extraPodSpec", "mainContainer")
    source, index = _source(
        plan, plan.pod.container.get("volumeMounts"), components.get(plan.who.type).container(plan).get("volumeMounts"), path[1]
    )
    written = [mount.get("mountPath") for mount in plan.pod.container.get("volumeMounts") or ()]
    claims = [mount.path or backends.get(plan.placement.backend).cache_dir for mount in plan.pod.mounts]
    if source == "user":
        return (*main, *path)
    if code == "DYN209" and place in claims:
        return (*plan.path, "volumeMounts", len(claims) - 1 - claims[::-1].index(place), "mountPoint")
    if code == "DYN209" and place in written:
        return (*main, "volumeMounts", written.index(place), "mountPath")
    if source == "claim":
        return (*plan.path, "volumeMounts", index, "mountPoint") if claims[index] else None
    return (*plan.path, "extraPodSpec", "volumes") if source == "type" else (*main, "volumeMounts")


def _source(plan: ComponentPlan, written: Any, default: Any, index: Any) -> tuple[Source, int]:
    """Whose an entry of a list is, and its place among theirs: the user's or else the type's come first, then these."""
    parts: list[tuple[Source, int]] = [
        ("user", len(written or ())),
        ("type", 0 if written else len(default or ())),
        ("claim", len(plan.pod.mounts)),
        ("memory", 1 if plan.pod.shared_memory else 0),
    ]
    for source, length in parts:
        if index < length:
            return source, index
        index -= length
    return "engine", index
