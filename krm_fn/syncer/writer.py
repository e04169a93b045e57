"""All writes to Dynamo resources and workloads. Nothing else in the syncer changes them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from time import monotonic
from typing import Any, NamedTuple

from krm_fn.cluster import logs, reflector
from krm_fn.cluster.access import ClusterError
from krm_fn.cluster.api_resources import ApiResource
from krm_fn.cluster.backoff import ForbiddenBackoff
from krm_fn.cluster.client import APPLY_PATCH, MERGE_PATCH, ApiError, Client
from krm_fn.cluster.object_store import StoredObject
from krm_fn.cluster.work_queue import LAST_RETRY
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.syncer.metrics import Metrics
from krm_fn.syncer.status import FIELD_MANAGER

APPLIER = "krm-fn"
"""The field manager of applied objects."""
IN_FLIGHT = 16
"""Writes at once. The API server is the bottleneck: more would only wait there."""
UNREACHABLE = 5.0
"""The longest delay in seconds before a write is repeated while the server cannot be reached."""
FAILING = 120.0
"""The longest delay in seconds before a write is repeated that the server answers with an error of its own, or that it is too busy for."""
MISSING = reflector.LAST_RETRY
"""The longest delay in seconds before a write is repeated that the server answers with 404, although the cache has the object."""
INVALID = 300.0
"""Seconds until a write that the server rejected as invalid is repeated."""
_PERMANENT_ERRORS = ("Apply failed with", "failed to create typed patch object", "etcdserver: request is too large")
"""Beginnings of error messages that each attempt gets, although their status is 409 or 500: another manager owns a field of a server-side
apply, the server does not know a field, or the object is larger than etcd accepts."""
_TEXT_LIMIT = 1024
"""The most characters of a text in a status that the server finds too large."""

RECEIVED: ContextVar[float] = ContextVar("received")
"""The monotonic time of the event that led to the present reconcile. The manager sets it for each task."""

_LOG = logging.getLogger(__name__)


class Retry(Exception):  # noqa: N818 - the task is not wrong, it is early
    """Requests another run of the task, with delays that grow up to `limit` seconds and are `least` seconds or longer.

    If `limited`, the delay also depends on the failures of all other tasks.
    """

    def __init__(self, reason: str, least: float | None = None, limit: float = LAST_RETRY, *, limited: bool = False) -> None:
        super().__init__(reason)
        self.least = least or 0.0
        self.limit = limit
        self.limited = limited


class WriteResult(NamedTuple):
    """The result of a request: `written`, `read`, `gone`, `forbidden` or `invalid`, and the seconds until the next attempt (None: none).

    `resource` is the object that the server returned, `message` the error of the server.
    """

    result: str
    pause: float | None = None
    resource: Resource | None = None
    message: str = ""


class _WriteRequest(NamedTuple):
    """One request to the server about one object."""

    method: str
    kind: ApiResource
    key: ObjectKey
    subresource: str = ""
    params: dict[str, str] | None = None
    body: Any = None
    content_type: str = MERGE_PATCH

    @property
    def path(self) -> str:
        """The path of the object, or of its subresource."""
        return self.kind.path(self.key.namespace, self.key.name) + (f"/{self.subresource}" if self.subresource else "")

    @property
    def topic(self) -> tuple[str, str, str]:
        """The right that the request needs."""
        return self.verb, self.kind.resource, self.subresource

    @property
    def right(self) -> tuple[str, str, str, str]:
        """The right that the request needs, in one namespace."""
        return *self.topic, self.key.namespace

    @property
    def verb(self) -> str:
        """The verb of the request, in the log."""
        return "read" if self.method == "GET" else "written"

    @property
    def name(self) -> str:
        """The name of the resource in the log."""
        return f"{self.kind.resource}/{self.subresource}" if self.subresource else self.kind.resource


class Writer:
    """Sends writes while `leads()` is true. `metrics` counts each write by its result.

    `is_cached(key)` is true for an object that the cache holds.
    """

    def __init__(
        self, client: Client, leads: Callable[[], bool], metrics: Metrics, is_cached: Callable[[ObjectKey], bool] = lambda _key: False
    ) -> None:
        self._client = client
        self._leads = leads
        self._metrics = metrics
        self._is_cached = is_cached
        self._slots = asyncio.Semaphore(IN_FLIGHT)
        self._once = logs.Once()
        self._failures = logs.Repeated()
        self._forbidden = ForbiddenBackoff()

    async def status(
        self, kind: ApiResource, key: ObjectKey, entry: StoredObject[Any], patch: dict[str, Any], expendable: Sequence[str] = ()
    ) -> WriteResult:
        """Writes a status. The server refuses it unless the object is still the one that the patch was computed from.

        If the server does not accept it, it is written with shorter texts and without the `expendable` fields. Raises Retry.
        """
        metadata = entry.preconditions
        result = await self.patch(kind, key, {"metadata": metadata, "status": patch}, subresource="status")
        if result.result == "invalid":
            shorter = _shorten_texts({field: value for field, value in patch.items() if field not in expendable})
            result = await self.patch(kind, key, {"metadata": metadata, "status": shorter}, subresource="status")
        if result.result == "written":
            self._metrics.status_lag.observe(monotonic() - RECEIVED.get())
        return result

    async def scale(self, kind: ApiResource, key: ObjectKey, replicas: int) -> WriteResult:
        """Writes `spec.replicas` through the subresource `scale`. Raises Retry."""
        return await self.patch(kind, key, {"spec": {"replicas": replicas}}, subresource="scale")

    async def patch(
        self,
        kind: ApiResource,
        key: ObjectKey,
        body: dict[str, Any] | list[dict[str, Any]],
        *,
        subresource: str = "",
        content_type: str = MERGE_PATCH,
    ) -> WriteResult:
        """Sends one patch.

        Raises Retry if the write may succeed soon: a conflict, an error of the server or of the network, or 404 for an object in the cache.
        """
        return await self._send(_WriteRequest("PATCH", kind, key, subresource, {"fieldManager": FIELD_MANAGER}, body, content_type))

    async def apply(self, kind: ApiResource, key: ObjectKey, body: Resource) -> WriteResult:
        """Creates an object, or applies its fields to it, by server-side apply. A field of another manager is a conflict.

        Raises Retry.
        """
        params = {"fieldManager": APPLIER, "fieldValidation": "Strict"}
        return await self._send(_WriteRequest("PATCH", kind, key, "", params, body, APPLY_PATCH))

    async def find(self, kind: ApiResource, key: ObjectKey) -> WriteResult:
        """Reads an object that no cache holds, before a write. The result is `read` or `gone`. Raises Retry."""
        return await self._send(_WriteRequest("GET", kind, key))

    async def _send(self, request: _WriteRequest) -> WriteResult:
        """Sends one request, unless the server forbade it a short time ago."""
        kind, right = request.kind, request.right
        if remaining := self._forbidden.remaining(right):
            return WriteResult("forbidden", remaining, message=self._forbidden.message(right))
        try:
            async with self._slots:
                if not self._leads():
                    self._count(kind, "refused")
                    raise Retry("this replica does not lead any more")
                resource = await self._client.request(request.method, request.path, request.params, request.body, request.content_type)
        except ApiError as error:
            return self._handle_error(request, error)
        except (ConnectionError, ClusterError) as error:
            raise self._record_failure(request, error, limit=UNREACHABLE) from error
        self._forbidden.clear(right)
        if self._once.forget(request.topic):
            _LOG.info("%s can be %s again", request.name, request.verb)
        if request.method == "GET":
            return WriteResult("read", None, resource)
        self._count(kind, "written")
        return WriteResult("written", None, resource)

    def count_unchanged(self, kind: ApiResource) -> None:
        """Counts a reconcile without a change."""
        self._count(kind, "noop")

    def _handle_error(self, request: _WriteRequest, error: ApiError) -> WriteResult:
        """Converts an error of the server to a result. Raises Retry if the request may succeed later."""
        kind, key = request.kind, request.key
        fields = logs.about(kind=key.kind, namespace=key.namespace, name=key.name)
        if error.status == 404:
            if request.method != "GET":
                self._count(kind, "gone")
                if self._is_cached(key):  # only a watch tells that an object is gone: one answer of 404 may be wrong, as in a reflector
                    _LOG.debug("the request is tried again: %s", error, extra=fields)
                    raise Retry(str(error), error.retry_after, MISSING, limited=True) from error
            return WriteResult("gone", message=error.message)
        if error.status in {401, 403}:
            self._count(kind, "forbidden")
            if self._once.first(request.topic):
                _LOG.error("%s cannot be %s: %s", request.name, request.verb, error.message, extra=fields)
            return WriteResult("forbidden", self._forbidden.add(request.right, error.message), message=error.message)
        if error.status in {400, 413, 415, 422} or error.message.startswith(_PERMANENT_ERRORS):
            self._count(kind, "invalid")
            _LOG.error("the server refused the write of %s: %s", request.name, error.message, extra=fields)
            return WriteResult("invalid", INVALID, message=error.message)
        if error.status == 409:
            self._count(kind, "conflict")
            _LOG.debug("the request is tried again: %s", error, extra=fields)
            raise Retry(str(error), error.retry_after) from error
        raise self._record_failure(request, error, error.retry_after, limit=FAILING) from error

    def _record_failure(self, request: _WriteRequest, error: Exception, least: float | None = None, *, limit: float) -> Retry:
        """Counts a request that failed because of the server or the network, and logs such requests once a minute."""
        self._count(request.kind, "error")
        if count := self._failures.count():
            fields = logs.about(kind=request.key.kind, namespace=request.key.namespace, name=request.key.name)
            _LOG.warning(
                "requests that failed since the last such line, and are tried again: %d; the last one: %s", count, error, extra=fields
            )
        return Retry(str(error), least, limit, limited=True)

    def _count(self, kind: ApiResource, result: str) -> None:
        self._metrics.writes.labels(kind.kind, result).inc()


def _shorten_texts(value: Any) -> Any:
    """Cuts all texts in a value: a status can be larger than the server or etcd accepts."""
    return paths.with_leaves(value, _shortened_text)


def _shortened_text(value: Any) -> Any:
    return f"{value[: _TEXT_LIMIT - 1]}…" if isinstance(value, str) and len(value) > _TEXT_LIMIT else value
