"""The measurement of `make bench-sync`, on few objects: the real syncer on a real API server. No test asserts a time."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks import bench_sync
from benchmarks.sync import arms, cluster, goals, rounds
from tests.sync.loops import whole

TINY = (bench_sync.Size(4, 1, rounds.Plan({20: 8}, burst=4, idle=0.2, restart=0.5, missed=2)),)


def test_a_change_costs_one_write_and_a_restart_none(fragile, monkeypatch, capsys):
    """The measurement counts the requests that the API server received, also those that changed nothing."""
    monkeypatch.chdir(bench_sync.ROOT)
    bench_sync.serve(fragile.plane)
    asyncio.run(whole(bench_sync.run(fragile.plane, TINY, [arms.ours(fragile.plane.kubeconfig)])))
    for path in (cluster.GRAPHS, cluster.DEPLOYMENTS):
        fragile.plane.client.request("DELETE", path)
    rows = {line[:32].strip(): line[32:].split()[0] for line in capsys.readouterr().out.splitlines() if line[32:].strip()}
    expected = {"writes per change": "1.00", "writes after a restart": "0.00", "API reads per change": "0.00", "conflicts, %": "0.00"}
    assert {name: rows[name] for name in expected} == expected


@pytest.mark.parametrize(("figure", "verdict"), [(20, "at most 20 ms: ok"), (20.5, "at most 20 ms: MISSED")])
def test_a_goal_is_reached_up_to_its_limit(figure, verdict):
    assert goals.MEDIAN.verdict(figure) == verdict
