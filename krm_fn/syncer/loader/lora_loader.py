"""Loads LoRA adapters into workers, and unloads them, in tasks of its own, so that no worker delays a status.

The model controller sets the desired state of each worker; `request_scheduler` sends the requests. An adapter is loaded once on each
endpoint, and again after a restart of the pod's containers or of this process. The operator repeats all requests each time it reconciles a
model.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import inf
from time import monotonic
from typing import NamedTuple
from weakref import WeakValueDictionary

from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.syncer.loader.adapter_state import AdapterState, EndpointState, ModelState
from krm_fn.syncer.loader.request_scheduler import RequestScheduler
from krm_fn.syncer.loader.worker_api import Adapter
from krm_fn.syncer.status.cached_model import AdapterLoad
from krm_fn.syncer.status.model_endpoints import WorkerEndpoint


class Removal(NamedTuple):
    """The progress of unloading a deleted model. It is over when nothing is left to try; `failed` endpoints may still have an adapter."""

    over: bool
    unloaded: int
    failed: int


class LoraLoader:
    """Keeps the workers of all models in the desired state."""

    def __init__(self, scheduler: RequestScheduler) -> None:
        self._scheduler = scheduler
        self._models = scheduler.models
        self._limits = scheduler.limits
        self._endpoints: WeakValueDictionary[WorkerEndpoint, EndpointState] = WeakValueDictionary()

    async def run(self) -> None:
        """Sends requests until the task is cancelled. Running requests are then cancelled too."""
        await self._scheduler.run()

    def load(
        self,
        key: ObjectKey,
        adapter: Adapter,
        endpoints: Mapping[WorkerEndpoint, bool],
        names_in_use: Collection[str],
        stored: Mapping[WorkerEndpoint, bool],
    ) -> None:
        """Sets the adapter of a model and its endpoints. `endpoints` maps each endpoint to the readiness of its pod.

        `names_in_use` are the adapter names of other models. `stored` is read for a model that is new to the loader: the endpoints of the
        stored status, and whether they have the adapter. An endpoint without it may have an adapter of the same name from another source.
        """
        model = self._models.get(key)
        if model is None:
            model = self._models[key] = ModelState()
        else:
            stored = {}
        if model.desired != adapter:
            model.desired = adapter
            for state in model.adapters.values():
                state.reset()
                state.trusted = False
        model.paused, model.deleted, model.until, model.names_in_use = False, False, inf, frozenset(names_in_use)
        self._set_endpoints(model, endpoints)
        for endpoint in stored.keys() & endpoints.keys():
            state = model.adapters[endpoint]
            state.trusted = stored[endpoint]
            state.possible = {adapter.name: adapter.uri if stored[endpoint] else ""}
        self._update_pending(model)

    def unload(
        self, key: ObjectKey, adapter: Adapter | None, endpoints: Mapping[WorkerEndpoint, bool], names_in_use: Collection[str]
    ) -> Removal:
        """Unloads the adapters of a deleted model. For a model that is new to the loader, all endpoints may have `adapter`."""
        model = self._models.get(key)
        if model is None:
            model = self._models[key] = ModelState()
            self._set_endpoints(model, endpoints)
            for state in model.adapters.values():
                state.possible = {adapter.name: adapter.uri} if adapter else {}
        self._set_endpoints(model, endpoints)
        model.names_in_use = frozenset(names_in_use)
        if model.until == inf:
            self._start_unloading(model)
        over = monotonic() >= model.until
        model.paused = over
        self._update_pending(model)
        return Removal(over or not model.pending, model.unloaded, len(model.pending))

    def model_deleted(self, key: ObjectKey) -> None:
        """Unloads the adapters of a model that does not exist any more, and forgets the model."""
        model = self._models.get(key)
        if model is not None and not model.deleted:
            model.deleted = True
            self._start_unloading(model)
            self._update_pending(model)

    def pause(self, key: ObjectKey) -> None:
        """Sends no request for a model until `load` is called again."""
        if key in self._models:
            self._models[key].paused = True

    def forget(self, key: ObjectKey) -> None:
        """Forgets a model, and cancels its requests."""
        if key in self._models:
            self._models.pop(key).clear()

    def forget_namespaces(self, namespaces: Collection[str]) -> None:
        """Forgets all models in some namespaces: another process loads their adapters now."""
        for key in [key for key in self._models if key.namespace in namespaces]:
            self.forget(key)

    def load_statuses(self, key: ObjectKey) -> dict[WorkerEndpoint, AdapterLoad]:
        """Returns the status of a model's adapter on each endpoint."""
        model = self._models.get(key)
        return {endpoint: state.load_status(model.desired) for endpoint, state in model.adapters.items()} if model else {}

    def _set_endpoints(self, model: ModelState, endpoints: Mapping[WorkerEndpoint, bool]) -> None:
        """Sets the endpoints of a model. A pod that becomes ready is asked at once, also after failures."""
        for endpoint in [endpoint for endpoint in model.adapters if endpoint not in endpoints]:
            model.remove_endpoint(endpoint)
        for endpoint, ready in endpoints.items():
            state = model.adapters.get(endpoint)
            if state is None:
                state = model.adapters[endpoint] = AdapterState(self._endpoints.setdefault(endpoint, EndpointState()))
            elif ready and not state.ready:
                state.endpoint.reset_failures()
                state.due = 0.0
            state.ready = ready

    def _start_unloading(self, model: ModelState) -> None:
        """Starts to unload a model on all endpoints at once, also after failures."""
        model.desired, model.until, model.unloaded, model.paused = None, monotonic() + self._limits.removal, 0, False
        for state in model.adapters.values():
            state.reset()
            state.endpoint.reset_failures()

    def _update_pending(self, model: ModelState) -> None:
        for endpoint in model.adapters:
            model.update_pending(endpoint)
        self._scheduler.wake()
