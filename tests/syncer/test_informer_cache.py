"""A change leads to exactly those resources whose status may change with it."""

import json

import pytest

from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render import labels
from krm_fn.render.workload_list import WorkloadEntry
from krm_fn.syncer.controllers import ADAPTERS, COMPONENTS, GRAPHS
from krm_fn.syncer.informer_cache import InformerCache, graph_key
from krm_fn.syncer.status import cached_object
from krm_fn.syncer.status.replica_status import ReplicaStatus

NAMESPACE = "team-a"


def graph(name, *workloads):
    entries = [{"service": each, "apiVersion": "apps/v1", "kind": "Deployment", "name": each, "replicas": 1} for each in workloads]
    annotations = {labels.WORKLOADS: json.dumps(entries)}
    return cached_object.read(
        {**_base("DynamoGraphDeployment", name, annotations=annotations), "spec": {"services": {each: {} for each in workloads}}}
    )


def component(name, owner):
    return cached_object.read(_base("DynamoComponentDeployment", name, labels={labels.GRAPH: owner, labels.COMPONENT: name}))


def adapter(name, owner, service="x", status=None):
    spec = {"replicas": 1, "dgdRef": {"name": owner, "serviceName": service}}
    return cached_object.read({**_base("DynamoGraphDeploymentScalingAdapter", name), "spec": spec, "status": status or {}})


def _base(kind, name, **metadata):
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": kind, "metadata": {"name": name, "namespace": NAMESPACE, **metadata}}


def workload(name, kind="Deployment", group="apps", namespace=NAMESPACE, family="", **fields):
    return ReplicaStatus(ObjectKey(group, kind, namespace, name), family=family, **fields)


class Filled:
    """A cache, filled as reflectors do it."""

    def __init__(self, *values):
        self.cache = InformerCache()
        for each in values:
            self.change(None, each)

    def change(self, before, after):
        key = (after or before).key
        kind = {"DynamoGraphDeployment": GRAPHS, "DynamoComponentDeployment": COMPONENTS, ADAPTERS.kind: ADAPTERS}.get(key.kind)
        if kind:
            store = self.cache.store(kind)
            if after:
                store.put(key, "1", str(store.newest() + 1), after)
            else:
                store.drop(key)
        return {(each.kind, each.name) for each in self.cache.update_indexes(key, before, after)}

    def adapter(self, graph):
        """The name of the adapter of component x."""
        chosen = self.cache.adapter(graph_key(NAMESPACE, graph), "x")
        assert chosen
        return chosen.key.name


G, C, A = "DynamoGraphDeployment", "DynamoComponentDeployment", ADAPTERS.kind


def test_a_workload_concerns_the_graphs_that_list_it_and_their_members():
    filled = Filled(graph("one", "x"), graph("two", "x", "y"), component("x", "one"), adapter("x", "two"), component("z", "three"))
    assert filled.change(None, workload("x")) == {(G, "one"), (G, "two"), (C, "x"), (A, "x")}
    assert filled.change(None, workload("y")) == {(G, "two"), (A, "x")}
    assert filled.change(None, workload("other")) == set()
    assert filled.change(workload("x"), None) == {(G, "one"), (G, "two"), (C, "x"), (A, "x")}


def test_a_workload_of_that_name_in_another_namespace_concerns_nobody():
    filled = Filled(graph("one", "x"))
    assert filled.change(None, workload("x", namespace="team-b")) == set()


def test_an_object_of_grove_or_a_pod_concerns_the_graph_of_its_family():
    filled = Filled(graph("one", "x"), component("x", "one"))
    assert filled.change(None, workload("one", "PodCliqueSet", "grove.io", family="one")) == {(G, "one"), (C, "x")}
    assert filled.change(None, workload("pod-1", "Pod", "", family="none")) == set()


def test_an_object_of_a_set_with_a_cut_name_concerns_the_graphs_that_list_others_of_the_set():
    """Grove limits names, so that a set may have another name than its graph."""
    listed = WorkloadEntry("x", "grove.io/v1alpha1", "PodClique", "a-0-x", 1, "a-long-name")
    filled = Filled(graph("a-long-name")._replace(entries=(listed,)), component("x", "a-long-name"))
    assert filled.change(None, workload("a-0-x", "PodClique", "grove.io", family="a")) == {(G, "a-long-name"), (C, "x")}
    assert filled.change(None, workload("a", "PodCliqueSet", "grove.io", family="a")) == {(G, "a-long-name"), (C, "x")}
    assert filled.change(None, workload("pod-1", "Pod", "", family="a")) == set()


