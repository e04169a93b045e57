"""Changes the readiness of Deployments, and notes when a watch of the graphs shows each change."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.sync import fleet

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from benchmarks.sync.cluster import Cluster
    from benchmarks.sync.fleet import Fleet, Workload

_PATIENCE = 120.0  # seconds until a change counts as lost


class Seen(NamedTuple):
    """The changes of one phase: milliseconds from the API server's answer until the graph's status shows it; seconds until all do."""

    latencies: list[float]
    seconds: float


class _Change:
    """A Deployment that becomes ready or not ready. Times are from `time.perf_counter`."""

    def __init__(self, workload: Workload, *, ready: bool) -> None:
        self.workload = workload
        self.ready = ready
        self.answered = 0.0
        self.shown = asyncio.Event()
        self.shown_at = 0.0

    async def seen(self) -> None:
        """Waits until a graph's status shows the change. Raises TimeoutError."""
        async with asyncio.timeout(_PATIENCE):
            await self.shown.wait()


class Traffic:
    """Changes one workload after the other, and changes them back. Neighbouring changes belong to different graphs.

    So each phase leaves the graphs as they were: programs that word their messages differently have nothing to rewrite when one follows the
    other. `all_judged` is set when every graph has had a status.
    """

    def __init__(self, cluster: Cluster, size: Fleet) -> None:
        self._cluster = cluster
        self._workloads = size.workloads
        self._next = 0
        self._down: set[Workload] = set()
        self._waiting: dict[str, dict[str, _Change]] = {}
        self._unjudged = {fleet.graph(number) for number in range(size.graphs)}
        self.all_judged = asyncio.Event()

    async def paced(self, count: int, rate: float) -> Seen:
        """Sends `count` changes, `rate` in a second, and waits until all are shown. A workload waits for its first change to be shown."""
        started = time.perf_counter()
        half, changes = count // 2, list[_Change]()
        async with asyncio.TaskGroup() as group:
            for number, workload in enumerate(self._batch(half) * 2):
                await asyncio.sleep(started + number / rate - time.perf_counter())
                if number >= half:
                    await changes[number - half].seen()
                changes.append(self._change(workload))
                group.create_task(self._send(changes[-1]))
        return await self._seen(changes, started)

    async def burst(self, count: int) -> Seen:
        """Sends `count` changes at once and waits until all are shown; then the same back. `seconds` are those of the longer time."""
        batch = self._batch(count)
        there, back = await self._at_once(batch), await self._at_once(batch)
        return Seen(there.latencies + back.latencies, max(there.seconds, back.seconds))

    async def unseen(self, count: int) -> None:
        """Changes `count` workloads and changes them back, while no syncer runs."""
        batch = self._batch(count)
        for ready in (False, True):
            await asyncio.gather(*(self._cluster.set_ready(workload, ready=ready) for workload in batch))

    @contextlib.asynccontextmanager
    async def missed(self, count: int) -> AsyncIterator[asyncio.Task[Seen]]:
        """Sends changes of `count` graphs before the block starts a syncer; the task ends when all are shown. They are not changed back."""
        changes = [self._change(workload) for workload in self._workloads[:: len(self._workloads) // count - 1][:count]]
        await asyncio.gather(*map(self._send, changes))
        task = asyncio.create_task(self._seen(changes, time.perf_counter()))
        try:
            yield task
        finally:
            task.cancel()

    @contextlib.asynccontextmanager
    async def observed(self) -> AsyncIterator[None]:
        """Watches the graphs until the block ends."""
        graphs, version = await self._cluster.graphs()
        for graph in graphs:
            self._judged(graph)
        task = asyncio.create_task(self._watch(version))
        try:
            yield
            if task.done():
                task.result()
        finally:
            task.cancel()

    async def _at_once(self, batch: list[Workload]) -> Seen:
        started = time.perf_counter()
        changes = [self._change(workload) for workload in batch]
        await asyncio.gather(*map(self._send, changes))
        return await self._seen(changes, started)

    def _batch(self, count: int) -> list[Workload]:
        """The next workloads, each once. Raises ValueError if the cluster has fewer."""
        if count > len(self._workloads):
            raise ValueError(f"{count} changes need as many workloads, not {len(self._workloads)}")
        start, self._next = self._next, (self._next + count) % len(self._workloads)
        return (self._workloads * 2)[start : start + count]

    def _change(self, workload: Workload) -> _Change:
        """The change that reverses the readiness of a workload."""
        ready = workload in self._down
        (self._down.discard if ready else self._down.add)(workload)
        change = _Change(workload, ready=ready)
        self._waiting.setdefault(workload.graph, {})[workload.service] = change
        return change

    async def _send(self, change: _Change) -> None:
        await self._cluster.set_ready(change.workload, ready=change.ready)
        change.answered = time.perf_counter()

    async def _seen(self, changes: list[_Change], started: float) -> Seen:
        """Raises TimeoutError if a change is not shown."""
        for change in changes:
            await change.seen()
        # The watch may be faster than the answer to the change itself.
        latencies = [max(0.0, change.shown_at - change.answered) * 1000 for change in changes]
        return Seen(latencies, max((change.shown_at for change in changes), default=started) - started)

    async def _watch(self, version: str) -> None:
        async for line in self._cluster.watch(version):
            now = time.perf_counter()
            graph = json.loads(line)["object"]
            self._judged(graph)
            waiting = self._waiting.get(graph["metadata"]["name"], {})
            for service, change in list(waiting.items()):
                if _shows(graph, change):
                    change.shown_at = now
                    change.shown.set()
                    del waiting[service]
        raise EOFError("the API server ended the watch")

    def _judged(self, graph: dict[str, Any]) -> None:
        if graph.get("status", {}).get("state"):
            self._unjudged.discard(graph["metadata"]["name"])
        if not self._unjudged:
            self.all_judged.set()


def _shows(graph: dict[str, Any], change: _Change) -> bool:
    entry = graph.get("status", {}).get("services", {}).get(change.workload.service)
    return entry is not None and entry.get("readyReplicas", 0) == int(change.ready)
