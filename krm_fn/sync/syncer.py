"""All parts of one syncer: how they are connected, and the order in which they start and stop."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

import krm_fn
from krm_fn.status import endpoints
from krm_fn.sync import controllers, leases, markers, options, tasks
from krm_fn.sync.cache import Cache
from krm_fn.sync.controllers import World
from krm_fn.sync.engine import Engine
from krm_fn.sync.events import Events
from krm_fn.sync.health import Health
from krm_fn.sync.leases import Leader
from krm_fn.sync.loras import Loras, api, limits
from krm_fn.sync.loras.dispatch import Dispatcher, Guard
from krm_fn.sync.markers import Markers, OwnMarkers
from krm_fn.sync.metrics import Metrics, Snapshot
from krm_fn.sync.reflector import Reflector
from krm_fn.sync.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from krm_fn.sync.client import Client
    from krm_fn.sync.options import Options

_FINISH = 5.0
"""Seconds that running writes get at the end."""
_SILENT = 3
"""Stall times of a stream after which a reflector that does not move counts as hanging."""

_LOG = logging.getLogger(__name__)


class Syncer:
    """All parts of one syncer."""

    def __init__(self, chosen: Options, client: Client) -> None:
        self._chosen = chosen
        self._client = client
        cluster, held = client.cluster, filter(chosen.shard.owns, chosen.namespaces if chosen.hold_namespaces else ())
        self._lease = (chosen.lease_namespace or cluster.namespace, leases.NAME + chosen.shard.suffix)
        installation = "/".join(self._lease)
        instance = options.instance()
        self._metrics = Metrics()
        self._cache = Cache()
        self._engine = Engine(self._cache, self._metrics, self._serves)
        elects = cluster.in_cluster if chosen.leader_election is None else chosen.leader_election
        holder = f"krm-fn {krm_fn.__version__} {instance}"
        self._elected = asyncio.Event()
        self._leader = Leader(client, *self._lease, holder, self._elected.set) if elects else None
        self._markers = Markers(installation, self._engine.wake, self._metrics)
        self._own = OwnMarkers(client, held, installation)
        self._events = Events(client, instance, self._metrics, enabled=chosen.events)
        self._writer = Writer(client, self._leads, self._metrics)
        self._loras = self._loader() if chosen.features.loras else None
        self._health = Health(self._metrics, self._hanging, self._missing)
        self._reflectors = list(self._build())
        self._marking = list(self._build_markers())
        self._metrics.watch(self._snapshot)

    async def run(self, stop: asyncio.Event) -> int:
        """Works until `stop` is set. Returns the exit code."""
        self._introduce()
        try:
            await self._health.serve(self._chosen.address, self._chosen.port)
        except OSError as problem:
            _LOG.error("cannot listen on %s:%d: %s", self._chosen.address, self._chosen.port, problem.strerror)
            return 1
        watching = tasks.start(*(each.run() for each in (*self._reflectors, *self._marking)))
        around = tasks.start(self._health.tick(), self._events.run())
        leading = tasks.start(self._lead(), self._hold())
        working = tasks.start(self._work())
        try:
            return await tasks.first_end(stop, [*watching, *around, *leading, *working])
        finally:
            self._health.stopping = True
            await tasks.cancel(watching)
            await self._finish(working)
            await tasks.cancel(leading)
            await self._release()
            await tasks.cancel(around)
            await self._health.close()

    async def _lead(self) -> None:
        """Takes part in the election, or leads alone."""
        if self._leader:
            await self._leader.run()
        self._elected.set()
        await asyncio.Event().wait()

    async def _hold(self) -> None:
        """Holds the namespaces while this replica leads."""
        await self._elected.wait()
        await self._own.run()
        await asyncio.Event().wait()

    async def _work(self) -> None:
        """Starts the workers once all caches are complete and this replica leads."""
        began = monotonic()
        for each in self._reflectors:
            await each.synced.wait()
        for each in self._marking:
            await tasks.either(each.synced, self._markers.forbidden)
        _LOG.info("all caches are complete after %.1f s: %d objects", monotonic() - began, sum(map(len, self._cache.stores.values())))
        gc.collect()
        gc.freeze()  # a later collection would look at all cached objects again, and delay the changes of that moment
        await self._elected.wait()
        self._engine.wake()
        async with asyncio.TaskGroup() as group:
            for _ in range(self._chosen.workers):
                group.create_task(self._engine.work())
            if self._loras:
                group.create_task(self._loras.run())

    async def _finish(self, working: Iterable[asyncio.Task[None]]) -> None:
        """Lets running writes end, and then ends the workers."""
        self._engine.sleep()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FINISH):
                await self._engine.quiet()
        await tasks.cancel(working)
        self._engine.queue.close()

    async def _release(self) -> None:
        """Gives up the Leases. With several replicas only the leader does, and the next leader takes the namespaces over."""
        if self._leader is None or self._leader.leading():
            await self._own.release(successor=self._leader is not None)
        if self._leader:
            await self._leader.release()

    def _build(self) -> Iterator[Reflector[Any]]:
        """The controllers, and a reflector for each kind that they follow in each namespace."""
        features, config = self._chosen.features, self._chosen.config
        writer, events, learned, served = self._writer, self._events, self._engine.learned, self._client.versions.version
        world = World(self._cache, writer, events, features, learned, config, self._outside, served, self._loras)
        found = controllers.every(features)
        follows = {follow.kind: follow for each in found.values() for follow in each.follows(features)}
        self._engine.use({name: each(world) for name, each in found.items()}, follows)
        for namespace in self._chosen.namespaces or ("",):
            for kind, follow in follows.items():
                store = self._cache.store(kind)
                yield Reflector(self._client, kind, namespace, store, follow.project, self._engine.changed, self._metrics)

    def _build_markers(self) -> Iterator[Reflector[Any]]:
        """A reflector for the markers of others, except in namespaces that we hold."""
        found, chosen = self._markers, self._chosen
        for namespace in () if chosen.hold_namespaces else chosen.namespaces or ("",):
            yield Reflector(self._client, markers.KIND, namespace, found.store, markers.read, found.changed, found)

    def _serves(self, namespace: str) -> bool:
        return self._chosen.shard.owns(namespace) and not self._markers.excluded(namespace)

    def _outside(self, home: str, namespace: str, field: str) -> str:
        """Why the graph of a request in namespace `home` may not go into `namespace`, and what to do; empty if it may.

        `field` of the request names the namespace.

        Who may write a request may have no rights in `namespace`. Another shard may serve it.
        """
        served = self._chosen.namespaces
        if namespace != home and not self._chosen.features.other_namespaces:
            ways = f"make the request in namespace {namespace}, remove {field}, or ask the administrator for the flag --other-namespaces"
            return f"the request is in namespace {home}; {ways} of krm-fn sync"
        if served and namespace not in served:
            return f"krm-fn sync serves only {', '.join(served)}; change {field}"
        return f"another program holds its Lease {markers.NAME}; change {field}" if self._markers.excluded(namespace) else ""

    def _loader(self) -> Loras:
        children = self._cache.children
        guard = Guard(
            lambda namespace: self._leads() and self._serves(namespace),
            lambda namespace, place: endpoints.stands(place, namespace, children),
        )
        changed = partial(self._engine.again, "models")
        return Loras(Dispatcher(changed, guard, self._metrics, limits.LIMITS, api.connector))

    def _leads(self) -> bool:
        return self._leader is None or self._leader.leading()

    def _hanging(self) -> Iterator[str]:
        limit = _SILENT * self._client.stall
        return (f"the watch of {each.kind.kind} hangs" for each in (*self._reflectors, *self._marking) if monotonic() - each.turned > limit)

    def _missing(self) -> Iterator[str]:
        for each in (*self._reflectors, *(() if self._markers.forbidden.is_set() else self._marking)):
            if each.problem or not each.synced.is_set():
                place = f" in {each.namespace}" if each.namespace else ""
                yield f"{each.kind.kind}{place}: {each.problem or 'not read yet'}"

    def _snapshot(self) -> Snapshot:
        heard: dict[str, float] = {}
        for each in (*self._reflectors, *self._marking):
            heard[each.kind.kind] = max(heard.get(each.kind.kind, 0.0), monotonic() - each.heard)
        stores = [*self._cache.stores.values(), self._markers.store]
        cached = {store.kind: len(store) for store in stores}
        queue = self._engine.queue
        return Snapshot(queue.depth(), queue.age(), self._elected.is_set() and self._leads(), cached, heard, self._engine.resources())

    def _introduce(self) -> None:
        chosen, cluster = self._chosen, self._client.cluster
        where = f"namespaces {', '.join(chosen.namespaces)}" if chosen.namespaces else "all namespaces"
        share = f", shard {chosen.shard}" if chosen.shard.total > 1 else ""
        on = [name.replace("_", "-") for name in chosen.features._fields if getattr(chosen.features, name)]
        _LOG.info("krm-fn %s serves %s of %s%s; features: %s", krm_fn.__version__, where, cluster.server, share, ", ".join(on) or "none")
