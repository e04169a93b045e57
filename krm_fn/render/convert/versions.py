"""Converts Dynamo's resources from one API version to the other: `nvidia.com/v1alpha1` and `nvidia.com/v1beta1`.

Follows the operator's conversion webhook (`api/v1alpha1/*_conversion.go`). Fields that the new version does not have go into an
annotation of the resource (see `preserved_fields`). Nothing is defaulted.
"""

from __future__ import annotations

from collections.abc import Callable

from krm_fn.base import results
from krm_fn.kubernetes.values import mapping, rename_fields
from krm_fn.render import dynamo_api
from krm_fn.render.convert import graph_conversion, request_conversion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.kubernetes.types import Resource


def _adapter_to_v1beta1(adapter: Resource) -> Resource:
    """Converts a v1alpha1 adapter."""
    return _with_graph_reference(adapter, {"serviceName": "componentName"})


def _adapter_to_v1alpha1(adapter: Resource) -> Resource:
    """Converts a v1beta1 adapter."""
    return _with_graph_reference(adapter, {"componentName": "serviceName"})


def _with_graph_reference(adapter: Resource, names: dict[str, str]) -> Resource:
    spec = mapping(adapter.get("spec"))
    if not isinstance(spec.get("dgdRef"), dict):
        return adapter
    return {**adapter, "spec": {**spec, "dgdRef": rename_fields(spec["dgdRef"], names)}}


_Conversion = Callable[["Resource"], "Resource"]
_CONVERSIONS: dict[str, dict[str, _Conversion]] = {
    dynamo_api.GRAPH: {dynamo_api.ALPHA1: graph_conversion.graph_to_v1alpha1, dynamo_api.BETA1: graph_conversion.graph_to_v1beta1},
    dynamo_api.COMPONENT: {
        dynamo_api.ALPHA1: graph_conversion.component_to_v1alpha1,
        dynamo_api.BETA1: graph_conversion.component_to_v1beta1,
    },
    dynamo_api.ADAPTER: {dynamo_api.ALPHA1: _adapter_to_v1alpha1, dynamo_api.BETA1: _adapter_to_v1beta1},
    dynamo_api.REQUEST: {dynamo_api.ALPHA1: request_conversion.to_v1alpha1, dynamo_api.BETA1: request_conversion.to_v1beta1},
}


def to(version: str, resource: Resource) -> Resource:
    """Converts a resource to an API version.

    `version` is `v1alpha1` or `v1beta1`. Returns the resource itself if it has that version already, or if its kind has only one version.
    The input is never changed; the result shares parts of it. Values of a wrong type never raise: they are left out, or stay as they are.

    Rule conversion.versions: A release reads one API version, and a resource of the other version is converted first. (operator:
    api/v1alpha1)
    """
    api_version, address = f"{dynamo_api.GROUP}/{version}", results.ref(resource)
    convert = _CONVERSIONS.get(address.kind, {}).get(version)
    if convert is None or address.api_version not in (dynamo_api.V1ALPHA1, dynamo_api.V1BETA1) or address.api_version == api_version:
        return resource
    return {**convert(resource), "apiVersion": api_version}
