"""Measures the memory of the status syncer for fleets of several sizes, as one process and as three shards, on one real API server.

python benchmarks/bench_fleet.py [--graphs 1000 5000]

The syncer reads pods. No status is out of date, so it writes nothing.
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
from tests.testbed import control_plane, programs, server, syncer  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

SHARDS = 3
NAMESPACES = 60
GRAPH = "DynamoGraphDeployment"


class Figures(NamedTuple):
    """The cached objects of each process, its memory in MiB and the peak of it, and the CPU seconds of its start."""

    cached: list[int]
    steady: list[float]
    peak: list[float]
    cpu: list[float]

    def row(self, size: fleet.Fleet) -> str:
        """One line of the table."""
        numbers = size.objects
        columns = [numbers[GRAPH], numbers["Deployment"], numbers["Pod"], len(self.cached), max(self.cached)]
        return "".join(f"{column:>13,}" for column in columns) + f"{max(self.steady):13.0f}{max(self.peak):13.0f}{max(self.cpu):13.1f}"


HEAD = "".join(f"{name:>13}" for name in ("graphs", "Deployments", "pods", "processes", "cached", "MiB", "peak MiB", "CPU s"))


def prepare(plane: control_plane.ControlPlane, folder: Path) -> None:
    """Creates the sample of the fleet, and lets a syncer write its status."""
    bench_sync.serve(plane)
    fleet.create_sample(plane)
    path = f"/apis/nvidia.com/v1alpha1/namespaces/{fleet.SAMPLES}/dynamographdeployments/{fleet.SAMPLE}"
    with syncer.running(plane.kubeconfig, folder, "--pods", "--no-events", "--no-leader-election"):
        server.eventually(lambda: plane.client.get(path).get("status", {}).get("state") == "successful")


def measured(plane: control_plane.ControlPlane, folder: Path, size: fleet.Fleet, shards: int) -> Figures:
    """Starts all processes at the same time, and measures them when each has looked at all its graphs."""
    options = ("--pods", "--no-events", "--no-leader-election", "--log-level=info")
    with contextlib.ExitStack() as stack:
        running = [
            stack.enter_context(
                syncer.running(
                    plane.kubeconfig, folder, *options, f"--shard={number}/{shards}", wait=False, name=f"shard-{number}-of-{shards}"
                )
            )
            for number in range(1, shards + 1)
        ]
        for process in running:
            process.server.wait(process.ready, 600)
        server.eventually(lambda: sum(_processed(process) for process in running) >= size.graphs, 600)
        time.sleep(2)  # the memory of a moment is not that of a process at rest
        memory = [processes.memory(process.server.pid) for process in running]
        if any(process.metric("writes_total", result="written") for process in running):
            raise RuntimeError("the copies have the status of the sample, but the syncer wrote another one")
        return Figures(
            [int(process.metric("cached_objects")) for process in running],
            [steady for steady, _ in memory],
            [peak for _, peak in memory],
            [processes.cpu(process.server.pid) for process in running],
        )


def _processed(process: syncer.Syncer) -> float:
    """The graphs that a process has looked at; 0 while it is too busy to answer."""
    with contextlib.suppress(OSError):
        return process.metric("writes_total", kind=GRAPH, result="noop")
    return 0


def run(plane: control_plane.ControlPlane, folder: Path, sizes: Sequence[fleet.Fleet]) -> dict[tuple[int, int], Figures]:
    """Measures all sizes, the smallest first; returns the figures by graphs and shards, and prints them."""
    prepare(plane, folder)
    print(HEAD, flush=True)
    figures = {}
    for size in sizes:
        fleet.store(plane, size)
        for shards in (1, SHARDS):
            figures[size.graphs, shards] = measured(plane, folder, size, shards)
            print(figures[size.graphs, shards].row(size), flush=True)
    return figures


def main() -> None:
    """Runs all measurements."""
    parser = argparse.ArgumentParser(description="Memory of the status syncer.")
    parser.add_argument("--graphs", type=int, nargs="+", default=[100, 1000, 5000])
    options = parser.parse_args()
    os.chdir(ROOT)
    needed = control_plane.Programs(*(programs.path(name) for name in ("etcd", "kube-apiserver", "kubectl")))
    print(f"{os.cpu_count()} cores, load {processes.load()}, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory() as folder, control_plane.running(Path(folder), needed) as plane:
        run(plane, Path(folder), [fleet.Fleet(graphs, NAMESPACES) for graphs in sorted(options.graphs)])


if __name__ == "__main__":
    main()
