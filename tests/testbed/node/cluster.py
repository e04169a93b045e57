"""What the node knows of the cluster: the API server, and copies of the objects that it follows."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import aiohttp

from tests.testbed import watch_client

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.testbed.watch_client import Session

Object = dict[str, Any]
Key = tuple[str, str]

FOLLOWED = {
    "pods": "/api/v1/pods",
    "services": "/api/v1/services",
    "persistentvolumeclaims": "/api/v1/persistentvolumeclaims",
    "endpointslices": "/apis/discovery.k8s.io/v1/endpointslices",
}


class Cluster:
    """Copies of objects by resource, namespace and name, and requests to the API server that last until it answers."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.objects: dict[str, dict[Key, Object]] = {resource: {} for resource in FOLLOWED}
        self._synced = {resource: asyncio.Event() for resource in FOLLOWED}

    async def synced(self) -> None:
        """Wait until all copies are there. A container's variables need the Services."""
        for event in self._synced.values():
            await event.wait()

    async def follow(self, resource: str, changed: Callable[[Key, Object | None], None]) -> None:
        """Keep the copies of a resource until cancelled. `changed` gets each new form of an object, and None when it is gone."""
        copies = self.objects[resource]
        while True:
            with contextlib.suppress(aiohttp.ClientError, *watch_client.UNAVAILABLE):
                stale = set(copies)
                async for kind, each in self._session.changes(FOLLOWED[resource]):
                    if kind == "BOOKMARK":
                        for key in stale & set(copies):  # deleted while nobody watched
                            del copies[key]
                            changed(key, None)
                        stale = set()
                        self._synced[resource].set()
                        continue
                    key = each["metadata"]["namespace"], each["metadata"]["name"]
                    stale.discard(key)
                    if kind == "DELETED":
                        copies.pop(key, None)
                        changed(key, None)
                    else:
                        copies[key] = each
                        changed(key, each)
            await asyncio.sleep(0.2)

    async def request(self, method: str, path: str, body: Object | None = None) -> tuple[int, Object]:
        """Send a request until the server answers; returns the HTTP status and the body."""
        while True:
            with contextlib.suppress(*watch_client.UNAVAILABLE):
                return await self._session.request(method, path, body)
            await asyncio.sleep(0.2)

    async def get(self, kind: str, namespace: str, name: str) -> Object | None:
        """A ConfigMap or Secret (`kind` is the plural name), or None."""
        status, body = await self.request("GET", f"/api/v1/namespaces/{namespace}/{kind}/{name}")
        return body if status == 200 else None
