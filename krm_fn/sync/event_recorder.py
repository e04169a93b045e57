"""Records Kubernetes events (`events.k8s.io/v1`) about changes of Dynamo resources. Events never delay or fail a status."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import NamedTuple

from krm_fn.kube import digest
from krm_fn.kube.identity import ObjectKey
from krm_fn.kube.types import Resource
from krm_fn.sync import timestamps
from krm_fn.sync.access import ClusterError
from krm_fn.sync.api_resources import ApiResource
from krm_fn.sync.client import MERGE_PATCH, ApiError, Client
from krm_fn.sync.metrics import Metrics

NORMAL, WARNING = "Normal", "Warning"
CONTROLLER = "dynamo.krm-fn.io/sync"
_EVENTS = ApiResource("events.k8s.io", "v1", "events", "Event")
_WINDOW = 600.0
"""Seconds in which a repetition counts up the same event."""
_BURST = 25.0
_REFILL = 300.0
"""Seconds until an object that used up its burst may have one more event, as in client-go."""
_QUEUE_LIMIT = 256
_CACHE_LIMIT = 4096
_NOTE_LIMIT = 1024

_LOG = logging.getLogger(__name__)


class _PendingEvent(NamedTuple):
    kind: ApiResource
    key: ObjectKey
    uid: str
    type: str
    reason: str
    note: str
    time: str


class _Series:
    """A written event, and the number of its repetitions."""

    def __init__(self, name: str, began: float) -> None:
        self.name = name
        self.began = began
        self.count = 1


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
    """Writes events one after the other, in a task of its own. `instance` is the name of this process."""

    def __init__(self, client: Client, instance: str, metrics: Metrics, *, enabled: bool = True) -> None:
        self._client = client
        self._instance = instance[:128]
        self._metrics = metrics
        self._enabled = enabled
        self._queue: asyncio.Queue[_PendingEvent] = asyncio.Queue(_QUEUE_LIMIT)
        self._series: dict[tuple[str, str], _Series] = {}
        self._buckets: dict[str, _TokenBucket] = {}

    def record(self, kind: ApiResource, key: ObjectKey, uid: str, type_: str, reason: str, note: str) -> None:  # noqa: PLR0913, PLR0917 - the event's fields
        """Queues an event. Too many events for one object, or at once, are dropped and counted."""
        if not self._enabled:
            return
        if not self._bucket(uid).take() or self._queue.full():
            self._count("dropped")
            return
        self._queue.put_nowait(_PendingEvent(kind, key, uid, type_, reason, note[:_NOTE_LIMIT], timestamps.now_micro()))

    async def run(self) -> None:
        """Writes events until the task is cancelled."""
        while True:
            event = await self._queue.get()
            if not self._enabled:
                continue
            try:
                await self._write(event)
                self._count("written")
            except ApiError as error:
                self._count("error")
                if error.status in {401, 403}:
                    self._enabled = False
                    _LOG.warning("events are off, because they cannot be written: %s", error.message)
            except (ConnectionError, ClusterError):
                self._count("error")

    async def _write(self, event: _PendingEvent) -> None:
        recent = self._series.get((event.uid, event.reason))
        if recent is not None and time.monotonic() - recent.began < _WINDOW:
            recent.count += 1
            series = {"count": recent.count, "lastObservedTime": event.time}
            try:
                path = _EVENTS.path(event.key.namespace, recent.name)
                await self._client.request("PATCH", path, body={"series": series}, content_type=MERGE_PATCH)
            except ApiError as error:
                if error.status != 404:
                    raise
            else:
                return
        body = self._event(event)
        self._store_series(event, body["metadata"]["name"])
        await self._client.request("POST", _EVENTS.path(event.key.namespace), body=body)

    def _event(self, event: _PendingEvent) -> Resource:
        key = event.key
        suffix = digest.hexadecimal(f"{event.uid} {event.reason} {event.time}")[:16]
        return {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": f"{key.name[:200]}.{suffix}", "namespace": key.namespace},
            "eventTime": event.time,
            "type": event.type,
            "reason": event.reason[:128],
            "action": "StatusUpdate",
            "note": event.note,
            "reportingController": CONTROLLER,
            "reportingInstance": self._instance,
            "regarding": {
                "apiVersion": f"{event.kind.group}/{self._client.versions.version(event.kind)}",
                "kind": key.kind,
                "namespace": key.namespace,
                "name": key.name,
                "uid": event.uid,
            },
        }

    def _store_series(self, event: _PendingEvent, name: str) -> None:
        self._series.pop((event.uid, event.reason), None)
        self._series[event.uid, event.reason] = _Series(name, time.monotonic())
        while len(self._series) > _CACHE_LIMIT:
            del self._series[next(iter(self._series))]

    def _bucket(self, uid: str) -> _TokenBucket:
        bucket = self._buckets.pop(uid, None) or _TokenBucket()
        self._buckets[uid] = bucket  # the last used is last
        while len(self._buckets) > _CACHE_LIMIT:
            del self._buckets[next(iter(self._buckets))]
        return bucket

    def _count(self, result: str) -> None:
        self._metrics.events.labels(result).inc()
