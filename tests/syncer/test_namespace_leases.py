"""Namespace leases keep one namespace for one syncer or operator, on a real API server."""

import asyncio
import contextlib
import time
from datetime import UTC, datetime

import pytest

import krm_fn
from krm_fn.cluster import timestamps
from krm_fn.cluster.client import Client
from krm_fn.cluster.reflector import Listener, Reflector
from krm_fn.syncer import namespace_leases
from krm_fn.syncer.namespace_leases import HeldNamespaces, NamespaceLease, NamespaceLeaseError, NamespaceLeases
from tests.syncer.loops import eventually, runs

OURS = "dynamo-system/krm-fn-sync"
OPERATOR = "namespace-restricted-operator-0.9.0"


def path(namespace):
    return f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{namespace_leases.NAME}"


def micro(seconds):
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def put(fragile, namespace, holder=OPERATOR, ago=0.0, **spec):
    """A marker that somebody renewed some seconds ago."""
    fragile.plane.namespace(namespace)
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 30, "renewTime": micro(time.time() - ago), **spec}
    body = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": namespace_leases.NAME, "namespace": namespace},
        "spec": {name: value for name, value in spec.items() if value is not None},
    }
    answer = fragile.plane.client.apply(body, dry_run=False)
    assert answer.ok, answer.message


def held(fragile, namespace):
    answer = fragile.plane.client.request("GET", path(namespace))
    return answer.body["spec"] if answer.ok else None


@contextlib.asynccontextmanager
async def followed(fragile, namespace, token=""):
    """The markers of a namespace, and the namespaces that became free."""
    freed: list[str] = []
    found = NamespaceLeases(OURS, freed.append, Listener())
    async with Client(fragile.cluster(token=token)) as client:
        reflector = Reflector(client, namespace_leases.KIND, namespace, found.store, namespace_leases.read, found.changed, found)
        task = asyncio.create_task(reflector.run())
        if not token:
            await reflector.synced.wait()
        try:
            yield found, freed
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize(
    ("spec", "duration"),
    [
        ({"holderIdentity": "x", "renewTime": "2026-02-03T10:00:00.500000Z", "leaseDurationSeconds": 30}, 30),
        ({"holderIdentity": "x", "leaseDurationSeconds": 30}, 0),
        ({"holderIdentity": "x", "renewTime": "2026-02-03T10:00:00.500000Z"}, 0),
        ({"holderIdentity": "x", "renewTime": "soon", "leaseDurationSeconds": 30}, 0),
    ],
)
def test_a_marker_without_a_time_is_expired(spec, duration):
    """The reference counts a Lease without renewTime or leaseDurationSeconds as expired."""
    assert namespace_leases.read({"spec": spec}) == NamespaceLease("x", spec.get("renewTime", ""), duration)
    assert namespace_leases.read({}) == NamespaceLease()


def test_all_versions_and_replicas_of_an_installation_share_its_markers():
    assert namespace_leases.is_ours(namespace_leases.identity(OURS), OURS)
    assert namespace_leases.is_ours(f"krm-fn 9.9 {OURS}", OURS)
    assert not namespace_leases.is_ours(f"krm-fn {krm_fn.__version__} team-a/krm-fn-sync", OURS)
    assert not namespace_leases.is_ours(OPERATOR, OURS)


@runs
async def test_a_namespace_of_another_is_left_alone_until_its_marker_goes(fragile):
    async with followed(fragile, "marker-gone") as (found, freed):
        assert not found.is_excluded("marker-gone")
        put(fragile, "marker-gone")
        await eventually(lambda: found.is_excluded("marker-gone"))
        assert not found.is_excluded("another")
        fragile.plane.client.request("DELETE", path("marker-gone"))
        await eventually(lambda: freed == ["marker-gone"])
        assert not found.is_excluded("marker-gone")


@runs
async def test_a_namespace_is_free_when_the_time_of_its_marker_is_over(fragile):
    """Nothing changes in the cluster at that moment. The reference notices the end with the next event only."""
    put(fragile, "marker-expires", leaseDurationSeconds=3)
    async with followed(fragile, "marker-expires") as (found, freed):
        assert found.is_excluded("marker-expires")
        await asyncio.sleep(1)
        renewed = time.monotonic()
        put(fragile, "marker-expires", leaseDurationSeconds=3)
        await eventually(lambda: freed == ["marker-expires"])
        assert time.monotonic() - renewed >= 3, "the marker was renewed"
        assert not found.is_excluded("marker-expires")


@runs
@pytest.mark.parametrize(
    ("name", "marker"),
    [("ours", {"holder": namespace_leases.identity(OURS)}), ("unrenewed", {"renewTime": None})],
)
async def test_these_markers_exclude_nothing(name, marker, fragile):
    put(fragile, f"marker-{name}", **marker)
    async with followed(fragile, f"marker-{name}") as (found, freed):
        assert len(found.store) == 1
        assert (found.is_excluded(f"marker-{name}"), freed) == (False, [])


@runs
@pytest.mark.parametrize(("name", "ago"), [("slow", 45), ("fast", -45)])
async def test_the_clocks_of_two_machines_are_not_compared(name, ago, fragile):
    """The clock of the holder may be wrong, or ours. What counts is the time since we saw a renewal."""
    namespace = f"marker-{name}"
    put(fragile, namespace, ago=ago, leaseDurationSeconds=3)
    async with followed(fragile, namespace) as (found, freed):
        began = time.monotonic()
        assert found.is_excluded(namespace)
        await asyncio.sleep(1)
        put(fragile, namespace, ago=ago, leaseDurationSeconds=3)
        await eventually(lambda: freed == [namespace])
        assert 4 <= time.monotonic() - began < 30


