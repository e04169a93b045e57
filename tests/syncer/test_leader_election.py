"""Of several replicas exactly one leads, on a real API server."""

import asyncio
import contextlib
import time

import pytest

from krm_fn.cluster import leader_election
from krm_fn.cluster.client import Client
from krm_fn.cluster.leader_election import LeaderElector
from tests.syncer.loops import eventually, runs


@pytest.fixture
def quick(monkeypatch):
    """The times of the election, shorter. A renewal may need three requests, which take their time on a busy machine."""
    monkeypatch.setattr(leader_election, "LEASE_DURATION", 6)
    monkeypatch.setattr(leader_election, "RENEW_DEADLINE", 4.0)
    monkeypatch.setattr(leader_election, "RETRY_PERIOD", 0.2)


@pytest.fixture
def abandoned(monkeypatch):
    """The reasons for which a process would have ended."""
    said = []

    def abandon(why):
        said.append(why)
        raise asyncio.CancelledError

    monkeypatch.setattr(leader_election, "abandon", abandon)
    return said


class Replica:
    """One replica that takes part in the election until `stop` or `crash`."""

    def __init__(self, client, namespace, name):
        self.elections = 0
        self.leader = LeaderElector(client, namespace, "lead", name, self._elected)
        self._task = asyncio.create_task(self.leader.run())

    def _elected(self):
        self.elections += 1

    def cancel(self):
        self._task.cancel()

    async def crash(self):
        self.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def stop(self):
        await self.crash()
        await self.leader.release()

    @property
    def ended(self):
        return self._task.done()

    @property
    def leads(self):
        return self.leader.leading()


@contextlib.asynccontextmanager
async def replicas(fragile, namespace, *names):
    """Replicas, of which the first is the leader."""
    fragile.plane.namespace(namespace)
    async with Client(fragile.cluster()) as client:
        found = []
        for name in names:
            found.append(Replica(client, namespace, name))
            await eventually(lambda: found[0].leads)
        try:
            yield found
        finally:
            for each in found:
                await each.crash()


