"""The GPU memory service, which keeps a model's weights in the memory of GPUs that several engines share, and failover between them.

Follows the reference's `internal/gms/`, `internal/dra/` and `internal/dynamo/failover.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from krm_fn.kube.types import PodSpec, Resource
    from krm_fn.plan import ComponentPlan, GPUMemory, RolePlan

SERVER = "gpu_memory_service.cli.server"
SOCKETS = "GMS_SOCKET_DIR"


def applied(pod: PodSpec, role: RolePlan) -> PodSpec:
    """The pod with what its component's GPU memory service needs. The main container is the first one."""
    memory, failover = role.component.features.gpu_memory, role.component.features.failover
    if memory is None:
        return pod
    if memory.between_pods:
        from krm_fn.manifests.gpu_memory import between_pods  # noqa: PLC0415 - few components have the service

        return between_pods.applied(pod, role)
    from krm_fn.manifests.gpu_memory import engines, in_pod  # noqa: PLC0415 - few components have the service

    shared = in_pod.applied(pod, role.component, memory)
    return engines.applied(shared, role.component, 1 + failover.shadows) if failover and not failover.between_pods else shared


def claim_template(plan: ComponentPlan, memory: GPUMemory) -> Resource:
    """The template of the claims for a component's GPUs. The reference makes it wherever the service runs."""
    from krm_fn.manifests.gpu_memory import claims  # noqa: PLC0415 - few components have the service

    return claims.template(plan, memory)