@runs
async def test_other_leases_never_arrive(fragile):
    """A cluster has one Lease for each node, which changes every ten seconds."""
    fragile.plane.namespace("marker-others")
    body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "node-1"}}
    fragile.plane.client.request("POST", "/apis/coordination.k8s.io/v1/namespaces/marker-others/leases", body)
    put(fragile, "marker-others")
    async with followed(fragile, "marker-others") as (found, _):
        assert [key.name for key in found.store.keys("marker-others")] == [namespace_leases.NAME]


@runs
async def test_without_the_right_to_read_markers_every_namespace_is_served(fragile, caplog):
    put(fragile, "marker-forbidden")
    async with followed(fragile, "marker-forbidden", fragile.account("marker-forbidden", "poor")) as (found, _):
        await asyncio.sleep(0.5)
        assert not found.forbidden.is_set(), "a server that just started refuses everything for a moment"
        await found.forbidden.wait()
        assert not found.is_excluded("marker-forbidden")
        assert "namespaces with another holder are served, too" in caplog.text


@contextlib.asynccontextmanager
async def holding(fragile, namespace, token=""):
    """Our markers in a namespace, and the task that renews them."""
    fragile.plane.namespace(namespace)
    async with Client(fragile.cluster(token=token)) as client:
        own = HeldNamespaces(client, [namespace], OURS)
        task = asyncio.create_task(own.run())
        try:
            yield own, task
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


@runs
async def test_our_marker_is_valid_from_the_first_moment(fragile):
    """The reference sets renewTime with the first renewal only, so that a cluster-wide operator works for ten seconds more."""
    async with holding(fragile, "marker-own") as (own, _):
        await eventually(lambda: held(fragile, "marker-own") is not None)
        spec = held(fragile, "marker-own")
        assert (spec["holderIdentity"], spec["leaseDurationSeconds"]) == (f"krm-fn {krm_fn.__version__} {OURS}", 30)
        assert time.time() <= timestamps.parse(spec["renewTime"]) + spec["leaseDurationSeconds"]
        await eventually(lambda: bool(own._acquired))
        await own.release(successor=False)
        assert held(fragile, "marker-own") is None


def test_our_marker_is_renewed_and_made_again(fragile, monkeypatch):
    monkeypatch.setattr(namespace_leases, "RENEW_PERIOD", 2.0)  # also the timeout of a renewal
    _renewed(fragile)


@runs
async def _renewed(fragile):
    async with holding(fragile, "marker-renewed"):
        await eventually(lambda: held(fragile, "marker-renewed") is not None)
        first = held(fragile, "marker-renewed")
        await eventually(lambda: held(fragile, "marker-renewed")["renewTime"] > first["renewTime"])
        assert held(fragile, "marker-renewed")["acquireTime"] == first["acquireTime"]
        fragile.plane.client.request("DELETE", path("marker-renewed"))
        await eventually(lambda: held(fragile, "marker-renewed") is not None)


@runs
async def test_a_marker_of_another_is_taken_as_the_reference_does_and_said(fragile, caplog):
    put(fragile, "marker-taken")
    async with holding(fragile, "marker-taken"):
        await eventually(lambda: held(fragile, "marker-taken")["holderIdentity"].startswith("krm-fn "))
    assert f"took the Lease marker-taken/{namespace_leases.NAME} from '{OPERATOR}'" in caplog.text


@runs
async def test_a_marker_that_went_to_another_is_not_given_up(fragile):
    async with holding(fragile, "marker-lost") as (own, task):
        await eventually(lambda: bool(own._acquired))
        task.cancel()
        put(fragile, "marker-lost")
        await own.release(successor=False)
        await own.release(successor=True)
        assert held(fragile, "marker-lost")["holderIdentity"] == OPERATOR


@runs
async def test_a_leader_leaves_its_marker_to_the_next_leader(fragile):
    """Without a gap: a cluster-wide operator would work in it. Without a next leader the marker expires soon."""
    async with holding(fragile, "marker-left") as (own, task):
        await eventually(lambda: bool(own._acquired))
        task.cancel()
        await own.release(successor=True)
        assert held(fragile, "marker-left")["leaseDurationSeconds"] == namespace_leases.HANDOVER


@runs
async def test_a_marker_that_cannot_be_made_ends_the_syncer(fragile):
    token = fragile.account("marker-refused", "poor")
    async with holding(fragile, "marker-refused", token) as (_, task):
        with pytest.raises(NamespaceLeaseError, match=f"the Lease marker-refused/{namespace_leases.NAME} cannot be held: 403"):
            await task


def test_a_marker_that_cannot_be_renewed_twice_ends_the_syncer(fragile, between, monkeypatch):
    """As in the reference: after that, a cluster-wide operator would work beside us."""
    monkeypatch.setattr(namespace_leases, "RENEW_PERIOD", 2.0)  # also the timeout of a renewal
    _lost(fragile, between)


@runs
async def _lost(fragile, between):
    fragile.plane.namespace("marker-failing")
    async with Client(fragile.cluster(between.port)) as client:
        own = HeldNamespaces(client, ["marker-failing"], OURS)
        task = asyncio.create_task(own.run())
        await eventually(lambda: bool(own._acquired))
        between.refuse()
        between.cut()
        began = time.monotonic()
        with pytest.raises(NamespaceLeaseError, match="cannot be held"):
            await task
        assert time.monotonic() - began >= 2, "the first failure is a warning"