def lease(fragile, namespace):
    return fragile.plane.client.get(f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/lead")


def change(fragile, namespace, body):
    path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/lead"
    assert fragile.plane.client.request("PATCH", path, body, "application/merge-patch+json").ok


@runs
async def test_one_leads_and_the_lease_names_it(fragile):
    async with replicas(fragile, "lease-one", "krm-fn 1.0 a", "krm-fn 1.0 b", "krm-fn 1.0 c") as (first, *others):
        await asyncio.sleep(0.5)
        assert [each.elections for each in (first, *others)] == [1, 0, 0]
        assert not any(each.leads for each in others)
        spec = lease(fragile, "lease-one")["spec"]
        assert (spec["holderIdentity"], spec["leaseDurationSeconds"], spec["leaseTransitions"]) == ("krm-fn 1.0 a", 15, 0)


@runs
async def test_a_released_lease_is_taken_at_the_next_look(fragile, monkeypatch):
    """The other replica reads the Lease once and takes it."""
    async with replicas(fragile, "lease-released", "a", "b") as (first, second):
        await first.stop()
        assert not first.leads
        sent = recorded(second.leader._client, monkeypatch)
        assert await eventually(lambda: second.leads) <= leader_election.RETRY_PERIOD + 10, "a busy machine needs longer"
        assert sent.count("GET") <= 1
        spec = lease(fragile, "lease-released")["spec"]
        assert (spec["holderIdentity"], spec["leaseTransitions"]) == ("b", 1)


def recorded(client, monkeypatch):
    """The methods of the requests that a client sends from now on."""
    sent, send = [], client.request

    async def request(method, *arguments, **named):
        sent.append(method)
        return await send(method, *arguments, **named)

    monkeypatch.setattr(client, "request", request)
    return sent


def after_the_next_renewal(client, monkeypatch, act):
    """Calls `act()` once: the API server answered a renewal, and the replica does not have the answer yet."""
    send = client.request

    async def request(method, *arguments, **named):
        answer = await send(method, *arguments, **named)
        if method == "PUT":
            monkeypatch.undo()
            await act()
        return answer

    monkeypatch.setattr(client, "request", request)


@runs
async def test_a_leader_ends_although_the_answer_arrives_together_with_the_end(fragile, monkeypatch):
    """`asyncio.wait_for` of Python 3.11 returns such an answer, and the task goes on."""
    async with replicas(fragile, "lease-together", "a") as (only,):

        async def end():
            asyncio.get_running_loop().call_soon(only.cancel)

        after_the_next_renewal(only.leader._client, monkeypatch, end)
        await eventually(lambda: only.ended, 20)


@runs
async def test_a_leader_that_ends_before_the_answer_to_its_renewal_releases_the_lease(fragile, monkeypatch):
    """The Lease is newer on the server than this replica knows it."""
    async with replicas(fragile, "lease-unanswered", "a") as (only,):

        async def end():
            only.cancel()
            await asyncio.sleep(0)

        after_the_next_renewal(only.leader._client, monkeypatch, end)
        await eventually(lambda: only.ended, 20)
        await only.stop()
        assert lease(fragile, "lease-unanswered")["spec"]["holderIdentity"] == ""


def test_a_lease_is_taken_after_a_crash_and_not_before_its_time(fragile, quick):
    _crash(fragile)


@runs
async def _crash(fragile):
    async with replicas(fragile, "lease-crash", "a", "b") as (first, second):
        await asyncio.sleep(0.5)
        await first.crash()
        renewed = first.leader._renew_time or 0.0
        await eventually(lambda: second.leads)
        assert leader_election.LEASE_DURATION <= time.monotonic() - renewed <= leader_election.LEASE_DURATION + 10, (
            "soon after; a busy machine needs longer"
        )
        assert not first.leads, "its last renewal is older than the deadline"


def test_a_clock_that_is_wrong_changes_nothing(fragile, quick):
    """The times in a Lease come from another machine. Only whether the Lease changes counts."""
    _wrong_clock(fragile)


@runs
async def _wrong_clock(fragile):
    async with replicas(fragile, "lease-clock", "a", "b") as (first, second):
        for when in ("2001-01-01T00:00:00.000000Z", "2101-01-01T00:00:00.000000Z"):
            change(fragile, "lease-clock", {"spec": {"renewTime": when}})
            await asyncio.sleep(0.5)
            assert (first.leads, second.leads) == (True, False)


def test_a_leader_goes_on_after_somebody_labelled_or_deleted_its_lease(fragile, quick, abandoned):
    _disturbed(fragile, abandoned)


@runs
async def _disturbed(fragile, abandoned):
    async with replicas(fragile, "lease-disturbed", "a") as (first,):
        change(fragile, "lease-disturbed", {"metadata": {"labels": {"x": "y"}}})
        await asyncio.sleep(0.6)
        assert lease(fragile, "lease-disturbed")["metadata"]["labels"] == {"x": "y"}
        fragile.plane.client.request("DELETE", "/apis/coordination.k8s.io/v1/namespaces/lease-disturbed/leases/lead")
        await asyncio.sleep(leader_election.RENEW_DEADLINE + 0.5)
        assert (first.leads, first.elections, abandoned) == (True, 1, [])


def test_a_leader_whose_lease_went_to_another_ends_its_process(fragile, quick, abandoned):
    _robbed(fragile, abandoned)


@runs
async def _robbed(fragile, abandoned):
    async with replicas(fragile, "lease-robbed", "a"):
        change(fragile, "lease-robbed", {"spec": {"holderIdentity": "somebody"}})
        await eventually(lambda: bool(abandoned))
        assert abandoned == ["the Lease lease-robbed/lead went to 'somebody'"]


def test_a_leader_that_cannot_renew_in_time_ends_its_process(fragile, between, quick, abandoned):
    _silenced(fragile, between, abandoned)


@runs
async def _silenced(fragile, between, abandoned):
    fragile.plane.namespace("lease-silenced")
    async with Client(fragile.cluster(between.port)) as client:
        only = Replica(client, "lease-silenced", "a")
        await eventually(lambda: only.leads)
        between.swallow()
        await eventually(lambda: bool(abandoned))
        renewed = only.leader._renew_time or 0.0
        assert leader_election.RENEW_DEADLINE <= time.monotonic() - renewed <= leader_election.RENEW_DEADLINE + 10, (
            "soon after; a busy machine needs longer"
        )
        assert not only.leads, "nothing is written any more before the process ends"
        assert "could not be renewed for 4 s" in abandoned[0]
        await only.crash()
        between.cut()  # a silent connection would outlive the test
        await asyncio.sleep(0.2)


@runs
async def test_without_the_right_nobody_leads_and_the_log_says_it_once(fragile, caplog):
    token = fragile.account("lease-forbidden", "poor")
    async with Client(fragile.cluster(token=token)) as client:
        only = Replica(client, "lease-forbidden", "a")
        await eventually(lambda: bool(caplog.records))
        await asyncio.sleep(0.5)
        assert not only.leads
        assert len(caplog.records) == 1
        assert 'cannot get resource "leases"' in caplog.text
        await only.crash()


@runs
async def test_a_leader_survives_a_connection_that_loses_everything(fragile, between, monkeypatch, abandoned):
    """The first request on the lost connection ends in time for a second one, on a new connection."""
    monkeypatch.setattr(leader_election, "REQUEST_TIMEOUT", 1.0)
    monkeypatch.setattr(leader_election, "RETRY_PERIOD", 0.2)
    fragile.plane.namespace("lost")
    async with Client(fragile.cluster(between.port)) as client:
        leader = Replica(client, "lost", "first")
        await eventually(lambda: leader.leads)
        between.swallow()
        before = lease(fragile, "lost")["spec"]["renewTime"]
        await eventually(lambda: lease(fragile, "lost")["spec"]["renewTime"] != before)
        assert leader.leads
        assert (leader.elections, abandoned) == (1, [])
        await leader.stop()
        between.cut()  # a lost connection waits 30 seconds for the end of TLS
        await asyncio.sleep(0.1)
