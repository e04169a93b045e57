"""When a workload is ready, and the first check that fails, for each kind (the operator's IsDeploymentReady, CheckPodCliqueReady, …)."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.render import labels
from krm_fn.syncer.status.workload_index import WorkloadIndex
from tests.support.cases import cases
from tests.syncer.status import given


def observed(resource, *others):
    """The observation of the first object, judged together with the others."""
    children = WorkloadIndex.of([resource, *others])
    (first,) = WorkloadIndex.of([resource])._all  # the only key
    found = children.get(first)
    assert found is not None
    assert found.ready is not bool(found.problem)
    return found


AVAILABLE, NOT_AVAILABLE = given.condition("Available", True), given.condition("Available", False)
DEPLOYMENTS = [
    ("all as wanted", {}, ""),
    ("without a replica", {"replicas": 0}, ""),
    ("no number wanted: 1", {"spec": {"replicas": None}}, ""),
    ("paused", {"spec": {"paused": True}}, "the Deployment is paused"),
    ("paused without a replica", {"replicas": 0, "spec": {"paused": True}}, "the Deployment is paused"),
    ("a spec that is not seen", {"generation": 2}, "spec not yet processed: generation=2, observedGeneration=1"),
    ("nothing seen", {"observedGeneration": None}, "spec not yet processed: generation=1, observedGeneration=0"),
    ("an old pod instead", {"replicas": 2, "updatedReplicas": 1}, "desired=2, updated=1"),
    ("a pod too few", {"replicas": 2, "availableReplicas": 1}, "desired=2, available=1"),
    ("an old pod beside", {"replicas": 2, "spec": {"replicas": 1}}, "performing rolling update: desired=1, replicas=2"),
    ("no condition", {"conditions": []}, "condition Available is not True"),
]


@cases(("fields", "why"), DEPLOYMENTS)
def test_deployments(fields, why):
    assert observed(given.deployment(**fields)).problem == why


def test_a_deployment_without_a_status_is_not_ready():
    assert observed(given.workload("Deployment", "demo-decode", replicas=1)).problem.startswith("spec not yet processed")


# spec, status: replicas, ready or available, updated, observedGeneration, generation
GROVE = [
    ((3, 3, 3, 3, 1, 1), ""),
    ((0, 0, 0, 0, 1, 1), ""),
    ((2, 2, 2, 2, 2, 3), "spec not yet processed: generation=3, observedGeneration=2"),
    ((3, 3, 1, 3, 1, 1), "desired=3, {}=1"),
    ((3, 3, 3, 2, 1, 1), "desired=3, updated=2"),
    ((3, 4, 3, 3, 1, 1), "performing rolling update: desired=3, replicas=4"),
    ((3, 3, 4, 3, 1, 1), "desired=3, {}=4"),
    ((2, 2, 2, 2, None, 1), "observedGeneration is nil"),
]


@pytest.mark.parametrize("kind", ["PodClique", "PodCliqueScalingGroup"])
@pytest.mark.parametrize(("numbers", "why"), GROVE, ids=[row[1] or str(row[0][0]) for row in GROVE])
def test_grove(kind, numbers, why):
    """Without the hash of a newer Grove, the operator's rules are all."""
    word = "ready" if kind == "PodClique" else "available"
    wanted, replicas, up, updated, seen, generation = numbers
    status = {"replicas": replicas, f"{word}Replicas": up, "updatedReplicas": updated}
    status |= {} if seen is None else {"observedGeneration": seen}
    found = observed(given.workload(kind, "demo-0-decode", status, generation=generation, replicas=wanted, marks={labels.PART_OF: "demo"}))
    assert found.problem == why.format(word)


def clique_set(generation=1, seen=1, revision="a", **template):
    status = {"observedGeneration": seen, "currentGenerationHash": revision}
    return given.workload("PodCliqueSet", "demo", status, generation=generation, replicas=1, template=template)


def follower(kind, name, wanted=1, revision="a", group="", **status):
    marks = {labels.PART_OF: "demo", **({labels.GROVE_GROUP: group} if group else {})}
    counts = {f"{each}Replicas": wanted for each in ("ready", "available", "updated")}
    told = {"observedGeneration": 1, "replicas": wanted, **counts, "currentPodCliqueSetGenerationHash": revision, **status}
    return given.workload(kind, name, told, marks=marks, replicas=wanted)


