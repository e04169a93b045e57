"""The store keeps the newest version of each object, in whatever order versions arrive."""

from __future__ import annotations

import pytest

from krm_fn.cluster.informer import Store
from krm_fn.cluster.object_store import StoredObject, StoredObjects
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.syncer.packed_values import Packer
from tests.support.cases import cases

KEY = ObjectKey("apps", "Deployment", "team-a", "worker")
OTHER = KEY._replace(namespace="team-b")


@pytest.fixture
def store():
    """A store with one object: uid `u`, version 9, value `nine`."""
    made: Store[str] = Store("Deployment")
    assert made.put(KEY, "u", "9", "nine") == (True, None)
    return made


PUTS = [
    ("a newer version, compared as a number", "u", "10", (True, "nine"), "news"),
    ("an older version", "u", "8", (False, "nine"), "nine"),
    ("the same version", "u", "9", (False, "nine"), "nine"),
    ("an object of the same name that was created later", "v", "11", (True, "nine"), "news"),
    ("a new object in a new cluster behind the same address", "v", "3", (True, "nine"), "news"),
    ("versions that are no numbers, in the order in which they arrive", "u", "abc", (True, "nine"), "news"),
]


@cases(("reason", "uid", "version", "result", "value"), PUTS)
def test_put(reason, uid, version, result, value, store):
    assert store.put(KEY, uid, version, "news") == result
    assert store.get(KEY) == value


UPDATES = [
    ("the answer to our own write", "u", "10", True, "news"),
    ("an answer that is older than the last event", "u", "8", False, "nine"),
    ("an answer about an object that has a successor", "t", "10", False, "nine"),
]


@cases(("reason", "uid", "version", "taken", "value"), UPDATES)
def test_update(reason, uid, version, taken, value, store):
    assert store.update(KEY, uid, version, "news") is taken
    assert store.get(KEY) == value


def test_an_answer_does_not_bring_a_deleted_object_back(store):
    assert store.drop(KEY) == "nine"
    assert store.update(KEY, "u", "10", "ghost") is False
    assert store.get(KEY) is None
    assert store.drop(KEY) is None
    assert len(store) == 0


def test_keys_of_one_namespace_and_of_all(store):
    store.put(OTHER, "w", "1", "other")
    assert set(store.keys()) == {KEY, OTHER}
    assert store.keys("team-b") == [OTHER]
    assert set(store.values()) == {"nine", "other"}
    assert store.entry(OTHER) == StoredObject("w", "1", "other", delivered="1")


def test_distrust_lets_each_object_go_back_once(store):
    """etcd was restored from a backup: the same objects come with lower versions."""
    store.put(OTHER, "w", "12", "other")
    assert store.newest() == 12
    store.distrust()
    assert store.newest() == 0
    assert store.put(KEY, "u", "4", "restored") == (True, "nine")
    assert store.newest() == 4
    assert store.put(KEY, "u", "3", "older") == (False, "restored")


def test_distrust_lets_an_object_come_again_in_another_api_version(store):
    """The definitions were exchanged: the object is the same, and its fields are others."""
    assert store.put(KEY, "u", "9", "again") == (False, "nine")
    store.distrust()
    assert store.put(KEY, "u", "9", "again") == (True, "nine")
    assert store.put(KEY, "u", "9", "once more") == (False, "again")


def test_objects_that_workers_read_by_turns_are_unpacked_once(monkeypatch):
    """Eight workers read the graphs of eight namespaces, each for many members. A changed object is unpacked again."""
    objects: StoredObjects[str] = StoredObjects(Packer())
    keys = [KEY._replace(namespace=f"team-{number}") for number in range(8)]
    for key in keys:
        objects[key] = StoredObject("u", "1", key.namespace)
    unpacked, unpack = [], Packer.unpack

    def counted(packer, key, packed):
        unpacked.append(key)
        return unpack(packer, key, packed)

    monkeypatch.setattr(Packer, "unpack", counted)
    for _ in range(3):
        assert [objects[key].value for key in keys] == [key.namespace for key in keys]
    assert unpacked == keys
    objects[keys[0]] = StoredObject("u", "2", "changed")
    assert objects[keys[0]].value == "changed"
    assert unpacked == [*keys, keys[0]]
