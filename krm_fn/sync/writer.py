"""All writes to Dynamo resources and workloads. Nothing else in the syncer changes them."""

from __future__ import annotations

import asyncio
import logging
from contextvars import ContextVar
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn.sync import logs
from krm_fn.sync.client import MERGE_PATCH, ApiError
from krm_fn.sync.cluster import ClusterError
from krm_fn.sync.queue import LAST_RETRY

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource
    from krm_fn.sync.client import Client
    from krm_fn.sync.kinds import Kind
    from krm_fn.sync.metrics import Metrics
    from krm_fn.sync.store import Entry

FIELD_MANAGER = "dynamo-status-syncer"
IN_FLIGHT = 16
"""Writes at once. The API server is the bottleneck: more would only wait there."""
FORBIDDEN = 60.0
"""Seconds until a write that we may not make is tried again. The first times are shorter: see `Denials`."""
AWAY = 5.0
"""Seconds after which a write is tried again at the latest while the server is away, not ready or too busy."""
INVALID = 300.0
"""Seconds until a write that the server cannot accept is tried again."""
_SHORT = 1024
"""Characters that remain of a text in a status that the server finds too large."""

RECEIVED: ContextVar[float] = ContextVar("received")
"""The monotonic time of the event that led to the present work. The engine sets it for each task."""

_LOG = logging.getLogger(__name__)


class Retry(Exception):  # noqa: N818 - the task is not wrong, it is early
    """The task must run again, with delays that grow up to `limit` seconds. The server asks for `least` seconds at least."""

    def __init__(self, why: str, least: float | None = None, limit: float = LAST_RETRY) -> None:
        super().__init__(why)
        self.least = least or 0.0
        self.limit = limit


class Outcome(NamedTuple):
    """What became of a write: `written`, `gone`, `forbidden` or `invalid`, and the seconds until the next attempt (None: no attempt).

    `resource` is the object that the server returned, `message` is its reason for refusing.
    """

    result: str
    pause: float | None = None
    resource: Resource | None = None
    message: str = ""


class Denials:
    """Writes that the server forbids: one place is asked again after a second, then after twice as long each time, up to a minute.

    A server that just started forbids everything for a moment. A right that is really missing must not cost a request for each object.
    """

    def __init__(self) -> None:
        self._until: dict[Hashable, float] = {}
        self._pauses: dict[Hashable, float] = {}
        self._messages: dict[Hashable, str] = {}

    def left(self, place: Hashable) -> float:
        """Seconds until the place may be asked again; 0 if it may be asked now."""
        return max(0.0, self._until.get(place, 0.0) - monotonic())

    def message(self, place: Hashable) -> str:
        """What the server said last; empty after a success."""
        return self._messages.get(place, "")

    def add(self, place: Hashable, message: str) -> float:
        """Notes a refusal; returns the seconds to wait. Several refusals at the same moment count once."""
        self._messages[place] = message
        if not self.left(place):
            pause = self._pauses[place] = min(self._pauses.get(place, 0.5) * 2, FORBIDDEN)
            self._until[place] = monotonic() + pause
        return self.left(place)

    def clear(self, place: Hashable) -> None:
        """Notes a success."""
        self._until.pop(place, None)
        self._pauses.pop(place, None)
        self._messages.pop(place, None)


