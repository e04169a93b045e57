"""PersistentVolumeClaims, the volumes that mount them, and shared memory.

Follows the operator's `internal/controller/common.go` constructPVC and `internal/dynamo/graph.go` (GenerateBasePodSpec,
applyCompilationCache, ApplySharedMemoryVolumeAndMount, appendMissingPVCVolumesForMounts).
"""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.kubernetes import merge
from krm_fn.render import labels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.kubernetes.native_types import Container, Volume, VolumeMount
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.plan import ComponentPlan, GraphPlan, Mount

SHARED_MEMORY = "shared-memory"
"""The name of the volume for shared memory.

Rule volumes.shared-memory-name: The volume for shared memory has the name `shared-memory`. (operator: internal/dynamo/graph.go
ApplySharedMemoryVolumeAndMount)
"""
SHARED_MEMORY_PATH = "/dev/shm"  # noqa: S108 - the kernel's name
"""The folder of shared memory.

Rule volumes.shared-memory: see `krm_fn.render.manifests.volumes`.
"""


def claims(plan: GraphPlan) -> Iterator[Resource]:
    """Yields the PersistentVolumeClaims that the graph creates. All others must exist in the cluster.

    Rule volumes.claims: A claim of `spec.pvcs` with `create` becomes a PersistentVolumeClaim. (operator: internal/controller/common.go
    constructPVC)
    """
    for claim in plan.claims:
        if claim.create:
            yield {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": merge.present(
                    name=claim.name,
                    namespace=plan.namespace,
                    annotations=dict(labels.RETAIN) if plan.config.retain_volumes else None,
                ),
                "spec": {
                    "accessModes": [claim.access_mode],
                    "resources": {"requests": {"storage": claim.size}},
                    "storageClassName": claim.storage_class,
                },
            }


def of_claims(plan: ComponentPlan) -> list[Volume]:
    """Returns one volume for each mounted claim."""
    return [of_claim(mount.name) for mount in plan.pod.mounts]


def of_claim(name: str) -> Volume:
    """Makes the volume of a claim.

    Rule volumes.of-claim: A mounted claim becomes a volume with the name of the claim. (operator: internal/dynamo/graph.go
    GenerateBasePodSpec)
    """
    return {"name": name, "persistentVolumeClaim": {"claimName": name}}


def mounts(plan: ComponentPlan, cache_dir: str) -> list[VolumeMount]:
    """Returns the mounts of the claims in the main container. `cache_dir` is the folder in which the engine keeps compiled kernels.

    Rule volumes.mounts: A mount of a service becomes a mount of its main container. (operator: internal/dynamo/graph.go
    GenerateBasePodSpec)
    """
    return [{"name": mount.name, "mountPath": mount.path or cache_dir} for mount in plan.pod.mounts]


def shared_memory(size: str) -> tuple[Volume, VolumeMount]:
    """Makes the volume for shared memory and its mount. `size` is a canonical quantity.

    Rule volumes.shared-memory: The main container mounts the volume `shared-memory` at `/dev/shm`. (operator: internal/dynamo/graph.go
    ApplySharedMemoryVolumeAndMount)
    """
    volume: Volume = {"name": SHARED_MEMORY, "emptyDir": {"medium": "Memory", "sizeLimit": size}}
    return volume, {"name": SHARED_MEMORY, "mountPath": SHARED_MEMORY_PATH}


def with_cache(container: Container, cache: Mount) -> Container:
    """Returns a container with the mount of its compilation cache.

    A mount of the same claim without a path gets the path: a conversion from v1alpha1 leaves it empty.

    Rule volumes.compilation-cache: The compilation cache is mounted at its path or at the engine's cache folder, unless another volume is
    mounted there. (operator: internal/dynamo/graph.go applyCompilationCache)
    """
    cache_mount: VolumeMount = {"name": cache.name, "mountPath": cache.path}
    mounts: list[VolumeMount] = []
    for mount in container.get("volumeMounts") or ():
        unplaced = mount.get("name") == cache.name and not mount.get("mountPath")
        placed: VolumeMount = {**mount, "mountPath": cache.path} if unplaced else mount
        if placed != cache_mount or cache_mount not in mounts:
            mounts.append(placed)
    if all(mount.get("mountPath") != cache.path for mount in mounts):
        mounts.append(cache_mount)
    return {**container, "volumeMounts": mounts}
