"""A real API server sends a member its own objects only, and moved namespaces are read before they are served."""

import asyncio
import contextlib
from typing import Any

import pytest

from krm_fn.cluster import reflector as reflectors
from krm_fn.cluster.client import Client
from krm_fn.cluster.informer import Store
from krm_fn.cluster.reflector import Listener, Reflector
from krm_fn.cluster.shard import Shard
from krm_fn.syncer.shard_moves import ShardMoves
from tests.syncer.following import CONFIG_MAPS
from tests.syncer.loops import eventually, runs

NAMESPACES = [f"moves-{number}" for number in range(6)]


class Following(Listener):
    """A member "a" that follows ConfigMaps. `served` are the namespaces that it was told to serve."""

    def __init__(self, client, *namespaces):
        self.rejected_objects = self.lists = 0
        self.store: Store[Any] = Store("ConfigMap")
        self.served: list[str] = []
        self.shard = Shard("a")
        self.reflectors = [
            Reflector(client, CONFIG_MAPS, namespace, self.store, lambda found: found["data"]["v"], lambda *_: None, self, self.shard)
            for namespace in namespaces or ("",)
        ]
        self.moves = ShardMoves(self.shard, lambda: [self.store], self.reflectors, self._wait, self.served.append)

    def rejected(self, kind):
        self.rejected_objects += 1

    def relisted(self, kind):
        self.lists += 1

    async def _wait(self):
        for reflector in self.reflectors:
            await reflector.synced.wait()

    def has(self, namespaces):
        return {key.namespace for key in self.store.keys()} == set(namespaces)  # noqa: SIM118 - a store is not a dict


@contextlib.asynccontextmanager
async def following(fragile, *namespaces, members=("a", "b")):
    for namespace in NAMESPACES:
        fragile.plane.namespace(namespace)
        put(fragile, namespace, "0")
    async with Client(fragile.cluster()) as client:
        member = Following(client, *namespaces)
        member.moves.apply(frozenset(members), rejoined=True)
        tasks = [asyncio.create_task(part) for part in (member.moves.run(), *(reflector.run() for reflector in member.reflectors))]
        try:
            yield member
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def put(fragile, namespace, value):
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": namespace, "labels": {"watched": "yes"}}}
    answer = fragile.plane.apply({**body, "data": {"v": value}}, dry_run=False)
    assert answer.ok, answer.message


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """A watch begins again after three objects of other members."""
    monkeypatch.setattr(reflectors, "FOREIGN_OBJECTS", 3)


@runs
async def test_the_server_sends_no_object_of_a_namespace_that_is_known_to_belong_to_another(fragile):
    """Three changes of other members are enough to learn their namespaces. The watch goes on without a new list."""
    async with following(fragile) as member:
        own = set(filter(member.shard.owns, NAMESPACES))
        assert 0 < len(own) < len(NAMESPACES)
        await eventually(lambda: sorted(member.served) == sorted(own))
        assert member.has(own)
        others = [namespace for namespace in NAMESPACES if namespace not in own]
        for number in range(3):
            put(fragile, others[0], f"first {number}")
        await eventually(lambda: "metadata.namespace" in member.reflectors[0]._selector)
        rejected, lists = member.rejected_objects, member.lists
        for namespace in NAMESPACES:
            put(fragile, namespace, "second")
        await eventually(lambda: {member.store.get(key) for key in member.store.keys()} == {"second"})  # noqa: SIM118 - as above
        assert (member.rejected_objects, member.lists) == (rejected, lists)


@runs
@pytest.mark.parametrize("namespaces", [(), NAMESPACES], ids=["one watch", "a watch for each namespace"])
async def test_moved_namespaces_are_read_before_they_are_served_and_dropped_at_once(fragile, namespaces):
    async with following(fragile, *namespaces) as member:
        own = set(filter(member.shard.owns, NAMESPACES))
        await eventually(lambda: sorted(member.served) == sorted(own))
        assert member.has(own)
        member.served.clear()
        assert member.moves.apply(frozenset({"a"}), rejoined=False) == set()
        assert set(filter(member.shard.has_all, NAMESPACES)) == own
        await eventually(lambda: sorted(member.served) == sorted(set(NAMESPACES) - own))
        assert member.has(NAMESPACES)
        assert member.moves.apply(frozenset({"a", "b"}), rejoined=False) == set(NAMESPACES) - own
        assert member.has(own)
