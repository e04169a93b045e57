"""A packed value is the same value again, and equal parts of many values are in memory once."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given, strategies

from krm_fn.cluster.object_store import StoredObject, StoredObjects
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render import labels
from krm_fn.syncer.packed_values import Packer
from krm_fn.syncer.status import replica_status
from krm_fn.syncer.status.replica_status import ReplicaStatus, TemplateStatus, WorkerPod, WorkloadFailure
from tests.syncer.status import given as objects

KEY = ObjectKey("apps", "Deployment", "team-a", "one")
_TEXTS = strategies.sampled_from(["", "a", "a,b", ",", "a,", "app=x,team=y", "2026-01-01T00:00:00Z"])
_TEMPLATES = strategies.builds(TemplateStatus, strategies.just(("spec", "template", "metadata")), restart=_TEXTS, runtime=_TEXTS)
_STATUSES = strategies.builds(
    ReplicaStatus,
    strategies.just(KEY),
    problem=_TEXTS,
    since=_TEXTS,
    selector=_TEXTS,
    family=_TEXTS,
    member=_TEXTS,
    templates=strategies.lists(_TEMPLATES, max_size=2).map(tuple),
    failure=strategies.none() | strategies.builds(WorkloadFailure, _TEXTS, _TEXTS),
    worker=strategies.none() | strategies.just(WorkerPod("u", "m", ("10.0.0.1",), 1)),
)


@given(_STATUSES)
def test_a_replica_status_is_the_same_after_it_was_packed(status):
    packer = Packer()
    assert packer.unpack(KEY, packer.pack(status)) == status


@pytest.mark.parametrize("kind", ["DynamoGraphDeployment", "DynamoComponentDeployment"])
def test_a_graph_is_the_same_after_it_was_packed_whatever_was_packed_before(kind):
    packer = Packer()
    for status in ({}, {"state": "successful", "conditions": [{"type": "Ready", "status": "True"}]}, {"any": ["ü", None, 1.5]}):
        value = objects.read(objects.entry("A"), objects.entry("B"))._replace(status=status)
        value = value._replace(key=value.key._replace(kind=kind))
        assert packer.unpack(value.key, packer.pack(value)) == value


def test_other_values_are_kept_as_they_are():
    value = {"not": "packed"}
    assert Packer().unpack(KEY, Packer().pack(value)) is value


def test_ready_pods_of_a_service_differ_in_nothing_but_their_names():
    pods = [objects.workload("Pod", name, {}, marks={labels.GRAPH: "demo", labels.COMPONENT: "Decode"}) for name in ("a", "b")]
    one, two = (Packer().pack(replica_status.get("Pod").read(pod)) for pod in pods)
    assert one == two
    assert one[0] is two[0]


@pytest.mark.parametrize(
    ("uid", "version"),
    [
        (str(uuid.UUID(int=5)), "9"),
        ("B5C2F8AC-9D4E-4C1B-8E2A-1F0D3C4B5A69", "0"),  # not the text that Kubernetes writes
        ("{5c2f8ac-9d4e-4c1b-8e2a-1f0d3c4b5a69", "007"),
        ("", "٣"),
        ("u", "odd"),
    ],
)
def test_uid_and_versions_of_an_object_are_the_same_texts_again(uid, version):
    stored: StoredObjects[str] = StoredObjects()
    for delivered in (version, "7", ""):
        stored[KEY] = StoredObject(uid, version, "value", "source", delivered)
        assert stored[KEY] == StoredObject(uid, version, "value", "source", delivered)


def test_objects_are_listed_by_namespace_and_by_source_and_counted():
    stored: StoredObjects[str] = StoredObjects()
    other = KEY._replace(namespace="team-b")
    stored[KEY], stored[other] = StoredObject("u", "3", "a", "x"), StoredObject("v", "odd", "b", "y")
    stored[KEY] = StoredObject("u", "4", "c", "x")
    assert (list(stored), list(stored.keys_in("team-b")), list(stored.keys_from("x"))) == ([KEY, other], [other], [KEY])
    assert list(stored.versions()) == [(KEY, 4), (other, 0)]
    assert len(stored) == 2
    del stored[other]
    assert (len(stored), other in stored, stored.get(other)) == (1, False, None)
