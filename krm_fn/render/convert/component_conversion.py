"""One component: a service of v1alpha1, an entry of `components` in v1beta1.

Follows the operator's shared_spec_conversion.go. These conversions use the fields alone; `graph_conversion` adds the
fields that only one version has.
"""

from __future__ import annotations

from krm_fn.kubernetes import merge, quantity
from krm_fn.kubernetes.values import mapping, objects
from krm_fn.render.convert import pod_template_conversion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROMOTED = ("prefill", "decode")
"""Sub-types of workers that are types of their own in v1beta1."""
WORKER = "worker"
"""The type of a v1alpha1 service with a sub-type.

Rule conversion.service: see `krm_fn.render.convert.component_conversion`.
"""
ONLY_V1ALPHA1 = ("serviceName", "dynamoNamespace", "autoscaling", "ingress", "annotations", "labels", "subComponentType")
"""Fields of a service that no v1beta1 component has."""
_OF_SERVICES = (
    *("componentType", "resources", "envs", "envFromSecret", "volumeMounts", "extraPodMetadata", "extraPodSpec"),
    *pod_template_conversion.PROBES,
    *("sharedMemory", "scalingAdapter", "gpuMemoryService", "failover", "checkpoint", "frontendSidecar", *ONLY_V1ALPHA1),
)
_OF_COMPONENTS = (
    *("name", "type", "podTemplate", "sharedMemorySize", "compilationCache", "scalingAdapter", "frontendSidecar", "experimental"),
    "roles",  # of no service in v1alpha1
)
_MODES = {"intraPod": "IntraPod", "interPod": "InterPod"}
_SERVICE_MODES = {mode: old for old, mode in _MODES.items()}
FEATURES = ("gpuMemoryService", "failover")


def to_component(service: dict[str, Any], name: str | None) -> dict[str, Any]:
    """Converts a v1alpha1 service to a v1beta1 component.

    Fields that both versions have stay as they are, and so do fields that neither has.

    Rule conversion.component: A v1alpha1 service becomes a v1beta1 component. (operator: api/v1alpha1/shared_spec_conversion.go)
    """
    return {
        **merge.present(name=name, type=service.get("subComponentType" if is_promoted(service) else "componentType")),
        **_same(service, _OF_SERVICES),
        **merge.present(
            podTemplate=pod_template_conversion.from_service(service),
            sharedMemorySize=_size(mapping(service.get("sharedMemory"))),
            compilationCache=_cache(service),
            scalingAdapter={} if mapping(service.get("scalingAdapter")).get("enabled") is True else None,
            experimental=_experimental(service) or None,
            frontendSidecar=pod_template_conversion.SIDECAR if service.get("frontendSidecar") is not None else None,
        ),
    }


def to_service(component: dict[str, Any]) -> dict[str, Any]:
    """Converts a v1beta1 component to a v1alpha1 service.

    Rule conversion.service: In v1alpha1, the types `prefill` and `decode` of v1beta1 are sub-types of workers. (operator:
    api/v1alpha1/shared_spec_conversion.go)
    """
    type_, experimental = component.get("type"), mapping(component.get("experimental"))
    promoted = type_ in PROMOTED
    size = component.get("sharedMemorySize")
    return {
        **merge.present(componentType=WORKER if promoted else type_, subComponentType=type_ if promoted else None),
        **_same(component, _OF_COMPONENTS),
        **merge.present(
            sharedMemory=None if size is None else _shared_memory(size),
            scalingAdapter=None if component.get("scalingAdapter") is None else {"enabled": True},
            **{feature: _service_feature(experimental.get(feature)) for feature in FEATURES},
            checkpoint=experimental.get("checkpoint"),
        ),
        **pod_template_conversion.to_service(component),
    }


def _same(fields: dict[str, Any], converted: tuple[str, ...]) -> dict[str, Any]:
    return {field: value for field, value in fields.items() if field not in converted and value is not None}


def is_promoted(service: dict[str, Any]) -> bool:
    """True if the sub-type of a service is its type in v1beta1."""
    return service.get("componentType") == WORKER and service.get("subComponentType") in PROMOTED


def _size(memory: dict[str, Any]) -> Any:
    """Returns the size of the shared memory: `0` for none. An absent or zero size is left out."""
    if memory.get("disabled") is True:
        return "0"
    size = memory.get("size")
    return size if _amount(size) else None


def _shared_memory(size: Any) -> dict[str, Any]:
    return {"size": size} if _amount(size) else {"disabled": True}


def _amount(size: Any) -> int:
    return quantity.value(size) if isinstance(size, (str, int, float)) else 0


def _cache(service: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the compilation cache of a service; None if it has none.

    Rule conversion.compilation-cache: The first mount of a service that is a compilation cache becomes the compilation cache of the
    component. (operator: api/v1alpha1/shared_spec_conversion.go)
    """
    for mount in objects(service.get("volumeMounts")):
        if mount.get("useAsCompilationCache") is True:
            return {"pvcName": mount.get("name", ""), **merge.present(mountPath=mount.get("mountPoint") or None)}
    return None


def _experimental(service: dict[str, Any]) -> dict[str, Any]:
    features = {feature: _component_feature(service.get(feature)) for feature in FEATURES}
    return merge.present(**features, checkpoint=service.get("checkpoint"))


def _component_feature(feature: Any) -> dict[str, Any] | None:
    """Returns the settings of a feature that is on. Its presence switches it on in v1beta1, and its mode begins with a capital."""
    if not isinstance(feature, dict) or feature.get("enabled") is not True:
        return None
    return {key: _mode(value, _MODES) if key == "mode" else value for key, value in feature.items() if key != "enabled"}


def _service_feature(feature: Any) -> dict[str, Any] | None:
    if not isinstance(feature, dict):
        return None
    return {"enabled": True, **{key: _mode(value, _SERVICE_MODES) if key == "mode" else value for key, value in feature.items()}}


def _mode(mode: Any, names: dict[str, str]) -> Any:
    return names.get(mode, mode) if isinstance(mode, str) else mode
