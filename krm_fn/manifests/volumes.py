"""PersistentVolumeClaims, the volumes that mount them, and shared memory.

Follows the operator's `internal/controller/common.go` constructPVC and `internal/dynamo/graph.go` (GenerateBasePodSpec,
applyCompilationCache, ApplySharedMemoryVolumeAndMount, appendMissingPVCVolumesForMounts).
"""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.kube import labels, merge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.kube.native_types import Container, Volume, VolumeMount
    from krm_fn.kube.types import Resource
    from krm_fn.plan import ComponentPlan, GraphPlan, Mount

SHARED_MEMORY = "shared-memory"
"""The volume for shared memory has the name `shared-memory`.

Follows the operator's `internal/dynamo/graph.go ApplySharedMemoryVolumeAndMount`.
Rule: volumes.shared-memory-name
"""
SHARED_MEMORY_PATH = "/dev/shm"  # noqa: S108 - the kernel's name
"""The main container mounts the volume `shared-memory` at `/dev/shm`.

Follows the operator's `internal/dynamo/graph.go ApplySharedMemoryVolumeAndMount`.
Rule: volumes.shared-memory
"""


def claims(plan: GraphPlan) -> Iterator[Resource]:
    """A claim of `spec.pvcs` with `create` becomes a PersistentVolumeClaim.

    Yields the PersistentVolumeClaims that the graph creates. All others must exist in the cluster.

    Follows the operator's `internal/controller/common.go constructPVC`.
    Rule: volumes.claims
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
    """A mounted claim becomes a volume with the name of the claim.

    Follows the operator's `internal/dynamo/graph.go GenerateBasePodSpec`.
    Rule: volumes.of-claim
    """
    return {"name": name, "persistentVolumeClaim": {"claimName": name}}


def mounts(plan: ComponentPlan, cache_dir: str) -> list[VolumeMount]:
    """A mount of a service becomes a mount of its main container.

    Returns the mounts of the claims in the main container. `cache_dir` is the folder in which the engine keeps compiled kernels.

    Follows the operator's `internal/dynamo/graph.go GenerateBasePodSpec`.
    Rule: volumes.mounts
    """
    return [{"name": mount.name, "mountPath": mount.path or cache_dir} for mount in plan.pod.mounts]


def shared_memory(size: str) -> tuple[Volume, VolumeMount]:
    """The main container mounts the volume `shared-memory` at `/dev/shm`.

    `size` is a canonical quantity.

    Follows the operator's `internal/dynamo/graph.go ApplySharedMemoryVolumeAndMount`.
    Rule: volumes.shared-memory
    """
    volume: Volume = {"name": SHARED_MEMORY, "emptyDir": {"medium": "Memory", "sizeLimit": size}}
    return volume, {"name": SHARED_MEMORY, "mountPath": SHARED_MEMORY_PATH}


def with_cache(container: Container, cache: Mount) -> Container:
    """The compilation cache is mounted at its path or at the engine's cache folder, unless another volume is mounted there.

    A mount of the same claim without a path gets the path: a conversion from v1alpha1 leaves it empty.

    Follows the operator's `internal/dynamo/graph.go applyCompilationCache`.
    Rule: volumes.compilation-cache
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
