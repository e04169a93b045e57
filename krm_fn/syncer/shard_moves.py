"""Moves namespaces to and from this process when the live members change."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from krm_fn.cluster.access import ClusterError
from krm_fn.cluster.client import ApiError, Client
from krm_fn.cluster.informer import Store
from krm_fn.cluster.reflector import PAGE, Reflector
from krm_fn.cluster.shard import Shard
from krm_fn.kubernetes import values
from krm_fn.syncer.controllers import GRAPHS

_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
"""The media type of a list with the metadata of its objects only (Kubernetes API concepts, "Metadata-only fetches")."""

_LOG = logging.getLogger(__name__)


class ShardMoves:
    """Applies changes of the live members to the `shard` and to the `reflectors` of its objects.

    Lost namespaces leave the stores at once. Gained ones are read first; `resume(namespace)` is called for each when
    `wait_until_complete()` returns.
    """

    def __init__(
        self,
        shard: Shard,
        stores: Callable[[], Iterable[Store[Any]]],
        reflectors: Sequence[Reflector[Any]],
        wait_until_complete: Callable[[], Awaitable[None]],
        resume: Callable[[str], None],
    ) -> None:
        self._shard = shard
        self._stores = stores
        self._reflectors = reflectors
        self._wait_until_complete = wait_until_complete
        self._resume = resume
        self._changed = asyncio.Event()

    def apply(self, members: frozenset[str], rejoined: bool) -> set[str]:
        """Applies a change of the live members. Returns the lost namespaces.

        `rejoined` means that peers may have served the namespaces of this process meanwhile.
        """
        shard, owned = self._shard, set(filter(self._shard.owns, self._namespaces()))
        gains = shard.update(members, rejoined=rejoined)
        lost = {namespace for namespace in owned if not shard.owns(namespace)}
        shard.exclude(lost)
        shard.moves["lost"] += len(lost)
        for reflector in self._reflectors:
            reflector.move(lost, gains=gains)
        _LOG.info("live members: %d (%s); namespaces that this process gave up: %d", len(members), ", ".join(sorted(members)), len(lost))
        self._changed.set()
        return lost

    async def learn(self, client: Client) -> None:
        """Learns the namespaces of graphs from their metadata, so that the first lists exclude those of other members.

        Without them, only the first lists are longer.
        """
        params = {"limit": str(PAGE)}
        try:
            while True:
                page = await client.request("GET", GRAPHS.path(), params, accept=_METADATA)
                names = {values.text(values.mapping(item, "metadata").get("namespace")) for item in values.objects(page.get("items"))}
                self._shard.exclude(sorted(names))
                params["continue"] = values.text(values.mapping(page, "metadata").get("continue"))
                if not params["continue"]:
                    return
        except (ApiError, ConnectionError, ClusterError) as error:
            _LOG.info("cannot read the namespaces of graphs in advance: %s", error)

    async def run(self) -> None:
        """Starts to serve gained namespaces once their objects are in the caches, until the task is cancelled."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self._wait_until_complete()
            if not self._changed.is_set():
                self._serve_gained()

    def _serve_gained(self) -> None:
        shard = self._shard
        unserved = {namespace for namespace in self._namespaces() if not shard.has_all(namespace)}
        shard.complete()
        gained = sorted(filter(shard.has_all, unserved))
        shard.moves["gained"] += len(gained)
        for namespace in gained:
            self._resume(namespace)
        if gained:
            _LOG.info("all caches are complete; namespaces that this process took over: %d", len(gained))
            gc.collect()
            gc.freeze()  # a later collection would look at all cached objects again, and delay the changes of that moment

    def _namespaces(self) -> set[str]:
        """Returns the namespaces of all stored objects."""
        return {key.namespace for store in self._stores() for key in store.keys()}  # noqa: SIM118 - a store is not a dict
