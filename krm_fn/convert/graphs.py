"""The specification of a DynamoGraphDeployment.

Follows the reference's dynamographdeployment_conversion.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.convert import component_leftovers, preserved, service_leftovers, statuses
from krm_fn.convert._values import mapping, name_of, objects, renamed

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource

_NEWER = {"envs": "env"}
_NEWER_IN_TOPOLOGY = {"topologyProfile": "clusterTopologyName"}
_OLDER, _OLDER_IN_TOPOLOGY = ({newer: older for older, newer in names.items()} for names in (_NEWER, _NEWER_IN_TOPOLOGY))


def to_v1beta1(graph: Resource) -> Resource:
    """Converts a v1alpha1 graph. The services become a list, sorted by name unless the graph had another order before."""
    spec, kept = mapping(graph.get("spec")), preserved.spec(graph)
    before = {name_of(component): component for component in objects(kept.get("components"))}
    services = {name: service for name, service in mapping(spec.get("services")).items() if isinstance(service, dict)}
    listed = [component_leftovers.restored(services[name], before.get(name, {}), name) for name in _ordered(services, [*before])]
    converted = _renamed(_without(spec, "services", "pvcs"), _NEWER, _NEWER_IN_TOPOLOGY)
    if "services" in spec:
        converted["components"] = listed
    leftovers = _kept_of_spec(spec, {name_of(component): component for component in listed})
    return statuses.graph_to_v1beta1(_with(graph, converted, leftovers))


def to_v1alpha1(graph: Resource) -> Resource:
    """Converts a v1beta1 graph. The components become a map by name."""
    spec, kept = mapping(graph.get("spec")), preserved.spec(graph)
    before = mapping(kept.get("services"))
    components = {name_of(component): component for component in reversed(objects(spec.get("components")))}
    services: dict[str, Any] = {
        name: service_leftovers.restored(components[name], mapping(before.get(name)), name) for name in reversed(components)
    }
    services.update((name, None) for name, service in before.items() if service is None and name not in services)
    converted = _renamed(_without(spec, "components"), _OLDER, _OLDER_IN_TOPOLOGY)
    if kept.get("pvcs"):
        converted["pvcs"] = kept["pvcs"]
    if "components" in spec or services:
        converted["services"] = services
    leftovers = _kept_of_components(components, services)
    return statuses.graph_to_v1alpha1(_with(graph, converted, leftovers))


def _with(graph: Resource, spec: dict[str, Any], leftovers: dict[str, Any]) -> Resource:
    return preserved.with_spec({**graph, "spec": spec} if "spec" in graph else graph, leftovers)


def _ordered(services: dict[str, Any], before: list[str]) -> list[str]:
    """The names in bytewise order, or in the order that was kept, with new names after those of before."""
    known = [name for name in before if name in services]
    if before == sorted(before):
        return sorted(services, key=str)
    return [*known, *sorted(services.keys() - set(known), key=str)]


def _kept_of_spec(spec: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    kept = {}
    for name, service in mapping(spec.get("services")).items():
        part = service_leftovers.kept_of(service, components[name], name) if name in components else None
        if part or part is None:
            kept[name] = part
    claims = {"pvcs": spec["pvcs"]} if spec.get("pvcs") else {}
    return {**claims, "services": kept} if kept else claims


def _kept_of_components(components: dict[str, Any], services: dict[str, Any]) -> dict[str, Any]:
    names = [*reversed(components)]
    in_order = names == sorted(names)
    kept = [component_leftovers.kept_of(components[name], services[name], name) or {"name": name} for name in names]
    listed = [part for part in kept if not in_order or len(part) > 1]
    return {"components": listed} if listed else {}


def _without(spec: dict[str, Any], *fields: str) -> dict[str, Any]:
    return {field: value for field, value in spec.items() if field not in fields and value is not None}


def _renamed(spec: dict[str, Any], names: dict[str, str], in_topology: dict[str, str]) -> dict[str, Any]:
    fields = renamed(spec, names)
    topology = fields.get("topologyConstraint")
    if isinstance(topology, dict):
        fields["topologyConstraint"] = renamed(topology, in_topology)
    return fields
