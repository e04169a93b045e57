"""Reconciles models: their status, and the LoRA adapters that must be loaded into the pods of their base model."""

from __future__ import annotations

from collections.abc import Iterable
from time import monotonic

from krm_fn.cluster import timestamps
from krm_fn.cluster.api_resources import ApiResource
from krm_fn.cluster.object_store import StoredObject
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render import labels
from krm_fn.render.schema import rule_messages
from krm_fn.syncer.controllers import COMPONENTS, GRAPHS, Controller, ControllerContext, Watch, dynamo_kind, dynamo_watch, workload_watches
from krm_fn.syncer.loader.lora_loader import LoraLoader
from krm_fn.syncer.loader.worker_api import Adapter
from krm_fn.syncer.status import SyncFeatures, cached_model, conditions, model_endpoints, model_status
from krm_fn.syncer.status.cached_model import AdapterLoads, CachedModel
from krm_fn.syncer.status.model_endpoints import ModelEndpoint
from krm_fn.syncer.writer import WriteResult

MODELS = dynamo_kind(cached_model.KIND)
SLICES = ApiResource(model_endpoints.GROUP, "v1", "endpointslices", model_endpoints.KIND, labels.BASE_MODEL_HASH)
FINALIZER = "nvidia.com/finalizer"
"""The operator's finalizer: the adapter of a deleted model is unloaded before the model is gone."""
GRACE = 5.0
"""Seconds after which an endpoint without its pod counts as wrong: an EndpointSlice may come before the pod."""


