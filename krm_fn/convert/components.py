"""One component: a service of v1alpha1, an entry of `components` in v1beta1.

Follows the reference's shared_spec_conversion.go.
"""

from __future__ import annotations

from typing import Any

from krm_fn.convert import pod_templates
from krm_fn.convert._values import mapping, objects, written
from krm_fn.kube import quantity

PROMOTED = ("prefill", "decode")
"""Sub-types of workers that are types of their own in v1beta1."""
WORKER = "worker"
ONLY_V1ALPHA1 = ("serviceName", "dynamoNamespace", "autoscaling", "ingress", "annotations", "labels", "subComponentType")
"""Fields of a service that no v1beta1 component has."""
_CONVERTED = (
    *("componentType", "resources", "envs", "envFromSecret", "volumeMounts", *pod_templates.PROBES, "extraPodMetadata", "extraPodSpec"),
    *("sharedMemory", "scalingAdapter", "gpuMemoryService", "failover", "checkpoint", "frontendSidecar", *ONLY_V1ALPHA1),
)
_MODES = {"intraPod": "IntraPod", "interPod": "InterPod"}


def to_v1beta1(service: dict[str, Any], name: str | None) -> dict[str, Any]:
    """Converts a service. Fields that both versions have stay as they are, and so do fields that neither has."""
    same = {field: value for field, value in service.items() if field not in _CONVERTED and value is not None}
    return {
        **written(name=name, type=_type(service)),
        **same,
        **written(
            podTemplate=pod_templates.from_service(service),
            sharedMemorySize=_shared_memory(mapping(service.get("sharedMemory"))),
            compilationCache=_cache(service),
            scalingAdapter={} if mapping(service.get("scalingAdapter")).get("enabled") is True else None,
            experimental=_experimental(service) or None,
            frontendSidecar=pod_templates.SIDECAR if service.get("frontendSidecar") is not None else None,
        ),
    }


def is_promoted(service: dict[str, Any]) -> bool:
    """True if the sub-type of a service is its type in v1beta1."""
    return service.get("componentType") == WORKER and service.get("subComponentType") in PROMOTED


def _type(service: dict[str, Any]) -> Any:
    return service.get("subComponentType") if is_promoted(service) else service.get("componentType")


def _shared_memory(memory: dict[str, Any]) -> Any:
    """The size: `0` for none. An absent or zero size is left out."""
    if memory.get("disabled") is True:
        return "0"
    size = memory.get("size")
    return size if isinstance(size, (str, int, float)) and quantity.value(size) else None


def _cache(service: dict[str, Any]) -> dict[str, Any] | None:
    """The first mount that is a compilation cache."""
    for mount in objects(service.get("volumeMounts")):
        if mount.get("useAsCompilationCache") is True:
            return {"pvcName": mount.get("name", ""), **written(mountPath=mount.get("mountPoint") or None)}
    return None


def _experimental(service: dict[str, Any]) -> dict[str, Any]:
    memory, failover = (_enabled(service.get(field)) for field in ("gpuMemoryService", "failover"))
    return written(gpuMemoryService=memory, failover=failover, checkpoint=service.get("checkpoint"))


def _enabled(feature: Any) -> dict[str, Any] | None:
    """The settings of a feature that is on; its mode begins with a capital in v1beta1."""
    if not isinstance(feature, dict) or feature.get("enabled") is not True:
        return None
    return {key: _MODES.get(value, value) if key == "mode" else value for key, value in feature.items() if key != "enabled"}


def only_v1alpha1(service: dict[str, Any], name: str | None) -> dict[str, Any]:
    """The fields of a service that no v1beta1 component has."""
    fields = {field: service[field] for field in ONLY_V1ALPHA1 if service.get(field)}
    if is_promoted(service):
        fields.pop("subComponentType")
    if fields.get("serviceName") == name:
        fields.pop("serviceName")
    return fields
