"""Lists and watches one kind (client-go: Reflector). The store is equal to the cluster again after each error of the server or network.

The protocol is the API server's: "Efficient detection of changes" and "Streaming lists" in the Kubernetes API concepts.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable, Collection
from time import monotonic
from typing import Any, Generic, TypeVar

from krm_fn.cluster.access import ClusterError
from krm_fn.cluster.api_resources import ApiResource
from krm_fn.cluster.backoff import Backoff
from krm_fn.cluster.client import ApiError, Client, GarbledError, StalledError
from krm_fn.cluster.informer import Informer, Store
from krm_fn.cluster.shard import Shard
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource

V = TypeVar("V")

_LOG = logging.getLogger(__name__)

PAGE = 100
"""Objects in one answer of the fallback LIST. Pages of 500 Deployments need 45 MiB more for a moment, and are not faster."""
STABLE = 30.0
"""Seconds after which a watch counts as a success, so that the next error starts with a short delay."""
FIRST_RETRY = 1.0
"""Seconds until the next attempt after the first 403; twice as long after each further one, up to `LAST_RETRY`."""
LAST_RETRY = 30.0
"""Seconds until the next attempt for a kind that the server does not know or forbids."""
CONFIRMATIONS = 3
"""Answers in a row after which the reflector acts on them: 404 for a kind with cached objects, errors inside a watch."""
INITIAL_END = "k8s.io/initial-events-end"
FOREIGN_OBJECTS = 100
"""Objects of other members after which a watch begins again with a selector that excludes them."""


class Listener:
    """Receives the events of reflectors. This base class ignores them; `Metrics` counts them."""

    def restarted(self, kind: str, reason: str) -> None:
        """Receives the end of a watch.

        `reason` is bug, connection, credentials, ended, error, expired, forbidden, garbage, missing, moved, refused or stalled.
        """

    def relisted(self, kind: str) -> None:
        """Receives the end of a complete list of a kind."""

    def rejected(self, kind: str) -> None:
        """Receives an object that belongs to another member."""


class Reflector(Generic[V]):
    """Watches one kind in one namespace, or in all namespaces (""). Several reflectors may fill one store.

    `project` returns the cached value of an object. `on_change(key, before, after)` is called after each change of a value; None means that
    the object did not exist before, or does not exist any more. The store has only objects of the `shard`. `synced` is set while the store
    holds all of them; a kind that the server does not know counts as synced and empty. `problem` is the message of the server while it
    rejects requests for the kind, else empty. `served` is false while the server does not know the kind. `last_data` is the monotonic time
    of the last answer of the server with objects or to a watch, `last_active` that of the last attempt or data: it stops only if this
    reflector hangs.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        client: Client,
        kind: ApiResource,
        namespace: str,
        store: Store[V],
        project: Callable[[Resource], V],
        on_change: Callable[[ObjectKey, V | None, V | None], None],
        listener: Listener | None = None,
        shard: Shard | None = None,
    ) -> None:
        self.kind = kind
        self.namespace = namespace
        self.synced = asyncio.Event()
        self.problem = ""
        self.served = True
        self.last_data = self.last_active = monotonic()
        self._client = client
        self._shard = shard or Shard()
        self._informer = Informer(kind, store, project=project, on_change=on_change, owns=self._accepts)
        self._listener = listener or Listener()
        self._path = kind.path(namespace)
        self._versioned_path = ""  # the path of the last request, in the version that the server serves
        self._version = ""  # the resourceVersion to resume from; empty: list all objects
        self._has_watch_list = True  # False: the server cannot stream the initial objects
        self._backoff = Backoff()
        self._logged = False
        self._forbidden_count = 0  # answers 403 in a row
        self._unconfirmed = 0  # answers in a row that are not confirmed yet
        self._attempt_timeout: asyncio.Timeout | None = None  # `move` ends it
        self._moved = False  # True: the shard has gained namespaces since the last request
        self._selector = ""  # the selector of the last request that excludes namespaces
        self._foreign_count = 0  # objects of other members since the last request

    @property
    def is_shared(self) -> bool:
        """True if the shard of the reflector is one of several."""
        return bool(self._shard.name)

    async def run(self) -> None:
        """Lists and watches the kind until the task is cancelled. No error ends it."""
        while True:
            try:
                async with asyncio.timeout(None) as self._attempt_timeout:
                    await self._run_once()
            except TimeoutError:
                self._listener.restarted(self.kind.kind, "moved")

    def move(self, lost: Collection[str], *, gains: bool) -> None:
        """Follows a change of the shard: removes the objects of `lost` namespaces, and begins the watch again with another selector.

        If the shard `gains` namespaces, all objects are listed again, and `synced` is cleared until then.
        """
        self._informer.clear(lost)
        if gains:
            self._moved = True
            if self.served:
                self.synced.clear()
        if self._attempt_timeout is not None and not self._attempt_timeout.expired():
            self._attempt_timeout.reschedule(asyncio.get_running_loop().time())

    async def _run_once(self) -> None:
        """Makes one attempt, and waits until it is time for the next one."""
        began = self.last_active = monotonic()
        reason, pause = await self._attempt()
        self.last_active = monotonic()
        self._listener.restarted(self.kind.kind, reason)
        lasted = self.last_active - began >= STABLE
        if lasted:
            self._backoff.reset()
        if not (lasted and reason == "ended"):
            await asyncio.sleep(self._backoff.next() if pause is None else pause)

    async def _attempt(self) -> tuple[str, float | None]:
        """Runs one list and watch to its end. Returns the reason of the end, and the seconds to wait; None means the usual backoff."""
        try:
            return await self._list_and_watch()
        except Exception:  # noqa: BLE001 - a reflector that ends would leave wrong statuses for ever
            _LOG.exception("%s: unexpected error, reading all objects again; please report it", self.kind.kind)
            self._version = ""
            return "bug", None

    async def _list_and_watch(self) -> tuple[str, float | None]:
        await self._wait_until_owned()
        if self._moved:
            self._version, self._moved = "", False
        try:
            await self._discover_version()
            if not self._version and not self._has_watch_list:
                await self._list()
            await self._watch()
        except ApiError as error:
            return self._handle_error(error)
        except ClusterError as error:
            self._version = ""
            self._report(str(error))
            return "credentials", None
        except GarbledError as error:
            _LOG.warning("%s: %s; reading all objects again", self.kind.kind, error)
            self._version = ""
            return "garbage", None
        except ConnectionError as error:
            self._log_first("%s: %s; connecting again", error)
            return "stalled" if isinstance(error, StalledError) else "connection", None
        return "ended", None

    async def _wait_until_owned(self) -> None:
        """Waits while the namespace of this reflector belongs to another member, without an object. `move` ends this, too."""
        while self.namespace and not self._shard.owns(self.namespace):
            self._moved = False
            self._set_synced()
            self.last_data = self.last_active = monotonic()
            await asyncio.sleep(LAST_RETRY)

    async def _discover_version(self) -> None:
        """Discovers the API version to read. After a change of the version, all objects are listed again, because their fields differ."""
        path = await self._client.versions.path(self._path)
        if path != self._versioned_path:
            self._versioned_path, self._version = path, ""
            self._informer.distrust()

    async def _watch(self) -> None:
        params = self._selectors() | {"watch": "1", "allowWatchBookmarks": "true", "timeoutSeconds": str(random.randint(290, 590))}  # noqa: S311
        if self._version:
            params |= {"resourceVersion": self._version}
        else:
            params |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
            self._informer.begin()
        async with contextlib.aclosing(self._client.stream(self._versioned_path, params, self._record_answer)) as events:
            async for event in events:
                self._record_answer()
                self._handle_event(event)
                self._logged = False
                if self._foreign_count >= FOREIGN_OBJECTS and not self._informer.listing:
                    self._foreign_count = 0
                    if self._selector != self._shard.selector():
                        return  # the next watch excludes their namespaces

    def _selectors(self) -> dict[str, str]:
        """Returns the selectors of a list or a watch, which exclude the known namespaces of other members."""
        self._foreign_count = 0
        self._selector = "" if self.namespace else self._shard.selector()
        return self.kind._replace(field_selector=",".join(filter(None, (self.kind.field_selector, self._selector)))).selectors()

    def _accepts(self, namespace: str) -> bool:
        accepted = self._shard.accepts(namespace)
        if not accepted:
            self._foreign_count += 1
            self._listener.rejected(self.kind.kind)
        return accepted

    def _record_answer(self) -> None:
        """Records an answer of the server with objects, or one that accepts a watch: a quiet kind has no objects to send for hours."""
        self.served = True
        self.last_data = self.last_active = monotonic()

    def _handle_event(self, event: Resource) -> None:
        """Applies one event of a watch."""
        kind, resource = event.get("type"), event.get("object")
        if kind == "ERROR":
            raise _EventError.read(resource, 500)
        resource, metadata = _check_object(resource)
        if kind == "BOOKMARK":
            if self._informer.listing and (metadata.get("annotations") or {}).get(INITIAL_END) == "true":
                self._complete(metadata["resourceVersion"])
        elif kind in {"ADDED", "MODIFIED"}:
            self._informer.put(resource)
        elif kind == "DELETED":
            self._informer.drop(resource)
        else:
            raise GarbledError(f"an event of an unknown type: {str(event)[:80]}")
        if not self._informer.listing:  # the initial objects come in no order
            self._version = metadata["resourceVersion"]
            self._unconfirmed = 0

    async def _list(self) -> None:
        """Lists all objects in pages, for servers without streaming lists."""
        self._informer.begin()
        params = self._selectors() | {"limit": str(PAGE)}
        while True:
            page = await self._client.request("GET", self._versioned_path, params)
            self._record_answer()
            metadata = _check_object(page)[1]
            for item in page.get("items") or []:
                # A list leaves both fields out of its items.
                self._informer.put({"apiVersion": page.get("apiVersion"), "kind": self.kind.kind, **_check_object(item)[0]})
            if not metadata.get("continue"):
                return self._complete(metadata["resourceVersion"])
            params["continue"] = metadata["continue"]

    def _complete(self, version: str) -> None:
        self._informer.complete(version)
        self._version = version
        if self._moved:  # the list was made for the namespaces before
            return
        self._listener.relisted(self.kind.kind)
        self._set_synced()

    def _handle_error(self, error: ApiError) -> tuple[str, float | None]:
        """Handles an error of the server. Returns the reason in one word, and the seconds to wait."""
        if error.status == 410 or (error.status == 504 and "resource version" in error.message.lower()):
            self._version = ""
            return "expired", None
        if self._selector and error.status in {400, 414, 431} and not error.reason:
            self._shard.shorten_selector()
            _LOG.warning("%s: a server or a proxy refuses the long request that excludes namespaces; shortening it", self.kind.kind)
            return "refused", 0
        if error.status in {400, 422}:
            return "refused", self._unprocessable(error)
        if error.status == 404:
            return "missing", self._missing()
        if error.status in {401, 403}:
            self._version = ""
            self._report(error.message)
            return "forbidden", self._forbidden() if error.status == 403 else None
        if isinstance(error, _EventError):
            self._unconfirmed += 1
            if self._unconfirmed >= CONFIRMATIONS:  # the server cannot read an old event: only a new list leads past it
                self._version, self._unconfirmed = "", 0
        self._log_first("%s: the server answered %s", error)
        delay = self._backoff.next()
        return "error", delay if error.retry_after is None else error.retry_after + delay

    def _unprocessable(self, error: ApiError) -> float | None:
        """Handles 400 and 422: the server cannot stream lists, or it does not accept our resourceVersion."""
        if self._version or not self._has_watch_list:
            _LOG.warning("%s: the server answered %s; reading all objects again", self.kind.kind, error)
            self._version = ""
            return None
        _LOG.info("%s: the server cannot stream lists (%s); reading pages instead", self.kind.kind, error.message)
        self._has_watch_list = False
        return 0

    def _forbidden(self) -> float:
        """Handles 403. Returns the seconds to wait. A server that just started forbids everything, so the first delays are short."""
        delay: float = min(FIRST_RETRY * 2 ** min(self._forbidden_count, 16), LAST_RETRY)
        self._forbidden_count += 1
        return delay

    def _missing(self) -> float | None:
        """Handles 404: the server does not know the kind. A server that just started may answer so for a moment."""
        self._version = ""
        self._unconfirmed += 1
        if self._unconfirmed < CONFIRMATIONS and not self._informer.empty:
            return None
        self.served = False
        self._informer.clear()
        self._set_synced()
        return LAST_RETRY

    def _log_first(self, text: str, error: Exception) -> None:
        """Logs the first problem since the last data of the server. An outage is one line for each kind, not one for each attempt."""
        _LOG.log(logging.DEBUG if self._logged else logging.INFO, text, self.kind.kind, error)
        self._logged = True

    def _set_synced(self) -> None:
        self._unconfirmed = self._forbidden_count = 0
        self.problem = ""
        self.synced.set()

    def _report(self, problem: str) -> None:
        """Logs a problem once, and stores it for /readyz."""
        if problem != self.problem:
            self.problem = problem
            _LOG.error("%s%s: %s", self.kind.kind, f" in {self.namespace}" if self.namespace else "", problem)


class _EventError(ApiError):
    """An error that the server sent as an event of a watch."""


def _check_object(resource: Any) -> tuple[Resource, dict[str, Any]]:
    """Returns an object, or a list of them, and its metadata. Raises GarbledError for other values."""
    metadata = resource.get("metadata") if isinstance(resource, dict) else None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("resourceVersion"), str):
        raise GarbledError(f"not an object with a resourceVersion: {str(resource)[:80]}")
    return resource, metadata
