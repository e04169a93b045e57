"""What every carrier has in common; each one's own tests lie in `tests/workloads`."""

from __future__ import annotations

import json

import pytest

from krm_fn.kube import labels
from krm_fn.manifests import workloads
from tests.support import given

NODES = given.service("worker", main={"args": ["python3 -m dynamo.sglang"]}, multinode={}, resources={"limits": {"gpu": "4"}}, replicas=2)
SERVICES = {"Front": given.service("frontend"), "Decode": NODES, "Idle": given.service("worker", replicas=0)}
APPS, SETS, GROVE = "apps/v1", "leaderworkerset.x-k8s.io/v1", "grove.io/v1alpha1"
CONTRACTS = [
    (
        "in deployment mode, each replica on several nodes for itself",
        {},
        [
            ("Front", APPS, "Deployment", "chat-front", 1),
            ("Decode", SETS, "LeaderWorkerSet", "chat-decode-0", 1),
            ("Decode", SETS, "LeaderWorkerSet", "chat-decode-1", 1),
            ("Idle", APPS, "Deployment", "chat-idle", 0),
        ],
    ),
    (
        "under Grove, what Grove makes of the set",
        {"orchestrator": "grove"},
        [
            ("Front", GROVE, "PodClique", "chat-0-front", 1),
            ("Decode", GROVE, "PodCliqueScalingGroup", "chat-0-decode", 2),
            ("Idle", GROVE, "PodClique", "chat-0-idle", 0),
        ],
    ),
]


@pytest.mark.parametrize(("settings", "listed"), [row[1:] for row in CONTRACTS], ids=[row[0] for row in CONTRACTS])
def test_a_graph_lists_its_workloads_for_whoever_reports_its_status(settings, listed):
    """The annotation is a contract: one entry for each workload, in the order of the spec, with the replicas that Git decides."""
    notes = given.rendered(given.graph(SERVICES), **settings)["DynamoGraphDeployment/chat"]["metadata"]["annotations"]
    keys = ("service", "apiVersion", "kind", "name", "replicas")
    assert json.loads(notes[labels.WORKLOADS]) == [dict(zip(keys, entry, strict=True)) for entry in listed]


@pytest.mark.parametrize("settings", [{}, {"orchestrator": "grove"}], ids=["deployment", "grove"])
def test_replicas_that_an_autoscaler_decides_are_not_listed(settings):
    written = given.graph({"Worker": given.service("worker", replicas=3, scalingAdapter={"enabled": True})})
    notes = given.rendered(written, **settings)["DynamoGraphDeployment/chat"]["metadata"]["annotations"]
    assert ["replicas" in entry for entry in json.loads(notes[labels.WORKLOADS])] == [False]


@pytest.mark.parametrize("name", workloads.names())
def test_every_carrier_has_an_answer_to_everything(name):
    plan, graph = given.component(given.service("worker")), given.plan(given.graph())[0]
    carrier = workloads.get(name)
    assert list(carrier.render(graph, [plan]))
    assert list(carrier.entries(graph, plan))
    assert [role.component for role in carrier.roles(plan)]
    assert [found for found in carrier.check_together([plan]) if found.severity == "error"] == []


def test_the_deadline_of_a_rollout_looks_at_the_main_container_even_in_debug_mode():
    debugged = given.deployment(given.service("worker", annotations={labels.DEBUG: "true"}))
    assert debugged["spec"]["progressDeadlineSeconds"] == given.deployment(given.service("worker"))["spec"]["progressDeadlineSeconds"]
