"""Records Kubernetes events (`events.k8s.io/v1`) about changes of Dynamo resources. Events never delay or fail a status."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import NamedTuple

from krm_fn.cluster import logs, timestamps
from krm_fn.cluster.access import ClusterError
from krm_fn.cluster.api_resources import ApiResource
from krm_fn.cluster.backoff import ForbiddenBackoff
from krm_fn.cluster.client import MERGE_PATCH, NAMESPACE_TERMINATING, ApiError, Client
from krm_fn.cluster.work_queue import WorkQueue
from krm_fn.kubernetes import digest
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.syncer.metrics import Metrics

NORMAL, WARNING = "Normal", "Warning"
CONTROLLER = "dynamo.krm-fn.io/sync"
_EVENTS = ApiResource("events.k8s.io", "v1", "events", "Event")
_WINDOW = 600.0
"""Seconds in which a repetition counts up the same event."""
_BURST = 25.0
_REFILL = 300.0
"""Seconds until an object that used up its burst may have one more event, as in client-go."""
_QUEUE_LIMIT = 4096
_WRITERS = 4
"""Events that are written at the same time."""
_ATTEMPTS = 12
"""Attempts to write an event, as in client-go."""
_LAST_RETRY = 10.0
"""The longest delay in seconds between two of them, as in client-go."""
_CACHE_LIMIT = 4096
_NOTE_LIMIT = 1024

_LOG = logging.getLogger(__name__)


class _EventKey(NamedTuple):
    """Events with the same key are one event that repeats (client-go: the key of EventAggregator)."""

    uid: str
    reason: str


class _PendingEvent(NamedTuple):
    """An event to write. `number` counts it since it was last written, and `time` that of the last one."""

    kind: ApiResource
    key: ObjectKey
    type: str
    note: str
    time: str
    number: int = 1


class _Series:
    """A written event, and the number of its repetitions."""

    def __init__(self, name: str, count: int) -> None:
        self.name = name
        self.began = time.monotonic()
        self.count = count


class _TokenBucket:
    """Limits the events of one object."""

    def __init__(self) -> None:
        self._tokens = _BURST
        self._filled = time.monotonic()

    def take(self) -> bool:
        now = time.monotonic()
        self._tokens = min(_BURST, self._tokens + (now - self._filled) / _REFILL)
        self._filled = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class EventRecorder:
    """Writes events in tasks of its own. `instance` is the name of this process.

    Repetitions of an event that is not written yet are written together. An event that the server cannot write now is tried again later.
    Events in a namespace that refuses them are dropped for a while.
    """

    def __init__(self, client: Client, instance: str, metrics: Metrics, *, enabled: bool = True) -> None:
        self._client = client
        self._instance = instance[:128]
        self._metrics = metrics
        self._enabled = enabled
        self._queue: WorkQueue[_EventKey] = WorkQueue(interval=0)
        self._pending: dict[_EventKey, _PendingEvent] = {}
        self._series: dict[_EventKey, _Series] = {}
        self._buckets: dict[str, _TokenBucket] = {}
        self._forbidden = ForbiddenBackoff()
        self._refusals = logs.Repeated()
        self._losses = logs.Repeated()

    def record(self, kind: ApiResource, key: ObjectKey, uid: str, type_: str, reason: str, note: str) -> None:  # noqa: PLR0913, PLR0917 - the event's fields
        """Queues an event. Too many events for one object, or at once, are dropped and counted."""
        if not self._enabled:
            return
        event_key = _EventKey(uid, reason)
        event = _PendingEvent(kind, key, type_, note[:_NOTE_LIMIT], timestamps.now_micro())
        earlier = self._pending.get(event_key)
        if earlier is not None:
            self._pending[event_key] = event._replace(number=earlier.number + 1)
        elif len(self._pending) >= _QUEUE_LIMIT:
            self._count("dropped", event)
        elif self._forbidden.remaining(key.namespace):
            self._count("forbidden", event)
        elif not self._bucket(uid).take():
            self._count("limited", event)
        else:
            self._pending[event_key] = event
            self._queue.add(event_key)

    async def run(self) -> None:
        """Writes events until the task is cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(_WRITERS):
                    group.create_task(self._work())
        finally:
            self._queue.close()

    async def _work(self) -> None:
        while True:
            event_key = await self._queue.get()
            try:
                await self._process(event_key, self._pending.pop(event_key))
            finally:
                self._queue.done(event_key)

    async def _process(self, event_key: _EventKey, event: _PendingEvent) -> None:
        """Writes one event, or decides what happens to it."""
        namespace = event.key.namespace
        if self._forbidden.remaining(namespace):
            self._end(event_key, event, "forbidden")
            return
        try:
            await self._write(event_key, event)
        except ApiError as error:
            if error.status == 404 or NAMESPACE_TERMINATING in error.causes:
                self._end(event_key, event, "gone")
            elif error.status == 403:
                self._forbidden.add(namespace, error.message)
                if count := self._refusals.count():
                    _LOG.warning("events that the server refused since the last such line: %d; the last one: %s", count, error.message)
                self._end(event_key, event, "forbidden")
            elif error.status in {400, 413, 422}:
                self._lose(event_key, event, error)
            else:
                self._retry(event_key, event, error)
        except (ConnectionError, ClusterError) as error:
            self._retry(event_key, event, error)
        else:
            self._forbidden.clear(namespace)
            self._end(event_key, event, "written")

    def _retry(self, event_key: _EventKey, event: _PendingEvent, error: Exception) -> None:
        """Queues an event again, with the repetitions since."""
        if self._queue.failures(event_key) + 1 >= _ATTEMPTS:
            self._lose(event_key, event, error)
            return
        later = self._pending.get(event_key)
        self._pending[event_key] = later._replace(number=later.number + event.number) if later else event
        self._queue.retry(event_key, _LAST_RETRY, getattr(error, "retry_after", None) or 0.0)

    def _lose(self, event_key: _EventKey, event: _PendingEvent, error: Exception) -> None:
        if count := self._losses.count():
            _LOG.warning("events that could not be written since the last such line: %d; the last one: %s", count, error)
        self._end(event_key, event, "error")

    def _end(self, event_key: _EventKey, event: _PendingEvent, result: str) -> None:
        self._queue.forget(event_key)
        self._count(result, event)

    async def _write(self, event_key: _EventKey, event: _PendingEvent) -> None:
        recent = self._series.get(event_key)
        if recent is not None and time.monotonic() - recent.began < _WINDOW:
            try:
                path = _EVENTS.path(event.key.namespace, recent.name)
                series = _series(recent.count + event.number, event.time)
                await self._client.request("PATCH", path, body={"series": series}, content_type=MERGE_PATCH)
            except ApiError as error:
                if error.status != 404:
                    raise
            else:
                recent.count += event.number
                return
        body = self._event(event_key, event)
        try:
            await self._client.request("POST", _EVENTS.path(event.key.namespace), body=body)
        except ApiError as error:
            if error.reason != "AlreadyExists":  # the event was written, but its answer was lost: nothing else writes this name
                raise
        self._store_series(event_key, _Series(body["metadata"]["name"], event.number))

    def _event(self, event_key: _EventKey, event: _PendingEvent) -> Resource:
        key = event.key
        suffix = digest.hexadecimal(f"{event_key.uid} {event_key.reason} {event.time}")[:16]
        body = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": f"{key.name[:200]}.{suffix}", "namespace": key.namespace},
            "eventTime": event.time,
            "type": event.type,
            "reason": event_key.reason[:128],
            "action": "StatusUpdate",
            "note": event.note,
            "reportingController": CONTROLLER,
            "reportingInstance": self._instance,
            "regarding": {
                "apiVersion": f"{event.kind.group}/{self._client.versions.version(event.kind)}",
                "kind": key.kind,
                "namespace": key.namespace,
                "name": key.name,
                "uid": event_key.uid,
            },
        }
        return body | ({"series": _series(event.number, event.time)} if event.number > 1 else {})

    def _store_series(self, event_key: _EventKey, series: _Series) -> None:
        self._series.pop(event_key, None)
        self._series[event_key] = series
        while len(self._series) > _CACHE_LIMIT:
            del self._series[next(iter(self._series))]

    def _bucket(self, uid: str) -> _TokenBucket:
        bucket = self._buckets.pop(uid, None) or _TokenBucket()
        self._buckets[uid] = bucket  # the last used is last
        while len(self._buckets) > _CACHE_LIMIT:
            del self._buckets[next(iter(self._buckets))]
        return bucket

    def _count(self, result: str, event: _PendingEvent) -> None:
        self._metrics.events.labels(result).inc(event.number)


def _series(count: int, last: str) -> Resource:
    """Returns the field `series` of an event. The server needs a count of 2 or more."""
    return {"count": count, "lastObservedTime": last}
