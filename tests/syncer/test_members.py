"""Members that share the namespaces, as real processes on a real API server: after every fault, each namespace has exactly one owner.

No controller runs: the tests write the statuses of the Deployments, so every write to a graph is one of a member.
"""

from __future__ import annotations

import collections
import contextlib
import math

import pytest

from krm_fn.cluster import shard
from tests.testbed import server, syncer
from tests.testbed.fleet import Fleet
from tests.testbed.place import GRAPH

WATCHED = {
    "Deployment": "/apis/apps/v1/deployments?labelSelector=nvidia.com/dynamo-namespace",
    GRAPH: "/apis/nvidia.com/v1alpha1/dynamographdeployments",
}
NAMESPACE = "dynamo-system"
NAMES = [f"krm-fn-sync-{letter}" for letter in "abcd"]
SHORT_LEASE = """
from krm_fn.cluster import leader_election
leader_election.LEASE_DURATION, leader_election.RENEW_DEADLINE, leader_election.RETRY_PERIOD = 6, 4.0, 1.0
"""
"""Members with a Lease of 6 seconds in place of 15, so that the tests are short."""


@pytest.fixture(scope="module")
def account(plane, kustomize, tmp_path_factory):
    """A kubeconfig of the account of platform/syncer with the component `shards`."""
    return syncer.installed(plane, kustomize, tmp_path_factory.mktemp("account"), "shards")


@pytest.fixture(scope="module")
def fleet(plane):
    """Graphs in 16 namespaces whose Deployments are ready."""
    fleet = Fleet(plane, "members", 16, 1)
    fleet.turn(ready=True)
    return fleet


class Members:
    """Running members by name."""

    def __init__(self, stack, folder, plane, prelude=SHORT_LEASE):
        self.running: dict[str, syncer.Syncer] = {}
        self._stack, self._folder, self._plane, self._prelude = stack, folder, plane, prelude

    def start(self, name, kubeconfig):
        options = ("--shards", "--lease-namespace", NAMESPACE)
        started = syncer.running(kubeconfig, self._folder, *options, name=name, pod=name, hasty=bool(self._prelude), prelude=self._prelude)
        self.running[name] = self._stack.enter_context(started)

    def settle(self):
        """Wait until each member stores the objects of its own namespaces, and no other."""
        for kind, path in WATCHED.items():
            owners = [shard.owner(each["metadata"]["namespace"], self.running) for each in self._plane.client.get(path)["items"]]
            stored = {name: owners.count(name) for name in self.running}
            server.eventually(lambda: self.metrics("cached_objects", kind=kind) == stored)  # noqa: B023 - called at once
        server.eventually(lambda: set(self.metrics("members").values()) == {len(self.running)})

    def metrics(self, name, **labels):
        """A metric of each member, NaN for a member that does not answer."""
        return {member: self._metric(running, name, labels) for member, running in self.running.items()}

    def _metric(self, running, name, labels):
        try:
            return running.metric(name, **labels)
        except OSError:
            return math.nan

    def total(self, name, **labels):
        """The sum of a metric, as soon as all members answer."""
        totals = [math.nan]

        def is_known():
            totals.append(sum(self.metrics(name, **labels).values()))
            return not math.isnan(totals[-1])

        server.eventually(is_known)
        return totals[-1]


def versions(fleet):
    """The resourceVersions of the graphs: a write of any program changes them. Graphs of other tests may still change."""
    found = [each["metadata"] for each in fleet.plane.client.get(WATCHED[GRAPH])["items"]]
    return {each["uid"]: each["resourceVersion"] for each in found if each["namespace"] in fleet.namespaces}


def events(fleet):
    """The number of Kubernetes events about each graph, with their repetitions, by namespace."""
    found = fleet.plane.client.get("/apis/events.k8s.io/v1/events")["items"]
    own = [each for each in found if each["regarding"]["kind"] == GRAPH and each["metadata"]["namespace"] in fleet.namespaces]
    counts = collections.Counter[str]()
    for each in own:
        counts[each["metadata"]["namespace"]] += 1 + each.get("series", {}).get("count", 0)
    return counts


@pytest.fixture
def members(fleet, account, plane, tmp_path):
    with contextlib.ExitStack() as stack:
        members = Members(stack, tmp_path, plane)
        for name in NAMES[:3]:
            members.start(name, account)
        fleet.settle()
        members.settle()
        yield members


def test_namespaces_move_and_nothing_is_written_without_a_change(members, fleet, plane, account):
    """One member is killed, one is added, one stops. The new owners find nothing to write, and follow all graphs afterwards."""
    server.eventually(lambda: events(fleet).keys() == {*fleet.namespaces})  # events are written after the statuses
    before, told = versions(fleet), events(fleet)
    members.running.pop(NAMES[0]).server.kill()
    members.settle()
    server.eventually(lambda: all(member.ready() for member in members.running.values()))
    members.start(NAMES[3], account)
    members.settle()
    members.running.pop(NAMES[1]).server.stop()
    members.settle()
    assert versions(fleet) == before
    assert events(fleet) == told
    foreign = members.total("foreign_objects_total")
    fleet.turn(ready=False)
    fleet.settle()
    assert members.total("foreign_objects_total") == foreign, "the server sends each object to its owner only"
    leases = plane.client.get(f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases")["items"]
    assert {each["metadata"]["name"] for each in leases} >= set(members.running)
    assert NAMES[1] not in {each["metadata"]["name"] for each in leases}, "a member that stops deletes its Lease"


def test_a_new_owner_looks_at_every_graph(members, fleet):
    """Deployments change after their member is killed, and before the others read them. No later event leads to these graphs."""
    fleet.turn(ready=True)
    fleet.settle()
    members.running.pop(NAMES[0]).server.kill()
    fleet.turn(ready=False)
    fleet.settle()


def test_a_member_without_a_connection_is_replaced_and_comes_back(members, fleet, account, between, tmp_path):
    """It writes nothing while it has no Lease. Afterwards it reads everything before it writes."""
    members.start(NAMES[3], syncer.through(account, tmp_path / "proxied", between.port))
    members.settle()
    cut_off = members.running.pop(NAMES[3])
    between.refuse()
    between.cut()
    members.settle()
    assert cut_off.metric("leader") == 0
    fleet.turn(ready=True)
    fleet.settle()
    before = versions(fleet)
    between.accept()
    members.running[NAMES[3]] = cut_off
    members.settle()
    server.eventually(lambda: members.metrics("leader")[NAMES[3]] == 1)
    assert versions(fleet) == before
    fleet.turn(ready=False)
    fleet.settle()
