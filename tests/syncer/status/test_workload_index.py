"""The index of observations forgets what is gone, and knows which graphs list a workload."""

from __future__ import annotations

from krm_fn.render import labels
from krm_fn.syncer.status.workload_index import WorkloadIndex
from tests.syncer.status import given


def observation(name, graph="demo", **fields):
    resource = given.workload("Pod", name, {}, marks={labels.GRAPH: graph, labels.COMPONENT: "Decode"})
    (found,) = WorkloadIndex.of([resource])._all.values()
    return found._replace(**fields)


def test_a_family_has_its_living_members_only():
    index = WorkloadIndex([observation("a"), observation("b")])
    assert [each.key.name for each in index.family("team-a", "demo").statuses] == ["a", "b"]
    assert index.family("team-b", "demo").statuses == []
    assert index.drop(observation("a").key) == observation("a")
    assert index.drop(observation("a").key) is None
    assert [each.key.name for each in index.family("team-a", "demo").statuses] == ["b"]
    assert index.get(observation("a").key) is None


def test_a_newer_observation_replaces_the_older_one_and_may_have_another_family():
    index = WorkloadIndex([observation("a")])
    newer = observation("a", "other", ready=True)
    assert index.put(newer) == observation("a")
    assert index.family("team-a", "demo").statuses == []
    assert index.family("team-a", "other").statuses == [newer]


def test_a_graph_lists_what_its_newest_annotation_says():
    index, one, two = WorkloadIndex(), given.read(given.entry("A"), given.entry("B")), given.read(given.entry("B"))
    first, second = one.workloads
    index.put_graph(one)
    assert index.listed_by(first) == index.listed_by(second) == (one.key,)
    index.put_graph(two, one)
    assert (index.listed_by(first), index.listed_by(second)) == ((), (one.key,))
    index.drop_graph(two)
    index.drop_graph(two)
    assert index.listed_by(second) == ()
