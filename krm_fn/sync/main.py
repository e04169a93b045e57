"""One run of the syncer: builds all parts, and starts and stops them in the right order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import krm_fn
from krm_fn.sync import controllers, incluster, kubeconfig, leases, markers, options
from krm_fn.sync.cache import Cache
from krm_fn.sync.client import Client
from krm_fn.sync.cluster import ClusterError
from krm_fn.sync.controllers import World
from krm_fn.sync.engine import Engine
from krm_fn.sync.events import Events
from krm_fn.sync.health import Health
from krm_fn.sync.leases import Leader
from krm_fn.sync.markers import MarkerError, Markers, OwnMarkers
from krm_fn.sync.metrics import Metrics, Snapshot
from krm_fn.sync.reflector import Reflector
from krm_fn.sync.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine, Iterable, Iterator
    from typing import Any

    from krm_fn.sync.cluster import Cluster
    from krm_fn.sync.options import Options

_FINISH = 5.0
"""Seconds that running writes get at the end."""
_SILENT = 3
"""Stall times of a stream after which a reflector that does not move counts as hanging."""

_LOG = logging.getLogger(__name__)


def start(chosen: Options, warnings: Iterable[str] = ()) -> int:
    """Runs the syncer until a signal ends it. Returns the exit code: 0 after a signal, 1 after a failure, 2 for wrong settings."""
    for each in warnings:
        _LOG.warning("%s", each)
    try:
        cluster = _cluster(chosen)
    except ClusterError as problem:
        _LOG.error("%s", problem)
        return 2
    return asyncio.run(_run(chosen, cluster))


def _cluster(chosen: Options) -> Cluster:
    if chosen.kubeconfig is None and chosen.context is None and incluster.available():
        return incluster.load()
    return kubeconfig.load(Path(chosen.kubeconfig) if chosen.kubeconfig else None, chosen.context)


async def _run(chosen: Options, cluster: Cluster) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, _signalled, stop, each)
    async with Client(cluster) as client:
        return await Syncer(chosen, client).run(stop)


def _signalled(stop: asyncio.Event, number: signal.Signals) -> None:
    if stop.is_set():
        _LOG.warning("%s again: ending at once", number.name)
        os._exit(1)
    _LOG.info("%s: ending", number.name)
    stop.set()


class Syncer:
    """All parts of one syncer."""

    def __init__(self, chosen: Options, client: Client) -> None:
        self._chosen = chosen
        self._client = client
        cluster, held = client.cluster, chosen.namespaces if chosen.hold_namespaces else ()
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
        self._markers = Markers(installation, held, self._engine.wake)
        self._own = OwnMarkers(client, held, installation)
        self._events = Events(client, instance, self._metrics, enabled=chosen.events)
        self._writer = Writer(client, self._leads, self._metrics)
        self._health = Health(self._metrics, self._hanging, self._missing)
        self._reflectors = list(self._build())
        self._metrics.watch(self._snapshot)

    async def run(self, stop: asyncio.Event) -> int:
        """Works until `stop` is set. Returns the exit code."""
        self._introduce()
        try:
            await self._health.serve(self._chosen.address, self._chosen.port)
        except OSError as problem:
            _LOG.error("cannot listen on %s:%d: %s", self._chosen.address, self._chosen.port, problem.strerror)
            return 1
        watching = [_task(each.run()) for each in self._reflectors]
        around = [_task(self._health.tick()), _task(self._events.run())]
        leading = [_task(self._leader.run())] if self._leader else []
        working = [_task(self._work())]
        if not self._leader:
            self._elected.set()
        try:
            return await _first_end(stop, [*watching, *around, *leading, *working])
        finally:
            self._health.stopping = True
            await _cancel(watching)
            await self._finish(working)
            await _cancel(leading)
            await self._release()
            await _cancel(around)
            await self._health.close()

    async def _work(self) -> None:
        """Starts the workers once all caches are complete and this replica leads."""
        began = monotonic()
        for each in self._reflectors:
            await each.synced.wait()
        _LOG.info("all caches are complete after %.1f s: %d objects", monotonic() - began, sum(map(len, self._cache.stores.values())))
        await self._elected.wait()
        self._engine.wake()
        async with asyncio.TaskGroup() as group:
            for _ in range(self._chosen.workers):
                group.create_task(self._engine.work())
            group.create_task(self._own.run())

    async def _finish(self, working: list[asyncio.Task[None]]) -> None:
        """Lets running writes end, and then ends the workers."""
        self._engine.sleep()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._engine.quiet(), _FINISH)
        await _cancel(working)
        self._engine.queue.close()

    async def _release(self) -> None:
        """Gives up the Leases. With several replicas only the leader does, and the next leader takes the namespaces over."""
        if self._leader is None or self._leader.leading():
            await self._own.release(successor=self._leader is not None)
        if self._leader:
            await self._leader.release()

    def _build(self) -> Iterator[Reflector[Any]]:
        """The controllers, and a reflector for each kind that they follow in each namespace."""
        features = self._chosen.features
        world = World(self._cache, self._writer, self._events, features, self._engine.learned)
        found = controllers.every(features)
        follows = {follow.kind: follow for each in found.values() for follow in each.follows(features)}
        self._engine.use({name: each(world) for name, each in found.items()}, follows)
        for namespace in self._chosen.namespaces or ("",):
            for kind, follow in follows.items():
                store = self._cache.store(kind)
                yield Reflector(self._client, kind, namespace, store, follow.project, self._engine.changed, self._metrics)
            yield Reflector(self._client, markers.KIND, namespace, self._markers.store, markers.read, self._markers.changed, self._metrics)

    def _serves(self, namespace: str) -> bool:
        return self._chosen.shard.owns(namespace) and not self._markers.excluded(namespace)

    def _leads(self) -> bool:
        return self._leader is None or self._leader.leading()

    def _hanging(self) -> Iterator[str]:
        limit = _SILENT * self._client.stall
        return (f"the watch of {each.kind.kind} hangs" for each in self._reflectors if monotonic() - each.turned > limit)

    def _missing(self) -> Iterator[str]:
        for each in self._reflectors:
            if each.problem or not each.synced.is_set():
                place = f" in {each.namespace}" if each.namespace else ""
                yield f"{each.kind.kind}{place}: {each.problem or 'not read yet'}"

    def _snapshot(self) -> Snapshot:
        heard: dict[str, float] = {}
        for each in self._reflectors:
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


def _task(coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    return asyncio.create_task(coroutine)


async def _first_end(stop: asyncio.Event, tasks: list[asyncio.Task[None]]) -> int:
    """Waits for the signal, or for a task that ends: none should."""
    stopped = asyncio.create_task(stop.wait())
    done, _ = await asyncio.wait([stopped, *tasks], return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    for problem in (each.exception() for each in done if each is not stopped):
        _log_end(problem)
    return 0 if stopped in done else 1


def _log_end(problem: BaseException | None) -> None:
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    if isinstance(problem, MarkerError):
        _LOG.error("%s", problem)
    else:
        _LOG.error("a part of the syncer ended; please report it", exc_info=problem)


async def _cancel(tasks: Iterable[asyncio.Task[None]]) -> None:
    waiting: list[Awaitable[None]] = []
    for each in tasks:
        each.cancel()
        waiting.append(each)
    await asyncio.gather(*waiting, return_exceptions=True)
