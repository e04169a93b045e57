"""The volumes of a pod with the main container first, and the mounts of that container.

Follows the reference's `internal/dynamo/graph.go` (applyCompilationCache, ApplySharedMemoryVolumeAndMount,
appendMissingPVCVolumesForMounts).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.manifests import volumes

if TYPE_CHECKING:
    from krm_fn.kube.types import Container, PodSpec, Volume, VolumeMount
    from krm_fn.plan import Mount


def with_cache(container: Container, cache: Mount) -> Container:
    """The main container with the mount of its compilation cache, which is added unless a volume is mounted at that path.

    A mount of the same claim without a path gets the path: a conversion from v1alpha1 leaves it empty.
    """
    own: VolumeMount = {"name": cache.name, "mountPath": cache.path}
    mounts: list[VolumeMount] = []
    for mount in container.get("volumeMounts") or ():
        unplaced = mount.get("name") == cache.name and not mount.get("mountPath")
        placed: VolumeMount = {**mount, "mountPath": cache.path} if unplaced else mount
        if placed != own or own not in mounts:
            mounts.append(placed)
    if all(mount.get("mountPath") != cache.path for mount in mounts):
        mounts.append(own)
    return {**container, "volumeMounts": mounts}


def with_claim(pod: PodSpec, claim: str) -> PodSpec:
    """The pod with a volume for a claim, unless a volume has its name."""
    listed = list(pod.get("volumes") or ())
    return pod if any(volume.get("name") == claim for volume in listed) else {**pod, "volumes": [*listed, volumes.of_claim(claim)]}


def with_shared_memory(pod: PodSpec, container: Container, size: str) -> tuple[PodSpec, Container]:
    """Pod and main container with shared memory. It replaces a volume of its name, and a mount of its name or in its folder."""
    around, inside = volumes.shared_memory(size)
    own = inside["volumeMounts"][0]
    others = [volume for volume in pod.get("volumes") or () if volume.get("name") != own["name"]]
    mounts = [mount for mount in container.get("volumeMounts") or () if not is_replaced(mount, own)]
    return {**pod, "volumes": [*others, *around["volumes"]]}, {**container, "volumeMounts": [*mounts, own]}


def is_replaced(mount: VolumeMount, own: VolumeMount) -> bool:
    """True if a mount has the volume or the folder of another."""
    return mount.get("name") == own.get("name") or mount.get("mountPath") == own.get("mountPath")


def in_order_of_mounts(pod: PodSpec, container: Container) -> PodSpec:
    """The pod with the volumes of the container's mounts first, in their order, then all others.

    A mount without a volume gets a volume with the claim of its name.
    """
    listed = list(pod.get("volumes") or ())
    mounted = list(dict.fromkeys(mount["name"] for mount in container.get("volumeMounts") or () if mount.get("name")))
    first: list[Volume] = []
    for name in mounted:
        first += [volume for volume in listed if volume.get("name") == name] or [volumes.of_claim(name)]
    ordered = [*first, *(volume for volume in listed if volume.get("name") not in mounted)]
    return {**pod, "volumes": ordered} if ordered else pod
