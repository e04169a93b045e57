"""PersistentVolumeClaims, the volumes that mount them, and shared memory.

Follows the reference's `internal/controller/common.go` constructPVC and `internal/dynamo/graph.go` (GenerateBasePodSpec,
applySharedMemory).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from krm_fn.kube import labels, merge

if TYPE_CHECKING:
    from krm_fn.kube.types import Container, PodSpec, Resource, Volume, VolumeMount
    from krm_fn.plan import ComponentPlan, GraphPlan

SHARED_MEMORY = "shared-memory"


def claims(plan: GraphPlan) -> Iterator[Resource]:
    """The PersistentVolumeClaims that the graph creates. All others must exist in the cluster."""
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
    """One volume for each mounted claim."""
    return [of_claim(mount.name) for mount in plan.pod.mounts]


def of_claim(name: str) -> Volume:
    """The volume with the name of the claim that it mounts."""
    return {"name": name, "persistentVolumeClaim": {"claimName": name}}


def mounts(plan: ComponentPlan, cache_dir: str) -> list[VolumeMount]:
    """The mounts of the claims in the main container. `cache_dir` is the folder in which the engine keeps compiled kernels."""
    return [{"name": mount.name, "mountPath": mount.path or cache_dir} for mount in plan.pod.mounts]


def shared_memory(size: str) -> tuple[PodSpec, Container]:
    """The volume for shared memory, and its mount in the main container. `size` is a canonical quantity."""
    volume: Volume = {"name": SHARED_MEMORY, "emptyDir": {"medium": "Memory", "sizeLimit": size}}
    return {"volumes": [volume]}, {"volumeMounts": [{"name": SHARED_MEMORY, "mountPath": "/dev/shm"}]}  # noqa: S108 - the kernel's name
