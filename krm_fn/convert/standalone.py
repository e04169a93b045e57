"""The specification of a DynamoComponentDeployment: that of a component, and its engine.

Follows the reference's dynamocomponentdeployment_conversion.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.convert import exchange, preserved, statuses
from krm_fn.kube import merge
from krm_fn.kube.values import mapping, text

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource


def to_v1beta1(resource: Resource) -> Resource:
    """Converts a v1alpha1 component. Without a `serviceName`, its name is that of the resource."""
    written, own = mapping(resource.get("spec")), _own_name(resource)
    kept, service = preserved.spec(resource), merge.without(written, "serviceName")
    component, leftovers = exchange.to_component(service, merge.without(kept, "name"), None)
    name = written.get("serviceName") or (None if _says_none(kept, "name") else own)
    if name:
        component = {"name": name, **component}
    if written.get("serviceName") != name:
        leftovers = {**leftovers, "serviceName": written.get("serviceName")}
    return statuses.component_to_v1beta1(_with(resource, component, leftovers))


def to_v1alpha1(resource: Resource) -> Resource:
    """Converts a v1beta1 component."""
    written, own = mapping(resource.get("spec")), _own_name(resource)
    kept, component = preserved.spec(resource), merge.without(written, "name")
    service, leftovers = exchange.to_service(component, merge.without(kept, "serviceName"), None)
    name = written.get("name")
    if not name and own:
        leftovers = {**leftovers, "name": name}
    if name == own and _says_none(kept, "serviceName"):
        name = kept["serviceName"]
    if name is not None:
        service = {"serviceName": name, **service}
    return statuses.component_to_v1alpha1(_with(resource, service, leftovers))


def _with(resource: Resource, spec: dict[str, Any], leftovers: dict[str, Any]) -> Resource:
    """The resource with its new specification, if it has one, and with the fields to keep."""
    if "spec" not in resource:
        return preserved.with_spec(resource, {})
    return preserved.with_spec({**resource, "spec": spec}, leftovers)


def _own_name(resource: Resource) -> str:
    return text(mapping(resource.get("metadata")).get("name"))


def _says_none(kept: dict[str, Any], field: str) -> bool:
    """True if the kept fields say that the field was absent or empty."""
    return field in kept and not kept[field]
