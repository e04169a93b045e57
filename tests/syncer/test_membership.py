"""Members observe each other's Leases, on a real API server with short times."""

import asyncio
import contextlib

import pytest

from krm_fn.cluster.client import Client
from krm_fn.cluster.leader_election import LEASES
from krm_fn.syncer import membership
from krm_fn.syncer.membership import Membership
from tests.syncer.loops import eventually, runs


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """The times of the Leases, shorter."""
    monkeypatch.setattr(membership, "LEASE_DURATION", 3)
    monkeypatch.setattr(membership, "RENEW_DEADLINE", 2.0)
    monkeypatch.setattr(membership, "RETRY_PERIOD", 0.2)
    monkeypatch.setattr(membership, "PERIOD", 0.1)


class Member:
    """A member that runs until `crash` or `stop`, with the changes that it was told."""

    def __init__(self, client, namespace, name):
        self.changes: list[tuple[list[str], bool]] = []
        self.membership = Membership(client, namespace, name, lambda members, rejoined: self.changes.append((sorted(members), rejoined)))
        self.run()

    def run(self):
        self._task = asyncio.create_task(self.membership.run())

    async def crash(self):
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def stop(self):
        await self.crash()
        await self.membership.release()

    def sees(self, *names):
        return bool(self.changes) and self.changes[-1][0] == list(names)


@contextlib.asynccontextmanager
async def members(fragile, namespace, *names):
    fragile.plane.namespace(namespace)
    async with Client(fragile.cluster()) as client:
        started = [Member(client, namespace, name) for name in names]
        try:
            for member in started:
                await eventually(lambda: member.sees(*names))  # noqa: B023 - called at once
            yield started
        finally:
            for member in started:
                await member.crash()


def leases(fragile, namespace):
    return {each["metadata"]["name"] for each in fragile.plane.client.get(LEASES.path(namespace))["items"]}


@runs
async def test_a_member_that_stops_is_missed_at_once_and_one_that_crashes_after_its_lease(fragile):
    """The Lease of a crashed member does not stay in the cluster."""
    async with members(fragile, "membership-ends", "a", "b", "c") as (first, second, third):
        assert first.changes[0][1], "it joined"
        await second.stop()
        await eventually(lambda: first.sees("a", "c") and third.sees("a", "c"))
        await third.crash()
        await eventually(lambda: first.sees("a"))
        await eventually(lambda: leases(fragile, "membership-ends") == {"a"})


@runs
async def test_a_member_that_was_away_rejoins_and_waits_for_its_peers(fragile):
    """The time in which it saw nothing does not count for the Leases of its peers."""
    async with members(fragile, "membership-away", "a", "b") as (first, second):
        await first.crash()
        await eventually(lambda: second.sees("b"))
        await eventually(lambda: not first.membership.leading())
        before = len(first.changes)
        first.run()
        await eventually(lambda: len(first.changes) > before)
        assert first.changes[before] == (["a", "b"], True)
        await eventually(lambda: second.sees("a", "b") and first.membership.leading())


@runs
async def test_without_rights_it_is_no_member_and_says_so(fragile, caplog):
    token = fragile.account("membership-rights", "nobody")
    async with Client(fragile.cluster(token=token)) as client:
        member = Member(client, "membership-rights", "a")
        await eventually(lambda: "cannot be renewed: the API server answered 403" in caplog.text)
        await member.stop()
        assert (member.changes, member.membership.leading()) == ([], False)
