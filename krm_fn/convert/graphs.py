"""The specification of a DynamoGraphDeployment.

Follows the reference's dynamographdeployment_conversion.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.convert import exchange, preserved, statuses
from krm_fn.kube import merge
from krm_fn.kube.values import mapping, name_of, objects, renamed

if TYPE_CHECKING:
    from krm_fn.convert.exchange import Exchanged
    from krm_fn.kube.types import Resource

_NEWER = {"envs": "env"}
_NEWER_IN_TOPOLOGY = {"topologyProfile": "clusterTopologyName"}
_OLDER, _OLDER_IN_TOPOLOGY = ({newer: older for older, newer in names.items()} for names in (_NEWER, _NEWER_IN_TOPOLOGY))


def to_v1beta1(graph: Resource) -> Resource:
    """Converts a v1alpha1 graph. The services become a list, sorted by name unless the graph had another order before."""
    spec, kept = mapping(graph.get("spec")), preserved.spec(graph)
    before = {name_of(component): component for component in objects(kept.get("components"))}
    services = {name: service for name, service in mapping(spec.get("services")).items() if isinstance(service, dict)}
    components = {name: exchange.to_component(services[name], before.get(name, {}), name) for name in _sorted(services, [*before])}
    converted = _renamed(merge.without(spec, "services", "pvcs"), _NEWER, _NEWER_IN_TOPOLOGY)
    if "services" in spec:
        converted["components"] = None if spec["services"] is None else [each.fields for each in components.values()]
    claims = {"pvcs": spec["pvcs"]} if "pvcs" in spec else {}
    leftovers = {**claims, **_kept_of_services(mapping(spec.get("services")), components)}
    return statuses.graph_to_v1beta1(_with(graph, converted, leftovers))


def to_v1alpha1(graph: Resource) -> Resource:
    """Converts a v1beta1 graph. The components become a map by name."""
    spec, kept = mapping(graph.get("spec")), preserved.spec(graph)
    before = mapping(kept.get("services"))
    components = {name_of(component): component for component in objects(spec.get("components"))}
    exchanged = {name: exchange.to_service(component, mapping(before.get(name)), name) for name, component in components.items()}
    services = {name: exchanged[name].fields if name in exchanged else None for name in _arranged([*components], before)}
    converted = _renamed(merge.without(spec, "components"), _OLDER, _OLDER_IN_TOPOLOGY)
    if "pvcs" in kept:
        converted["pvcs"] = kept["pvcs"]
    if services or "components" in spec:
        converted["services"] = services if services or spec["components"] is not None else None
    return statuses.graph_to_v1alpha1(_with(graph, converted, _kept_of_components(exchanged)))


def _with(graph: Resource, spec: dict[str, Any], leftovers: dict[str, Any]) -> Resource:
    return preserved.with_spec({**graph, "spec": spec} if "spec" in graph else graph, leftovers)


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


def _kept_of_services(services: dict[str, Any], components: dict[str, Exchanged]) -> dict[str, Any]:
    """What is kept of each service. All services are named if the order of the components is another one."""
    arranged = [*services] == [*components, *(name for name in services if name not in components)]
    kept = {name: components[name].leftovers if name in components else None for name in services}
    named = {name: part for name, part in kept.items() if not arranged or part or part is None}
    return {"services": named} if named else {}


def _kept_of_components(services: dict[str, Exchanged]) -> dict[str, Any]:
    """What is kept of each component. All components are named if they are not sorted."""
    arranged = [*services] == sorted(services)
    named = [each.leftovers or {"name": name} for name, each in services.items() if not arranged or each.leftovers]
    return {"components": named} if named else {}


def _renamed(spec: dict[str, Any], names: dict[str, str], in_topology: dict[str, str]) -> dict[str, Any]:
    fields = renamed(spec, names)
    topology = fields.get("topologyConstraint")
    if isinstance(topology, dict):
        fields["topologyConstraint"] = renamed(topology, in_topology)
    return fields