GROUP = "demo-0-decode"
IGNORED = "desired=1, in the graph=3, Grove does not change a PodClique that exists, delete it, and Grove creates it again"
MEMBERS = [follower("PodClique", f"{GROUP}-{index}-decode-{role}", group=GROUP) for index in (0, 1) for role in ("ldr", "wkr")]
TOGETHER = [
    ("all follow", clique_set(), follower("PodClique", "demo-0-front"), [], ""),
    (
        "the set is in an update",
        clique_set(2),
        follower("PodClique", "demo-0-front"),
        [],
        "PodCliqueSet demo is not yet updated: generation=2, observedGeneration=1",
    ),
    (
        "the clique does not follow yet",
        clique_set(2, 2, "b"),
        follower("PodClique", "demo-0-front"),
        [],
        "the templates of the PodCliqueSet are newer than those of its pods",
    ),
    ("no set, but its hash", None, follower("PodClique", "demo-0-front"), [], "PodCliqueSet demo not found"),
    ("no set, as in an older Grove", None, follower("PodClique", "demo-0-front", revision=None), [], ""),
    ("nothing wanted", clique_set(), follower("PodClique", "demo-0-front", 0), [], ""),
    ("pods that remain", clique_set(), follower("PodClique", "demo-0-front", 0, replicas=2), [], "desired=0, replicas=2"),
    ("a group with all its cliques", clique_set(), follower("PodCliqueScalingGroup", GROUP, 2), MEMBERS, ""),
    ("a group without cliques", clique_set(), follower("PodCliqueScalingGroup", GROUP, 2), MEMBERS[:1], "desired=2, podcliques=1"),
    (
        "an available group with a clique that is not ready",
        clique_set(),
        follower("PodCliqueScalingGroup", GROUP, 2),
        [*MEMBERS[:3], follower("PodClique", f"{GROUP}-1-decode-wkr", 3, group=GROUP, readyReplicas=2)],
        f"podclique/{GROUP}-1-decode-wkr: desired=3, ready=2",
    ),
    (
        "a group whose cliques have other templates",
        clique_set(),
        follower("PodCliqueScalingGroup", GROUP, 2),
        [*MEMBERS[:3], follower("PodClique", f"{GROUP}-1-decode-wkr", revision="old", group=GROUP)],
        f"podclique/{GROUP}-1-decode-wkr: the templates of the PodCliqueSet are newer than those of its pods",
    ),
    ("cliques of another group", clique_set(), follower("PodCliqueScalingGroup", "demo-0-x"), MEMBERS, "desired=1, podcliques=0"),
    (
        "a number of workers that Grove ignores",
        clique_set(cliques=[{"name": "wkr", "spec": {"replicas": 9}}, {"name": "decode-wkr", "spec": {"replicas": 3}}]),
        follower("PodCliqueScalingGroup", GROUP, 2),
        MEMBERS,
        f"podclique/{GROUP}-0-decode-wkr: {IGNORED}",
    ),
]


@cases(("whole", "own", "others", "why"), TOGETHER)
def test_grove_together(whole, own, others, why):
    """Where Grove tells which templates an object follows, all objects of a set must say the same."""
    assert observed(own, *others, *([whole] if whole else [])).problem == why


# spec, status: replicas, ready, updated, observedGeneration, generation, Available
SETS = [
    ("ready", (1, 1, 1, 1, 1, 1, True), ""),
    ("no condition", (1, 1, 1, 1, 1, 1, None), "condition Available is not True"),
    ("not available", (1, 1, 1, 1, 1, 1, False), "condition Available is not True"),
    ("nothing wanted", (0, 0, 0, 0, 1, 1, False), ""),
    ("not seen", (1, 1, 1, 1, 1, 2, True), "spec not yet processed: generation=2, observedGeneration=1"),
    ("not updated", (1, 1, 1, 0, 1, 1, True), "desired=1, updated=0"),
    ("groups too many", (1, 1, 2, 1, 1, 1, True), "desired=1, ready=2"),
    ("groups that remain", (1, 2, 1, 1, 1, 1, True), "performing rolling update: desired=1, replicas=2"),
    ("before version 0.9", (1, 1, 1, 0, None, 2, True), ""),
    ("before version 0.9, a group too few", (2, 2, 1, 2, None, 1, True), "desired=2, ready=1"),
    ("before version 0.9, nothing wanted", (0, 3, 0, 0, None, 1, None), ""),
]


@cases(("numbers", "why"), SETS)
def test_leader_worker_sets(numbers, why):
    """From version 0.9 on, the status tells which generation it is about."""
    wanted, replicas, up, updated, seen, generation, available = numbers
    status = {"replicas": replicas, "readyReplicas": up, "updatedReplicas": updated}
    status |= {} if seen is None else {"observedGeneration": seen}
    status |= {} if available is None else {"conditions": [given.condition("Available", available)]}
    assert observed(given.workload("LeaderWorkerSet", "demo-decode-0", status, generation=generation, replicas=wanted)).problem == why


def test_the_selector_of_the_pods():
    """Autoscalers and commands need it."""
    matched: Any = {"spec": {"selector": {"matchLabels": {"b": "2", "a": "1"}}}}
    assert observed(given.deployment(**matched)).selector == "a=1,b=2"
    for kind, field in (("LeaderWorkerSet", "hpaPodSelector"), ("PodClique", "hpaPodSelector"), ("PodCliqueScalingGroup", "selector")):
        assert observed(given.workload(kind, "a", {field: "x=y"})).selector == "x=y"


def test_an_observation_of_an_update():
    """A restart and the events need it."""
    assert observed(given.deployment()).updating is False
    assert observed(given.deployment(generation=2)).updating is True
    assert observed(given.deployment(replicas=2, updatedReplicas=1)).updating is True


def test_since_when():
    assert observed(given.deployment()).since == "2026-03-01T11:00:00Z"
    assert observed(given.deployment("a", 1, NOT_AVAILABLE, availableReplicas=0)).since == "2026-03-01T11:00:00Z"
    assert observed(given.deployment("a", 2, AVAILABLE, updatedReplicas=1)).since == ""
