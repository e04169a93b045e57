"""The specifications of DynamoGraphDeployments and of DynamoComponentDeployments.

Follows the operator's dynamographdeployment_conversion.go and dynamocomponentdeployment_conversion.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.convert import (
    component_conversion,
    preserved_annotations,
    preserved_component_fields,
    preserved_service_fields,
    status_conversion,
)
from krm_fn.kube import merge
from krm_fn.kube.values import mapping, name_of, objects, renamed, text
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource

Fields = dict[str, Any]
_NEWER = {"envs": "env"}
_NEWER_IN_TOPOLOGY = {"topologyProfile": "clusterTopologyName"}
_OLDER, _OLDER_IN_TOPOLOGY = ({newer: older for older, newer in names.items()} for names in (_NEWER, _NEWER_IN_TOPOLOGY))


def graph_to_v1beta1(graph: Resource) -> Resource:
    """Converts a v1alpha1 graph to v1beta1, for a release that reads v1beta1.

    The services become a list, sorted by name unless the graph had another order before.

    Follows the operator's `api/v1alpha1/dynamographdeployment_conversion.go`.
    Rule: conversion.graph
    """
    spec, kept = mapping(graph.get("spec")), preserved_annotations.spec(graph)
    before = {name_of(component): component for component in objects(kept.get("components"))}
    services = {name: service for name, service in mapping(spec.get("services")).items() if isinstance(service, dict)}
    components = {name: _exchanged_service(services[name], before.get(name, {}), name) for name in _sorted(services, [*before])}
    converted = _renamed(merge.without(spec, "services", "pvcs"), _NEWER, _NEWER_IN_TOPOLOGY)
    if "services" in spec:
        converted["components"] = None if spec["services"] is None else [exchanged.fields for exchanged in components.values()]
    claims = {"pvcs": spec["pvcs"]} if "pvcs" in spec else {}
    preserved = {**claims, **_kept_of_services(mapping(spec.get("services")), components)}
    return status_conversion.graph_to_v1beta1(_with_spec(graph, converted, preserved))


def graph_to_v1alpha1(graph: Resource) -> Resource:
    """Converts a v1beta1 graph. The components become a map by name."""
    spec, preserved = mapping(graph.get("spec")), preserved_annotations.spec(graph)
    before = mapping(preserved.get("services"))
    components = {name_of(component): component for component in objects(spec.get("components"))}
    exchanged = {name: _exchanged_component(component, mapping(before.get(name)), name) for name, component in components.items()}
    services = {name: exchanged[name].fields if name in exchanged else None for name in _arranged([*components], before)}
    converted = _renamed(merge.without(spec, "components"), _OLDER, _OLDER_IN_TOPOLOGY)
    if "pvcs" in preserved:
        converted["pvcs"] = preserved["pvcs"]
    if services or "components" in spec:
        converted["services"] = services if services or spec["components"] is not None else None
    return status_conversion.graph_to_v1alpha1(_with_spec(graph, converted, _kept_of_components(exchanged)))


def _with_spec(graph: Resource, spec: dict[str, Any], preserved: dict[str, Any]) -> Resource:
    return preserved_annotations.with_spec({**graph, "spec": spec} if "spec" in graph else graph, preserved)


def _sorted(services: dict[str, Any], before: list[str]) -> list[str]:
    """The names of services in bytewise order, or in the order that was kept, with new names after those of before."""
    known = [name for name in before if name in services]
    if before == sorted(before):
        return sorted(services, key=str)
    return [*known, *sorted(services.keys() - set(known), key=str)]


def _arranged(names: list[str], before: dict[str, Any]) -> list[str]:
    """The names of the components, and of services that were null.

    The order is that of the components, unless services were kept for all of them: then their order was kept too.
    """
    known = [name for name, service in before.items() if service is None or name in names]
    return known if set(names) <= set(known) else [*names, *(name for name in known if name not in names)]


def _kept_of_services(services: dict[str, Any], components: dict[str, _Exchanged]) -> dict[str, Any]:
    """The names of the services are kept if the components have another order.

    Follows the operator's `api/v1alpha1/dynamographdeployment_conversion.go`.
    Rule: conversion.preserved-services
    """
    arranged = [*services] == [*components, *(name for name in services if name not in components)]
    kept = {name: components[name].preserved if name in components else None for name in services}
    named = {name: part for name, part in kept.items() if not arranged or part or part is None}
    return {"services": named} if named else {}


def _kept_of_components(services: dict[str, _Exchanged]) -> dict[str, Any]:
    """The preserved fields of each component. All components are named if they are not sorted."""
    arranged = [*services] == sorted(services)
    named = [exchanged.preserved or {"name": name} for name, exchanged in services.items() if not arranged or exchanged.preserved]
    return {"components": named} if named else {}


def _renamed(spec: dict[str, Any], names: dict[str, str], in_topology: dict[str, str]) -> dict[str, Any]:
    fields = renamed(spec, names)
    topology = fields.get("topologyConstraint")
    if isinstance(topology, dict):
        fields["topologyConstraint"] = renamed(topology, in_topology)
    return fields


def component_to_v1beta1(resource: Resource) -> Resource:
    """Converts a v1alpha1 component. Without a `serviceName`, its name is that of the resource."""
    spec, resource_name = mapping(resource.get("spec")), _own_name(resource)
    kept, service = preserved_annotations.spec(resource), merge.without(spec, "serviceName")
    component, preserved = _exchanged_service(service, merge.without(kept, "name"), None)
    name = spec.get("serviceName") or (None if _says_none(kept, "name") else resource_name)
    if name:
        component = {"name": name, **component}
    if spec.get("serviceName") != name:
        preserved = {**preserved, "serviceName": spec.get("serviceName")}
    return status_conversion.component_to_v1beta1(_with_component_spec(resource, component, preserved))


def component_to_v1alpha1(resource: Resource) -> Resource:
    """Converts a v1beta1 component."""
    spec, resource_name = mapping(resource.get("spec")), _own_name(resource)
    kept, component = preserved_annotations.spec(resource), merge.without(spec, "name")
    service, preserved = _exchanged_component(component, merge.without(kept, "serviceName"), None)
    name = spec.get("name")
    if not name and resource_name:
        preserved = {**preserved, "name": name}
    if name == resource_name and _says_none(kept, "serviceName"):
        name = kept["serviceName"]
    if name is not None:
        service = {"serviceName": name, **service}
    return status_conversion.component_to_v1alpha1(_with_component_spec(resource, service, preserved))


def _with_component_spec(resource: Resource, spec: dict[str, Any], preserved: dict[str, Any]) -> Resource:
    """The resource with its new specification, if it has one, and with the fields to keep."""
    if "spec" not in resource:
        return preserved_annotations.with_spec(resource, {})
    return preserved_annotations.with_spec({**resource, "spec": spec}, preserved)


def _own_name(resource: Resource) -> str:
    return text(mapping(resource.get("metadata")).get("name"))


def _says_none(preserved: dict[str, Any], field: str) -> bool:
    """True if the kept fields say that the field was absent or empty."""
    return field in preserved and not preserved[field]


class _Exchanged(NamedTuple):
    """A component or service, and the fields of the other one that it cannot say."""

    fields: Fields
    preserved: Fields


def _exchanged_service(service: Fields, before: Fields, name: str | None) -> _Exchanged:
    """Converts a service. `before` are the kept fields of the component that it was; they are dropped if they contradict the service."""
    component = preserved_component_fields.restored(service, before, name)
    preserved = preserved_service_fields.kept_of(service, component, name)
    if before and preserved_service_fields.restored(component, preserved, name) != service:
        component = component_conversion.to_component(service, name)
        preserved = preserved_service_fields.kept_of(service, component, name)
    return _Exchanged(component, preserved)


def _exchanged_component(component: Fields, before: Fields, name: str | None) -> _Exchanged:
    """Converts a component. `before` are the kept fields of the service that it was; they are dropped if they contradict the component."""
    service = preserved_service_fields.restored(component, before, name)
    preserved = preserved_component_fields.kept_of(component, service, name)
    if before and preserved_component_fields.restored(service, preserved, name) != component:
        service = component_conversion.to_service(component)
        preserved = preserved_component_fields.kept_of(component, service, name)
    return _Exchanged(service, preserved)
