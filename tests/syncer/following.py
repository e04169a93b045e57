"""A reflector of ConfigMaps or of custom objects, and what it reported."""

from __future__ import annotations

import asyncio
import collections
import contextlib
from time import monotonic
from typing import TYPE_CHECKING, Any

from krm_fn.cluster.api_resources import ApiResource
from krm_fn.cluster.client import Client
from krm_fn.cluster.informer import Store
from krm_fn.cluster.reflector import Listener, Reflector

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from krm_fn.cluster.access import Cluster

CONFIG_MAPS = ApiResource("", "v1", "configmaps", "ConfigMap", label_selector="watched")


class Follower(Listener):
    """Reflectors of several namespaces with one store. `changes` has the names of changed objects with the values before and after."""

    def __init__(self, client: Client, kind: ApiResource, namespaces: tuple[str, ...]) -> None:
        self.changes: list[tuple[str, Any, Any]] = []
        self.reasons: collections.Counter[str] = collections.Counter()
        self.ends: list[float] = []
        self.relists = 0
        self.store: Store[Any] = Store(kind.kind)
        self.reflectors = [Reflector(client, kind, each, self.store, _data, self._changed, self) for each in namespaces]

    @property
    def reflector(self) -> Reflector[Any]:
        """The only reflector."""
        (one,) = self.reflectors
        return one

    @property
    def view(self) -> dict[str, Any]:
        """The value of each name in the store."""
        return {key.name: self.store.get(key) for key in self.store.keys("")}

    async def synced(self) -> None:
        """Returns as soon as all reflectors are synced."""
        for each in self.reflectors:
            await each.synced.wait()

    def restarted(self, kind: str, reason: str) -> None:
        """Counts the reason, and keeps the time."""
        self.reasons[reason] += 1
        self.ends.append(monotonic())

    def relisted(self, kind: str) -> None:
        """Counts."""
        self.relists += 1

    def _changed(self, key: Any, before: Any, after: Any) -> None:
        self.changes.append((key.name, before, after))


def _data(resource: Any) -> Any:
    assert resource["kind"]
    assert resource["apiVersion"]
    if resource.get("data", {}).get("broken"):
        raise ValueError("a projection that fails")
    return resource.get("data", {}).get("value") or resource.get("spec", {}).get("value")


@contextlib.asynccontextmanager
async def following(cluster: Cluster, *namespaces: str, kind: ApiResource = CONFIG_MAPS, stall: float = 90) -> AsyncIterator[Follower]:
    """A follower that runs."""
    async with Client(cluster, stall=stall) as client:
        follower = Follower(client, kind, namespaces)
        tasks = [asyncio.create_task(each.run()) for each in follower.reflectors]
        try:
            yield follower
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
