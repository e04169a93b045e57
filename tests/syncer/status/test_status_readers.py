"""Each kind that a workload kind lists in the annotation `workloads` has an observer, and an observer is one file."""

from __future__ import annotations

import pytest

from krm_fn.render.manifests import workloads
from krm_fn.syncer.status import SyncFeatures, replica_status
from krm_fn.syncer.status.replica_status import StatusReader
from tests.support.cases import cases

KINDS = sorted({kind for name in workloads.names() for kind in workloads.get(name).kinds})


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_in_the_annotation_has_an_observer(kind):
    observer = replica_status.get(kind)
    assert observer.kind == kind
    assert replica_status.find(observer.group, kind) is observer


@pytest.mark.parametrize("name", replica_status.kinds())
def test_an_observer_names_what_the_syncer_watches(name):
    """The syncer builds its requests from these fields."""
    observer = replica_status.get(name)
    assert observer.kind.lower() == name
    assert observer.resource
    assert observer.version
    assert type(observer).read is not StatusReader.read


@pytest.mark.parametrize(("group", "kind"), [("", "Deployment"), ("apps", "deployment"), ("apps", "Pod"), ("", "__init__"), ("", "../pod")])
def test_a_kind_of_another_group_or_name_has_no_observer(group, kind):
    assert replica_status.find(group, kind) is None


SELECTORS = [
    # reason, features, selectors
    ("no feature reads pods", SyncFeatures(), ()),
    ("reasons of pods", SyncFeatures(pods=True), ("nvidia.com/dynamo-graph-deployment-name",)),
    ("adapters", SyncFeatures(models=True, loras=True), ("nvidia.com/dynamo-base-model-hash",)),
    (
        "both: a pod with both labels comes once",
        SyncFeatures(pods=True, models=True, loras=True),
        ("nvidia.com/dynamo-graph-deployment-name", "!nvidia.com/dynamo-graph-deployment-name,nvidia.com/dynamo-base-model-hash"),
    ),
]


@cases(("features", "selectors"), SELECTORS)
def test_pods_are_read_only_for_features_that_need_them(features, selectors):
    assert replica_status.get("Pod").selectors(features) == selectors
