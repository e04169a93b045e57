"""Measures the status syncer beside a client-go program that does the same, and beside the API server's own cost, on one real API server.

python benchmarks/bench_sync.py [--quick] [--only PROGRAM]

Latencies are from the API server's answer to the change of a Deployment until a watch shows it in the status of its graph, on one clock. No
controller runs: the measurement itself writes the statuses of Deployments.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import yaml  # noqa: E402 - the folder above

from benchmarks.sync import arms, cluster, fleet, processes, report, rounds, traffic  # noqa: E402
from tests.testbed import control_plane, programs, server  # noqa: E402


class Size(NamedTuple):
    """A measurement: the objects, the number of rounds, and the plan of a round."""

    fleet: fleet.Fleet
    rounds: int
    plan: rounds.Plan


_SMALL = fleet.Fleet(graphs=100, namespaces=10, services=10, pods=0)
_MIDDLE = fleet.Fleet(graphs=1000, namespaces=60, services=10, pods=0)
_LARGE = fleet.Fleet(graphs=5000, namespaces=60)
QUICK = (Size(_SMALL, 1, rounds.Plan({20: 60}, burst=100, idle=3)),)
COMPLETE = (
    Size(_SMALL, 1, rounds.Plan({5: 40, 20: 160, 40: 320}, burst=300, idle=5)),
    Size(_MIDDLE, 2, rounds.Plan({5: 50, 20: 200, 40: 400}, burst=300, idle=8)),
    Size(_LARGE, 1, rounds.Plan({5: 50, 20: 200, 40: 400}, burst=300, idle=20)),
)


def serve(plane: control_plane.ControlPlane) -> None:
    """Lets a control plane serve Dynamo's kinds."""
    for file in sorted((ROOT / "platform" / "crds").glob("dynamo*.yaml")):
        plane.apply(yaml.safe_load(file.read_text("utf-8")), dry_run=False)
    server.eventually(lambda: plane.client.knows("nvidia.com/v1alpha1", "DynamoGraphDeployment"))


async def run(plane: control_plane.ControlPlane, size: Size, compared: list[arms.Arm]) -> None:
    """Measures programs at one size on a control plane without graphs that serves Dynamo's kinds."""
    fleet.create_sample(plane, size.fleet)
    fleet.store(plane, size.fleet)
    numbers = ", ".join(f"{number:,} {kind}s" for kind, number in size.fleet.objects.items() if number)
    print(f"\n{sum(size.fleet.objects.values()):,} objects: {numbers}", flush=True)
    async with cluster.connected(plane.kubeconfig) as connection:
        changes = traffic.Traffic(connection, size.fleet)
        bench = rounds.Bench(connection, changes, plane.apiserver.pid, plane.etcd.pid, plane.kubeconfig, plane.folder)
        async with changes.observed():
            await _measure(bench, size, compared)


async def _measure(bench: rounds.Bench, size: Size, compared: list[arms.Arm]) -> None:
    seconds = await rounds.first_statuses(bench, compared[0])
    print(f"{compared[0].name}: the first status of {size.fleet.graphs} graphs in {seconds:.1f} s")
    print(
        f"API server without a syncer: {await rounds.server_alone(bench, min(100, size.plan.burst)):.1f} ms of CPU per change", flush=True
    )
    done: report.Rounds = {arm.name: [] for arm in compared}
    for _ in range(size.rounds):
        for arm in compared:
            done[arm.name].append(await rounds.measured(bench, arm, size.plan))
            print(report.line(arm.name, done[arm.name][-1]), flush=True)
    print(f"\n{report.table(done, sum(size.fleet.objects.values()))}", flush=True)


def _arms(size: fleet.Fleet) -> list[arms.Arm]:
    entry = programs.where()[arms.PROGRAM]
    if "path" not in entry:
        print(f"{arms.PROGRAM} is missing: {entry['missing']}", file=sys.stderr)
        return [arms.ours(size)]
    return [arms.ours(size), *arms.baselines(size, Path(entry["path"]))]


def main() -> None:
    """Runs all measurements."""
    parser = argparse.ArgumentParser(description="Latency, memory and CPU of the status syncer.")
    parser.add_argument("--quick", action="store_true", help="1,000 Deployments in about a minute")
    parser.add_argument("--only", default="", metavar="PROGRAM", help="measure only programs whose name contains this")
    options = parser.parse_args()
    os.chdir(ROOT)  # so that the syncer of this tree runs
    needed = control_plane.Programs(*(programs.path(name) for name in ("etcd", "kube-apiserver", "kubectl")))
    version = programs.where()["kube-apiserver"]["version"]
    print(f"{os.cpu_count()} cores, load {processes.load()}, Python {platform.python_version()}, Kubernetes {version}")
    for size in QUICK if options.quick else COMPLETE:
        with tempfile.TemporaryDirectory() as folder, control_plane.running(Path(folder), needed, environment={}) as plane:
            serve(plane)
            compared = [arm for arm in _arms(size.fleet) if options.only in arm.name]
            asyncio.run(run(plane, size, compared))


if __name__ == "__main__":
    main()
