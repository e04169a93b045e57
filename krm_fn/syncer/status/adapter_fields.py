"""Computes the fields that the syncer writes into the spec and the metadata of a scaling adapter: the first replicas, and the owner.

A file of Git has neither of them. Without replicas, autoscalers cannot read an adapter. A render cannot know the uid of the graph, which an
owner reference needs.
"""

from __future__ import annotations

from typing import Any

from krm_fn.kubernetes import values
from krm_fn.render import dynamo_api
from krm_fn.syncer.status import SyncFeatures, conditions
from krm_fn.syncer.status.cached_object import CachedObject, workload_key
from krm_fn.syncer.status.conditions import READY
from krm_fn.syncer.status.workload_index import WorkloadIndex


def fields_patch(
    adapter: CachedObject, graph: CachedObject, graph_uid: str, index: WorkloadIndex, features: SyncFeatures
) -> dict[str, Any] | None:
    """Returns the JSON merge patch of an adapter, without preconditions; None if there is nothing to write.

    An adapter of a graph without the annotation `workloads` gets nothing, because another program may write it.
    """
    if not features.scaling or graph.entries is None or graph.deleted:
        return None
    replicas, owners = first_replicas(adapter, graph, index), owner_references(adapter, graph, graph_uid)
    spec = {} if replicas is None else {"spec": {"replicas": replicas, "desiredReplicas": None}}
    metadata = {} if owners is None else {"metadata": {"ownerReferences": owners}}
    return {**metadata, **spec} or None


def first_replicas(adapter: CachedObject, graph: CachedObject, index: WorkloadIndex) -> int | None:
    """Returns the replicas to write into an adapter; None if it has its replicas.

    A new adapter gets the number of the graph in the cluster. An adapter that lost its number, as an apply does that removes the field,
    gets the number that its workload still has. `desiredReplicas` of an earlier version is more recent than both.
    """
    if adapter.is_initialized:
        return None
    if adapter.replicas is not None:
        return adapter.replicas
    workloads = index.component(graph, adapter.component)
    if workloads.in_git:
        return sum(workloads.in_git)
    if _has_scaled(adapter):
        statuses = [index.scale_target(workload_key(entry, graph.key.namespace), graph.key, entry.service) for entry in workloads.entries]
        numbers = {status.desired for status in statuses if status is not None}
        if len(numbers) == 1:
            return numbers.pop()
    return dict(graph.autoscaled).get(adapter.component, 1)


def owner_references(adapter: CachedObject, graph: CachedObject, graph_uid: str) -> list[dict[str, Any]] | None:
    """Returns the owner references of an adapter if they have to change; None if not.

    A planner of Dynamo 1.7 trusts an adapter only if its graph owns it in v1beta1, as a controller. Graphs without a planner own no
    adapter: Argo CD does not prune an object with an owner, so it would leave an adapter that left Git.
    """
    reference = {
        "apiVersion": dynamo_api.V1BETA1,
        "kind": dynamo_api.GRAPH,
        "name": graph.key.name,
        "uid": graph_uid,
        "controller": True,
    }
    if not _needs_owner(adapter, graph):
        others = [owner for owner in adapter.owners if owner != reference]
        return None if graph.request is not None or len(others) == len(adapter.owners) else others
    if any(reference.items() <= owner.items() for owner in adapter.owners):
        return None
    others = [owner for owner in adapter.owners if (owner.get("kind"), owner.get("name")) != (dynamo_api.GRAPH, graph.key.name)]
    if any(owner.get("controller") is True for owner in others):
        return None  # an object has one controller only
    same = next((owner for owner in adapter.owners if owner.get("uid") == graph_uid), {})
    return [*others, {**same, **reference}]


def _needs_owner(adapter: CachedObject, graph: CachedObject) -> bool:
    if not graph.planned or graph.version != dynamo_api.BETA1:
        return False
    return any(entry.service == adapter.component and entry.replicas is None for entry in graph.entries or ())


def _has_scaled(adapter: CachedObject) -> bool:
    """True if the status says that the workload has had the replicas of the adapter."""
    ready = conditions.find(adapter.status, READY)
    return bool(values.text(adapter.status.get("lastScaleTime"))) or (ready.is_true and ready.reason == "Scaled")
