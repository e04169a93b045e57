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

if TYPE_CHECKING:
    from collections.abc import Callable

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
"""Seconds until a write that we may not make is tried again."""
INVALID = 300.0
"""Seconds until a write that the server cannot accept is tried again."""
_SHORT = 1024
"""Characters that remain of a text in a status that the server finds too large."""

RECEIVED: ContextVar[float] = ContextVar("received")
"""The monotonic time of the event that led to the present work. The engine sets it for each task."""

_LOG = logging.getLogger(__name__)


class Retry(Exception):  # noqa: N818 - the task is not wrong, it is early
    """The task must run again with growing delays, and not before `after` seconds."""

    def __init__(self, why: str, after: float | None = None) -> None:
        super().__init__(why)
        self.after = after


class Outcome(NamedTuple):
    """What became of a write: `written`, `gone`, `forbidden` or `invalid`, and the seconds until the next attempt (None: no attempt).

    `resource` is the object that the server returned, `message` is its reason for refusing.
    """

    result: str
    pause: float | None = None
    resource: Resource | None = None
    message: str = ""


class Writer:
    """Writes while `leads()` is true. `metrics` counts each write by its result."""

    def __init__(self, client: Client, leads: Callable[[], bool], metrics: Metrics) -> None:
        self._client = client
        self._leads = leads
        self._metrics = metrics
        self._slots = asyncio.Semaphore(IN_FLIGHT)
        self._once = logs.Once()

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
            raise Retry(str(error)) from error
        self._count(kind, "written")
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
            return Outcome("forbidden", FORBIDDEN, message=error.message)
        if error.status in {400, 413, 415, 422}:
            self._count(kind, "invalid")
            _LOG.error("the server refused the write of %s: %s", _named(kind, subresource), error.message, extra=fields)
            return Outcome("invalid", INVALID, message=error.message)
        self._count(kind, "conflict" if error.status == 409 else "error")
        _LOG.log(logging.DEBUG if error.status == 409 else logging.INFO, "the write is tried again: %s", error, extra=fields)
        raise Retry(str(error), error.retry_after) from error

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
