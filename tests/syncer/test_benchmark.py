"""The measurement of `make bench-sync`, on few objects: the real syncer on a real API server. No test asserts a time."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks import bench_sync
from benchmarks.sync import arms, cluster, fleet, goals, report, rounds, traffic
from tests.syncer.loops import whole
from tests.testbed import server

GRAPHS = "/apis/nvidia.com/v1alpha1/namespaces/{}/dynamographdeployments"
DEPLOYMENTS = "/apis/apps/v1/namespaces/{}/deployments"
PODS = "/api/v1/namespaces/{}/pods"
TINY = bench_sync.Size(fleet.Fleet(graphs=4, namespaces=2, pods=1), 1, rounds.Plan({20: 8}, burst=4, idle=0.2, missed=2, counted=4))


def test_a_change_costs_one_write_and_a_restart_none(fragile, monkeypatch, capsys):
    """The measurement counts the requests that the API server received, also those that changed nothing."""
    monkeypatch.chdir(bench_sync.ROOT)
    bench_sync.serve(fragile.plane)
    asyncio.run(whole(bench_sync.run(fragile.plane, TINY, [arms.ours(TINY.fleet)])))
    delete(fragile.plane)
    rows = {line[:32].strip(): line[32:].split()[0] for line in capsys.readouterr().out.splitlines() if line[32:].strip()}
    expected = {"writes per change": "1.00", "writes after a restart": "0.00", "API reads per change": "0.00", "conflicts, %": "0.00"}
    assert {name: rows[name] for name in expected} == expected


@pytest.mark.parametrize(("figure", "verdict"), [(20, "at most 20 ms: ok"), (20.5, "at most 20 ms: MISSED")])
def test_a_goal_is_reached_up_to_its_limit(figure, verdict):
    assert goals.MEDIAN.verdict(figure) == verdict


def round_of(memory, received):
    """A round with this memory in MiB, and with these received bytes at the start."""
    phase = rounds.Phase(traffic.Seen([5.0, 6.0], 1.0), 2.0, 20.0, cluster.Requests(2, 0, 0))
    return rounds.Round(1.0, 0.5, {20: phase}, phase, memory, memory, 0.1, rounds.Restart(0, received, 2048.0), 0.0)


@pytest.mark.parametrize(
    ("memory", "objects", "ratios"),
    [
        (250, 50_000, "memory, steady 0.25 0.62 at most 0.25 x client-go: ok"),
        (260, 50_000, "memory, steady 0.26 0.65 at most 0.25 x client-go: MISSED"),
        (260, 1000, "memory, steady 0.26 0.65"),
    ],
)
def test_one_table_compares_memory_cpu_and_bytes_of_all_programs(memory, objects, ratios):
    """The goal for memory is for the first of the other programs, and for fleets whose objects need most of the memory."""
    programs = {"krm-fn sync": [round_of(memory, 3 * 2**20)], "client-go": [round_of(1000, 2 * 2**20)], "stripped": [round_of(400, 2**20)]}
    lines = [" ".join(line.split()) for line in report.table(programs, objects).splitlines()]
    for expected in ("CPU per change, ms 2.00 2.00 2.00", "received, start, MiB 3.00 2.00 1.00", "received per change, KiB 2.00 2.00 2.00"):
        assert expected in lines
    assert lines[-1] == ratios


def test_the_api_server_serves_the_copies_of_a_fleet(fragile):
    """They are in etcd without the API server, in a form that it does not write itself."""
    plane, client = fragile.plane, fragile.plane.client
    bench_sync.serve(plane)
    size = fleet.Fleet(graphs=3, namespaces=2)
    fleet.create_sample(plane, size)
    fleet.store(plane, size)
    path = DEPLOYMENTS.format("team-001")
    graphs, pods_path = GRAPHS.format("team-001"), PODS.format("team-000")
    # The API server serves each kind from a cache of its own, which reads etcd later.
    expected = {path: 3, graphs: 1, pods_path: size.objects["Pod"] * 2 // 3}
    server.eventually(lambda: {listed: len(client.get(listed)["items"]) for listed in expected} == expected)
    (graph,) = client.get(graphs)["items"]
    assert graph["metadata"]["name"] == "graph-00001"
    pods = client.get(pods_path)["items"]
    assert len({pod["metadata"]["uid"] for pod in pods}) == len(pods)
    assert plane.kubectl("scale", "deployment/graph-00001-worker1", "--replicas=3", "-n", "team-001")
    delete(plane)


def delete(plane):
    """Delete the objects of a fleet with two namespaces."""
    for namespace in (fleet.SAMPLES, fleet.namespace(0), fleet.namespace(1)):
        for path in (GRAPHS, DEPLOYMENTS, PODS):
            plane.client.request("DELETE", path.format(namespace), {"gracePeriodSeconds": 0})
