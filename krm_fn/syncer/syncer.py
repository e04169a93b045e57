"""Runs `krm-fn sync`: finds the cluster, connects the parts of one syncer, and starts and stops them in order."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
from collections.abc import Coroutine, Iterable, Iterator
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import krm_fn
from krm_fn.cluster import leader_election
from krm_fn.cluster.access import Cluster, ClusterError, kubeconfig
from krm_fn.cluster.api_resources import ApiResource
from krm_fn.cluster.client import Client
from krm_fn.cluster.informer import Store
from krm_fn.cluster.leader_election import LeaderElector
from krm_fn.cluster.reflector import Reflector
from krm_fn.cluster.shard import Shard
from krm_fn.syncer import controllers, membership, namespace_leases
from krm_fn.syncer.controllers import ControllerContext
from krm_fn.syncer.event_recorder import EventRecorder
from krm_fn.syncer.health import Health
from krm_fn.syncer.informer_cache import InformerCache
from krm_fn.syncer.loader import adapter_state, worker_api
from krm_fn.syncer.loader.lora_loader import LoraLoader
from krm_fn.syncer.loader.request_scheduler import LoaderMetrics, Precondition, RequestScheduler
from krm_fn.syncer.manager import Manager
from krm_fn.syncer.membership import Membership
from krm_fn.syncer.memory_limit import MemoryWatch
from krm_fn.syncer.metrics import Metrics, Snapshot
from krm_fn.syncer.namespace_leases import HeldNamespaces, NamespaceLeaseError, NamespaceLeases
from krm_fn.syncer.options import Options, instance_name
from krm_fn.syncer.shard_moves import ShardMoves
from krm_fn.syncer.status import model_endpoints
from krm_fn.syncer.writer import Writer

_FINISH_TIMEOUT = 5.0
"""Seconds that running writes get when the process ends."""
_STALLS = 3
"""Stall times of a stream after which a reflector without progress counts as hanging."""
_JOIN_DELAY = 2.0
"""Seconds that a new member waits before it reads: members that start at the same time join meanwhile, and none reads all objects."""
_COLLECTED = 700
"""Python's own number of new objects after which it collects garbage. Other commands end early, and collect rarely."""

_LOG = logging.getLogger(__name__)


def start(options: Options, warnings: Iterable[str] = ()) -> int:
    """Runs the syncer until a signal ends it. Returns the exit code: 0 after a signal, 1 after a failure, 2 for wrong settings."""
    gc.set_threshold(_COLLECTED)
    for warning in warnings:
        _LOG.warning("%s", warning)
    try:
        cluster = kubeconfig.find(Path(options.kubeconfig) if options.kubeconfig else None, options.context)
    except ClusterError as problem:
        _LOG.error("%s", problem)
        return 2
    return asyncio.run(_run(options, cluster))


async def _run(options: Options, cluster: Cluster) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _handle_signal, stop, number)
    async with Client(cluster) as client:
        return await Syncer(options, client).run(stop)


def _handle_signal(stop: asyncio.Event, number: signal.Signals) -> None:
    if stop.is_set():
        _LOG.warning("%s again: ending at once", number.name)
        os._exit(1)
    _LOG.info("%s: ending", number.name)
    stop.set()


