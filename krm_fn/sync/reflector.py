"""Keeps a store equal to the objects of one kind in the cluster, whatever happens to the connection.

The protocol is the API server's: "Efficient detection of changes" and "Streaming lists" in the Kubernetes API concepts.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from krm_fn.sync.access.cluster_access import ClusterError
from krm_fn.sync.backoff import Backoff
from krm_fn.sync.client import ApiError, GarbledError, StalledError
from krm_fn.sync.informer import Informer

if TYPE_CHECKING:
    from collections.abc import Callable

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource
    from krm_fn.sync.api_resources import ApiResource
    from krm_fn.sync.client import Client
    from krm_fn.sync.object_store import Store

V = TypeVar("V")

_LOG = logging.getLogger(__name__)

PAGE = 100
"""Objects in one answer of the fallback LIST. Pages of 500 Deployments need 45 MiB more for a moment, and are not faster."""
LONG_ENOUGH = 30.0
"""Seconds after which a stream counts as a success, so that the next error starts with a short delay."""
FIRST_QUESTION = 1.0
"""Seconds until the reflector asks again after the first 403; twice as long after each further one, up to `ASK_AGAIN`."""
ASK_AGAIN = 30.0
"""Seconds until the reflector asks again for a kind that the server does not know or does not show us."""
TRIES = 3
"""So often in a row an answer must come before the reflector believes it: 404 for a kind with known objects, errors inside a stream."""
INITIAL_END = "k8s.io/initial-events-end"


class Listener:
    """Hears what happens to reflectors. This one ignores it; metrics have their own."""

    def restarted(self, kind: str, reason: str) -> None:
        """A watch ended.

        `reason` is bug, connection, credentials, ended, error, expired, forbidden, garbage, missing, refused or stalled.
        """

    def relisted(self, kind: str) -> None:
        """All objects of a kind were read."""


class Reflector(Generic[V]):
    """Watches one kind in one namespace, or in all namespaces (""). Several reflectors may fill one store.

    `project` makes the value to keep of an object. `changed(key, before, after)` is called after each change of a value; None stands for
    an object that did not exist, or does not exist any more. `synced` is set once the store holds all objects; a kind that the server does
    not know counts as synced and empty. `problem` is a sentence while the server refuses the kind, else empty. `heard` is the monotonic
    time of the last data from the server, `turned` that of the last attempt or data: it stands still only if this reflector hangs.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        client: Client,
        kind: ApiResource,
        namespace: str,
        store: Store[V],
        project: Callable[[Resource], V],
        changed: Callable[[ObjectKey, V | None, V | None], None],
        listener: Listener | None = None,
    ) -> None:
        self.kind = kind
        self.namespace = namespace
        self.synced = asyncio.Event()
        self.problem = ""
        self.heard = self.turned = monotonic()
        self._client = client
        self._mirror = Informer(kind, store, project=project, changed=changed)
        self._listener = listener or Listener()
        self._path = kind.path(namespace)
        self._read = ""  # the path of the last request, with the version that the server serves
        self._version = ""  # the resourceVersion to resume from; empty: read all objects
        self._streams_lists = True  # False: the server cannot stream the initial objects
        self._backoff = Backoff()
        self._mentioned = False
        self._refusals = 0  # answers 403 in a row
        self._doubts = 0  # answers in a row that the reflector does not believe yet

    async def run(self) -> None:
        """Follows the kind until the task is cancelled. No error ends it."""
        while True:
            began = self.turned = monotonic()
            reason, pause = await self._attempt()
            self.turned = monotonic()
            self._listener.restarted(self.kind.kind, reason)
            lasted = self.turned - began >= LONG_ENOUGH
            if lasted:
                self._backoff.reset()
            if not (lasted and reason == "ended"):
                await asyncio.sleep(self._backoff.next() if pause is None else pause)

    async def _attempt(self) -> tuple[str, float | None]:
        """One watch, to its end. Returns why it ended, and the seconds to wait; None means the usual back-off."""
        try:
            return await self._follow()
        except Exception:  # noqa: BLE001 - a reflector that ends would leave wrong statuses for ever
            _LOG.exception("%s: unexpected error, reading all objects again; please report it", self.kind.kind)
            self._version = ""
            return "bug", None

    async def _follow(self) -> tuple[str, float | None]:
        try:
            await self._locate()
            if not self._version and not self._streams_lists:
                await self._list()
            await self._watch()
        except ApiError as error:
            return self._refused(error)
        except ClusterError as error:
            self._version = ""
            self._report(str(error))
            return "credentials", None
        except GarbledError as error:
            _LOG.warning("%s: %s; reading all objects again", self.kind.kind, error)
            self._version = ""
            return "garbage", None
        except ConnectionError as error:
            self._mention("%s: %s; connecting again", error)
            return "stalled" if isinstance(error, StalledError) else "connection", None
        return "ended", None

    async def _locate(self) -> None:
        """Finds out in which API version to read. If it is another one, all objects are read again, because their fields differ."""
        path = await self._client.versions.path(self._path)
        if path != self._read:
            self._read, self._version = path, ""
            self._mirror.distrust()

    async def _watch(self) -> None:
        params = self.kind.selectors() | {"watch": "1", "allowWatchBookmarks": "true", "timeoutSeconds": str(random.randint(290, 590))}  # noqa: S311
        if self._version:
            params |= {"resourceVersion": self._version}
        else:
            params |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
            self._mirror.begin()
        async with contextlib.aclosing(self._client.stream(self._read, params)) as events:
            async for event in events:
                self.heard = self.turned = monotonic()
                self._take(event)
                self._mentioned = False

    def _take(self, event: Resource) -> None:
        """Applies one line of a watch."""
        kind, resource = event.get("type"), event.get("object")
        if kind == "ERROR":
            raise _EventError.read(resource, 500)
        resource, metadata = _checked(resource)
        if kind == "BOOKMARK":
            if self._mirror.reading and (metadata.get("annotations") or {}).get(INITIAL_END) == "true":
                self._complete(metadata["resourceVersion"])
        elif kind in {"ADDED", "MODIFIED"}:
            self._mirror.put(resource)
        elif kind == "DELETED":
            self._mirror.drop(resource)
        else:
            raise GarbledError(f"an event of an unknown type: {str(event)[:80]}")
        if not self._mirror.reading:  # the initial objects come in no order
            self._version = metadata["resourceVersion"]
            self._doubts = 0

    async def _list(self) -> None:
        """Reads all objects in pages, for servers that cannot stream them."""
        self._mirror.begin()
        params = self.kind.selectors() | {"limit": str(PAGE)}
        while True:
            page = await self._client.request("GET", self._read, params)
            self.heard = self.turned = monotonic()
            metadata = _checked(page)[1]
            for item in page.get("items") or []:
                # A list leaves both fields out of its items.
                self._mirror.put({"apiVersion": page.get("apiVersion"), "kind": self.kind.kind, **_checked(item)[0]})
            if not metadata.get("continue"):
                return self._complete(metadata["resourceVersion"])
            params["continue"] = metadata["continue"]

    def _complete(self, version: str) -> None:
        self._mirror.complete(version)
        self._version = version
        self._listener.relisted(self.kind.kind)
        self._heal()

    def _refused(self, error: ApiError) -> tuple[str, float | None]:
        """What follows from an error of the server: the reason in one word, and the seconds to wait."""
        if error.status == 410 or (error.status == 504 and "resource version" in error.message.lower()):
            self._version = ""
            return "expired", None
        if error.status in {400, 422}:
            return "refused", self._unprocessable(error)
        if error.status == 404:
            return "missing", self._missing()
        if error.status in {401, 403}:
            self._version = ""
            self._report(error.message)
            return "forbidden", self._forbidden() if error.status == 403 else None
        if isinstance(error, _EventError):
            self._doubts += 1
            if self._doubts >= TRIES:  # the server cannot read an old event: only a new start leads past it
                self._version, self._doubts = "", 0
        self._mention("%s: the server answered %s", error)
        delay = self._backoff.next()
        return "error", delay if error.retry_after is None else error.retry_after + delay

    def _unprocessable(self, error: ApiError) -> float | None:
        """400 or 422: the server cannot stream lists, or it does not understand our resourceVersion."""
        if self._version or not self._streams_lists:
            _LOG.warning("%s: the server answered %s; reading all objects again", self.kind.kind, error)
            self._version = ""
            return None
        _LOG.info("%s: the server cannot stream lists (%s); reading pages instead", self.kind.kind, error.message)
        self._streams_lists = False
        return 0

    def _forbidden(self) -> float:
        """403: the seconds to wait. A server that just started refuses everything for a moment, so the first questions come soon."""
        delay: float = min(FIRST_QUESTION * 2 ** min(self._refusals, 16), ASK_AGAIN)
        self._refusals += 1
        return delay

    def _missing(self) -> float | None:
        """404: the server does not know the kind. A server that just started may say so for a moment."""
        self._version = ""
        self._doubts += 1
        if self._doubts < TRIES and not self._mirror.empty:
            return None
        self._mirror.clear()
        self._heal()
        return ASK_AGAIN

    def _mention(self, text: str, error: Exception) -> None:
        """Logs the first problem since the server sent something. An outage is one line for each kind, not one for each attempt."""
        _LOG.log(logging.DEBUG if self._mentioned else logging.INFO, text, self.kind.kind, error)
        self._mentioned = True

    def _heal(self) -> None:
        self._doubts = self._refusals = 0
        self.problem = ""
        self.synced.set()

    def _report(self, problem: str) -> None:
        """Logs a problem once, and keeps it for /readyz."""
        if problem != self.problem:
            self.problem = problem
            _LOG.error("%s%s: %s", self.kind.kind, f" in {self.namespace}" if self.namespace else "", problem)


class _EventError(ApiError):
    """An error that the server sent as an event of a watch."""


def _checked(resource: Any) -> tuple[Resource, dict[str, Any]]:
    """An object, or a list of them, and its metadata. Raises GarbledError for other values."""
    metadata = resource.get("metadata") if isinstance(resource, dict) else None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("resourceVersion"), str):
        raise GarbledError(f"not an object with a resourceVersion: {str(resource)[:80]}")
    return resource, metadata
