"""The status of a component takes the workloads of its service from its graph, with the operator's conditions."""

from __future__ import annotations

import pytest

from krm_fn.render import labels, workload_list
from krm_fn.syncer.status import cached_object
from tests.support.cases import cases
from tests.syncer.status import given

MARKS = {labels.GRAPH: "demo", labels.COMPONENT: "Decode"}


def component(marks=None, annotations=None, **more):
    metadata = {"name": "demo-decode", "namespace": "team-a", "generation": 2, "labels": MARKS if marks is None else marks}
    return {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": cached_object.COMPONENT,
        "metadata": {**metadata, "annotations": annotations or {}},
        "spec": {"serviceName": "Decode"},
        **more,
    }


def judged(*resources, entries=(), **more):
    owner = given.read(given.entry("Frontend"), *entries)
    return given.status(component(**more), given.children(*resources), given.NOW, graph=owner)


def conditions(found):
    return {each["type"]: (each["status"], each["reason"]) for each in found["conditions"]}


SETS = [given.entry("Decode", "LeaderWorkerSet", f"demo-decode-{index}") for index in (0, 1)]
READY = {"replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "conditions": [given.condition("Available", True)]}
CASES = [
    ("a Deployment", [given.entry("Decode")], [given.deployment()], "True", "DeploymentReady"),
    ("a missing Deployment", [given.entry("Decode")], [], "False", "DeploymentNotReady"),
    ("two sets", SETS, [given.workload("LeaderWorkerSet", each.name, READY) for each in SETS], "True", "AllLeaderWorkerSetsReady"),
    ("one of two sets", SETS, [given.workload("LeaderWorkerSet", SETS[0].name, READY)], "False", "SomeLeaderWorkerSetsNotReady"),
    ("no set for 0 replicas", [], [], "True", "AllLeaderWorkerSetsReady"),
    ("a clique", [given.entry("Decode", "PodClique", "demo-0-decode")], [], "False", "PodCliqueNotReady"),
    ("an unknown kind", [given.entry("Decode")._replace(kind="Robot")], [], "False", "WorkloadsNotReady"),
]


@cases(("entries", "resources", "value", "reason"), CASES)
def test_the_condition_available(entries, resources, value, reason):
    """Other services of the graph do not count."""
    found = judged(*resources, entries=entries)
    assert found["observedGeneration"] == 2
    told = conditions(found)
    assert told["Valid"] == ("True", "ValidationPassed")
    assert told["Available"] == (value, reason)
    assert ("Reconciling" in told) is (value == "False")


def test_a_component_whose_graph_lost_its_annotation_is_unknown_if_the_syncer_wrote_its_status():
    """Else it would stay available for ever, whatever happens to its workloads. An operator may have taken it over."""
    ours, theirs = given.managed("2026-02-03T10:00:00Z"), given.managed("2026-02-03T10:00:01Z", "manager")
    stored = {"conditions": [{"type": "Available", "status": "True", "reason": "DeploymentReady", "message": "", "observedGeneration": 2}]}
    rendered = given.graph()
    del rendered["metadata"]["annotations"]
    graph = cached_object.read(rendered)
    for fields, value in (([ours], ("Unknown", "NotRendered")), ([ours, theirs], ("True", "DeploymentReady"))):
        found = component(status=stored)
        found["metadata"]["managedFields"] = fields
        assert conditions(given.status(found, given.children(), given.NOW, graph=graph))["Available"] == value
        assert given.status(found, given.children(), given.NOW, graph=None) == stored, "its graph may come back"


def test_the_counts_are_those_of_the_service():
    found = judged(given.deployment(), given.deployment("demo-frontend"), entries=[given.entry("Decode")])
    assert found["service"]["componentName"] == "demo-decode"
    assert "service" not in judged(entries=[given.entry("Decode")], status={"service": {"componentKind": "Deployment"}})


def test_the_message_says_why():
    found = judged(given.deployment(generation=2), entries=[given.entry("Decode")])
    message = next(each["message"] for each in found["conditions"] if each["type"] == "Available")
    assert message == "Deployment is not ready: demo-decode: spec not yet processed: generation=2, observedGeneration=1"


def test_a_component_alone_has_the_annotation_itself():
    listed = {labels.WORKLOADS: workload_list.write([given.entry("Decode", name="lone")])}
    found = given.status(component({}, listed), given.children(given.deployment("lone")), given.NOW)
    assert conditions(found)["Available"] == ("True", "DeploymentReady")


@pytest.mark.parametrize("owner", [None, given.read()._replace(entries=None)], ids=["no graph", "a graph that an operator manages"])
def test_a_component_without_a_list_keeps_its_status(owner):
    assert given.status(component(status={"a": 1}), given.children(), given.NOW, graph=owner) == {"a": 1}


def test_a_list_that_cannot_be_read():
    owner = given.read(annotations={labels.WORKLOADS: "{"})
    found = given.status(component(status={"service": {"replicas": 1}}), given.children(), given.NOW, graph=owner)
    assert conditions(found) == {"Available": ("False", "InvalidWorkloads"), "Stalled": ("True", "InvalidWorkloads")}
    assert found["service"] == {"replicas": 1}
