"""Claims, the volumes that mount them, and shared memory.

Not its business: volumes the user wrote. Follows the reference's `internal/controller/common.go` constructPVC and
`internal/dynamo/graph.go` (GenerateBasePodSpec, applySharedMemory).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels, merge

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.plan import ComponentPlan, GraphPlan

SHARED_MEMORY = "shared-memory"


def claims(plan: GraphPlan) -> Iterator[Resource]:
    """The PersistentVolumeClaims the graph creates; the others are taken to exist."""
    for claim in plan.claims:
        if claim.create:
            yield {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": merge.some(
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


def pod_volumes(plan: ComponentPlan) -> list[dict[str, Any]]:
    """One volume per mounted claim, then shared memory."""
    found = [{"name": mount.name, "persistentVolumeClaim": {"claimName": mount.name}} for mount in plan.pod.mounts]
    if plan.pod.shared_memory:
        found.append({"name": SHARED_MEMORY, "emptyDir": {"medium": "Memory", "sizeLimit": plan.pod.shared_memory}})
    return found


def mounts(plan: ComponentPlan, cache_dir: str) -> list[dict[str, Any]]:
    """Where the main container sees them. `cache_dir` is the engine's own place for compiled kernels."""
    found = [{"name": mount.name, "mountPath": mount.path or cache_dir} for mount in plan.pod.mounts]
    if plan.pod.shared_memory:
        found.append({"name": SHARED_MEMORY, "mountPath": "/dev/shm"})  # noqa: S108 - the kernel's name for it
    return found
