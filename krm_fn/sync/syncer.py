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
from krm_fn.loader import adapter_state, worker_api
from krm_fn.loader.lora_loader import LoraLoader
from krm_fn.loader.request_scheduler import LoaderMetrics, Precondition, RequestScheduler
from krm_fn.status import model_endpoints
from krm_fn.sync import controllers, leader_election, namespace_leases, options, tasks
from krm_fn.sync.controllers import ControllerContext
from krm_fn.sync.event_recorder import EventRecorder
from krm_fn.sync.health import Health
from krm_fn.sync.informer_cache import InformerCache
from krm_fn.sync.leader_election import LeaderElector
from krm_fn.sync.manager import Manager
from krm_fn.sync.metrics import Metrics, Snapshot
from krm_fn.sync.namespace_leases import HeldNamespaces, NamespaceLeases
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
        self._lease = (chosen.lease_namespace or cluster.namespace, leader_election.NAME + chosen.shard.suffix)
        installation = "/".join(self._lease)
        instance = options.instance()
        self._metrics = Metrics()
        self._cache = InformerCache()
        self._manager = Manager(self._cache, self._metrics, self._serves)
        elects = cluster.in_cluster if chosen.leader_election is None else chosen.leader_election
        holder = f"krm-fn {krm_fn.__version__} {instance}"
        self._elected = asyncio.Event()
        self._leader = LeaderElector(client, *self._lease, holder, self._elected.set) if elects else None
        self._namespace_leases = NamespaceLeases(installation, self._manager.resume, self._metrics)
        self._held_namespaces = HeldNamespaces(client, held, installation)
        self._events = EventRecorder(client, instance, self._metrics, enabled=chosen.events)
        self._writer = Writer(client, self._leads, self._metrics)
        self._loader = self._lora_loader() if chosen.features.loras else None
        self._health = Health(self._metrics, self._hanging, self._missing)
        self._reflectors = list(self._build_reflectors())
        self._lease_reflectors = list(self._build_lease_reflectors())
        self._metrics.watch(self._snapshot)

    async def run(self, stop: asyncio.Event) -> int:
        """Works until `stop` is set. Returns the exit code."""
        self._introduce()
        try:
            await self._health.serve(self._chosen.address, self._chosen.port)
        except OSError as problem:
            _LOG.error("cannot listen on %s:%d: %s", self._chosen.address, self._chosen.port, problem.strerror)
            return 1
        watching = tasks.start(*(reflector.run() for reflector in (*self._reflectors, *self._lease_reflectors)))
        serving = tasks.start(self._health.tick(), self._events.run())
        leading = tasks.start(self._lead(), self._hold())
        working = tasks.start(self._work())
        try:
            return await tasks.first_end(stop, [*watching, *serving, *leading, *working])
        finally:
            self._health.stopping = True
            await tasks.cancel(watching)
            await self._finish(working)
            await tasks.cancel(leading)
            await self._release()
            await tasks.cancel(serving)
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
        await self._held_namespaces.run()
        await asyncio.Event().wait()

    async def _work(self) -> None:
        """Starts the workers once all caches are complete and this replica leads."""
        began = monotonic()
        for reflector in self._reflectors:
            await reflector.synced.wait()
        for reflector in self._lease_reflectors:
            await tasks.either(reflector.synced, self._namespace_leases.forbidden)
        _LOG.info("all caches are complete after %.1f s: %d objects", monotonic() - began, sum(map(len, self._cache.stores.values())))
        gc.collect()
        gc.freeze()  # a later collection would look at all cached objects again, and delay the changes of that moment
        await self._elected.wait()
        self._manager.resume()
        async with asyncio.TaskGroup() as group:
            for _ in range(self._chosen.workers):
                group.create_task(self._manager.work())
            if self._loader:
                group.create_task(self._loader.run())

    async def _finish(self, working: Iterable[asyncio.Task[None]]) -> None:
        """Lets running writes end, and then ends the workers."""
        self._manager.pause()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FINISH):
                await self._manager.wait_idle()
        await tasks.cancel(working)
        self._manager.queue.close()

    async def _release(self) -> None:
        """Gives up the Leases. With several replicas only the leader does, and the next leader takes the namespaces over."""
        if self._leader is None or self._leader.leading():
            await self._held_namespaces.release(successor=self._leader is not None)
        if self._leader:
            await self._leader.release()

    def _build_reflectors(self) -> Iterator[Reflector[Any]]:
        """Registers the controllers; returns a reflector for each kind that they watch in each namespace."""
        features, config = self._chosen.features, self._chosen.config
        writer, events, update_cache, served = self._writer, self._events, self._manager.update_cache, self._client.versions.version
        context = ControllerContext(self._cache, writer, events, features, update_cache, config, self._outside, served, self._loader)
        controllers_by_name = controllers.enabled_controllers(features)
        watches = {watch.kind: watch for controller in controllers_by_name.values() for watch in controller.watches(features)}
        self._manager.register({name: controller(context) for name, controller in controllers_by_name.items()}, watches)
        for namespace in self._chosen.namespaces or ("",):
            for kind, watch in watches.items():
                store = self._cache.store(kind)
                yield Reflector(self._client, kind, namespace, store, watch.project, self._manager.handle_event, self._metrics)

    def _build_lease_reflectors(self) -> Iterator[Reflector[Any]]:
        """The reflectors of the namespace Leases of others, unless this syncer holds its namespaces."""
        leases, chosen = self._namespace_leases, self._chosen
        for namespace in () if chosen.hold_namespaces else chosen.namespaces or ("",):
            yield Reflector(self._client, namespace_leases.KIND, namespace, leases.store, namespace_leases.read, leases.changed, leases)

    def _serves(self, namespace: str) -> bool:
        return self._chosen.shard.owns(namespace) and not self._namespace_leases.excluded(namespace)

    def _outside(self, request_namespace: str, namespace: str, field: str) -> str:
        """The reason why the graph of a request may not go into `namespace`, and what to do; empty if it may.

        `field` of the request names the namespace. An author of requests may have no rights in that namespace, and another shard may serve
        it.
        """
        served = self._chosen.namespaces
        if namespace != request_namespace and not self._chosen.features.other_namespaces:
            ways = f"make the request in namespace {namespace}, remove {field}, or ask the administrator for the flag --other-namespaces"
            return f"the request is in namespace {request_namespace}; {ways} of krm-fn sync"
        if served and namespace not in served:
            return f"krm-fn sync serves only {', '.join(served)}; change {field}"
        excluded = self._namespace_leases.excluded(namespace)
        return f"another program holds its Lease {namespace_leases.NAME}; change {field}" if excluded else ""

    def _lora_loader(self) -> LoraLoader:
        children = self._cache.workloads
        precondition = Precondition(
            lambda namespace: self._leads() and self._serves(namespace),
            lambda namespace, endpoint: model_endpoints.still_runs(endpoint, namespace, children),
        )
        changed = partial(self._manager.enqueue, "models")
        metrics = LoaderMetrics(self._metrics.lora_operations, self._metrics.lora_requests)
        return LoraLoader(RequestScheduler(changed, precondition, metrics, adapter_state.LIMITS, worker_api.connector))

    def _leads(self) -> bool:
        return self._leader is None or self._leader.leading()

    def _hanging(self) -> Iterator[str]:
        limit = _SILENT * self._client.stall
        for reflector in (*self._reflectors, *self._lease_reflectors):
            if monotonic() - reflector.turned > limit:
                yield f"the watch of {reflector.kind.kind} hangs"

    def _missing(self) -> Iterator[str]:
        for reflector in (*self._reflectors, *(() if self._namespace_leases.forbidden.is_set() else self._lease_reflectors)):
            if reflector.problem or not reflector.synced.is_set():
                location = f" in {reflector.namespace}" if reflector.namespace else ""
                yield f"{reflector.kind.kind}{location}: {reflector.problem or 'not read yet'}"

    def _snapshot(self) -> Snapshot:
        heard: dict[str, float] = {}
        for reflector in (*self._reflectors, *self._lease_reflectors):
            heard[reflector.kind.kind] = max(heard.get(reflector.kind.kind, 0.0), monotonic() - reflector.heard)
        stores = [*self._cache.stores.values(), self._namespace_leases.store]
        cached = {store.kind: len(store) for store in stores}
        queue = self._manager.queue
        return Snapshot(queue.depth(), queue.age(), self._elected.is_set() and self._leads(), cached, heard, self._manager.resources())

    def _introduce(self) -> None:
        chosen, cluster = self._chosen, self._client.cluster
        where = f"namespaces {', '.join(chosen.namespaces)}" if chosen.namespaces else "all namespaces"
        share = f", shard {chosen.shard}" if chosen.shard.total > 1 else ""
        on = [name.replace("_", "-") for name in chosen.features._fields if getattr(chosen.features, name)]
        _LOG.info("krm-fn %s serves %s of %s%s; features: %s", krm_fn.__version__, where, cluster.server, share, ", ".join(on) or "none")
