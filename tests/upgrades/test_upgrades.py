"""Twenty fleets are upgraded on a real API server: the pods that are replaced are exactly those of the services that the plan names.

All fleets move at the same time, in namespaces of their own, so that one cluster is enough. The controllers of Kubernetes and of
LeaderWorkerSets are real; Grove is played (`grove_pods.py`). A fake kubelet runs the pods.
"""

from __future__ import annotations

from collections import Counter

import pytest

from krm_fn.migration.upgrade.upgrade_planner import UpgradeOptions
from krm_fn.render.config import Config
from krm_fn.review.forecast.rollouts import Service
from tests.support.cases import cases
from tests.upgrades import fleets, proof
from tests.upgrades.fleets import FLEETS


@pytest.fixture(scope="module")
def planned():
    """The plans of all fleets."""
    return [
        proof.planned(fleet.reason, fleets.resources(number, fleet), Config(**fleet.settings), fleet.target, fleet.options)
        for number, fleet in enumerate(FLEETS)
    ]


def test_the_fleets_cover_what_an_upgrade_can_move(planned):
    """Each kind of workload and each API version is among them, steps of both directions, and services that restart and that stay."""
    assert len(planned) == 20
    assert all(entry.plan.steps for entry in planned)
    assert all(3 <= len({resource["metadata"]["name"] for resource in fleets.resources(*pair)}) <= 8 for pair in enumerate(FLEETS))
    kinds = Counter(key.kind for entry in planned for key in entry.states[0])
    assert min(kinds[kind] for kind in ("Deployment", "LeaderWorkerSet", "PodCliqueSet")) >= 10
    steps = [step for entry in planned for step in entry.plan.steps]
    moves = {(step.step.old_release, step.step.release) for step in steps}
    assert moves >= {("v0.9", "v1.2"), ("v1.2", "v1.3"), ("v1.3", "v1.5"), ("v1.4", "v1.6"), ("v1.5", "v1.6"), ("v1.6", "v1.5")}
    versions = {resource["apiVersion"] for step in steps for part in step.parts for resource in part.old.resources}
    assert versions >= {"nvidia.com/v1alpha1", "nvidia.com/v1beta1"}
    services = [service for step in steps for graph in step.graphs for service in graph.services]
    assert {service.restarts for service in services} == {True, False}


@pytest.mark.usefixtures("kubelet")
def test_the_pods_that_are_replaced_are_exactly_those_of_the_plan(planned, live_pods, control_plane, measured):
    """0 services are replaced without an announcement, and 0 announcements are in vain, in each step of each fleet."""
    outcome = proof.run(control_plane, live_pods, planned)
    measured.append(f"upgrades: {outcome}")
    assert not outcome.differences, "\n".join(map(str, outcome.differences))
    assert 0 < outcome.counts["pods replaced"] < outcome.counts["pods before a step"]
    assert outcome.counts["services autoscaled"] > 0


def uids(*names):
    return frozenset(names)


DIFFERENCES = [
    # reason, pods of the frontend and of the worker after the step, differences
    ("as planned: the worker stays", uids("c", "d"), uids("w"), []),
    ("one pod of the frontend stays", uids("a", "d"), uids("w"), ["in vain"]),
    ("the worker is replaced", uids("c", "d"), uids("v"), ["unannounced"]),
    ("neither", uids("a", "b"), uids("v"), ["in vain", "unannounced"]),
    ("the worker is gone", uids("c", "d"), None, ["unannounced"]),
]


@cases(("frontend", "worker", "kinds"), DIFFERENCES)
def test_a_difference_is_noticed(frontend, worker, kinds):
    """The frontend of this graph moves, and its worker has the newest image."""
    resources = fleets.half_way("1.6.0")
    (step,) = proof.planned("", resources, Config(), "1.6", UpgradeOptions()).plan.steps
    keys = [Service(resources[0]["metadata"]["namespace"], "chat", name) for name in ("Frontend", "Worker")]
    before = dict(zip(keys, (uids("a", "b"), uids("w")), strict=True))
    now = {key: pods for key, pods in zip(keys, (frontend, worker), strict=True) if pods is not None}
    assert sorted(kind for kind, _ in proof.differences(step, before, now)) == kinds
