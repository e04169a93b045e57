"""Where in the user's resource a field of a finished pod comes from.

Not its business: what is wrong with it (`krm_fn.kube.admission`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import backends

if TYPE_CHECKING:
    from krm_fn.kube.fields import Fault
    from krm_fn.kube.types import PodSpec
    from krm_fn.plan import ComponentPlan
    from krm_fn.results import Path


def of(plan: ComponentPlan, spec: PodSpec, fault: Fault) -> Path | None:
    """The field to mend; None where another rule speaks of it, since the user did not write it in a pod."""
    extra, path = (*plan.path, "extraPodSpec"), fault.path
    if path[:1] == ("volumes",):
        return _of_volume(plan, path, spec["volumes"][path[1]].get("name"), fault.code)
    if path[:2] != ("containers", len(plan.pod.get("containers") or ())):
        return (*extra, *path)
    rest = path[2:]
    if (rest[:1] == ("livenessProbe",) and plan.liveness is not None) or (rest[:1] == ("readinessProbe",) and plan.readiness is not None):
        return (*plan.path, *rest)
    if rest[:1] == ("resources",) and not plan.container.get("resources"):
        return (*plan.path, *rest)
    if rest[:1] == ("env",):
        return (*plan.path, "envs")
    if rest[:1] == ("volumeMounts",):
        return _of_mount(plan, rest, spec["containers"][path[1]]["volumeMounts"][rest[1]].get("mountPath"), fault.code)
    return (*extra, "mainContainer", *rest)


def _of_volume(plan: ComponentPlan, path: Path, name: Any, code: str) -> Path | None:
    """Behind the user's volumes stand those of claims, of the component type, and shared memory."""
    written = [volume.get("name") for volume in plan.pod.get("volumes") or ()]
    if path[1] in range(len(written)):
        return (*plan.path, "extraPodSpec", *path)
    claims = [mount.name for mount in plan.mounts]
    if code == "DYN207" and name in written and name not in claims:
        return (*plan.path, "extraPodSpec", "volumes", written.index(name), "name")
    return (*plan.path, "volumeMounts", claims.index(name), "name") if code == "DYN206" and name and name in claims else None


def _of_mount(plan: ComponentPlan, path: Path, place: Any, code: str) -> Path | None:
    """Behind the user's mounts stand the same."""
    main = (*plan.path, "extraPodSpec", "mainContainer")
    written = [mount.get("mountPath") for mount in plan.container.get("volumeMounts") or ()]
    if path[1] in range(len(written)):
        return (*main, *path)
    claims = [mount.path or backends.get(plan.backend).cache_dir for mount in plan.mounts]
    if code != "DYN209":
        return None
    if place in claims:
        return (*plan.path, "volumeMounts", len(claims) - 1 - claims[::-1].index(place), "mountPoint")
    return (*main, "volumeMounts", written.index(place), "mountPath") if place in written else None
