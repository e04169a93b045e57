"""Measures the status syncer for fleets of several sizes, as one process and as several that share the namespaces, on one real API server.

python benchmarks/bench_fleet.py [--graphs 1000 5000] [--members 1 3 6] [--idle SECONDS]

The syncer reads pods. No status is out of date, and the changes are of annotations, so it writes nothing. All figures are those of the
process with the highest one, because a hash does not divide the namespaces into equal shares.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import bench_sync  # noqa: E402 - the folder above
from benchmarks.sync import fleet, processes  # noqa: E402
from tests.testbed import control_plane, programs, proxy, server, syncer  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NAMESPACES = 60
CHANGES = 1000
LEASES = "dynamo-system"
PROBES = {"/readyz": 5, "/livez": 10, "/metrics": 15}
"""Requests to an idle process, and the seconds between two of them, as in `platform/syncer`."""
GRAPH = "DynamoGraphDeployment"
_KIB, _MIB = 1024, 2**20


class Figures(NamedTuple):
    """The figures of the process with the highest one: cached objects, memory in MiB and its peak, CPU seconds and traffic.

    The traffic is what it received, at the start in MiB, and for 1,000 changes in KiB. `server_cpu` are CPU seconds of the API server.
    `idle_cpu` and `idle_received` are CPU seconds and MiB for an hour without changes.
    """

    processes: int
    cached: int
    memory: float
    peak: float
    start_cpu: float
    start_received: float
    changes_cpu: float
    changes_received: float
    server_cpu: float
    idle_cpu: float
    idle_received: float

    def row(self, size: fleet.Fleet) -> str:
        """One line of the table."""
        numbers = size.objects
        columns = [numbers[GRAPH], numbers["Deployment"], numbers["Pod"], self.processes, self.cached]
        return "".join(f"{column:>13,}" for column in columns) + "".join(f"{figure:13.2f}" for figure in self[2:])


NAMES = (
    "graphs",
    "Deployments",
    "pods",
    "processes",
    "cached",
    "MiB",
    "peak MiB",
    "start CPU s",
    "start MiB",
    "1k CPU s",
    "1k KiB",
    "1k server s",
    "idle CPU s/h",
    "idle MiB/h",
)
HEAD = "".join(f"{name:>13}" for name in NAMES)


class Process(NamedTuple):
    """A process, and the proxy that counts what it receives."""

    running: syncer.Syncer
    proxy: proxy.Proxy

    def used(self) -> tuple[float, int]:
        """The CPU seconds of the process, and the bytes that it received."""
        return processes.cpu(self.running.server.pid), self.proxy.received


def prepare(plane: control_plane.ControlPlane, folder: Path, size: fleet.Fleet) -> None:
    """Creates the sample of the fleet, and lets a syncer write its status."""
    bench_sync.serve(plane)
    plane.namespace(LEASES)
    fleet.create_sample(plane, size)
    path = f"/apis/nvidia.com/v1alpha1/namespaces/{fleet.SAMPLES}/dynamographdeployments/{fleet.SAMPLE}"
    with syncer.running(plane.kubeconfig, folder, "--pods", "--no-events", "--no-leader-election"):
        server.eventually(lambda: plane.client.get(path).get("status", {}).get("state") == "successful")


def start(stack: contextlib.ExitStack, plane: control_plane.ControlPlane, folder: Path, count: int) -> list[Process]:
    """Starts all processes at the same time."""
    options = ("--pods", "--no-events", "--log-level=info", f"--lease-namespace={LEASES}")
    started = []
    for number in range(count):
        name = f"krm-fn-sync-{number}-of-{count}"
        counter = stack.enter_context(proxy.to(syncer.port(plane.kubeconfig)))
        kubeconfig = syncer.through(plane.kubeconfig, folder / f"{name}.kubeconfig", counter.port)
        sharing = "--shards" if count > 1 else "--leader-election"
        running = syncer.running(kubeconfig, folder, *options, sharing, wait=False, name=name, pod=name)
        started.append(Process(stack.enter_context(running), counter))
    return started


def measured(plane: control_plane.ControlPlane, folder: Path, size: fleet.Fleet, count: int, idle: int) -> Figures:
    """Starts the processes, measures them when each has looked at all its graphs, again after changes, and without changes."""
    with contextlib.ExitStack() as stack:
        members = start(stack, plane, folder, count)
        for member in members:
            member.running.server.wait(member.running.ready, 600)
        objects = sum(size.objects.values()) + 1 + size.services * (1 + size.pods)
        server.eventually(lambda: sum(_metric(member, "cached_objects") for member in members) == objects, 600)
        server.eventually(lambda: sum(_metric(member, "writes_total", kind=GRAPH, result="noop") for member in members) >= size.graphs, 600)
        time.sleep(2)  # the memory of a moment is not that of a process at rest
        memory = [processes.memory(member.running.server.pid) for member in members]
        starts, server_begin = [member.used() for member in members], processes.cpu(plane.apiserver.pid)
        changes_cpu, changes_received = highest(members, lambda: change(plane, size))
        server_cpu = processes.cpu(plane.apiserver.pid) - server_begin
        if any(_metric(member, "writes_total", result="written") for member in members):
            raise RuntimeError("the copies have the status of the sample, but the syncer wrote another one")
        idle_cpu, idle_received = highest(members, lambda: probe(members, idle))
        thousands, hours = CHANGES / 1000, idle / 3600
        return Figures(
            count,
            int(max(_metric(member, "cached_objects") for member in members)),
            max(steady for steady, _ in memory),
            max(peak for _, peak in memory),
            max(cpu for cpu, _ in starts),
            max(received for _, received in starts) / _MIB,
            changes_cpu / thousands,
            changes_received / thousands / _KIB,
            server_cpu / thousands,
            idle_cpu / hours,
            idle_received / hours / _MIB,
        )


def highest(members: Sequence[Process], action: Callable[[], None]) -> tuple[float, int]:
    """Runs an action. Returns the highest CPU time of a process meanwhile, in seconds, and the highest number of received bytes."""
    begin = [member.used() for member in members]
    action()
    end = [member.used() for member in members]
    used = [(after[0] - before[0], after[1] - before[1]) for before, after in zip(begin, end, strict=True)]
    return max(cpu for cpu, _ in used), max(received for _, received in used)


def change(plane: control_plane.ControlPlane, size: fleet.Fleet) -> None:
    """Changes an annotation of graphs in all namespaces, and waits for the syncer."""
    for number in range(CHANGES):
        index = number * 7919 % size.graphs
        path = f"/apis/nvidia.com/v1alpha1/namespaces/{size.namespace(index)}/dynamographdeployments/{fleet.graph(index)}"
        body = {"metadata": {"annotations": {"example.com/change": f"{time.time()}"}}}
        answer = plane.client.request("PATCH", path, body, "application/merge-patch+json")
        if not answer.ok:
            raise OSError(answer.message)
    time.sleep(2)


def probe(members: Sequence[Process], seconds: int) -> None:
    """Sends the requests of a kubelet and of Prometheus for some seconds. Raises OSError if a process does not answer."""
    begin = time.monotonic()
    for second in range(seconds):
        time.sleep(max(0, begin + second - time.monotonic()))
        for member in members:
            for path, period in PROBES.items():
                if second % period == 0 and member.running.ask(path)[0] != 200:
                    raise OSError(f"no answer from {path}")
    time.sleep(max(0, begin + seconds - time.monotonic()))


def _metric(member: Process, name: str, **labels: str) -> float:
    """The value of a metric; 0 while the process is too busy to answer."""
    with contextlib.suppress(OSError):
        return member.running.metric(name, **labels)
    return 0


def run(plane: control_plane.ControlPlane, folder: Path, sizes: Sequence[fleet.Fleet], counts: Sequence[int], idle: int) -> None:
    """Measures all sizes, the smallest first, and prints the figures."""
    prepare(plane, folder, sizes[0])
    print(HEAD, flush=True)
    for size in sizes:
        fleet.store(plane, size)
        for count in counts:
            print(measured(plane, folder, size, count, idle).row(size), flush=True)


def main() -> None:
    """Runs all measurements."""
    parser = argparse.ArgumentParser(description="Memory, CPU time and traffic of the status syncer.")
    parser.add_argument("--graphs", type=int, nargs="+", default=[100, 1000, 5000])
    parser.add_argument("--members", type=int, nargs="+", default=[1, 3, 6])
    parser.add_argument("--idle", type=int, default=60, metavar="SECONDS", help="the time without changes")
    options = parser.parse_args()
    os.chdir(ROOT)
    needed = control_plane.Programs(*(programs.path(name) for name in ("etcd", "kube-apiserver", "kubectl")))
    print(f"{os.cpu_count()} cores, load {processes.load()}, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory() as folder, control_plane.running(Path(folder), needed, environment={}) as plane:
        sizes = [fleet.Fleet(graphs, NAMESPACES) for graphs in sorted(options.graphs)]
        run(plane, Path(folder), sizes, options.members, options.idle)


if __name__ == "__main__":
    main()
