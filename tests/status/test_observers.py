"""Each kind that a workload kind lists in the annotation `workloads` has an observer, and an observer is one file."""

from __future__ import annotations

import pytest

from krm_fn.manifests import workloads
from krm_fn.status import observe
from krm_fn.status.features import Features
from krm_fn.status.observe import Observer

KINDS = sorted({kind for name in workloads.names() for kind in workloads.get(name).kinds})


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_in_the_annotation_has_an_observer(kind):
    observer = observe.get(kind)
    assert observer.kind == kind
    assert observe.find(observer.group, kind) is observer


@pytest.mark.parametrize("name", observe.names())
def test_an_observer_names_what_the_syncer_watches(name):
    """The syncer builds its requests from these fields."""
    observer = observe.get(name)
    assert observer.kind.lower() == name
    assert observer.resource
    assert observer.version
    assert type(observer).observe is not Observer.observe


@pytest.mark.parametrize(("group", "kind"), [("", "Deployment"), ("apps", "deployment"), ("apps", "Pod"), ("", "__init__"), ("", "../pod")])
def test_a_kind_of_another_group_or_name_has_no_observer(group, kind):
    assert observe.find(group, kind) is None


SELECTORS = [
    # reason, features, selectors
    ("no feature reads pods", Features(), ()),
    ("reasons of pods", Features(pods=True), ("nvidia.com/dynamo-graph-deployment-name",)),
    ("adapters", Features(models=True, loras=True), ("nvidia.com/dynamo-base-model-hash",)),
    (
        "both: a pod with both labels comes once",
        Features(pods=True, models=True, loras=True),
        ("nvidia.com/dynamo-graph-deployment-name", "!nvidia.com/dynamo-graph-deployment-name,nvidia.com/dynamo-base-model-hash"),
    ),
]


@pytest.mark.parametrize(("features", "selectors"), [row[1:] for row in SELECTORS], ids=[row[0] for row in SELECTORS])
def test_pods_are_read_only_for_features_that_need_them(features, selectors):
    assert observe.get("Pod").selectors(features) == selectors
