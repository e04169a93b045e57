"""Which pod templates the syncer stamps (operator: DetermineRestartState, and the cases of TestDetermineGroveRestartState)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from krm_fn.syncer.status import rolling_restart
from tests.support.cases import cases
from tests.syncer.status.graphs import deployment, entry, graph, grove, index, leader_worker_set, pod_clique_set

if TYPE_CHECKING:
    from krm_fn.kubernetes.types import Resource

SERVICES = ("Backend", "Frontend", "Worker")


def restarting(*services, restart_id="r1"):
    return {"observedID": restart_id, "phase": "Restarting", "inProgress": list(services)}


def plain(**carried):
    return index(*(deployment(service, restarted=carried.get(service, "")) for service in SERVICES))


def due(progress, children, **spec):
    asked = graph(*map(entry, SERVICES), **{"restart": {"id": "r1"}, **spec})
    return [(each.key.name, each.id) for each in rolling_restart.due_annotations(asked, children, progress)]


CASES = [
    ("nothing is asked", None, {}, {"restart": None}, []),
    ("no restart is under way", None, {}, {}, []),
    ("all services of a parallel restart", restarting(*SERVICES), {}, {}, ["backend", "frontend", "worker"]),
    ("only the service in progress", restarting("Frontend"), {"Backend": "r1"}, {}, ["frontend"]),
    ("an older restart is replaced", restarting("Frontend"), dict.fromkeys(SERVICES, "r0"), {}, ["frontend"]),
    ("a template that carries the restart", restarting("Frontend"), {"Frontend": "r1"}, {}, []),
    ("a service that lost an earlier stamp", restarting("Worker"), {"Worker": "r1"}, {}, []),
    ("a complete restart", {"observedID": "r1", "phase": "Completed"}, {}, {}, []),
    ("the status of an older restart", restarting("Frontend", restart_id="r0"), {}, {}, []),
    ("the restart was removed", restarting("Frontend"), {}, {"restart": None}, []),
    ("an empty id", restarting("Frontend", restart_id=""), {}, {"restart": {"id": ""}}, []),
    ("the render restarts", restarting("Frontend"), {}, {"sync": False}, []),
    ("a service that the graph does not have", restarting("Other"), {}, {}, []),
]


@cases(("progress", "carried", "spec", "expected"), CASES)
def test_due(progress, carried, spec, expected):
    assert due(progress, plain(**carried), **spec) == [(f"demo-{name}", "r1") for name in expected]


def test_a_workload_that_does_not_exist_is_not_stamped():
    assert due(restarting(*SERVICES), index(deployment("Worker"))) == [("demo-worker", "r1")]


def test_a_graph_that_is_deleted_is_not_stamped():
    asked = graph(entry("Worker"), restart={"id": "r1"})._replace(deleted=True)
    assert rolling_restart.due_annotations(asked, plain(), restarting("Worker")) == []


def test_only_the_graph_that_a_workload_belongs_to_stamps_it():
    """Each would replace the id of the other, and the pods would never stay."""
    own, other = graph(entry("Worker"), restart={"id": "r1"}), graph(entry("Worker"), name="other", restart={"id": "r1"})
    children = index(deployment("Worker"), graphs=(own, other))
    assert len(rolling_restart.due_annotations(own, children, restarting("Worker"))) == 1
    assert rolling_restart.due_annotations(other, children, restarting("Worker")) == []


def test_both_templates_of_all_sets_of_a_service_are_stamped():
    sets = [entry("Worker", "LeaderWorkerSet", 1, f"demo-worker-{number}") for number in range(2)]
    children = index(leader_worker_set("Worker", 0), leader_worker_set("Worker", 1, "r1"))
    found = rolling_restart.due_annotations(graph(*sets, restart={"id": "r1"}), children, restarting("Worker"))
    assert [(each.key.name, each.template.path[-2]) for each in found] == [
        ("demo-worker-0", "leaderTemplate"),
        ("demo-worker-0", "workerTemplate"),
    ]


def test_all_cliques_of_a_service_are_stamped_in_their_set():
    """The templates of Grove's objects are in the PodCliqueSet. Cliques of other services keep what they have (operator: 7.8)."""
    listed = [entry("Frontend", "PodClique", 1), entry("Decode", "PodCliqueScalingGroup", 1)]
    cliques = pod_clique_set(frontend=("Frontend", "r0"), decode_ldr=("Decode", "r0"), decode_wkr=("Decode", ""))
    children = index(grove("PodClique", "Frontend"), grove("PodCliqueScalingGroup", "Decode"), cliques)
    found = rolling_restart.due_annotations(graph(*listed, restart={"id": "r1"}), children, restarting("Decode"))
    assert [(each.key.kind, each.key.name, each.template.path) for each in found] == [
        ("PodCliqueSet", "demo", ("spec", "template", "cliques", 1)),
        ("PodCliqueSet", "demo", ("spec", "template", "cliques", 2)),
    ]


def test_cliques_of_a_set_that_does_not_exist_are_not_stamped():
    asked = graph(entry("Frontend", "PodClique", 1), restart={"id": "r1"})
    assert rolling_restart.due_annotations(asked, index(grove("PodClique", "Frontend")), restarting("Frontend")) == []


@pytest.mark.parametrize("kind", ["Sequential", "Parallel"])
def test_a_restart_comes_to_its_end(kind):
    """The status and the stamps together: each service is stamped once, in order, and nothing is left to do."""
    carried: dict[str, str] = {}
    stored: Resource = {}
    stamped: list[str] = []
    for _ in range(10):
        asked = graph(*map(entry, SERVICES), restart={"id": "r1", "strategy": {"type": kind}}, status=stored)
        children = plain(**carried)
        progress = rolling_restart.progress(asked, children)
        found = [each.key.name.removeprefix("demo-").title() for each in rolling_restart.due_annotations(asked, children, progress)]
        stamped.extend(found)
        carried, stored = {**carried, **dict.fromkeys(found, "r1")}, {"restart": progress}
    assert stamped == list(SERVICES)
    assert stored == {"restart": {"observedID": "r1", "phase": "Completed"}}