class ModelController(Controller):
    """Writes the status of models. With the feature `loras` it also sets where each adapter must be loaded; `LoraLoader` loads it."""

    kind = MODELS
    counted = True

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._incomplete: dict[ObjectKey, float] = {}
        """The models with an endpoint without its pod, and the monotonic time since when."""

    @classmethod
    def is_enabled(cls, features: SyncFeatures) -> bool:
        """Needs the feature `models`."""
        return features.models

    @classmethod
    def watches(cls, features: SyncFeatures) -> Iterable[Watch]:
        """Returns models, EndpointSlices, the graphs and components that serve base models, and pods."""
        model_watches = (Watch(MODELS, cached_model.read), Watch(SLICES, model_endpoints.read))
        return (*model_watches, dynamo_watch(GRAPHS), dynamo_watch(COMPONENTS), *workload_watches(features))

    def state(self, value: CachedModel) -> str:
        """Returns `ready` or `not_ready`, by the operator's condition."""
        return "ready" if conditions.find(value.status, cached_model.ENDPOINTS_READY).is_true else "not_ready"

    async def reconcile(self, key: ObjectKey) -> float | None:
        """Sets where the adapter of one model must be loaded, and writes the status of the model."""
        entry, loader = self.context.cache.entry(key), self.context.loras
        if entry is None:
            self._incomplete.pop(key, None)
            if loader:
                loader.model_deleted(key)
            return None
        if entry.value.deleted:
            return await self._release(entry, loader) if loader else None
        pause = await self._add_finalizer(entry) if loader else None
        entry = self.context.cache.entry(key)
        if entry is None or entry.value.deleted:
            return 0
        model: CachedModel = entry.value
        loads = self._load(model, loader) if loader else AdapterLoads()
        cache = self.context.cache
        desired = model_status.of_model(model, cache.base_models, cache.workloads, timestamps.now(), self.context.features, loads)
        result = await self.write_status(key, entry, desired)
        if result is not None and result.result == "written":
            for event in model_status.events(model, desired):
                self.record_event(entry, event.reason, event.note, warning=event.warning)
        return (result.pause if result else None) or pause or (None if loads.settled else GRACE)

    async def _add_finalizer(self, entry: StoredObject[CachedModel]) -> float | None:
        """Adds the finalizer to an adapter. Returns the pause if the server rejects it; the adapter is loaded nevertheless."""
        model = entry.value
        if FINALIZER in model.finalizers or not model_status.is_loadable(model, self.context.cache.base_models):
            return None
        return (await self._write_finalizers(entry, [*model.finalizers, FINALIZER])).pause

    def _load(self, model: CachedModel, loader: LoraLoader) -> AdapterLoads:
        """Sets where the adapter must be. Returns its state there."""
        if not model_status.is_loadable(model, self.context.cache.base_models):
            loader.pause(model.key)
            return AdapterLoads()
        endpoints = self._endpoints(model)
        workers = {endpoint.worker: endpoint for endpoint in endpoints if endpoint.worker}
        readiness = {worker: endpoint.ready for worker, endpoint in workers.items()}
        loads = cached_model.stored_loads(model)
        rows = {worker: (endpoint.url, endpoint.pod) for worker, endpoint in workers.items()}
        stored = {worker: loads[row] for worker, row in rows.items() if row in loads}
        loader.load(model.key, Adapter(model.name, model.uri or ""), readiness, self._other_names(model), stored)
        return AdapterLoads(loader.load_statuses(model.key), self._is_settled(model.key, complete=len(workers) == len(endpoints)))

    def _is_settled(self, key: ObjectKey, *, complete: bool) -> bool:
        """Returns True if each endpoint has its pod, or if one had none for long enough."""
        if complete:
            self._incomplete.pop(key, None)
            return True
        return monotonic() - self._incomplete.setdefault(key, monotonic()) >= GRACE

    async def _release(self, entry: StoredObject[CachedModel], loader: LoraLoader) -> float | None:
        """Unloads the adapter of a deleted model, and then removes the finalizer. Other finalizers stay.

        The spec may be invalid by now, but something may have been loaded before.
        """
        model = entry.value
        if FINALIZER not in model.finalizers:
            loader.model_deleted(model.key)
            return None
        removal = None
        if model.lora:
            usable = model.name and not rule_messages.adapter_name_problem(model.name)
            readiness = {endpoint.worker: endpoint.ready for endpoint in self._endpoints(model) if endpoint.worker}
            if self.context.cache.base_models.hash_collision(model)[0]:  # these pods may be those of the other base model
                loaded = loader.load_statuses(model.key)
                readiness = {worker: ready for worker, ready in readiness.items() if worker in loaded}
            adapter = Adapter(model.name, model.uri or "") if usable else None
            removal = loader.unload(model.key, adapter, readiness, self._other_names(model))
            if not removal.over:
                return None
        result = await self._write_finalizers(entry, [finalizer for finalizer in model.finalizers if finalizer != FINALIZER])
        if result.result in {"written", "gone"}:
            loader.forget(model.key)
            if removal and removal.failed:
                message = f"Failed to unload LoRA from some endpoints: {removal.failed} task(s) failed"
                self.record_event(entry, "LoRAUnloadFailed", message, warning=True)
            elif removal and removal.unloaded:
                self.record_event(entry, "LoRAUnloaded", f"Unloaded LoRA from {removal.unloaded} endpoint(s)")
        return result.pause

    async def _write_finalizers(self, entry: StoredObject[CachedModel], finalizers: list[str]) -> WriteResult:
        """Writes the finalizers of a model. Raises Retry."""
        metadata = {**entry.preconditions, "finalizers": finalizers}
        result = await self.context.writer.patch(self.kind, entry.value.key, {"metadata": metadata})
        if result.resource is not None:
            self.context.update_cache(self.kind, result.resource, self)
        return result

    def _endpoints(self, model: CachedModel) -> list[ModelEndpoint]:
        return model_endpoints.endpoints(self.context.cache.base_models.slices(model), self.context.cache.workloads)

    def _other_names(self, model: CachedModel) -> set[str]:
        """Returns the names of other adapters for the same base model. An adapter with such a name is not unloaded."""
        return {other.name for other in self.context.cache.base_models.other_adapters(model)}


CONTROLLERS = {"models": ModelController}
