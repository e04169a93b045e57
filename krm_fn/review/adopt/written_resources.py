"""Edits the resources that users wrote, so that a render of them makes the pods that run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from krm_fn import results
from krm_fn.kube import identity, labels
from krm_fn.kube.types import Labels, Resource
from krm_fn.manifests import workloads
from krm_fn.results import Result
from krm_fn.review.adopt.exported_objects import ExportedObjects


def annotated(resource: Resource, annotations: Labels) -> Resource:
    """Returns the resource with further annotations."""
    metadata = resource["metadata"]
    return {**resource, "metadata": {**metadata, "annotations": {**labels.annotations(resource), **annotations}}}


def without_empty_lists(value: Any) -> Any:
    """Removes fields that hold an empty list. An operator's client leaves them out, and Grove counts one as a change of pods."""
    if isinstance(value, dict):
        return {key: without_empty_lists(inner) for key, inner in value.items() if inner != []}
    return [without_empty_lists(item) for item in value] if isinstance(value, list) else value


def with_worker_hashes(exported: ExportedObjects) -> ExportedObjects:
    """Annotates each graph whose workers' names end with a hash that no annotation of the graph has, as a newer operator does.

    A graph with two hashes is in the middle of an update: the operator still runs both worker revisions, and a render makes only one.
    """
    written: list[Resource] = []
    findings: list[Result] = []
    for resource in exported.written:
        hashes = _hashes_in_names(resource, exported)
        known = {labels.annotations(resource).get(key) for key in (labels.WORKER_HASH_V1, labels.WORKER_HASH_V2)}
        if len(hashes) > 1:
            findings.append(_updating(resource, hashes))
        written.append(_with_worker_hash(resource, hashes[0]) if len(hashes) == 1 and hashes[0] not in known else resource)
    return exported._replace(written=written, results=[*exported.results, *findings])


def _hashes_in_names(graph: Resource, exported: ExportedObjects) -> list[str]:
    """The hashes at the end of the names of a graph's live workers."""
    if graph["kind"] != identity.GRAPH:
        return []
    of_graph = exported._replace(written=[graph])
    workers = [resource for resource in exported.live if workloads.is_workload(resource) and of_graph.runs(resource)]
    pairs = [(labels.of(resource).get(labels.WORKER_HASH, ""), resource["metadata"]["name"]) for resource in workers]
    return sorted({worker_hash for worker_hash, name in pairs if worker_hash and f"-{worker_hash}" in name})


def _with_worker_hash(graph: Resource, worker_hash: str) -> Resource:
    """The graph with the hash of its workers' names. An annotation of the older formula would have priority, and is removed."""
    annotations = {key: value for key, value in labels.annotations(graph).items() if key != labels.WORKER_HASH_V1}
    without_older = {**graph, "metadata": {**graph["metadata"], "annotations": annotations}}
    return annotated(without_older, {labels.WORKER_HASH_V2: worker_hash})


def _updating(graph: Resource, hashes: Sequence[str]) -> Result:
    message = (
        f"workers of the hashes {' and '.join(hashes)} run, because the operator is in the middle of an update, and a render makes one "
        "generation only; wait until the operator has finished, and export again"
    )
    return results.error("DYN567", message, results.ref(graph))