class Syncer:
    """A syncer with all its parts."""

    def __init__(self, options: Options, client: Client) -> None:
        self._options = options
        self._client = client
        cluster, held_namespaces = client.cluster, options.namespaces if options.hold_namespaces else ()
        lease_namespace, instance = options.lease_namespace or cluster.namespace, instance_name()
        installation = self._installation = f"{lease_namespace}/{leader_election.NAME}"
        self._shard = Shard(membership.lease_name(instance) if options.shards else "")
        self._metrics = Metrics()
        self._cache = InformerCache()
        self._manager = Manager(self._cache, self._metrics, self._serves, options.workers)
        self._elected = asyncio.Event()
        self._joined = asyncio.Event()
        self._leader = self._build_leader(lease_namespace, f"krm-fn {krm_fn.__version__} {instance}")
        self._namespace_leases = NamespaceLeases(installation, self._manager.resume, self._metrics)
        self._held_namespaces = HeldNamespaces(client, held_namespaces, installation, self._shard.owns)
        self._events = EventRecorder(client, instance, self._metrics, enabled=options.events)
        self._writer = Writer(client, self._leads, self._metrics, lambda key: self._cache.entry(key) is not None)
        self._loader = self._lora_loader() if options.features.loras else None
        self._health = Health(self._metrics, self._hanging, self._missing)
        self._memory = MemoryWatch(
            self._count_cached,
            lambda: all(reflector.synced.is_set() for reflector in self._reflectors),
            lambda: max(len(self._shard.members), 1),
        )
        self._reflectors = list(self._build_reflectors())
        self._lease_reflectors = list(self._build_lease_reflectors())
        shared = [reflector for reflector in self._all_reflectors() if reflector.is_shared]
        self._moves = ShardMoves(self._shard, self._stores, shared, self._wait_until_complete, self._resume)
        self._metrics.watch(self._snapshot)

    async def run(self, stop: asyncio.Event) -> int:
        """Runs until `stop` is set. Returns the exit code: 0 after `stop`, 1 if a part ended or the address cannot be used."""
        self._log_start()
        try:
            await self._health.serve(self._options.address, self._options.port)
        except OSError as problem:
            _LOG.error("cannot listen on %s:%d: %s", self._options.address, self._options.port, problem.strerror)
            return 1
        watching = _start(self._join(), *(self._watch(reflector) for reflector in self._all_reflectors()))
        serving = _start(self._health.tick(), self._memory.run(), self._events.run())
        leading = _start(self._lead(), self._hold())
        working = _start(self._work())
        try:
            return await _wait_for_end(stop, [*watching, *serving, *leading, *working])
        finally:
            self._health.stopping = True
            await _cancel(watching)
            await self._finish(working)
            await _cancel(leading)
            await self._release()
            await _cancel(serving)
            await self._health.close()

    async def _join(self) -> None:
        """Waits until the share of this process is known, and then follows its changes."""
        if self._shard.name:
            await self._elected.wait()
            await asyncio.sleep(_JOIN_DELAY)
            await self._moves.learn(self._client)
        self._joined.set()
        await self._moves.run()

    async def _watch(self, reflector: Reflector[Any]) -> None:
        await self._joined.wait()
        await reflector.run()

    def _change_members(self, members: frozenset[str], rejoined: bool) -> None:
        lost = self._moves.apply(members, rejoined)
        if self._loader:
            self._loader.forget_namespaces(lost)
        self._elected.set()

    def _resume(self, namespace: str) -> None:
        self._manager.resume(namespace)
        self._held_namespaces.move()

    async def _lead(self) -> None:
        """Takes part in the election or in the membership. Without one, leads at once."""
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
        await self._wait_until_complete()
        _LOG.info("all caches are complete after %.1f s: %d objects", monotonic() - began, sum(map(len, self._cache.stores.values())))
        gc.collect()
        gc.freeze()  # a later collection would look at all cached objects again, and delay the changes of that moment
        await self._elected.wait()
        self._manager.resume()
        with self._manager.budget.interrupting():
            await self._run_workers()

    async def _run_workers(self) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(self._options.workers):
                group.create_task(self._manager.work())
            if self._loader:
                group.create_task(self._loader.run())

    async def _wait_until_complete(self) -> None:
        """Waits until all caches are complete."""
        for reflector in self._reflectors:
            await reflector.synced.wait()
        for reflector in self._lease_reflectors:
            await _either(reflector.synced, self._namespace_leases.forbidden)

    async def _finish(self, working: Iterable[asyncio.Task[None]]) -> None:
        """Waits for running writes, and then ends the workers."""
        self._manager.pause()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FINISH_TIMEOUT):
                await self._manager.wait_idle()
        await _cancel(working)
        self._manager.queue.close()

    async def _release(self) -> None:
        """Releases the Leases. With several replicas only the leader does, and the next leader takes the namespaces over."""
        if self._leader is None or self._leader.leading():
            await self._held_namespaces.release(successor=self._leader is not None)
        if self._leader:
            await self._leader.release()

    def _build_leader(self, namespace: str, holder: str) -> LeaderElector | Membership | None:
        """Returns the Lease that allows this process to write, or None if it may always write."""
        options = self._options
        if self._shard.name:
            return Membership(self._client, namespace, self._shard.name, self._change_members)
        has_election = self._client.cluster.in_cluster if options.leader_election is None else options.leader_election
        return LeaderElector(self._client, namespace, leader_election.NAME, holder, self._elected.set) if has_election else None

    def _build_reflectors(self) -> Iterator[Reflector[Any]]:
        """Registers the controllers. Yields a reflector for each kind that they watch in each namespace."""
        options, features = self._options, self._options.features
        context = ControllerContext(
            self._cache,
            self._writer,
            self._events,
            features,
            self._manager.update_cache,
            options.config,
            self._namespace_problem,
            self._client.versions.version,
            self._manager.budget,
            self._loader,
        )
        controllers_by_name = controllers.enabled_controllers(features)
        watches = {watch.kind: watch for controller in controllers_by_name.values() for watch in controller.watches(features)}
        self._manager.register({name: controller(context) for name, controller in controllers_by_name.items()}, watches)
        for kind, watch in watches.items():
            store, shard = self._cache.store(kind), self._shard_of(kind)
            for namespace in self._watched_namespaces(kind):
                yield Reflector(self._client, kind, namespace, store, watch.project, self._manager.handle_event, self._metrics, shard)

    def _build_lease_reflectors(self) -> Iterator[Reflector[Any]]:
        """Yields the reflectors of the namespace Leases of other holders, unless this syncer holds its namespaces."""
        leases, kind = self._namespace_leases, namespace_leases.KIND
        for namespace in () if self._options.hold_namespaces else self._watched_namespaces(kind):
            yield Reflector(self._client, kind, namespace, leases.store, namespace_leases.read, leases.changed, leases, self._shard)

    def _watched_namespaces(self, kind: ApiResource) -> Iterable[str]:
        """Returns the namespaces in which a kind is watched: those of the options, or all ("")."""
        return self._options.namespaces if self._options.namespaces and kind.namespaced else ("",)

    def _shard_of(self, kind: ApiResource) -> Shard:
        """Returns the share of the objects of a kind that this process stores.

        With `other_namespaces`, a request shows the state of a graph that another member may serve.
        """
        needs_all = kind == controllers.GRAPHS and self._options.features.other_namespaces
        return self._shard if kind.namespaced and not needs_all else Shard()

    def _serves(self, namespace: str) -> bool:
        is_live = not self._shard.name or self._leads()  # a member that rejoins reconciles everything again
        return is_live and self._shard.has_all(namespace) and not self._namespace_leases.is_excluded(namespace)

    def _namespace_problem(self, request_namespace: str, namespace: str, field: str) -> str:
        """Explains why the graph of a request may not go into `namespace`, and what to do; empty if the namespace is allowed.

        `field` of the request names the namespace. An author of requests may have no rights in that namespace, and another shard may serve
        it.
        """
        namespaces = self._options.namespaces
        if namespace != request_namespace and not self._options.features.other_namespaces:
            fix = f"make the request in namespace {namespace}, remove {field}, or ask the administrator for the flag --other-namespaces"
            return f"the request is in namespace {request_namespace}; {fix} of krm-fn sync"
        if namespaces and namespace not in namespaces:
            return f"krm-fn sync serves only {', '.join(namespaces)}; change {field}"
        excluded = self._namespace_leases.is_excluded(namespace)
        return f"another program holds its Lease {namespace_leases.NAME}; change {field}" if excluded else ""

    def _lora_loader(self) -> LoraLoader:
        workloads = self._cache.workloads
        precondition = Precondition(
            lambda namespace: self._leads() and self._serves(namespace),
            lambda namespace, endpoint: model_endpoints.still_runs(endpoint, namespace, workloads),
        )
        changed = partial(self._manager.enqueue, "models")
        metrics = LoaderMetrics(self._metrics.lora_operations, self._metrics.lora_requests)
        return LoraLoader(RequestScheduler(changed, precondition, metrics, adapter_state.LIMITS, worker_api.connector))

    def _leads(self) -> bool:
        return self._leader is None or self._leader.leading()

    def _hanging(self) -> Iterator[str]:
        limit = _STALLS * self._client.stall
        for reflector in self._all_reflectors() if self._joined.is_set() else ():
            if monotonic() - reflector.last_active > limit:
                yield f"the watch of {reflector.kind.kind} hangs"

    def _missing(self) -> Iterator[str]:
        if not self._joined.is_set():
            yield f"the Lease {self._shard.name} is not written yet"
        for reflector in (*self._reflectors, *(() if self._namespace_leases.forbidden.is_set() else self._lease_reflectors)):
            if reflector.problem or not reflector.synced.is_set():
                location = f" in {reflector.namespace}" if reflector.namespace else ""
                yield f"{reflector.kind.kind}{location}: {reflector.problem or 'not read yet'}"

    def _snapshot(self) -> Snapshot:
        last_data: dict[str, float] = {}
        for reflector in self._all_reflectors():
            if reflector.served:
                last_data[reflector.kind.kind] = max(last_data.get(reflector.kind.kind, 0.0), monotonic() - reflector.last_data)
        queue, shard = self._manager.queue, self._shard
        return Snapshot(
            self._installation,
            self._elected.is_set() and self._leads(),
            len(shard.members) if shard.name else None,
            shard.moves if shard.name else {},
            queue.depth(),
            queue.waiting(),
            queue.aside(),
            queue.age(),
            self._count_cached(),
            last_data,
            self._manager.resources(),
            self._memory.use(),
        )

    def _all_reflectors(self) -> list[Reflector[Any]]:
        return [*self._reflectors, *self._lease_reflectors]

    def _stores(self) -> list[Store[Any]]:
        return [*self._cache.stores.values(), self._namespace_leases.store]

    def _count_cached(self) -> dict[str, int]:
        """Counts the objects in memory by kind."""
        return {store.kind: len(store) for store in self._stores()}

    def _log_start(self) -> None:
        options, cluster = self._options, self._client.cluster
        scope = f"namespaces {', '.join(options.namespaces)}" if options.namespaces else "all namespaces"
        share = f" as the member {self._shard.name}" if self._shard.name else ""
        enabled = [name.replace("_", "-") for name in options.features._fields if getattr(options.features, name)]
        message = "krm-fn %s serves %s of %s%s; features: %s"
        _LOG.info(message, krm_fn.__version__, scope, cluster.server, share, ", ".join(enabled) or "none")


