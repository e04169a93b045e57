"""Converts a generated graph to the form of the API: without fields that Dynamo's types do not have, and with canonical quantities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import canonical, quantity
from krm_fn.schema import invalid_fields, schema_check

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource

API_VERSION = "nvidia.com/v1alpha1"
_TYPE, _FORM = "DYN021", "DYN027"
"""Codes of values that the types cannot hold. A render reports any other finding about the graph."""
_UNKNOWN = ("DYN023", "DYN029")
_SHOWN = 5


def convert(generated: Resource) -> tuple[Resource | None, list[str], str]:
    """Returns the graph, notes about its parts that are not used, and the problem if the types cannot hold it. The graph is then None.

    Any apiVersion stays, as in the operator, and a graph without one gets `API_VERSION`. A status is left out, because only a controller
    knows it.
    """
    resource = invalid_fields.without_nulls({key: value for key, value in generated.items() if key != "status"})
    findings = list(schema_check.resource({**resource, "apiVersion": API_VERSION}, unknown="error"))
    if mismatch := next((finding for finding in findings if finding.code in (_TYPE, _FORM)), None):
        return None, [], results.line(mismatch).removeprefix(f"{mismatch.code} ")
    unknown = [finding.path for finding in findings if finding.code in _UNKNOWN]
    metadata = resource.get("metadata")
    complete = {"apiVersion": API_VERSION, **resource, "metadata": metadata if isinstance(metadata, dict) else {}}
    graph = invalid_fields.without(complete, unknown)
    return _canonical(graph), _left_out([results.field(path) for path in unknown]), ""


def _canonical(graph: Resource) -> Resource:
    """Writes the graph as the types do: with a spec, without empty maps in it, and with canonical quantities. The types fit."""
    spec = {key: value for key, value in (graph.get("spec") or {}).items() if value != {}}
    changed: dict[str, Any] = {}
    if claims := spec.get("pvcs"):
        changed["pvcs"] = [_quantity(claim, "size") for claim in claims]
    if services := spec.get("services"):
        changed["services"] = {name: _service(service) for name, service in services.items()}
    return {**graph, "spec": {**spec, **changed}}


def _service(service: dict[str, Any]) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    if memory := service.get("sharedMemory"):
        changed["sharedMemory"] = _quantity(memory, "size")
    if pod := service.get("extraPodSpec"):
        main = pod.get("mainContainer")
        changed["extraPodSpec"] = {**canonical.spec(pod), **({"mainContainer": canonical.container(main)} if main else {})}
    return {**service, **changed} if changed else service


def _quantity(holder: dict[str, Any], field: str) -> dict[str, Any]:
    return holder if holder.get(field) is None else {**holder, field: quantity.canonical(holder[field])}


def _left_out(fields: list[str]) -> list[str]:
    if not fields:
        return []
    more = f" and {len(fields) - _SHOWN} more" if len(fields) > _SHOWN else ""
    return [f"Dynamo has no such fields, so they are left out: {', '.join(fields[:_SHOWN])}{more}"]
