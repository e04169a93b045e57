"""Reconciles replicas: those of scaling adapters, of Grove's objects, and of graphs with a planner."""

from __future__ import annotations

from time import monotonic
from typing import Any

from krm_fn.cluster import logs, timestamps
from krm_fn.cluster.client import JSON_PATCH, MERGE_PATCH
from krm_fn.cluster.object_store import StoredObject
from krm_fn.kubernetes import values
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.syncer.controllers import ADAPTERS, GRAPHS, Controller, ControllerContext
from krm_fn.syncer.informer_cache import graph_key
from krm_fn.syncer.status import SyncFeatures, adapter_fields, conditions, live_fields, replica_scaling, version_adapter
from krm_fn.syncer.status.cached_object import ADAPTER, CachedObject
from krm_fn.syncer.status.replica_scaling import AdapterReadiness
from krm_fn.syncer.writer import WriteResult

REWRITE_DELAY = 30.0
"""Seconds until replicas of a graph are written again after another program overwrote them. A GitOps tool with other settings may do that
at once."""

OVERWRITE_DELAY = 10.0
"""Seconds until a workload gets the replicas of its adapter again after another program overwrote them. If Git switches the adapter off, a
tool applies the Deployment with the replicas in Git a moment before the graph."""


class AdapterController(Controller):
    """Scales the workload of each adapter, and writes the status of adapters whose graph has the annotation `workloads`."""

    kind = ADAPTERS
    counted = True

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._scaled: dict[ObjectKey, str] = {}
        """The time at which an adapter scaled its workload, until its status has it."""
        self._reached: dict[ObjectKey, int] = {}
        """The replicas of an adapter that its workload has had."""
        self._overwritten: dict[ObjectKey, float] = {}
        """The monotonic time at which a workload was first seen to have lost the replicas that it had."""
        self._conditions_stored = True
        """False if the API server was seen to drop the conditions of adapters."""

    def state(self, value: CachedObject) -> str:
        """Returns `ready` or `not_ready`, as in the operator's metrics."""
        return "ready" if value.status.get("selector") and live_fields.count(value.status.get("replicas")) else "not_ready"

    async def reconcile(self, key: ObjectKey) -> float | None:
        """Scales the workload of one adapter, and writes the adapter's status."""
        entry = self.context.cache.entry(key)
        if entry is None or entry.value.deleted:
            for memory in (self._scaled, self._reached, self._overwritten):
                memory.pop(key, None)
            return None
        adapter: CachedObject = entry.value
        graph = self.context.cache.graph(key.namespace, adapter.graph)
        first = self.context.cache.adapter(graph_key(key.namespace, adapter.graph), adapter.component)
        readiness, pause = None, None
        if first is not None and first.key != key:
            readiness = replica_scaling.second_adapter(first)
        elif graph is not None:
            result, readiness = await self._initialize(entry, graph)
            if result and result.resource and values.mapping(result.resource, "metadata").get("resourceVersion") != entry.resource_version:
                return None  # the event about the changed adapter leads to the next reconcile
            if readiness is None:
                readiness, pause = await self._scale(entry, graph)
            pause = pause or (result.pause if result else None)
        return await self._write(entry, graph, readiness) or pause

    async def _initialize(
        self, entry: StoredObject[CachedObject], graph: CachedObject
    ) -> tuple[WriteResult | None, AdapterReadiness | None]:
        """Writes the first replicas and the owner into an adapter. Returns the readiness if the server rejects the replicas. Raises Retry.

        The write does not replace a number that an autoscaler has written since the adapter was read.
        """
        owner = self.context.cache.entry(graph.key)
        uid = owner.uid if owner else ""
        patch = adapter_fields.fields_patch(entry.value, graph, uid, self.context.cache.workloads, self.context.features)
        if patch is None:
            return None, None
        body = {**patch, "metadata": {**entry.preconditions, **patch.get("metadata", {})}}
        result = await self.context.writer.patch(self.kind, entry.value.key, body)
        if result.message and entry.value.replicas is None and "spec" in patch:
            return result, replica_scaling.rejected_initialization(patch["spec"]["replicas"], result.message)
        return result, None

    async def _scale(self, entry: StoredObject[CachedObject], graph: CachedObject) -> tuple[AdapterReadiness | None, float | None]:
        """Writes the replicas of the adapter to its workloads. Returns the readiness and the pause if the server rejects it."""
        adapter, index = entry.value, self.context.cache.workloads
        own = replica_scaling.adapter_requests(graph, adapter, index, self.context.features)
        if own and (early := self._remaining_delay(adapter)) > 0:
            return None, early
        self._overwritten.pop(adapter.key, None)
        for request in own:
            result = await self.scale(request)
            if result.result == "written":
                self._scaled[adapter.key] = timestamps.now()
                message = f"Scaled service {request.component} from {request.before} to {request.replicas} replicas"
                self.record_event(entry, "Scaled", message)
            elif result.message:
                return replica_scaling.rejected_readiness(request, result.message), result.pause
        if adapter.replicas is not None:
            self._reached[adapter.key] = adapter.replicas
        return None, None

    def _remaining_delay(self, adapter: CachedObject) -> float:
        """Returns the seconds to wait before the replicas of a workload are written again; 0 if the adapter asks for other ones."""
        if self._reached.get(adapter.key) != adapter.replicas:
            return 0.0
        return self._overwritten.setdefault(adapter.key, monotonic()) + OVERWRITE_DELAY - monotonic()

    async def _write(
        self, entry: StoredObject[CachedObject], graph: CachedObject | None, readiness: AdapterReadiness | None
    ) -> float | None:
        """Writes the status if it changes; returns the pause if the server rejects it. `readiness` overrules what is observed."""
        adapter, key, now = entry.value, entry.value.key, timestamps.now()
        desired = replica_scaling.adapter_status(adapter, self.context.cache.workloads, now, graph, self.context.features)
        if readiness is not None:
            desired = replica_scaling.with_readiness(desired, adapter, readiness, now)
        if key in self._scaled:
            desired = {**desired, "lastScaleTime": self._scaled[key]}
        if replica_scaling.adapter_patch(adapter.status, desired, conditions_stored=self._conditions_stored) is None:
            self.context.writer.count_unchanged(self.kind)
            return None
        result = await self.write_status(key, entry, desired)
        self._scaled.pop(key, None)
        if result is not None and result.resource is not None:
            self._conditions_stored = "conditions" in values.mapping(result.resource, "status")
            self._record_rejection(entry, desired, readiness)
        return result.pause if result else None

    def _record_rejection(self, entry: StoredObject[CachedObject], desired: dict[str, Any], readiness: AdapterReadiness | None) -> None:
        """Records a rejection once, and not again while the condition has the same message."""
        before, after = (conditions.find(status, conditions.READY).message for status in (entry.value.status, desired))
        if readiness is not None and readiness.reason == replica_scaling.REJECTED and before != after:
            self.record_event(entry, replica_scaling.REJECTED, readiness.message, warning=True)


