"""Two mirrors of one store: an object whose labels change goes from one watch to the other, and never gets lost."""

import pytest

from krm_fn.cluster.api_resources import ApiResource
from krm_fn.cluster.informer import Informer, Store
from krm_fn.kubernetes.identity import ObjectKey

DEPLOYMENTS = ApiResource("apps", "v1", "deployments", "Deployment")
KEY = ObjectKey("apps", "Deployment", "a", "x")


def deployment(version, name="x"):
    return {"metadata": {"name": name, "namespace": "a", "uid": name, "resourceVersion": str(version)}}


def version_of(resource):
    return resource["metadata"]["resourceVersion"]


@pytest.fixture
def store():
    return Store("Deployment")


@pytest.fixture
def mirror(store):
    changes = []
    made = [
        Informer(
            DEPLOYMENTS,
            store,
            project=lambda resource: resource["metadata"]["resourceVersion"],
            on_change=lambda *change: changes.append(change),
        )
        for _ in range(2)
    ]
    made[0].put(deployment(1))
    return (*made, changes)


def test_the_new_watch_comes_first(store, mirror):
    old, new, changes = mirror
    new.put(deployment(2))
    old.drop(deployment(2))
    assert store.get(KEY) == "2"
    assert changes == [(KEY, None, "1"), (KEY, "1", "2")]


def test_the_old_watch_comes_first(store, mirror):
    old, new, changes = mirror
    old.drop(deployment(2))
    new.put(deployment(2))
    assert store.get(KEY) == "2"
    assert changes == [(KEY, None, "1"), (KEY, "1", None), (KEY, None, "2")]


def test_the_new_watch_is_ahead_of_the_old_one(store, mirror):
    """The labels change soon after another change, and the old watch brings both later."""
    old, new, changes = mirror
    new.put(deployment(3))
    old.put(deployment(2))
    old.drop(deployment(3))
    assert store.get(KEY) == "3"
    new.drop(deployment(4))
    assert changes == [(KEY, None, "1"), (KEY, "1", "3"), (KEY, "3", None)]


@pytest.mark.parametrize(
    ("reason", "version"),
    [("the answer tells of the new labels", "2"), ("the write follows the change of the labels, so it is ahead of both watches", "3")],
)
def test_the_new_watch_has_the_object_also_if_our_own_write_told_of_it_before(reason, version, store, mirror):
    old, new, changes = mirror
    store.update(KEY, "x", version, version)
    new.put(deployment(2))
    old.drop(deployment(2))
    assert store.get(KEY) == version
    new.put(deployment(3))
    new.drop(deployment(4))
    assert store.get(KEY) is None
    assert changes[-1] == (KEY, "3", None)


def test_our_own_write_keeps_no_object_that_leaves_all_watches(store, mirror):
    """The labels change, no watch selects the new ones, and then we write the object."""
    old, _, changes = mirror
    store.update(KEY, "x", "3", "3")
    old.drop(deployment(2))
    assert store.get(KEY) is None
    assert changes == [(KEY, None, "1"), (KEY, "3", None)]


def test_a_new_reading_of_the_old_watch_removes_only_its_own_objects(store, mirror):
    old, new, _ = mirror
    old.put(deployment(1, "y"))
    new.put(deployment(2))
    old.begin()
    old.complete("3")
    assert store.keys() == [KEY]


def test_objects_of_other_shards_never_reach_the_store(store):
    """The memory of a shard is that of its own objects. The server sends others until the selector excludes their namespace."""
    changes = []
    owned = {"a"}
    informer = Informer(DEPLOYMENTS, store, project=version_of, on_change=lambda *change: changes.append(change), owns=owned.__contains__)
    other = deployment(2, "y")
    other["metadata"]["namespace"] = "b"
    informer.begin()
    informer.put(deployment(1))
    informer.put(other)
    informer.complete("5")
    informer.drop(other)
    assert changes == [(KEY, None, "1")]
    assert len(store) == 1
