"""Sends the requests to workers: few at once, those of all models in turn, and none without a pause after a failure.

The limits are those of the reference's `internal/modelendpoint/client.go` and `internal/workerpool/pool.go`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from krm_fn.status import endpoints
from krm_fn.sync import logs, tasks
from krm_fn.sync.loras.api import Failure, LoraApi

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import aiohttp

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.status.endpoints import Place
    from krm_fn.sync.loras.limits import Limits
    from krm_fn.sync.loras.records import Record, Spot, Step
    from krm_fn.sync.metrics import Metrics

_LOG = logging.getLogger(__name__)


class Guard(NamedTuple):
    """What must hold when a request begins: `serves(namespace)`, and `stands(namespace, place)`: the pod still runs in this place."""

    serves: Callable[[str], bool]
    stands: Callable[[str, Place], bool]


class _Request(NamedTuple):
    """One request that is under way."""

    model: ObjectKey
    record: Record
    place: Place
    spot: Spot
    step: Step
    again: bool
    """True if it repeats a failed one, or if the last request for this model had no answer."""


class Dispatcher:
    """Works on the records until they are as they should be. The record that had a request last is last in `records`.

    `changed(model)` is called after each answer. `connect` makes the connections to workers (`krm_fn.sync.loras.api.connector`).
    """

    def __init__(
        self,
        changed: Callable[[ObjectKey], None],
        guard: Guard,
        metrics: Metrics,
        limits: Limits,
        connect: Callable[[], aiohttp.BaseConnector],
    ) -> None:
        self.records: dict[ObjectKey, Record] = {}
        self._changed = changed
        self._guard = guard
        self._metrics = metrics
        self.limits = limits
        self._connect = connect
        self._running: set[asyncio.Task[str]] = set()
        self._repeating = 0
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """Lets it look at the records."""
        self._wake.set()

    async def run(self) -> None:
        """Sends requests until the task is cancelled. Requests under way are then given up."""
        try:
            async with LoraApi(self.limits.request, self._connect) as api:
                while True:
                    self._wake.clear()
                    pause = self._start(api)
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(pause):
                            await self._wake.wait()
        finally:
            await tasks.cancel(self._running)

    def _start(self, api: LoraApi) -> float | None:
        """Begins as many requests as may begin now. Returns the seconds until the next may; None if none waits."""
        now = monotonic()
        self._expire(now)
        while len(self._running) < self.limits.requests and (found := self._next(now)):
            self._begin(api, found)
        busy = [record for record in self.records.values() if record.todo]
        spots = (record.spots[place] for record in busy for place in record.todo)
        moments = (*(record.until for record in busy), *(max(spot.due, spot.pod.until) for spot in spots))
        return min((each - now for each in moments if now < each < inf), default=self.limits.again) if busy else None

    def _expire(self, now: float) -> None:
        """Gives up unloading where its time is over. The controller hears of it, unless the model does not exist any more."""
        for model, record in list(self.records.items()):
            if record.gone and (now >= record.until or not record.todo):
                self.records.pop(model).clear()
            elif now >= record.until and not record.held:
                record.held = True
                self._changed(model)

    def _next(self, now: float) -> _Request | None:
        """The next request: first those that will probably be answered, and among them those of the model that has waited longest."""
        for again in (False, True) if self._repeating < self.limits.repetitions else (False,):
            for model, record in self.records.items():
                if record.todo and record.room(now, self.limits) and self._guard.serves(model.namespace):
                    for request in self._due(model, record, now):
                        if request.again == again:
                            return request
        return None

    def _due(self, model: ObjectKey, record: Record, now: float) -> Iterator[_Request]:
        """The requests of one model that may begin now."""
        for place in list(record.todo):
            spot = record.spots[place]
            step = spot.step(record.wanted, record.kept)
            if step is None or spot.pod.busy or max(spot.due, spot.pod.until) > now:
                continue
            if self._guard.stands(model.namespace, place):
                yield _Request(model, record, place, spot, step, bool(spot.failures or spot.pod.failures or record.silent))
            else:
                record.drop(place)

    def _begin(self, api: LoraApi, request: _Request) -> None:
        """Begins a request, and lets the other models be first next time."""
        record, spot = request.record, request.spot
        self.records[request.model] = self.records.pop(request.model)
        record.begin(monotonic())
        self._repeating += request.again
        self._metrics.lora_requests.inc()
        spot.pod.busy = True
        spot.task = asyncio.create_task(self._send(api, request))
        self._running.add(spot.task)
        spot.task.add_done_callback(lambda task: self._end(request, task))  # is also called if the task is cancelled before it begins

    async def _send(self, api: LoraApi, request: _Request) -> str:
        """Sends one request. Returns its result in one word."""
        place, spot, step = request.place, request.spot, request.step
        about = logs.about(namespace=request.model.namespace, name=request.model.name, pod=place.pod, action=step.action)
        url = endpoints.url(place.address)
        try:
            spot.begin(step)
            if step.action == "load":
                await api.load(url, step.adapter)
            else:
                await api.unload(url, step.adapter)
        except Failure as failure:
            _LOG.log(logging.DEBUG if request.again else logging.INFO, "%s: %s", place.pod, failure, extra=about)
            request.record.failed(spot, failure, self.limits)
            return failure.result
        except Exception:  # noqa: BLE001 - one place must not stop the others
            _LOG.exception("a bug, please report it", extra=about)
            request.record.failed(spot, Failure("error", "an internal error of krm-fn sync, see its log"), self.limits)
            return "error"
        _LOG.debug("%s: done", place.pod, extra=about)
        request.record.succeeded(spot, step)
        return "success"

    def _end(self, request: _Request, task: asyncio.Task[str]) -> None:
        result = "cancelled" if task.cancelled() else task.result()
        self._running.discard(task)
        self._repeating -= request.again
        self._metrics.lora_requests.dec()
        self._metrics.lora_operations.labels(request.step.action, result).inc()
        request.spot.task, request.spot.pod.busy = None, False
        request.record.end(monotonic(), self.limits)
        if request.record.spots.get(request.place) is request.spot:
            request.record.look(request.place)
        self.wake()
        if result != "cancelled":
            self._changed(request.model)
