"""All writes to Dynamo resources and workloads. Nothing else in the syncer changes them."""

from __future__ import annotations

import asyncio
import logging
from contextvars import ContextVar
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn.sync import logs
from krm_fn.sync.access.cluster import ClusterError
from krm_fn.sync.client import APPLY_PATCH, MERGE_PATCH, ApiError
from krm_fn.sync.denials import Denials
from krm_fn.sync.queue import LAST_RETRY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource
    from krm_fn.sync.client import Client
    from krm_fn.sync.kinds import Kind
    from krm_fn.sync.metrics import Metrics
    from krm_fn.sync.store import Entry

FIELD_MANAGER = "dynamo-status-syncer"
APPLIER = "krm-fn"
"""The field manager of applied objects."""
IN_FLIGHT = 16
"""Writes at once. The API server is the bottleneck: more would only wait there."""
AWAY = 5.0
"""Seconds after which a write is tried again at the latest while the server is away, not ready or too busy."""
INVALID = 300.0
"""Seconds until a write that the server cannot accept is tried again."""
_LASTING = ("Apply failed with", "failed to create typed patch object", "etcdserver: request is too large")
"""How the messages of errors begin that come again with each attempt, although their status is 409 or 500: another manager has a field of
a server-side apply, the server does not know a field, or the object is larger than etcd accepts."""
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
    """What became of a request: `written`, `read`, `gone`, `forbidden` or `invalid`, and the seconds until the next attempt (None: none).

    `resource` is the object that the server returned, `message` is its reason for refusing.
    """

    result: str
    pause: float | None = None
    resource: Resource | None = None
    message: str = ""


class _Request(NamedTuple):
    """One request to the server about one object."""

    method: str
    kind: Kind
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
    def place(self) -> tuple[str, str, str, str]:
        """The right that the request needs, in one namespace."""
        return *self.topic, self.key.namespace

    @property
    def verb(self) -> str:
        """What happens to the object, in the log."""
        return "read" if self.method == "GET" else "written"

    @property
    def what(self) -> str:
        """The name of the resource in the log."""
        return f"{self.kind.resource}/{self.subresource}" if self.subresource else self.kind.resource


class Writer:
    """Writes while `leads()` is true. `metrics` counts each write by its result."""

    def __init__(self, client: Client, leads: Callable[[], bool], metrics: Metrics) -> None:
        self._client = client
        self._leads = leads
        self._metrics = metrics
        self._slots = asyncio.Semaphore(IN_FLIGHT)
        self._once = logs.Once()
        self._denials = Denials()

    async def status(self, kind: Kind, key: ObjectKey, entry: Entry[Any], patch: dict[str, Any], expendable: Sequence[str] = ()) -> Outcome:
        """Writes a status. The server refuses it unless the object is still the one that the patch was computed from.

        If the server does not accept it, it is written with shorter texts and without the `expendable` fields. Raises Retry.
        """
        metadata = {"resourceVersion": entry.resource_version, "uid": entry.uid}
        outcome = await self.patch(kind, key, {"metadata": metadata, "status": patch}, subresource="status")
        if outcome.result == "invalid":
            shorter = _shortened({field: value for field, value in patch.items() if field not in expendable})
            outcome = await self.patch(kind, key, {"metadata": metadata, "status": shorter}, subresource="status")
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
        return await self._send(_Request("PATCH", kind, key, subresource, {"fieldManager": FIELD_MANAGER}, body, content_type))

    async def apply(self, kind: Kind, key: ObjectKey, body: Resource) -> Outcome:
        """Creates an object, or applies its fields to it, by server-side apply. It takes no field from another manager.

        Raises Retry.
        """
        params = {"fieldManager": APPLIER, "fieldValidation": "Strict"}
        return await self._send(_Request("PATCH", kind, key, "", params, body, APPLY_PATCH))

    async def find(self, kind: Kind, key: ObjectKey) -> Outcome:
        """Reads an object that must be known before a write, and that no cache holds. The result is `read` or `gone`. Raises Retry."""
        return await self._send(_Request("GET", kind, key))

    async def _send(self, request: _Request) -> Outcome:
        """Sends one request, unless the server forbade it lately."""
        kind, place = request.kind, request.place
        if left := self._denials.left(place):
            return Outcome("forbidden", left, message=self._denials.message(place))
        try:
            async with self._slots:
                if not self._leads():
                    self._count(kind, "refused")
                    raise Retry("this replica does not lead any more")
                resource = await self._client.request(request.method, request.path, request.params, request.body, request.content_type)
        except ApiError as error:
            return self._answered(request, error)
        except (ConnectionError, ClusterError) as error:
            self._count(kind, "error")
            raise Retry(str(error), limit=AWAY) from error
        self._denials.clear(place)
        if self._once.forget(request.topic):
            _LOG.info("%s can be %s again", request.what, request.verb)
        if request.method == "GET":
            return Outcome("read", None, resource)
        self._count(kind, "written")
        return Outcome("written", None, resource)

    def unchanged(self, kind: Kind) -> None:
        """Counts a write that was not necessary."""
        self._count(kind, "noop")

    def _answered(self, request: _Request, error: ApiError) -> Outcome:
        """What follows from an error of the server."""
        kind, key = request.kind, request.key
        fields = logs.about(kind=key.kind, namespace=key.namespace, name=key.name)
        if error.status == 404:
            if request.method != "GET":
                self._count(kind, "gone")
            return Outcome("gone", message=error.message)
        if error.status in {401, 403}:
            self._count(kind, "forbidden")
            if self._once.first(request.topic):
                _LOG.error("%s cannot be %s: %s", request.what, request.verb, error.message, extra=fields)
            return Outcome("forbidden", self._denials.add(request.place, error.message), message=error.message)
        if error.status in {400, 413, 415, 422} or error.message.startswith(_LASTING):
            self._count(kind, "invalid")
            _LOG.error("the server refused the write of %s: %s", request.what, error.message, extra=fields)
            return Outcome("invalid", INVALID, message=error.message)
        self._count(kind, "conflict" if error.status == 409 else "error")
        _LOG.log(logging.DEBUG if error.status == 409 else logging.INFO, "the request is tried again: %s", error, extra=fields)
        raise Retry(str(error), error.retry_after, AWAY if error.status == 429 or error.status >= 500 else LAST_RETRY) from error

    def _count(self, kind: Kind, result: str) -> None:
        self._metrics.writes.labels(kind.kind, result).inc()


def _shortened(value: Any) -> Any:
    """The value with all texts cut: a status can be larger than the server or etcd accepts."""
    if isinstance(value, str):
        return value if len(value) <= _SHORT else f"{value[: _SHORT - 1]}…"
    if isinstance(value, dict):
        return {key: _shortened(each) for key, each in value.items()}
    return [_shortened(each) for each in value] if isinstance(value, list) else value
