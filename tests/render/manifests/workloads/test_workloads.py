"""The contract of all workload kinds: what the annotation lists, what the Services select, and where the pods are."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.kubernetes import paths
from krm_fn.render import labels, workload_list
from krm_fn.render.manifests import pod_builder, workloads
from krm_fn.render.workload_list import WorkloadEntry
from tests.support import given
from tests.support.cases import cases

NODES = given.service("worker", main={"args": ["python3 -m dynamo.sglang"]}, multinode={}, resources={"limits": {"gpu": "4"}}, replicas=2)
PHASES = {"Decode": {**NODES, "subComponentType": "decode"}, "Prefill": given.service("worker", subComponentType="prefill")}
SERVICES = {"Front": given.service("frontend"), "Decode": NODES, "Idle": given.service("worker", replicas=0)}
JOINED = "disaggregatedset.x-k8s.io/v1"
APPS, SETS, GROVE = "apps/v1", "leaderworkerset.x-k8s.io/v1", "grove.io/v1alpha1"
CONTRACTS = [
    (
        "in deployment mode, one set per replica of a multinode service",
        {},
        [
            ("Front", APPS, "Deployment", "chat-front", 1),
            ("Decode", SETS, "LeaderWorkerSet", "chat-decode-0", 1),
            ("Decode", SETS, "LeaderWorkerSet", "chat-decode-1", 1),
            ("Idle", APPS, "Deployment", "chat-idle", 0),
        ],
    ),
    (
        "under Grove, the objects that Grove makes",
        {"orchestrator": "grove"},
        [
            ("Front", GROVE, "PodClique", "chat-0-front", 1),
            ("Decode", GROVE, "PodCliqueScalingGroup", "chat-0-decode", 2),
            ("Idle", GROVE, "PodClique", "chat-0-idle", 0),
        ],
    ),
    (
        "in deployment mode of release 1.5, one set per multinode service; the conversion sorts the services",
        {"behaviour": "v1.5", "worker_hash": "none"},
        [
            ("Decode", SETS, "LeaderWorkerSet", "chat-decode-0", 2),
            ("Front", APPS, "Deployment", "chat-front", 1),
            ("Idle", APPS, "Deployment", "chat-idle", 0),
        ],
    ),
    (
        "with a DisaggregatedSet, the set for prefill and for decode, and Deployments for the others",
        {"orchestrator": "disaggregatedSet", "behaviour": "v1.5"},
        [
            ("Decode", JOINED, "DisaggregatedSet", "chat", 2, "chat"),
            ("Front", APPS, "Deployment", "chat-front", 1),
            ("Idle", APPS, "Deployment", "chat-idle", 0),
            ("Prefill", JOINED, "DisaggregatedSet", "chat", 1, "chat"),
        ],
    ),
]


@cases(("settings", "listed"), CONTRACTS)
def test_a_graph_lists_the_workloads_whose_readiness_is_its_status(settings, listed):
    """The annotation is a contract: one entry for each workload, in the order of the spec, with the replicas that Git decides."""
    services = {**SERVICES, **(PHASES if settings.get("orchestrator") == "disaggregatedSet" else {})}
    notes = given.rendered(given.graph(services), **settings)["DynamoGraphDeployment/chat"]["metadata"]["annotations"]
    entries = [entry._replace(facts=None) for entry in workload_list.read(notes[labels.WORKLOADS])]
    assert entries == [WorkloadEntry(*fields) for fields in listed]


@pytest.mark.parametrize("settings", [{}, {"orchestrator": "grove"}], ids=["deployment", "grove"])
def test_replicas_that_an_autoscaler_decides_are_not_listed(settings):
    written = given.graph({"Worker": given.service("worker", replicas=3, scalingAdapter={"enabled": True})})
    notes = given.rendered(written, **settings)["DynamoGraphDeployment/chat"]["metadata"]["annotations"]
    assert [entry.replicas for entry in workload_list.read(notes[labels.WORKLOADS])] == [None]


SETTINGS: dict[str, dict[str, Any]] = {
    "disaggregatedset": {"orchestrator": "disaggregatedSet", "behaviour": "v1.5"},
    "grove": {"orchestrator": "grove"},
    "leaderworkerset_native": {"behaviour": "v1.5"},
}
PAIR = {"Front": given.service("frontend"), "Worker": given.service("worker")}


def graphs():
    """Each workload kind with a graph that it runs."""
    for name in workloads.names():
        services = {"deployment": PAIR, "disaggregatedset": {**PAIR, **PHASES}}.get(name, {**PAIR, "Worker": NODES})
        plan, found = given.plan(given.graph(services), **SETTINGS.get(name, {}))
        assert not found
        components = [each for each in plan.components if each.placement.workload == name]
        assert components, "a new workload kind needs a graph here that it runs"
        yield pytest.param(workloads.get(name), plan, components, id=name)


RUNS = list(graphs())


def pods(workload, components):
    return [pod_builder.pods(component, workload.roles(component)) for component in components]


@pytest.mark.parametrize(("workload", "graph", "components"), RUNS)
def test_every_kind_of_a_listed_workload_is_one_of_the_kinds_that_the_workload_kind_names(workload, graph, components):
    """The status syncer knows from `kinds` whose status it must read."""
    listed = {entry.kind for component in components for entry in workload.entries(graph, component)}
    assert listed
    assert listed <= set(workload.kinds)


@pytest.mark.parametrize(("workload", "graph", "components"), RUNS)
def test_the_pod_templates_of_every_workload_kind_are_found(workload, graph, components):
    """At the places that it names, which are among the places where readers of any build look."""
    assert set(workload.templates) <= set(paths.POD_TEMPLATES)
    for each in workload.render(graph, pods(workload, components)):
        found = [spec for place in workload.templates for _, spec in paths.find(each, [place.spec])]
        assert found == list(pod_specs(each))
        assert found or each["kind"] == "PodGroup"


def pod_specs(value):
    """Everything in an object that has containers."""
    if isinstance(value, dict) and "containers" in value:
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from pod_specs(inner)


@pytest.mark.parametrize(("workload", "graph", "components"), RUNS)
def test_the_services_of_every_workload_kind_select_pods_of_their_component(workload, graph, components):
    objects = list(workload.render(graph, pods(workload, components)))
    made = [found["labels"] for place in workload.templates for each in objects for _, found in paths.find(each, [place.metadata])]
    for component in components:
        face = workload.service_template(component)
        assert face.services
        selected = [labels_ for labels_ in made if face.selector.items() <= labels_.items()]
        assert {labels_[labels.COMPONENT] for labels_ in selected} == {component.identity.service}


@pytest.mark.parametrize(("workload", "graph", "components"), RUNS)
def test_a_workload_kind_has_nothing_against_a_graph_that_it_runs(workload, graph, components):
    assert [found for made in pods(workload, components) for found in workload.check(made)] == []
    assert list(workload.check_together(graph, components)) == []


def test_the_deadline_of_a_rollout_looks_at_the_main_container_even_in_debug_mode():
    debugged = given.deployment(given.service("worker", annotations={labels.DEBUG: "true"}))
    assert debugged["spec"]["progressDeadlineSeconds"] == given.deployment(given.service("worker"))["spec"]["progressDeadlineSeconds"]
