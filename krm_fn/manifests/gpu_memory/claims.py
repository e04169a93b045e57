"""Claims for GPUs in place of the GPUs that a container requests: whoever has the same claim has the same GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import gpus, merge, names

if TYPE_CHECKING:
    from krm_fn.kube.types import Container, PodSpec, Resource, Resources, ResourceSide, Toleration
    from krm_fn.plan import ComponentPlan, GPUMemory

_TAINT: Toleration = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def template(plan: ComponentPlan, memory: GPUMemory) -> Resource:
    """The ResourceClaimTemplate of a component."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": names.gpu_claim(plan.who.name), "namespace": plan.who.namespace},
        "spec": spec("gpus", plan, memory),
    }


def spec(request: str, plan: ComponentPlan, memory: GPUMemory) -> dict[str, Any]:
    """The spec of a template: as many devices as the main container has GPUs."""
    exactly = {"deviceClassName": memory.device_class, "allocationMode": "ExactCount", "count": plan.pod.gpus.number}
    return {"spec": {"devices": {"requests": [{"name": request, "exactly": exactly}]}}}


def without_gpus(container: Container) -> Container:
    """The container without the GPUs in its resources."""
    kept: Resources = {**(container.get("resources") or {})}
    sides: tuple[ResourceSide, ...] = ("limits", "requests")
    for side in sides:
        amounts = {name: amount for name, amount in (kept.pop(side, None) or {}).items() if not gpus.is_resource(name)}
        if amounts:
            kept[side] = amounts
    found = merge.without(container, "resources")
    return {**found, "resources": kept} if kept else found


def tolerant(pod: PodSpec) -> PodSpec:
    """The pod with a toleration for nodes with GPUs. Kubernetes adds it only to pods that request GPUs in their resources."""
    written = pod.get("tolerations") or []
    known = any((each.get("key"), each.get("effect")) == (_TAINT["key"], _TAINT["effect"]) for each in written)
    return pod if known else {**pod, "tolerations": [*written, _TAINT]}
