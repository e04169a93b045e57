"""DynamoGraphDeployments and DynamoComponentDeployments: their specifications and statuses.

Follows the operator's dynamographdeployment_conversion.go and dynamocomponentdeployment_conversion.go.
"""

from __future__ import annotations

from collections.abc import Callable

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import merge
from krm_fn.kubernetes.values import mapping, name_of, objects, rename_fields, text
from krm_fn.render.convert import component_conversion, preserved_component_fields, preserved_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.types import Resource

    Fields = dict[str, Any]

_TO_V1BETA1 = {"envs": "env"}
_TOPOLOGY_TO_V1BETA1 = {"topologyProfile": "clusterTopologyName"}
_TO_V1ALPHA1, _TOPOLOGY_TO_V1ALPHA1 = ({new: old for old, new in names.items()} for names in (_TO_V1BETA1, _TOPOLOGY_TO_V1BETA1))


def graph_to_v1beta1(graph: Resource) -> Resource:
    """Converts a v1alpha1 graph to v1beta1.

    The services become a list, sorted by name unless the graph had another order before.

    Rule conversion.graph: A v1alpha1 graph becomes a v1beta1 graph, for a release that reads v1beta1. (operator:
    api/v1alpha1/dynamographdeployment_conversion.go)
    """
    spec, preserved_spec = mapping(graph.get("spec")), preserved_fields.spec(graph)
    before = {name_of(component): component for component in objects(preserved_spec.get("components"))}
    services = {name: service for name, service in mapping(spec.get("services")).items() if isinstance(service, dict)}
    components = {name: _converted_service(services[name], before.get(name, {}), name) for name in _sort_names(services, [*before])}
    converted = _rename_spec(merge.without(spec, "services", "pvcs"), _TO_V1BETA1, _TOPOLOGY_TO_V1BETA1)
    if "services" in spec:
        converted["components"] = None if spec["services"] is None else [component.fields for component in components.values()]
    claims = {"pvcs": spec["pvcs"]} if "pvcs" in spec else {}
    preserved = {**claims, **_preserved_services(mapping(spec.get("services")), components)}
    return preserved_fields.with_status_converted(
        _with_spec(graph, converted, preserved), _graph_status_to_v1beta1, _graph_status_to_v1alpha1
    )


def graph_to_v1alpha1(graph: Resource) -> Resource:
    """Converts a v1beta1 graph. The components become a map by name."""
    spec, preserved = mapping(graph.get("spec")), preserved_fields.spec(graph)
    before = mapping(preserved.get("services"))
    components = {name_of(component): component for component in objects(spec.get("components"))}
    results = {name: _converted_component(component, mapping(before.get(name)), name) for name, component in components.items()}
    services = {name: results[name].fields if name in results else None for name in _arrange_names([*components], before)}
    converted = _rename_spec(merge.without(spec, "components"), _TO_V1ALPHA1, _TOPOLOGY_TO_V1ALPHA1)
    if "pvcs" in preserved:
        converted["pvcs"] = preserved["pvcs"]
    if services or "components" in spec:
        converted["services"] = services if services or spec["components"] is not None else None
    return preserved_fields.with_status_converted(
        _with_spec(graph, converted, _preserved_components(results)), _graph_status_to_v1alpha1, _graph_status_to_v1beta1
    )


def _with_spec(graph: Resource, spec: dict[str, Any], preserved: dict[str, Any]) -> Resource:
    return preserved_fields.with_spec({**graph, "spec": spec} if "spec" in graph else graph, preserved)


def _sort_names(services: dict[str, Any], before: list[str]) -> list[str]:
    """Sorts the names of services by bytes, or in their preserved order with new names at the end."""
    known = [name for name in before if name in services]
    if before == sorted(before):
        return sorted(services, key=str)
    return [*known, *sorted(services.keys() - set(known), key=str)]


def _arrange_names(names: list[str], before: dict[str, Any]) -> list[str]:
    """Arranges the names of the components, and of services that were null.

    The order is that of the components, unless all services are preserved: then it is theirs.
    """
    known = [name for name, service in before.items() if service is None or name in names]
    return known if set(names) <= set(known) else [*names, *(name for name in known if name not in names)]


def _preserved_services(services: dict[str, Any], components: dict[str, _Converted]) -> dict[str, Any]:
    """Returns what is preserved of the services, as a field `services`; empty if nothing is.

    Rule conversion.preserved-services: The names of the services are preserved if the components have another order. (operator:
    api/v1alpha1/dynamographdeployment_conversion.go)
    """
    arranged = [*services] == [*components, *(name for name in services if name not in components)]
    parts = {name: components[name].preserved if name in components else None for name in services}
    named = {name: part for name, part in parts.items() if not arranged or part or part is None}
    return {"services": named} if named else {}


def _preserved_components(services: dict[str, _Converted]) -> dict[str, Any]:
    """Returns the preserved fields of components. All components are named if they are not sorted."""
    arranged = [*services] == sorted(services)
    named = [component.preserved or {"name": name} for name, component in services.items() if not arranged or component.preserved]
    return {"components": named} if named else {}


def _rename_spec(spec: dict[str, Any], names: dict[str, str], in_topology: dict[str, str]) -> dict[str, Any]:
    fields = rename_fields(spec, names)
    topology = fields.get("topologyConstraint")
    if isinstance(topology, dict):
        fields["topologyConstraint"] = rename_fields(topology, in_topology)
    return fields


