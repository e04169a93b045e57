"""Reconciles restarts in order: writes the id of the restart into the pod templates of one component after the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from krm_fn.base.results import Path
from krm_fn.cluster import logs
from krm_fn.cluster.client import JSON_PATCH, MERGE_PATCH
from krm_fn.cluster.object_store import StoredObject
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render import labels
from krm_fn.syncer.controllers import GRAPHS, Controller, ControllerContext, workload_kind
from krm_fn.syncer.status import SyncFeatures, replica_status, rolling_restart
from krm_fn.syncer.status.cached_object import CachedObject
from krm_fn.syncer.status.rolling_restart import RestartAnnotation
from krm_fn.syncer.writer import WriteResult


class RestartController(Controller):
    """Annotates the templates that are due. The status of the graph shows which component is next, so this controller needs no order.

    A program that applies whole objects may remove an annotation. Another one would replace the pods again, and again, so a template is
    annotated once for each restart and generation of the graph.
    """

    kind = GRAPHS

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._annotated: dict[ObjectKey, tuple[tuple[str, int], set[tuple[str, Path]]]] = {}
        """For each graph its restart and generation, and the templates that were annotated for it, by uid and path."""
        self._once = logs.Once()

    @classmethod
    def is_enabled(cls, features: SyncFeatures) -> bool:
        """Needs the feature `restarts`."""
        return features.restarts

    async def reconcile(self, key: ObjectKey) -> float | None:
        """Annotates the templates of one graph that are due."""
        entry = self.context.cache.entry(key)
        if entry is None:
            self._annotated.pop(key, None)
            return None
        graph: CachedObject = entry.value
        index, pause = self.context.cache.workloads, None
        due = rolling_restart.due_annotations(graph, index, rolling_restart.progress(graph, index))
        for owner, group in groupby(sorted(due, key=lambda annotation: annotation.key), key=lambda annotation: annotation.key):
            result = await self._annotate(key, entry, owner, list(group))
            pause = (result.pause if result else None) or pause
        return pause

    async def _annotate(
        self, key: ObjectKey, entry: StoredObject[CachedObject], owner: ObjectKey, annotations: Sequence[RestartAnnotation]
    ) -> WriteResult | None:
        """Annotates templates of one object."""
        live = self.context.cache.entry(owner)
        if live is None:
            return None
        restart_id = annotations[0].id
        done = self._annotated_templates(key, (restart_id, entry.value.generation))
        templates = {(live.uid, annotation.template.path) for annotation in annotations}
        workload = f"{owner.kind} {owner.name}"
        if templates <= done:
            self._warn(entry, "RestartUndone", f"Another program removed restart {restart_id} from {workload}")
            return None
        kind = workload_kind(replica_status.get(owner.kind))
        body, content_type = restart_patch(annotations, live)
        result = await self.context.writer.patch(kind, owner, body, content_type=content_type)
        if result.resource is not None:
            done |= templates
            self.record_event(entry, "Restarted", f"Restart {restart_id} replaces the pods of {workload}")
            self.context.update_cache(kind, result.resource, self)
        elif result.message:
            self._warn(entry, "UpdateFailed", f"Failed to restart {workload}: {result.message}")
        return result

    def _annotated_templates(self, key: ObjectKey, restart: tuple[str, int]) -> set[tuple[str, Path]]:
        """Returns the templates of a graph that were annotated for a restart."""
        if self._annotated.get(key, (None,))[0] != restart:
            self._annotated[key] = restart, set()
        return self._annotated[key][1]

    def _warn(self, entry: StoredObject[CachedObject], reason: str, message: str) -> None:
        """Records a lasting problem once."""
        if self._once.first((entry.value.key, message)):
            self.record_event(entry, reason, message, warning=True)


def restart_patch(annotations: Sequence[RestartAnnotation], live: StoredObject[Any]) -> tuple[dict[str, Any] | list[dict[str, Any]], str]:
    """Writes the patch that annotates templates of one object, and its content type.

    A merge patch cannot change one element of a list. A JSON patch can, by its index, so the server must reject it if the object changed.
    """
    if any(isinstance(step, int) for annotation in annotations for step in annotation.template.path):
        version = {"op": "replace", "path": "/metadata/resourceVersion", "value": live.resource_version}
        return [version, *map(_operation, annotations)], JSON_PATCH
    body: dict[str, Any] = {"metadata": {"uid": live.uid}}
    for annotation in annotations:
        metadata = body
        for step in annotation.template.path:
            metadata = metadata.setdefault(str(step), {})
        metadata["annotations"] = {labels.RESTART_AT: annotation.id}
    return body, MERGE_PATCH


def _operation(annotation: RestartAnnotation) -> dict[str, Any]:
    path = "".join(f"/{step}" for step in (*annotation.template.path, "annotations"))
    if not annotation.template.annotated:
        return {"op": "add", "path": path, "value": {labels.RESTART_AT: annotation.id}}
    return {"op": "add", "path": f"{path}/{labels.RESTART_AT.replace('/', '~1')}", "value": annotation.id}


CONTROLLERS = {"restarts": RestartController}