def test_a_graph_concerns_its_members_and_no_graph_that_lists_the_same_workload():
    filled = Filled(graph("one", "x"), component("a", "one"), adapter("b", "one"))
    assert filled.change(None, graph("two", "x")) == {(G, "two")}
    assert filled.change(graph("two", "x"), graph("two", "y")) == {(G, "two")}
    assert filled.change(graph("two", "y"), None) == {(G, "two")}
    assert filled.change(graph("one", "x"), graph("one")) == {(G, "one"), (C, "a"), (A, "b")}


ONLY_OF_THE_GRAPH = [
    ("a status that was written", {"status": {"state": "pending"}, "status_by_syncer": True}),
    ("a restart that was requested", {"restart": {"id": "a"}, "restart_by_syncer": True, "generation": 2}),
]
OF_MEMBERS = [
    ("other workloads", {"entries": ()}),
    ("no annotation any more", {"entries": None}),
    ("a problem", {"problem": "too many"}),
    ("a deletion that waits", {"deleted": True}),
    ("another component", {"components": ("x", "y")}),
]


@pytest.mark.parametrize(("fields", "concerns"), [(row[1], row in OF_MEMBERS) for row in (*ONLY_OF_THE_GRAPH, *OF_MEMBERS)])
def test_a_change_of_a_graph_concerns_its_members_if_their_status_depends_on_the_field(fields, concerns):
    """A graph with many adapters must not make work for all of them with each status that is written."""
    filled = Filled(graph("one", "x"), component("a", "one"), adapter("b", "one"))
    members = {(C, "a"), (A, "b")} if concerns else set()
    before = graph("one", "x")
    assert filled.change(before, before._replace(**fields)) == {(G, "one"), *members}
    assert filled.change(None, workload("x")) == ({(G, "one"), (C, "a"), (A, "b")} if "entries" not in fields else set())


def test_a_workload_concerns_graphs_of_others_only_when_its_owner_changes():
    """Else one tenant could make work for each change in another's graph."""
    filled = Filled(graph("one", "x"), graph("two", "x"))
    own, ready = workload("x", owner=f"{G}/one"), workload("x", owner=f"{G}/one", ready=True)
    assert filled.change(None, own) == {(G, "one"), (G, "two")}
    assert filled.change(own, ready) == {(G, "one")}
    assert filled.change(ready, workload("x", owner=f"{G}/two")) == {(G, "one"), (G, "two")}


def test_an_adapter_concerns_others_only_if_its_component_gets_another_adapter():
    filled = Filled(graph("one"), adapter("b", "one"), adapter("z", "one", "other"))
    assert filled.change(None, adapter("c", "one")) == {(G, "one"), (A, "c")}
    assert filled.change(None, adapter("a", "one")) == {(G, "one"), (A, "a"), (A, "b"), (A, "c")}
    assert filled.change(adapter("a", "one"), adapter("a", "one", status={"replicas": 1})) == {(G, "one"), (A, "a")}
    assert filled.adapter("one") == "a"
    assert filled.change(adapter("a", "one"), None) == {(G, "one"), (A, "a"), (A, "b"), (A, "c")}
    assert filled.adapter("one") == "b"


def test_a_member_concerns_its_graph_the_one_before_and_the_one_after():
    filled = Filled(graph("one"), graph("two"), component("a", "one"))
    assert filled.change(component("a", "one"), component("a", "two")) == {(C, "a"), (G, "one"), (G, "two")}
    assert [each.key.name for each in filled.cache.members(graph_key(NAMESPACE, "two"))] == ["a"]
    assert filled.cache.members(graph_key(NAMESPACE, "one")) == []


def test_members_may_come_before_their_graph():
    """The initial objects of two watches come in any order."""
    filled = Filled(component("a", "one"), workload("x"))
    assert filled.change(None, graph("one", "x")) == {(G, "one"), (C, "a")}
