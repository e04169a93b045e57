"""Computes the status of Dynamo resources from the resource and its workloads. Pure: the time is an argument.

Follows the operator's `internal/controller/dynamographdeployment_controller.go` and neighbours; `docs/status.md` names the differences.
"""

from __future__ import annotations

from typing import Any

from krm_fn.status import cached_object, graph_status, replica_scaling
from krm_fn.status.cached_object import CachedObject
from krm_fn.status.sync_features import DEFAULT, SyncFeatures
from krm_fn.status.workload_index import WorkloadIndex


def of(
    cached: CachedObject, index: WorkloadIndex, now: str, features: SyncFeatures = DEFAULT, graph: CachedObject | None = None
) -> dict[str, Any]:
    """Computes the status of a graph, a component or a scaling adapter. `now` is an RFC 3339 time.

    `graph` is the graph of a component or an adapter. Any other resource keeps its status. Never raises for what a user or another program
    wrote.
    """
    if cached.key.kind == cached_object.GRAPH:
        return graph_status.of_graph(cached, index, now, features)
    if cached.key.kind == cached_object.COMPONENT:
        return graph_status.of_component(cached, index, now, graph, features)
    if cached.key.kind == cached_object.ADAPTER:
        return replica_scaling.adapter_status(cached, index, now, graph, features)
    return cached.status
