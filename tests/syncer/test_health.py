"""Probes and metrics over HTTP."""

import asyncio
import time

import aiohttp
import pytest

import krm_fn
from krm_fn.syncer import health
from krm_fn.syncer.health import Health
from krm_fn.syncer.metrics import Metrics, Snapshot
from tests.syncer.loops import runs
from tests.testbed import server


class Served:
    """A health server whose problems the test sets."""

    def __init__(self):
        self.hanging: list[str] = []
        self.missing: list[str] = []
        self.metrics = Metrics()
        self.health = Health(self.metrics, lambda: self.hanging, lambda: self.missing)

    async def __aenter__(self):
        (self.port,) = server.free_ports(1)
        await self.health.serve("127.0.0.1", self.port)
        self.session = aiohttp.ClientSession()
        return self

    async def __aexit__(self, *_):
        await self.session.close()
        await self.health.close()

    async def ask(self, path):
        async with self.session.get(f"http://127.0.0.1:{self.port}{path}") as response:
            return response.status, await response.text()


@runs
async def test_readiness_says_what_is_missing_and_liveness_does_not_care():
    """A missing right or an API server that is down is not cured by a restart."""
    async with Served() as served:
        assert [await served.ask(each) for each in ("/livez", "/healthz", "/readyz")] == [(200, "ok\n")] * 3
        served.missing = ["Deployment: not read yet"]
        assert await served.ask("/readyz") == (503, "Deployment: not read yet\n")
        assert await served.ask("/livez") == (200, "ok\n")


@runs
async def test_a_hanging_part_ends_liveness():
    async with Served() as served:
        served.hanging = ["the watch of Deployment hangs"]
        assert await served.ask("/livez") == await served.ask("/healthz") == (503, "the watch of Deployment hangs\n")


@runs
async def test_a_syncer_that_stops_is_not_ready():
    async with Served() as served:
        served.health.stopping = True
        assert await served.ask("/readyz") == (503, "stopping\n")
        assert (await served.ask("/livez"))[0] == 200


def test_an_event_loop_that_is_late_ends_liveness(monkeypatch):
    monkeypatch.setattr(health, "_LAG", 0.5)
    _late()


@runs
async def _late():
    async with Served() as served:
        ticking = asyncio.create_task(served.health.tick())
        await asyncio.sleep(0.1)
        time.sleep(1.7)  # noqa: ASYNC251 - this is the disturbance
        await asyncio.sleep(0.1)
        code, text = await served.ask("/livez")
        assert (code, text.startswith("the event loop was ")) == (503, True)
        ticking.cancel()


@runs
async def test_an_address_that_is_in_use_is_an_error():
    async with Served() as served:
        with pytest.raises(OSError, match="address already in use"):
            await Served().health.serve("127.0.0.1", served.port)


@runs
async def test_metrics_have_no_series_of_things_that_are_gone():
    states = {("DynamoGraphDeployment", "team-a", "failed"): 2}
    moves, cached, ages = {"gained": 2, "lost": 1}, {"Deployment": 3}, {"Deployment": 0.5}
    found = [Snapshot("dynamo-system/krm-fn-sync", True, 3, moves, 1, 4, 3, 2.5, cached, ages, states)]
    async with Served() as served:
        served.metrics.watch(lambda: found[0])
        served.metrics.writes.labels("DynamoGraphDeployment", "written").inc()
        served.metrics.restarted("Deployment", "expired")
        served.metrics.relisted("Deployment")
        served.metrics.rejected("Deployment")
        lines = (await served.ask("/metrics"))[1].splitlines()
        for line in (
            "krm_fn_sync_queue_depth 1.0",
            "krm_fn_sync_queue_age_seconds 2.5",
            "krm_fn_sync_queue_retries 4.0",
            "krm_fn_sync_queue_aside 3.0",
            'krm_fn_sync_leader{installation="dynamo-system/krm-fn-sync"} 1.0',
            'krm_fn_sync_members{installation="dynamo-system/krm-fn-sync"} 3.0',
            'krm_fn_sync_moves_total{direction="gained"} 2.0',
            'krm_fn_sync_foreign_objects_total{kind="Deployment"} 1.0',
            "krm_fn_sync_namespaces 1.0",
            'krm_fn_sync_cached_objects{kind="Deployment"} 3.0',
            'krm_fn_sync_last_event_seconds{kind="Deployment"} 0.5',
            'krm_fn_sync_resources{kind="DynamoGraphDeployment",namespace="team-a",state="failed"} 2.0',
            'krm_fn_sync_writes_total{kind="DynamoGraphDeployment",result="written"} 1.0',
            'krm_fn_sync_watch_restarts_total{kind="Deployment",reason="expired"} 1.0',
            'krm_fn_sync_relists_total{kind="Deployment"} 1.0',
            f'krm_fn_sync_info{{version="{krm_fn.__version__}"}} 1.0',
        ):
            assert line in lines
        assert any(line.startswith("process_resident_memory_bytes") for line in lines)
        found[0] = Snapshot("dynamo-system/krm-fn-sync", False)
        assert "krm_fn_sync_resources{" not in (await served.ask("/metrics"))[1]