class GroveReplicaController(Controller):
    """Scales PodCliques and PodCliqueScalingGroups to the counts in the annotation `workloads`. Grove itself does not."""

    kind = GRAPHS

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._once = logs.Once()

    @classmethod
    def is_enabled(cls, features: SyncFeatures) -> bool:
        """Needs the feature `grove_counts`."""
        return features.grove_counts

    async def reconcile(self, key: ObjectKey) -> float | None:
        """Scales the objects of one graph."""
        entry = self.context.cache.entry(key)
        if entry is None:
            return None
        pause = None
        for request in replica_scaling.scale_requests(entry.value, {}, self.context.cache.workloads, self.context.features):
            result = await self.scale(request)
            pause = result.pause or pause
            if result.result == "written":
                self._once.forget(request.key)
                workload = f"{request.key.kind} {request.key.name}"
                self.record_event(entry, "Scaled", f"Scaled {workload} from {request.before} to {request.replicas} replicas")
            elif result.message and self._once.first(request.key):
                message = replica_scaling.rejected_readiness(request, result.message).message
                self.record_event(entry, replica_scaling.REJECTED, message, warning=True)
        return pause


class PlannerController(Controller):
    """Writes the replicas of each adapter into its graph, if the graph has a planner, which reads them there."""

    kind = GRAPHS

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._written: dict[ObjectKey, tuple[dict[str, int], float]] = {}
        """The last replicas of each graph, and the time at which they were written."""

    @classmethod
    def is_enabled(cls, features: SyncFeatures) -> bool:
        """Needs the feature `graph_replicas`."""
        return features.graph_replicas

    async def reconcile(self, key: ObjectKey) -> float | None:
        """Writes the replicas into one graph."""
        entry = self.context.cache.entry(key)
        if entry is None:
            self._written.pop(key, None)
            return None
        if not entry.value.planned:
            return None
        adapters = [member for member in self.context.cache.members(key) if member.key.kind == ADAPTER]
        replicas = replica_scaling.replicas_for_planner(entry.value, replica_scaling.adapters_by_component(adapters))
        if not replicas:
            return None
        last, written_at = self._written.get(key, ({}, 0.0))
        if last == replicas and (early := written_at + REWRITE_DELAY - monotonic()) > 0:
            return early
        body, content_type = _planner_patch(entry, replicas)
        result = await self.context.writer.patch(self.kind, key, body, content_type=content_type)
        if result.resource is not None:
            self._written[key] = replicas, monotonic()
            self.context.update_cache(self.kind, result.resource, self)
        return result.pause


def _planner_patch(entry: StoredObject[CachedObject], replicas: dict[str, int]) -> tuple[dict[str, Any] | list[dict[str, Any]], str]:
    """Writes the patch of a graph, and its content type. The server rejects it if the graph has changed."""
    patch = version_adapter.replicas_patch(entry.value.planned, replicas, entry.value.version)
    if isinstance(patch, list):
        return [{"op": "replace", "path": "/metadata/resourceVersion", "value": entry.resource_version}, *patch], JSON_PATCH
    return {"metadata": entry.preconditions, "spec": patch}, MERGE_PATCH


CONTROLLERS = {"adapters": AdapterController, "planners": PlannerController, "scaling": GroveReplicaController}
