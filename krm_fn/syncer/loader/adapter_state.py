"""The state of each model's adapter on each endpoint of its base model, and the limits of the requests that change it."""

from __future__ import annotations

import asyncio
from math import inf
from time import monotonic
from typing import NamedTuple

from krm_fn.syncer.loader.worker_api import Adapter, WorkerError
from krm_fn.syncer.status.cached_model import AdapterLoad
from krm_fn.syncer.status.model_endpoints import WorkerEndpoint

LASTING = 3
"""The number of refusals in a row after which waiting does not help."""


class Limits(NamedTuple):
    """The limits of the loader. Times are in seconds.

    `requests`, `request`, `batch` and `retry` have the values of the operator's `internal/modelendpoint/client.go`.
    """

    requests: int = 10
    """Concurrent requests."""
    requests_of_model: int = 8
    """Concurrent requests for one model, so that other models can send some too."""
    retries: int = 5
    """Concurrent requests to endpoints, or for models, without an answer so far. They leave room for the other requests."""
    request: float = 15.0
    batch: float = 30.0
    """The requests of a model that begin together end within this time."""
    retry: float = 30.0
    """The delay before a failed request is repeated. It doubles with each further failure, up to `longest_retry`."""
    longest_retry: float = 300.0
    removal: float = 60.0
    """The longest time in which the adapter of a deleted model is unloaded."""

    def delay(self, failures: int) -> float:
        """Returns the delay before the next request, after this number of failures in a row."""
        return min(self.retry * 2.0 ** min(failures - 1, 16), self.longest_retry)


LIMITS = Limits()


class EndpointState:
    """The state of one endpoint that all models share: one request at a time, and a pause after requests without an answer."""

    __slots__ = ("__weakref__", "busy", "failures", "problem", "until")

    def __init__(self) -> None:
        self.busy = False
        self.failures = 0
        self.until = 0.0
        self.problem = ""

    def reset_failures(self) -> None:
        """Ends the pause, because the worker answers or may answer now."""
        self.failures, self.until, self.problem = 0, 0.0, ""


class AdapterRequest(NamedTuple):
    """A request to a worker. `action` is `load` or `unload`."""

    action: str
    adapter: Adapter


class AdapterState:
    """The state of one model's adapter on one endpoint.

    `loaded` is the adapter that the worker confirmed. `possible` holds all adapters that the worker may have, their URIs by name: a
    request without an answer may have loaded one. `trusted` is true after a restart of this process, while only the stored status says
    that the worker has the adapter.
    """

    __slots__ = ("due", "endpoint", "failures", "loaded", "possible", "problem", "ready", "refusals", "task", "tried", "trusted")

    def __init__(self, endpoint: EndpointState) -> None:
        self.endpoint = endpoint
        self.loaded: Adapter | None = None
        self.possible: dict[str, str] = {}
        self.trusted = False
        self.ready = False
        self.task: asyncio.Task[str] | None = None
        self.reset()

    def reset(self) -> None:
        """Removes the results of earlier requests, because the desired adapter changed."""
        self.tried, self.problem, self.failures, self.refusals, self.due = False, "", 0, 0, 0.0

    def next_request(self, desired: Adapter | None, names_in_use: frozenset[str]) -> AdapterRequest | None:
        """Returns the next request; None if the endpoint has the desired state. `names_in_use` are the adapter names of other models.

        A worker that has an adapter does not load another one of the same name. So the old adapter is unloaded first.
        """
        if desired and self.possible.get(desired.name, desired.uri) != desired.uri:
            return AdapterRequest("unload", Adapter(desired.name, self.possible[desired.name]))
        if desired and self.loaded != desired:
            return AdapterRequest("load", desired)
        for name, uri in self.possible.items():
            if name not in names_in_use and not (desired and desired.name == name):
                return AdapterRequest("unload", Adapter(name, uri))
        return None

    def load_status(self, desired: Adapter | None) -> AdapterLoad:
        """Returns the status of the desired adapter on this endpoint."""
        if not self.tried and self.endpoint.until > monotonic():
            return AdapterLoad(tried=True, problem=self.endpoint.problem)
        loaded = self.trusted or (desired is not None and self.loaded == desired)
        return AdapterLoad(loaded, self.tried, self.problem, self.refusals >= LASTING)

    def begin(self, request: AdapterRequest) -> None:
        """Records a request before it is sent. Without an answer it is unknown whether the worker executed it."""
        if request.action == "load":
            self.possible[request.adapter.name] = request.adapter.uri
        elif self.loaded and self.loaded.name == request.adapter.name:
            self.loaded = None

    def record_success(self, request: AdapterRequest) -> None:
        """Records the success of a request."""
        self.reset()
        self.tried, self.trusted = True, False
        self.endpoint.reset_failures()
        if request.action == "load":
            self.loaded = request.adapter
        else:
            self.possible.pop(request.adapter.name, None)

    def record_failure(self, error: WorkerError, limits: Limits) -> None:
        """Records a failure. After a refusal only this model waits; without an answer all models wait before they ask this endpoint."""
        self.tried, self.trusted, self.problem = True, False, str(error)
        self.failures += 1
        if error.answered:
            self.refusals += 1
            self.endpoint.reset_failures()
            self.due = monotonic() + limits.delay(self.failures)
        else:
            self.refusals = 0
            self.endpoint.failures += 1
            self.endpoint.problem = self.problem
            self.due = self.endpoint.until = monotonic() + limits.delay(self.endpoint.failures)


