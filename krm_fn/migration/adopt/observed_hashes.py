"""Sets `workerHash: none` for each graph whose live workers have no worker hash.

The operator writes the hash into the pods of components. It writes none into a PodCliqueSet that it created before release 1.5, until
the first change of a worker (reference: `internal/dynamo/grove.go`). One namespace can have graphs of both kinds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.results import Result
from krm_fn.kubernetes.types import Resource
from krm_fn.migration.adopt import exported_objects, inferred_settings
from krm_fn.migration.adopt.exported_objects import ExportedObjects
from krm_fn.render import dynamo_api, labels


def without(exported: ExportedObjects, spec: Mapping[str, Any]) -> ExportedObjects:
    """Returns the export with the annotation `config.dynamo.krm-fn.io/workerHash: none` on graphs whose pods then differ less."""
    written = [_annotate_hash(resource, exported, spec) for resource in exported.written]
    changed = [graph for graph, before in zip(written, exported.written, strict=True) if graph is not before]
    return exported._replace(written=written, results=[*exported.results, *map(_without_hash, changed)])


def _annotate_hash(resource: Resource, exported: ExportedObjects, spec: Mapping[str, Any]) -> Resource:
    """The graph with the annotation, if fewer fields of its pods differ then."""
    if resource["kind"] != dynamo_api.GRAPH:
        return resource
    plain = exported_objects.add_annotations(resource, {labels.WORKER_HASH_SETTING: "none"})
    scores: Iterator[Any] = (inferred_settings.score(dict(spec), exported._replace(written=[graph])) for graph in (resource, plain))
    current = next(scores)
    return plain if any(current) and next(scores) < current else resource


def _without_hash(graph: Resource) -> Result:
    message = (
        f"the workers run without a worker hash, and {labels.WORKER_HASH_SETTING}: none keeps their pods; remove the annotation with the "
        "next change of a worker, or old and new workers share one Dynamo namespace"
    )
    return results.warning(codes.WORKERS_WITHOUT_HASH, message, results.ref(graph), ("metadata", "annotations", labels.WORKER_HASH_SETTING))
