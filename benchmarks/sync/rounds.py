"""One round: all measurements of one program at one size."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.sync import arms, processes
from tests.testbed import proxy, syncer

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from pathlib import Path

    from benchmarks.sync.arms import Arm
    from benchmarks.sync.cluster import Cluster, Requests
    from benchmarks.sync.traffic import Seen, Traffic


_AT_REST = 0.05  # CPU seconds in a second
_LONGEST_START = 300.0
_COUNTED_RATE = 20  # changes in a second while bytes are counted


class Plan(NamedTuple):
    """Plan of a round: changes by rate (changes in a second), the size of the burst, and seconds of idling.

    `missed` changes come before the start. `counted` changes follow after a restart, to count what they send.
    """

    rates: dict[int, int]
    burst: int
    idle: float
    missed: int = 10
    counted: int = 60


class Phase(NamedTuple):
    """Changes of one kind, and what they cost in milliseconds of CPU for each change."""

    seen: Seen
    own_cpu: float
    server_cpu: float
    requests: Requests


class Restart(NamedTuple):
    """A start without a change: statuses that the program wrote, and the bytes that it received then and for each later change."""

    writes: int
    received: int
    received_per_change: float


class Round(NamedTuple):
    """The figures of one round. Memory is in MiB; idle CPU, and what programs outside of the measurement used, in percent of a core.

    `start_cpu` are the CPU seconds from the start until the program is at rest.
    """

    cold_start: float
    start_cpu: float
    phases: dict[int, Phase]
    burst: Phase
    steady: float
    peak: float
    idle: float
    restart: Restart
    others: float


class Bench(NamedTuple):
    """A cluster with its objects, and the process ids of its API server and of etcd."""

    cluster: Cluster
    traffic: Traffic
    server: int
    etcd: int
    kubeconfig: Path
    folder: Path


async def measured(bench: Bench, arm: Arm, plan: Plan) -> Round:
    """Starts a program twice and measures it. Raises TimeoutError if it does not show a change, and StartError if it ends."""
    log = bench.folder / f"{arm.name.replace(', ', '-').replace(' ', '-')}.log"
    async with bench.traffic.missed(plan.missed) as shown:
        with arms.running(arm, bench.kubeconfig, log) as started:
            pid = started.pid
            cold_start = (await shown).seconds
            await _at_rest(pid)
            start_cpu, idle = processes.cpu(pid), await _idle(pid, plan.idle)
            others, since = _others(bench, pid), time.perf_counter()
            phases = {}
            for rate, count in plan.rates.items():
                phases[rate] = await _phase(bench, pid, bench.traffic.paced(count, rate))
            burst = await _phase(bench, pid, bench.traffic.burst(plan.burst))
            others = (_others(bench, pid) - others) / (time.perf_counter() - since) * 100
            steady, peak = processes.memory(pid)
    restart = await _restart(bench, arm, log, plan.counted)
    return Round(cold_start, start_cpu, phases, burst, steady, peak, idle, restart, others)


async def server_alone(bench: Bench, changes: int) -> float:
    """Milliseconds of the API server's CPU for each change while no program writes a status."""
    before = processes.cpu(bench.server)
    await bench.traffic.unseen(changes)
    return (processes.cpu(bench.server) - before) / changes / 2 * 1000


async def first_statuses(bench: Bench, arm: Arm) -> float:
    """Seconds from the start of a program until every graph has a status for the first time."""
    with arms.running(arm, bench.kubeconfig, bench.folder / "first.log"):
        started = time.perf_counter()
        await bench.traffic.all_judged.wait()
        return time.perf_counter() - started


def _others(bench: Bench, pid: int) -> float:
    """CPU seconds of all programs outside of the measurement."""
    return processes.busy() - sum(map(processes.cpu, (bench.server, bench.etcd, os.getpid(), pid)))


async def _at_rest(pid: int) -> None:
    """Waits until a program has done what its start leaves to do. Raises TimeoutError."""
    async with asyncio.timeout(_LONGEST_START):
        while True:
            before = processes.cpu(pid)
            await asyncio.sleep(1)
            if processes.cpu(pid) - before <= _AT_REST:
                return


async def _idle(pid: int, seconds: float) -> float:
    before, started = processes.cpu(pid), time.perf_counter()
    await asyncio.sleep(seconds)
    return (processes.cpu(pid) - before) / (time.perf_counter() - started) * 100


async def _phase(bench: Bench, pid: int, changes: Awaitable[Seen]) -> Phase:
    requests = await bench.cluster.requests()
    await asyncio.sleep(0.5)  # the API server answers this request at some cost
    own, other = processes.cpu(pid), processes.cpu(bench.server)
    seen = await changes
    await asyncio.sleep(0.5)  # writes that follow
    count = len(seen.latencies) / 1000
    own_cpu, server_cpu = (processes.cpu(pid) - own) / count, (processes.cpu(bench.server) - other) / count
    return Phase(seen, own_cpu, server_cpu, (await bench.cluster.requests()).since(requests))


async def _restart(bench: Bench, arm: Arm, log: Path, changes: int) -> Restart:
    """Starts a program without a change, behind a proxy that counts bytes. The program must show a change and its reversal."""
    before = await bench.cluster.requests()
    with proxy.to(syncer.port(bench.kubeconfig)) as counter:
        kubeconfig = syncer.through(bench.kubeconfig, bench.folder / "counted.kubeconfig", counter.port)
        with arms.running(arm, kubeconfig, log) as started:
            await bench.traffic.burst(1)
            await _at_rest(started.pid)
            writes, received = (await bench.cluster.requests()).since(before).writes - 2, counter.received
            await bench.traffic.paced(changes, _COUNTED_RATE)
            await asyncio.sleep(0.5)  # events that follow
            return Restart(writes, received, (counter.received - received) / changes)
