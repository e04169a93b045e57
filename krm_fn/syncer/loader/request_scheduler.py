"""Sends the requests to workers: few at once, those of all models in turn, and with a pause after each failure.

The limits are those of the operator's `internal/modelendpoint/client.go` and `internal/workerpool/pool.go`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator
from math import inf
from time import monotonic
from typing import NamedTuple

import aiohttp
from prometheus_client import Counter, Gauge

from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.syncer.loader.adapter_state import AdapterRequest, AdapterState, Limits, ModelState
from krm_fn.syncer.loader.worker_api import WorkerApi, WorkerError
from krm_fn.syncer.status import model_endpoints
from krm_fn.syncer.status.model_endpoints import WorkerEndpoint

_LOG = logging.getLogger(__name__)


class Precondition(NamedTuple):
    """The conditions under which a request may begin.

    `serves(namespace)` is true if this process serves the namespace. `is_running(namespace, endpoint)` is true if the pod still runs there.
    """

    serves: Callable[[str], bool]
    is_running: Callable[[str, WorkerEndpoint], bool]


class LoaderMetrics(NamedTuple):
    """The metrics of the loader: requests by operation and result, and the number of running requests."""

    operations: Counter
    in_flight: Gauge


class _ScheduledRequest(NamedTuple):
    """A request of one model to one endpoint."""

    key: ObjectKey
    model: ModelState
    endpoint: WorkerEndpoint
    adapter: AdapterState
    request: AdapterRequest
    is_retry: bool
    """True if it repeats a failed request, or if the last request for this model had no answer."""


class RequestScheduler:
    """Sends requests until all endpoints have the desired state. The model of the last request is last in `models`.

    `changed(model)` is called after each answer. `connect` makes the connections to workers (`krm_fn.syncer.loader.worker_api.connector`).
    """

    def __init__(
        self,
        changed: Callable[[ObjectKey], None],
        precondition: Precondition,
        metrics: LoaderMetrics,
        limits: Limits,
        connect: Callable[[], aiohttp.BaseConnector],
    ) -> None:
        self.models: dict[ObjectKey, ModelState] = {}
        self._changed = changed
        self._precondition = precondition
        self._metrics = metrics
        self.limits = limits
        self._connect = connect
        self._running: set[asyncio.Task[str]] = set()
        self._retrying = 0
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """Continues `run` after a change of the models."""
        self._wake.set()

    async def run(self) -> None:
        """Sends requests until the task is cancelled. Running requests are then cancelled too."""
        try:
            async with WorkerApi(self.limits.request, self._connect) as api:
                while True:
                    self._wake.clear()
                    pause = self._start(api)
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(pause):
                            await self._wake.wait()
        finally:
            running = list(self._running)
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    def _start(self, api: WorkerApi) -> float | None:
        """Begins as many requests as the limits allow. Returns the seconds until the next request may begin; None if no request waits."""
        now = monotonic()
        self._expire(now)
        while len(self._running) < self.limits.requests and (request := self._next(now)):
            self._begin(api, request)
        models = [model for model in self.models.values() if model.pending]
        adapters = (model.adapters[endpoint] for model in models for endpoint in model.pending)
        times = (*(model.until for model in models), *(max(adapter.due, adapter.endpoint.until) for adapter in adapters))
        return min((time - now for time in times if now < time < inf), default=self.limits.retry) if models else None

    def _expire(self, now: float) -> None:
        """Ends the unloading of models whose time is over. The controller is called, unless the model does not exist any more."""
        for key, model in list(self.models.items()):
            if model.deleted and (now >= model.until or not model.pending):
                self.models.pop(key).clear()
            elif now >= model.until and not model.paused:
                model.paused = True
                self._changed(key)

    def _next(self, now: float) -> _ScheduledRequest | None:
        """Returns the next request: first requests, then retries, and of each the request of the model that has waited longest."""
        for is_retry in (False, True) if self._retrying < self.limits.retries else (False,):
            for key, model in self.models.items():
                if model.pending and model.accepts_request(now, self.limits) and self._precondition.serves(key.namespace):
                    for request in self._due(key, model, now):
                        if request.is_retry == is_retry:
                            return request
        return None

    def _due(self, key: ObjectKey, model: ModelState, now: float) -> Iterator[_ScheduledRequest]:
        """Yields the requests of one model that may begin now."""
        for endpoint in list(model.pending):
            adapter = model.adapters[endpoint]
            request = adapter.next_request(model.desired, model.names_in_use)
            if request is None or adapter.endpoint.busy or max(adapter.due, adapter.endpoint.until) > now:
                continue
            if self._precondition.is_running(key.namespace, endpoint):
                is_retry = bool(adapter.failures or adapter.endpoint.failures or model.unanswered)
                yield _ScheduledRequest(key, model, endpoint, adapter, request, is_retry)
            else:
                model.remove_endpoint(endpoint)

    def _begin(self, api: WorkerApi, scheduled: _ScheduledRequest) -> None:
        """Begins a request, and moves its model behind the other models."""
        model, adapter = scheduled.model, scheduled.adapter
        self.models[scheduled.key] = self.models.pop(scheduled.key)
        model.begin(monotonic())
        self._retrying += scheduled.is_retry
        self._metrics.in_flight.inc()
        adapter.endpoint.busy = True
        adapter.task = asyncio.create_task(self._send(api, scheduled))
        self._running.add(adapter.task)
        adapter.task.add_done_callback(lambda task: self._end(scheduled, task))  # is also called if the task is cancelled before it begins

    async def _send(self, api: WorkerApi, scheduled: _ScheduledRequest) -> str:
        """Sends one request. Returns its result in one word."""
        model, adapter, request, pod = scheduled.model, scheduled.adapter, scheduled.request, scheduled.endpoint.pod
        extra = {"fields": {"namespace": scheduled.key.namespace, "name": scheduled.key.name, "pod": pod, "action": request.action}}
        url = model_endpoints.url(scheduled.endpoint.address)
        try:
            adapter.begin(request)
            if request.action == "load":
                await api.load(url, request.adapter)
            else:
                await api.unload(url, request.adapter)
        except WorkerError as error:
            _LOG.log(logging.DEBUG if scheduled.is_retry else logging.INFO, "%s: %s", pod, error, extra=extra)
            model.record_failure(adapter, error, self.limits)
            return error.result
        except Exception:  # noqa: BLE001 - an error on one endpoint must not stop the others
            _LOG.exception("a bug, please report it", extra=extra)
            model.record_failure(adapter, WorkerError("error", "an internal error of krm-fn sync, see its log"), self.limits)
            return "error"
        _LOG.debug("%s: done", pod, extra=extra)
        model.record_success(adapter, request)
        return "success"

    def _end(self, scheduled: _ScheduledRequest, task: asyncio.Task[str]) -> None:
        result = "cancelled" if task.cancelled() else task.result()
        model, adapter = scheduled.model, scheduled.adapter
        self._running.discard(task)
        self._retrying -= scheduled.is_retry
        self._metrics.in_flight.dec()
        self._metrics.operations.labels(scheduled.request.action, result).inc()
        adapter.task, adapter.endpoint.busy = None, False
        model.end(monotonic(), self.limits)
        if model.adapters.get(scheduled.endpoint) is adapter:
            model.update_pending(scheduled.endpoint)
        self.wake()
        if result != "cancelled":
            self._changed(scheduled.key)
