"""Keeps the names of workers that end with a worker hash: the graph gets the annotation that a newer operator writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import identity, labels
from krm_fn.manifests import workloads
from krm_fn.review.adopt import edits

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.results import Result
    from krm_fn.review.adopt.exported_objects import Inventory


def keep(inventory: Inventory) -> Inventory:
    """The export with the annotation on each graph whose workers' names end with a hash that no annotation of the graph says.

    A graph with two hashes is in the middle of an update: the operator still runs both generations, and a render makes one only.
    """
    written: list[Resource] = []
    found: list[Result] = []
    for resource in inventory.written:
        named = _hashes(resource, inventory)
        given = {labels.annotations(resource).get(key) for key in (labels.WORKER_HASH_V1, labels.WORKER_HASH_V2)}
        if len(named) > 1:
            found.append(_updating(resource, named))
        written.append(_annotated(resource, named[0]) if len(named) == 1 and named[0] not in given else resource)
    return inventory._replace(written=written, results=[*inventory.results, *found])


def _hashes(graph: Resource, inventory: Inventory) -> list[str]:
    """The hashes at the end of the names of a graph's live workers."""
    alone = inventory._replace(written=[graph])
    workers = [
        resource
        for resource in inventory.live
        if workloads.is_workload(resource) and graph["kind"] == identity.GRAPH and alone.runs(resource)
    ]
    pairs = [(labels.of(resource).get(labels.WORKER_HASH, ""), resource["metadata"]["name"]) for resource in workers]
    return sorted({worker_hash for worker_hash, name in pairs if worker_hash and f"-{worker_hash}" in name})


def _annotated(graph: Resource, worker_hash: str) -> Resource:
    """The graph with the hash of its names. An annotation of the older formula would win, and is removed."""
    annotations = {key: value for key, value in labels.annotations(graph).items() if key != labels.WORKER_HASH_V1}
    bare = {**graph, "metadata": {**graph["metadata"], "annotations": annotations}}
    return edits.annotated(bare, {labels.WORKER_HASH_V2: worker_hash})


def _updating(graph: Resource, named: list[str]) -> Result:
    message = (
        f"workers of the hashes {' and '.join(named)} run, because the operator is in the middle of an update, and a render makes one "
        "generation only; wait until the operator has finished, and export again"
    )
    return results.error("DYN567", message, results.ref(graph))
