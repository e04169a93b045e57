"""Maps a field of a finished pod to the field of the user's resource that set it, with the origins of the pod's parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.manifests import assemblies, strata

if TYPE_CHECKING:
    from krm_fn.kube.admission import Refusal
    from krm_fn.kube.types import PodSpec
    from krm_fn.manifests.assemblies import Pods
    from krm_fn.plan import ComponentPlan
    from krm_fn.results import Path


def path(pods: Pods, spec: PodSpec, refusal: Refusal) -> Path | None:
    """The field that the user can fix; None if another rule reports the same problem at that field."""
    plan = pods.plan
    match refusal.path:
        case ("volumes", int(index), *_):
            return _of_volume(pods, spec, index, refusal)
        case ("containers", int(index), *rest) if _is_main(pods, spec, index):
            return _of_main(pods, spec, index, tuple(rest), refusal) if plan.features.written_main else None
        case ("containers", int(index), *rest):
            return _of_sidecar(pods, spec, index, tuple(rest))
        case ("initContainers", int(index), *rest) if len(spec["initContainers"]) > len(plan.pod.spec.get("initContainers") or ()):
            return _of_init_container(plan, spec["initContainers"][index].get("name"), tuple(rest))
    return plan.at("pod", *refusal.path)


def _of_init_container(plan: ComponentPlan, name: str | None, rest: Path) -> Path:
    """The field for an init container among those that the engine adds. Two of the same name are at the user's one."""
    written = [container.get("name") for container in plan.pod.spec.get("initContainers") or ()]
    return plan.at("pod", "initContainers", *((written.index(name), *rest) if name in written else ()))


def _of_sidecar(pods: Pods, spec: PodSpec, index: int, rest: Path) -> Path:
    """The field for a container beside the main one. The lists of a frontend hold defaults too, so their entries have no place."""
    plan, place = pods.plan, assemblies.entry(pods, spec, "pod", "containers", index).place
    merged = spec["containers"][index].get("name") == plan.features.frontend_sidecar and rest[:1] in (("env",), ("volumeMounts",))
    return plan.sidecar(place, *(() if merged else rest))


def is_shared_memory(pods: Pods, spec: PodSpec, refusal: Refusal) -> bool:
    """True if a refusal is about the mount of the default shared memory."""
    match refusal.path:
        case ("containers", int(index), "volumeMounts", int(mount), *_) if _is_main(pods, spec, index):
            return assemblies.entry(pods, spec, "container", "volumeMounts", mount).origin == "shared memory"
    return False


def _is_main(pods: Pods, spec: PodSpec, index: int) -> bool:
    """True if a container is the main container."""
    return assemblies.entry(pods, spec, "pod", "containers", index).origin == "engine"


def _of_volume(pods: Pods, spec: PodSpec, index: int, refusal: Refusal) -> Path | None:
    """The field for a volume. If a generated volume and a user's volume have the same name, the field is the name of the user's volume."""
    plan, twice, name = pods.plan, refusal.code == "DYN207", spec["volumes"][index].get("name")
    origin, place = assemblies.entry(pods, spec, "pod", "volumes", index)
    written = [volume.get("name") for volume in plan.pod.spec.get("volumes") or ()]
    claims = [mount.name for mount in plan.pod.mounts]
    if origin == "user":
        return plan.at("pod", "volumes", place, *refusal.path[2:])
    if twice and origin != "claims" and name in written and name not in claims:
        return plan.at("pod", "volumes", written.index(name), "name")
    if twice and origin == "engine" and name in claims:
        return plan.at("mount.name", claims.index(name))
    if origin == "claims":
        return plan.at("mount.name", place) if name and not twice else None
    if origin == "cache":
        return plan.at("cache.claim")
    if origin == "shared memory":
        return None if twice else plan.at("shared_memory.size")
    return plan.at("pod", "volumes") if origin == "engine" else None


def _of_main(pods: Pods, spec: PodSpec, at: int, rest: Path, refusal: Refusal) -> Path | None:
    """The user's field for a field of the main container, which is container `at`, in the topmost stratum that sets it."""
    plan, beside = pods.plan, strata.get(pods.strata, "component").container
    match rest:
        case ("livenessProbe", *below) if "livenessProbe" in beside:
            return plan.at("liveness", *below)
        case ("readinessProbe", *below) if "readinessProbe" in beside:
            return plan.at("readiness", *below)
        case ("resources", *below) if not plan.pod.container.get("resources"):
            return plan.at("resources", *below)
        case ("env", *_):
            return plan.at("variables")
        case ("volumeMounts", int(index), *_):
            return _of_mount(pods, spec, (at, index), rest, refusal.code)
    return plan.at("main", *rest)


def _of_mount(pods: Pods, spec: PodSpec, place: tuple[int, int], rest: Path, code: str) -> Path | None:
    """The field for a mount, given as the indexes of container and mount.

    If a generated mount and a user's mount have the same folder, the field is the folder of the user's mount.
    """
    plan, (at, index) = pods.plan, place
    mount = spec["containers"][at]["volumeMounts"][index]
    folder = mount.get("mountPath")
    if not folder and plan.pod.cache and plan.pod.cache.name == mount.get("name"):
        return None
    origin, own = assemblies.entry(pods, spec, "container", "volumeMounts", index)
    written = [mount.get("mountPath") for mount in plan.pod.container.get("volumeMounts") or ()]
    claims = [mount.get("mountPath") for mount in strata.get(pods.strata, "claims").container.get("volumeMounts") or ()]
    if origin == "user":
        return plan.at("main", "volumeMounts", own, *rest[2:])
    if code == "DYN209" and folder in claims:
        return plan.at("mount.path", len(claims) - 1 - claims[::-1].index(folder))
    if code == "DYN209" and folder in written:
        return plan.at("main", "volumeMounts", written.index(folder), "mountPath")
    if origin == "claims":
        return plan.at("mount.path", own) if claims[own] else None
    if origin == "cache":
        return plan.at("cache")
    return plan.at("pod", "volumes") if origin == "defaults" else plan.at("main", "volumeMounts")
