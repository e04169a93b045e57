"""The specification of a DynamoGraphDeployment.

Follows the reference's dynamographdeployment_conversion.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.convert import components, preserved
from krm_fn.convert._values import mapping

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource

_RENAMED = {"envs": "env"}
_RENAMED_IN_TOPOLOGY = {"topologyProfile": "clusterTopologyName"}


def to_v1beta1(graph: Resource) -> Resource:
    """Converts a v1alpha1 graph. The services become a list, sorted by name."""
    spec = mapping(graph.get("spec"))
    services = mapping(spec.get("services"))
    converted = {
        _RENAMED.get(field, field): value for field, value in spec.items() if field not in ("services", "pvcs") and value is not None
    }
    if isinstance(converted.get("topologyConstraint"), dict):
        converted["topologyConstraint"] = _renamed(converted["topologyConstraint"], _RENAMED_IN_TOPOLOGY)
    if services:
        converted["components"] = [
            components.to_v1beta1(service, name) for name, service in sorted(services.items()) if isinstance(service, dict)
        ]
    kept = {**({"pvcs": spec["pvcs"]} if spec.get("pvcs") else {}), **_kept_of_services(services)}
    return preserved.write({**graph, "spec": converted} if "spec" in graph else graph, preserved.GRAPH_SPEC, kept)


def _kept_of_services(services: dict[str, Any]) -> dict[str, Any]:
    kept = {name: None if service is None else components.only_v1alpha1(mapping(service), name) for name, service in services.items()}
    held = {name: part for name, part in kept.items() if part or part is None}
    return {"services": held} if held else {}


def _renamed(fields: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {names.get(field, field): value for field, value in fields.items()}