def _start(*coroutines: Coroutine[Any, Any, None]) -> list[asyncio.Task[None]]:
    """Starts each coroutine as a task."""
    return [asyncio.create_task(coroutine) for coroutine in coroutines]


async def _cancel(running: Iterable[asyncio.Task[Any]]) -> None:
    """Ends tasks, and waits until they have ended."""
    ending = list(running)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)


async def _either(one: asyncio.Event, other: asyncio.Event) -> None:
    """Waits until one of two events is set."""
    waiting = [asyncio.create_task(event.wait()) for event in (one, other)]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for event in waiting:
        event.cancel()


async def _wait_for_end(stop: asyncio.Event, running: Iterable[asyncio.Task[None]]) -> int:
    """Waits for `stop`, or for a task that ends. Returns the exit code: 0 after `stop`, 1 for a task, because none should end."""
    stopped = asyncio.create_task(stop.wait())
    done, _ = await asyncio.wait([stopped, *running], return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    for problem in (task.exception() for task in done if task is not stopped):
        _log_end(problem)
    return 0 if stopped in done else 1


def _log_end(problem: BaseException | None) -> None:
    if isinstance(problem, NamespaceLeaseError):
        _LOG.error("%s", problem)
    else:
        _LOG.error("a part of the syncer ended; please report it", exc_info=problem)
