"""DynamoGraphDeploymentScalingAdapters: both versions have the same fields, one of them under another name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube.values import mapping, renamed

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource


def to_v1beta1(adapter: Resource) -> Resource:
    """Converts a v1alpha1 adapter."""
    return _with_reference(adapter, {"serviceName": "componentName"})


def to_v1alpha1(adapter: Resource) -> Resource:
    """Converts a v1beta1 adapter."""
    return _with_reference(adapter, {"componentName": "serviceName"})


def _with_reference(adapter: Resource, names: dict[str, str]) -> Resource:
    spec = mapping(adapter.get("spec"))
    if not isinstance(spec.get("dgdRef"), dict):
        return adapter
    return {**adapter, "spec": {**spec, "dgdRef": renamed(spec["dgdRef"], names)}}