class Writer:
    """Writes while `leads()` is true. `metrics` counts each write by its result."""

    def __init__(self, client: Client, leads: Callable[[], bool], metrics: Metrics) -> None:
        self._client = client
        self._leads = leads
        self._metrics = metrics
        self._slots = asyncio.Semaphore(IN_FLIGHT)
        self._once = logs.Once()
        self._denials = Denials()

    async def status(self, kind: Kind, key: ObjectKey, entry: Entry[Any], patch: dict[str, Any]) -> Outcome:
        """Writes a status. The server refuses it unless the object is still the one that the patch was computed from.

        Raises Retry.
        """
        metadata = {"resourceVersion": entry.resource_version, "uid": entry.uid}
        outcome = await self.patch(kind, key, {"metadata": metadata, "status": patch}, subresource="status")
        if outcome.result == "invalid":
            outcome = await self.patch(kind, key, {"metadata": metadata, "status": _shortened(patch)}, subresource="status")
        if outcome.result == "written":
            self._metrics.status_lag.observe(monotonic() - RECEIVED.get())
        return outcome

    async def scale(self, kind: Kind, key: ObjectKey, replicas: int) -> Outcome:
        """Writes `spec.replicas` through the subresource `scale`. Raises Retry."""
        return await self.patch(kind, key, {"spec": {"replicas": replicas}}, subresource="scale")

    async def patch(
        self,
        kind: Kind,
        key: ObjectKey,
        body: dict[str, Any] | list[dict[str, Any]],
        *,
        subresource: str = "",
        content_type: str = MERGE_PATCH,
    ) -> Outcome:
        """Sends one patch. Raises Retry if the write may succeed soon: a conflict, an error of the server or of the network."""
        path = kind.path(key.namespace, key.name) + (f"/{subresource}" if subresource else "")
        place = (kind.resource, subresource, key.namespace)
        if left := self._denials.left(place):
            return Outcome("forbidden", left, message=self._denials.message(place))
        try:
            async with self._slots:
                if not self._leads():
                    self._count(kind, "refused")
                    raise Retry("this replica does not lead any more")
                resource = await self._client.request("PATCH", path, {"fieldManager": FIELD_MANAGER}, body, content_type)
        except ApiError as error:
            return self._answered(kind, key, subresource, error)
        except (ConnectionError, ClusterError) as error:
            self._count(kind, "error")
            raise Retry(str(error), limit=AWAY) from error
        self._count(kind, "written")
        self._denials.clear(place)
        if self._once.forget((kind.resource, subresource)):
            _LOG.info("%s can be written again", _named(kind, subresource))
        return Outcome("written", None, resource)

    def unchanged(self, kind: Kind) -> None:
        """Counts a write that was not necessary."""
        self._count(kind, "noop")

    def _answered(self, kind: Kind, key: ObjectKey, subresource: str, error: ApiError) -> Outcome:
        """What follows from an error of the server."""
        fields = logs.about(kind=key.kind, namespace=key.namespace, name=key.name)
        if error.status == 404:
            self._count(kind, "gone")
            return Outcome("gone")
        if error.status in {401, 403}:
            self._count(kind, "forbidden")
            if self._once.first((kind.resource, subresource)):
                _LOG.error("%s cannot be written: %s", _named(kind, subresource), error.message, extra=fields)
            pause = self._denials.add((kind.resource, subresource, key.namespace), error.message)
            return Outcome("forbidden", pause, message=error.message)
        if error.status in {400, 413, 415, 422}:
            self._count(kind, "invalid")
            _LOG.error("the server refused the write of %s: %s", _named(kind, subresource), error.message, extra=fields)
            return Outcome("invalid", INVALID, message=error.message)
        self._count(kind, "conflict" if error.status == 409 else "error")
        _LOG.log(logging.DEBUG if error.status == 409 else logging.INFO, "the write is tried again: %s", error, extra=fields)
        raise Retry(str(error), error.retry_after, AWAY if error.status == 429 or error.status >= 500 else LAST_RETRY) from error

    def _count(self, kind: Kind, result: str) -> None:
        self._metrics.writes.labels(kind.kind, result).inc()


def _named(kind: Kind, subresource: str) -> str:
    return f"{kind.resource}/{subresource}" if subresource else kind.resource


def _shortened(value: Any) -> Any:
    """The value with all texts cut: a status can be larger than the server or etcd accepts."""
    if isinstance(value, str):
        return value if len(value) <= _SHORT else f"{value[: _SHORT - 1]}…"
    if isinstance(value, dict):
        return {key: _shortened(each) for key, each in value.items()}
    return [_shortened(each) for each in value] if isinstance(value, list) else value