def component_to_v1beta1(resource: Resource) -> Resource:
    """Converts a v1alpha1 DynamoComponentDeployment to v1beta1.

    Rule conversion.component-to-v1beta1: A v1alpha1 component without a `serviceName` has the name of its resource in v1beta1. (operator:
    api/v1alpha1/dynamocomponentdeployment_conversion.go)
    """
    spec, resource_name = mapping(resource.get("spec")), _resource_name(resource)
    before, service = preserved_fields.spec(resource), merge.without(spec, "serviceName")
    component, preserved = _converted_service(service, merge.without(before, "name"), None)
    name = spec.get("serviceName") or (None if _is_preserved_empty(before, "name") else resource_name)
    if name:
        component = {"name": name, **component}
    if spec.get("serviceName") != name:
        preserved = {**preserved, "serviceName": spec.get("serviceName")}
    return preserved_fields.with_status_converted(
        _with_component_spec(resource, component, preserved), _component_status_to_v1beta1, _component_status_to_v1alpha1
    )


def component_to_v1alpha1(resource: Resource) -> Resource:
    """Converts a v1beta1 DynamoComponentDeployment to v1alpha1.

    Rule conversion.component-to-v1alpha1: The name of a v1beta1 component is its `serviceName` in v1alpha1. (operator:
    api/v1alpha1/dynamocomponentdeployment_conversion.go)
    """
    spec, resource_name = mapping(resource.get("spec")), _resource_name(resource)
    before, component = preserved_fields.spec(resource), merge.without(spec, "name")
    service, preserved = _converted_component(component, merge.without(before, "serviceName"), None)
    name = spec.get("name")
    if not name and resource_name:
        preserved = {**preserved, "name": name}
    if name == resource_name and _is_preserved_empty(before, "serviceName"):
        name = before["serviceName"]
    if name is not None:
        service = {"serviceName": name, **service}
    return preserved_fields.with_status_converted(
        _with_component_spec(resource, service, preserved), _component_status_to_v1alpha1, _component_status_to_v1beta1
    )


def _with_component_spec(resource: Resource, spec: dict[str, Any], preserved: dict[str, Any]) -> Resource:
    """Returns the resource with its new specification, if it has one, and with preserved fields."""
    if "spec" not in resource:
        return preserved_fields.with_spec(resource, {})
    return preserved_fields.with_spec({**resource, "spec": spec}, preserved)


def _resource_name(resource: Resource) -> str:
    return text(mapping(resource.get("metadata")).get("name"))


def _is_preserved_empty(preserved: dict[str, Any], field: str) -> bool:
    """True if a preserved field was absent or empty."""
    return field in preserved and not preserved[field]


class _Converted(NamedTuple):
    """A converted component or service, and the preserved fields of its original."""

    fields: Fields
    preserved: Fields


def _converted_service(service: Fields, before: Fields, name: str | None) -> _Converted:
    """Converts a service. `before` are preserved fields of the component; they are dropped if they contradict the service."""
    component = preserved_component_fields.restored_component(service, before, name)
    preserved = preserved_component_fields.of_service(service, component, name)
    if before and preserved_component_fields.restored_service(component, preserved, name) != service:
        component = component_conversion.to_component(service, name)
        preserved = preserved_component_fields.of_service(service, component, name)
    return _Converted(component, preserved)


def _converted_component(component: Fields, before: Fields, name: str | None) -> _Converted:
    """Converts a component. `before` are preserved fields of the service; they are dropped if they contradict the component."""
    service = preserved_component_fields.restored_service(component, before, name)
    preserved = preserved_component_fields.of_component(component, service, name)
    if before and preserved_component_fields.restored_component(service, preserved, name) != component:
        service = component_conversion.to_service(component)
        preserved = preserved_component_fields.of_component(component, service, name)
    return _Converted(service, preserved)


def _graph_status_to_v1beta1(status: dict[str, Any]) -> dict[str, Any]:
    new = rename_fields(status, {"services": "components"})
    return _with_parts(new, "components", _replicas_to_v1beta1, {"updatedServices": "updatedComponents"})


def _graph_status_to_v1alpha1(status: dict[str, Any]) -> dict[str, Any]:
    new = rename_fields(status, {"components": "services"})
    return _with_parts(new, "services", _replicas_to_v1alpha1, {"updatedComponents": "updatedServices"})


def _with_parts(
    status: dict[str, Any], parts: str, replicas: Callable[[dict[str, Any]], dict[str, Any]], names: dict[str, str]
) -> dict[str, Any]:
    if isinstance(status.get(parts), dict):
        status[parts] = {name: replicas(part) if isinstance(part, dict) else part for name, part in status[parts].items()}
    if isinstance(status.get("rollingUpdate"), dict):
        status["rollingUpdate"] = rename_fields(status["rollingUpdate"], names)
    return status


def _component_status_to_v1beta1(status: dict[str, Any]) -> dict[str, Any]:
    new = rename_fields({key: value for key, value in status.items() if key != "podSelector"}, {"service": "component"})
    return {**new, "component": _replicas_to_v1beta1(new["component"])} if isinstance(new.get("component"), dict) else new


def _component_status_to_v1alpha1(status: dict[str, Any]) -> dict[str, Any]:
    new = rename_fields(status, {"component": "service"})
    return {**new, "service": _replicas_to_v1alpha1(new["service"])} if isinstance(new.get("service"), dict) else new


def _replicas_to_v1beta1(part: dict[str, Any]) -> dict[str, Any]:
    """Converts the names of workloads to a list: a component can have two workloads while it is rolled."""
    name, listed = part.get("componentName"), part.get("componentNames")
    names = listed or ([name] if name else None)
    rest = {key: value for key, value in part.items() if key not in ("componentName", "componentNames")}
    return rest if names is None else {"componentNames": names, **rest}


def _replicas_to_v1alpha1(part: dict[str, Any]) -> dict[str, Any]:
    listed = part.get("componentNames")
    return {"componentName": listed[-1], **part} if isinstance(listed, list) and listed else part
