"""The GPU memory service, which keeps a model's weights in the memory of GPUs that several engines share, and failover between them.

Follows the operator's `internal/gms/`, `internal/dra/` and `internal/dynamo/failover.go`.
"""

from __future__ import annotations

from krm_fn.kubernetes import merge, quantity
from krm_fn.render import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.native_types import Container, PodSpec, ResourceRequirements, Toleration
    from krm_fn.kubernetes.types import Resource, ResourceSide
    from krm_fn.render.plan import ComponentPlan, GPUMemory, RolePlan

SERVER = "gpu_memory_service.cli.server"
"""The Python module of the GPU memory service.

Rule gpu-memory.program: The GPU memory service runs the program `gpu_memory_service.cli.server`. (operator: internal/gms)
"""
SOCKETS = "GMS_SOCKET_DIR"
"""The variable with the folder of the sockets.

Rule gpu-memory.sockets-variable: The variable GMS_SOCKET_DIR holds the folder of the sockets of the GPU memory service. (operator:
internal/gms)
"""
_TAINT: Toleration = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
"""The toleration of the taint of GPU nodes.

Rule gpu-memory.toleration: Pods with a claim for GPUs tolerate the taint of GPU nodes. (operator: internal/dra)
"""


def add_gpu_memory(pod: PodSpec, role: RolePlan) -> PodSpec:
    """Returns the pod with what its component's GPU memory service needs. The main container is the first one."""
    memory, failover = role.component.features.gpu_memory, role.component.features.failover
    if memory is None:
        return pod
    if memory.between_pods:
        from krm_fn.render.manifests.gpu_memory import between_pods  # noqa: PLC0415 - few components have the service

        return between_pods.share_between_pods(pod, role)
    from krm_fn.render.manifests.gpu_memory import in_pod  # noqa: PLC0415 - few components have the service

    shared = in_pod.share_in_pod(pod, role.component, memory)
    return in_pod.with_engines(shared, role.component, 1 + failover.shadows) if failover and not failover.between_pods else shared


def claim_template(plan: ComponentPlan, memory: GPUMemory) -> Resource:
    """Makes the ResourceClaimTemplate of a component.

    Rule gpu-memory.claim-template: A component with a GPU memory service in its pods has a ResourceClaimTemplate for its GPUs. (operator:
    internal/dra)
    """
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": names.gpu_claim(plan.identity.name), "namespace": plan.identity.namespace},
        "spec": claim_spec("gpus", plan, memory),
    }


def claim_spec(request: str, plan: ComponentPlan, memory: GPUMemory) -> dict[str, Any]:
    """Makes the spec of a template of claims. `request` is the name of its one request.

    Rule gpu-memory.claim: A claim asks for as many devices as the main container has GPUs. (operator: internal/dra)
    """
    exactly = {"deviceClassName": memory.device_class, "allocationMode": "ExactCount", "count": plan.pod.gpus.number}
    return {"spec": {"devices": {"requests": [{"name": request, "exactly": exactly}]}}}


def without_gpus(container: Container) -> Container:
    """Returns the container without the GPUs in its resources."""
    resources: ResourceRequirements = {**(container.get("resources") or {})}
    sides: tuple[ResourceSide, ...] = ("limits", "requests")
    for side in sides:
        amounts = {name: amount for name, amount in (resources.pop(side, None) or {}).items() if not quantity.is_gpu_resource(name)}
        if amounts:
            resources[side] = amounts
    rest = merge.without(container, "resources")
    return {**rest, "resources": resources} if resources else rest


def tolerant(pod: PodSpec) -> PodSpec:
    """Returns the pod with a toleration for nodes with GPUs. Kubernetes adds it only to pods that request GPUs in their resources."""
    written = pod.get("tolerations") or []
    known = any((toleration.get("key"), toleration.get("effect")) == (_TAINT["key"], _TAINT["effect"]) for toleration in written)
    return pod if known else {**pod, "tolerations": [*written, _TAINT]}
