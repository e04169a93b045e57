"""Reports fields that came to `v1alpha1` with operators from 1.0 on. Release 0.9 does not have them, and its pods would lack them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from krm_fn import results

if TYPE_CHECKING:
    from krm_fn.plan import Address, Book
    from krm_fn.plan.address import Field, GraphField
    from krm_fn.results import Path, Result

_GRAPH: dict[str, GraphField] = {
    "annotations": "annotations",
    "labels": "labels",
    "priorityClassName": "priority_class",
    "topologyConstraint": "topology",
    "experimental": "kv_transfer",
    "providerOverride": "provider_override",
}
_COMPONENT: dict[str, Field] = {
    "checkpoint": "checkpoint",
    "failover": "failover",
    "frontendSidecar": "frontend_sidecar",
    "gpuMemoryService": "gpu_memory",
    "minAvailable": "min_available",
    "providerOverride": "provider_override",
    "topologyConstraint": "topology",
}
_ROLES = ("leader", "worker")


def of_graph(spec: dict[str, Any], book: Book) -> Iterator[Result]:
    """The findings about the fields of a graph, not of its services."""
    for field in spec.keys() & _GRAPH.keys():
        if _says(spec[field]):
            path = book.graph[_GRAPH[field]]
            yield _unknown(book, path)


def of_component(written: dict[str, Any], address: Address, book: Book) -> Iterator[Result]:
    """The findings about the fields of one component. `runtimeVersionOverride` changes no pod, so it is not reported."""
    for field in written.keys() & _COMPONENT.keys():
        if _says(written[field]):
            yield _unknown(book, address.at(_COMPONENT[field]))
    several = written.get("multinode") or {}
    for role in several.keys() & _ROLES:
        if _says(several[role]):
            yield _unknown(book, address.at("role_override", role))


def _says(value: Any) -> bool:
    """False for a field without content, and for a feature that is off."""
    return bool(value) and not (isinstance(value, dict) and value.get("enabled") is False)


def _unknown(book: Book, path: Path) -> Result:
    return results.error("DYN411", "Dynamo 0.9 has no field for it; remove it, or set behaviour: v1.5", book.ref, path)
