"""Maps a field of a finished pod to the field of the user's resource that set it, with the strata of the pod."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.manifests import strata

if TYPE_CHECKING:
    from krm_fn.kube.admission import Refusal
    from krm_fn.kube.types import PodSpec
    from krm_fn.manifests.assemblies import Pods
    from krm_fn.results import Path


def path(pods: Pods, spec: PodSpec, refusal: Refusal) -> Path | None:
    """The field that the user can fix; None if another rule reports the same problem at that field."""
    plan = pods.plan
    match refusal.path:
        case ("volumes", int(index), *_):
            return _of_volume(pods, index, spec["volumes"][index].get("name"), refusal)
        case ("containers", int(index), *rest) if _is_main(pods, index):
            return _of_main(pods, spec, tuple(rest), refusal) if plan.features.written_main else None
        case ("containers", int(index), *rest):
            return plan.at("sidecar", plan.address.sidecars[index], *rest)
    return plan.at("pod", *refusal.path)


def is_shared_memory(pods: Pods, refusal: Refusal) -> bool:
    """True if a refusal is about the mount of the default shared memory."""
    match refusal.path:
        case ("containers", int(index), "volumeMounts", int(mount), *_) if _is_main(pods, index):
            return strata.entry(pods.strata, "container", "volumeMounts", mount).origin == "shared memory"
    return False


def _is_main(pods: Pods, index: int) -> bool:
    """True if a container is the main container, which comes after the containers of the strata."""
    return strata.entry(pods.strata, "pod", "containers", index).origin == "engine"


def _of_volume(pods: Pods, index: int, name: str | None, refusal: Refusal) -> Path | None:
    """The field for a volume. If a generated volume and a user's volume have the same name, the field is the name of the user's volume."""
    plan, twice = pods.plan, refusal.code == "DYN207"
    origin, place = strata.entry(pods.strata, "pod", "volumes", index)
    written = [volume.get("name") for volume in plan.pod.spec.get("volumes") or ()]
    claims = [mount.name for mount in plan.pod.mounts]
    if origin == "user":
        return plan.at("pod", *refusal.path)
    if twice and origin != "claims" and name in written and name not in claims:
        return plan.at("pod", "volumes", written.index(name), "name")
    if twice and origin == "engine" and name in claims:
        return plan.at("mount.name", claims.index(name))
    if origin == "claims":
        return plan.at("mount.name", place) if name and not twice else None
    if origin == "shared memory":
        return None if twice else plan.at("shared_memory.size")
    return plan.at("pod", "volumes") if origin == "engine" else None


def _of_main(pods: Pods, spec: PodSpec, rest: Path, refusal: Refusal) -> Path | None:
    """The user's field for a field of the main container, in the topmost stratum that sets it."""
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
            return _of_mount(pods, index, rest, spec["containers"][-1]["volumeMounts"][index].get("mountPath"), refusal.code)
    return plan.at("main", *rest)


def _of_mount(pods: Pods, index: int, rest: Path, folder: str | None, code: str) -> Path | None:
    """The field for a mount. If a generated mount and a user's mount have the same folder, the field is the folder of the user's mount."""
    plan = pods.plan
    origin, place = strata.entry(pods.strata, "container", "volumeMounts", index)
    written = [mount.get("mountPath") for mount in plan.pod.container.get("volumeMounts") or ()]
    claims = [mount.get("mountPath") for mount in strata.get(pods.strata, "claims").container.get("volumeMounts") or ()]
    if origin == "user":
        return plan.at("main", *rest)
    if code == "DYN209" and folder in claims:
        return plan.at("mount.path", len(claims) - 1 - claims[::-1].index(folder))
    if code == "DYN209" and folder in written:
        return plan.at("main", "volumeMounts", written.index(folder), "mountPath")
    if origin == "claims":
        return plan.at("mount.path", place) if claims[place] else None
    return plan.at("pod", "volumes") if origin == "defaults" else plan.at("main", "volumeMounts")