class ModelState:
    """The state of one model. `desired` is None once the model is deleted; `until` is the time at which unloading then ends.

    `pending` holds the endpoints that do not have the desired state. `began` is the time of the first request of the present batch.
    `unanswered` is true if the last request had no answer.
    """

    __slots__ = (
        *("adapters", "batch_succeeded", "began", "deleted", "desired", "names_in_use", "paused", "pending", "running"),
        *("unanswered", "unloaded", "until"),
    )

    def __init__(self) -> None:
        self.desired: Adapter | None = None
        self.names_in_use: frozenset[str] = frozenset()
        self.adapters: dict[WorkerEndpoint, AdapterState] = {}
        self.pending: dict[WorkerEndpoint, None] = {}
        self.paused = False
        self.deleted = False
        self.until = inf
        self.unloaded = 0
        self.running = 0
        self.began = 0.0
        self.batch_succeeded = False
        self.unanswered = False

    def update_pending(self, endpoint: WorkerEndpoint) -> None:
        """Updates `pending` for one endpoint."""
        if self.adapters[endpoint].next_request(self.desired, self.names_in_use):
            self.pending.setdefault(endpoint)
        else:
            self.pending.pop(endpoint, None)

    def remove_endpoint(self, endpoint: WorkerEndpoint) -> None:
        """Removes an endpoint. A running request is cancelled, because another pod may have the address now."""
        adapter = self.adapters.pop(endpoint)
        self.pending.pop(endpoint, None)
        if adapter.task:
            adapter.task.cancel()

    def accepts_request(self, now: float, limits: Limits) -> bool:
        """Returns True if one more request of this model may begin now."""
        late = self.running and self._is_late(now, limits)
        return not self.paused and not late and self.running < limits.requests_of_model

    def begin(self, now: float) -> None:
        """Records that a request begins."""
        if not self.running:
            self.began, self.batch_succeeded = now, False
        self.running += 1

    def record_success(self, adapter: AdapterState, request: AdapterRequest) -> None:
        """Records the success of a request."""
        adapter.record_success(request)
        self.batch_succeeded, self.unanswered = True, False
        self.unloaded += request.action == "unload"

    def record_failure(self, adapter: AdapterState, error: WorkerError, limits: Limits) -> None:
        """Records the failure of a request."""
        adapter.record_failure(error, limits)
        self.unanswered = not error.answered

    def end(self, now: float, limits: Limits) -> None:
        """Records the end of a request. If a whole batch failed, the status does not wait for the endpoints that come later."""
        self.running -= 1
        if not self.running and not self.batch_succeeded and self._is_late(now, limits):
            for adapter in map(self.adapters.__getitem__, self.pending):
                if not adapter.tried:
                    adapter.tried, adapter.problem = True, "not asked yet, because other pods of the base model do not answer"

    def clear(self) -> None:
        """Cancels all requests and removes all endpoints."""
        for endpoint in list(self.adapters):
            self.remove_endpoint(endpoint)

    def _is_late(self, now: float, limits: Limits) -> bool:
        """Returns True if a request that begins now could end after the batch."""
        return now - self.began > limits.batch - limits.request
