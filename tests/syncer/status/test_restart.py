"""`status.restart` (the operator's computeRestartStatus); a service counts as restarted only with the id in its pod templates."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.syncer.status import rolling_restart
from tests.support.cases import cases
from tests.syncer.status import graphs

DECODE, FRONT = graphs.entry("Decode"), graphs.entry("Frontend")
NAMES = ("Decode", "Frontend")


def progress(*resources, stored=None, entries=(DECODE, FRONT), sync=True, services=None, **asked):
    """`status.restart` of a graph that asks for this restart."""
    spec: Any = {"restart": asked} if asked else {}
    read = graphs.graph(*entries, status={"restart": stored} if stored else None, sync=sync, services=services, **spec)
    return rolling_restart.progress(read, graphs.index(*resources))


def doing(*services, of="r1"):
    return {"observedID": of, "phase": "Restarting", "inProgress": list(services)}


def done(of="r1", phase="Completed"):
    return {"observedID": of, "phase": phase}


def running(**stamps):
    """Deployments that are ready, with the restart in their templates."""
    return [graphs.deployment(name, restarted=stamps.get(name, "")) for name in NAMES]


PARALLEL, LAST_FIRST = {"type": "Parallel"}, {"order": ["Frontend", "Decode"]}
CASES = [
    ("none", {}, None, running(), None),
    ("an empty id", {"id": ""}, None, running(), None),
    ("an id that is no text", {"id": 7}, None, running(), None),
    ("removed after its end", {}, done("r0"), running(), done("r0")),
    ("removed in the middle", {}, doing("Decode", of="r0"), running(), None),
    ("completed", {"id": "r1"}, done(), running(), done()),
    ("failed", {"id": "r1"}, done(phase="Failed"), running(), done(phase="Failed")),
    ("given up by an operator", {"id": "r1"}, done(phase="Superseded"), running(), done(phase="Superseded")),
    ("new after one that was given up", {"id": "r2"}, done(phase="Superseded"), running(), doing("Decode", of="r2")),
    ("new", {"id": "r1"}, None, running(), doing("Decode")),
    ("new after another", {"id": "r2"}, done(), running(Decode="r1", Frontend="r1"), doing("Decode", of="r2")),
    ("new in the middle of another", {"id": "r2"}, doing("Frontend"), running(Decode="r1"), doing("Decode", of="r2")),
    ("the first is not stamped yet", {"id": "r1"}, doing("Decode"), running(), doing("Decode")),
    ("the first is ready", {"id": "r1"}, doing("Decode"), running(Decode="r1"), doing("Frontend")),
    ("the last is ready", {"id": "r1"}, doing("Frontend"), running(Decode="r1", Frontend="r1"), done()),
    ("the first does not exist", {"id": "r1"}, doing("Decode"), [], doing("Decode")),
    ("nothing in progress", {"id": "r1"}, {"observedID": "r1", "phase": "Restarting"}, running(), doing("Decode")),
    ("another order", {"id": "r1", "strategy": LAST_FIRST}, None, running(), doing("Frontend")),
    ("another order, the next", {"id": "r1", "strategy": LAST_FIRST}, doing("Frontend"), running(Frontend="r1"), doing("Decode")),
    ("a service that left the order", {"id": "r1"}, doing("Gone"), running(), done()),
    ("parallel, new", {"id": "r1", "strategy": PARALLEL}, None, running(), doing(*NAMES)),
    ("parallel, one left", {"id": "r1", "strategy": PARALLEL}, doing(*NAMES), running(Decode="r1"), doing("Frontend")),
    ("parallel, it was done", {"id": "r1", "strategy": PARALLEL}, doing("Frontend"), running(Frontend="r1"), done()),
    ("a status that nobody writes", {"id": "r1"}, {"observedID": "r1", "inProgress": 3}, running(), doing("Decode")),
]


@cases(("asked", "stored", "resources", "wanted"), CASES)
def test_a_restart_by_the_syncer(asked, stored, resources, wanted):
    assert progress(*resources, stored=stored, **asked) == wanted


RENDERED = [
    ("nothing applied yet", running(), doing(*NAMES)),
    ("one is applied and ready", running(Decode="r1"), doing("Frontend")),
    ("one is not ready", [running(Decode="r1")[0], graphs.deployment("Frontend", restarted="r1", running=0)], doing("Frontend")),
    ("all are ready", running(Decode="r1", Frontend="r1"), done()),
]


@cases(("resources", "wanted"), RENDERED)
def test_a_restart_by_the_render(resources, wanted):
    """The render stamps all services at once, whatever the order says."""
    assert progress(*resources, sync=False, id="r1", strategy={"type": "Sequential", "order": list(NAMES)}) == wanted


def test_a_service_without_pods_is_passed_over():
    """It has no LeaderWorkerSet."""
    services = {"Decode": {"replicas": 0}, "Frontend": {}}
    assert progress(*running(), stored=doing("Decode"), entries=[FRONT], services=services, id="r1") == doing("Frontend")


def test_all_sets_of_a_service_restart():
    entries = [graphs.entry("Decode", "LeaderWorkerSet", name=f"demo-decode-{index}") for index in (0, 1)]
    stamped = [graphs.leader_worker_set("Decode", index, "r1") for index in (0, 1)]
    assert progress(*stamped, stored=doing("Decode"), entries=entries, id="r1") == done()
    assert progress(stamped[0], graphs.leader_worker_set("Decode", 1), stored=doing("Decode"), entries=entries, id="r1") == doing("Decode")


GROVE = [graphs.entry("Decode", "PodCliqueScalingGroup"), graphs.entry("Frontend", "PodClique")]
MADE = [graphs.grove("PodCliqueScalingGroup", "Decode"), graphs.grove("PodClique", "Frontend")]


@pytest.mark.parametrize(
    ("cliques", "generation", "wanted"),
    [
        ({"decode_ldr": ("Decode", "r1"), "decode_wkr": ("Decode", "r1"), "frontend": ("Frontend", "")}, 1, doing("Frontend")),
        ({"decode_ldr": ("Decode", "r1"), "decode_wkr": ("Decode", ""), "frontend": ("Frontend", "")}, 1, doing("Decode")),
        ({"decode_ldr": ("Decode", "r1"), "decode_wkr": ("Decode", "r1"), "frontend": ("Frontend", "")}, 2, doing("Decode")),
        ({}, 1, doing("Decode")),
    ],
    ids=["stamped", "stamped in part", "not seen by Grove", "no clique"],
)
def test_the_cliques_of_a_service_restart(cliques, generation, wanted):
    """The templates of all services are in the PodCliqueSet."""
    whole = graphs.pod_clique_set(**cliques)
    whole["metadata"]["generation"] = generation
    assert progress(whole, *MADE, stored=doing("Decode"), entries=GROVE, id="r1") == wanted
