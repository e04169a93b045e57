"""LeaderWorkerSets and PodCliqueSets: which changes recreate groups and pods, and which are refused.

The rules are those of the sources, which no test can run: LeaderWorkerSet at 060ab4da17eea1f0865fcbd3236bb1075e2cea32 (2026-08-21) and
Grove at fcc3b3bbbc5e6a2a797cd080bdbc6983b1ccec24 (2026-08-19). Each row names the function that has its rule.
"""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.review import forecast
from krm_fn.review.forecast import object_rules
from tests.review.forecast import given
from tests.review.forecast.edits import written
from tests.review.forecast.native_objects import json_copy
from tests.support.cases import cases

NOTHING = object_rules.ClusterState({}, {}, {})
LABELS = {"nvidia.com/dynamo-graph-deployment-name": "large"}


def pod(gpus=1, image="worker:1"):
    return {"containers": [{"name": "main", "image": image, "resources": {"limits": {"nvidia.com/gpu": f"{gpus}"}}}]}


def leader_worker_set(replicas=1, size=2) -> dict[str, Any]:
    template = {"leaderTemplate": {"spec": pod()}, "workerTemplate": {"spec": pod()}, "size": size}
    marks = {**LABELS, "nvidia.com/dynamo-component": "Worker"}
    metadata = {"name": "large-worker-0", "labels": marks}
    spec = {"replicas": replicas, "leaderWorkerTemplate": template}
    return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": metadata, "spec": spec}


def clique(name, service, replicas=1) -> dict[str, Any]:
    marks = {**LABELS, "nvidia.com/dynamo-component": service}
    spec = {"roleName": name, "replicas": replicas, "minAvailable": 1, "podSpec": pod()}
    return {"name": name, "labels": marks, "annotations": {}, "spec": spec}


def clique_set() -> dict[str, Any]:
    """A frontend with two pods, and a scaling group of two replicas with a leader and two workers each."""
    template = {
        "cliqueStartupType": "CliqueStartupTypeAnyOrder",
        "cliques": [clique("frontend", "Frontend", 2), clique("decode-ldr", "Decode"), clique("decode-wkr", "Decode", 2)],
        "podCliqueScalingGroups": [{"name": "decode", "cliqueNames": ["decode-ldr", "decode-wkr"], "replicas": 2, "minAvailable": 1}],
    }
    metadata = {"name": "large"}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": metadata, "spec": {"replicas": 1, "template": template}}


def part(old, path, value):
    change = given.change(old, written(json_copy(old), path, value))
    return forecast.kind_forecast(change, NOTHING)


TEMPLATE = ("spec", "leaderWorkerTemplate")
WORKER = (*TEMPLATE, "workerTemplate", "spec")
SETS = [
    ("getPatch: the workers are in the revision", (*WORKER, "containers", 0, "image"), "worker:2", "restarts"),
    ("getPatch: the leader is in the revision", (*TEMPLATE, "leaderTemplate", "spec", "containers", 0, "image"), "worker:2", "restarts"),
    ("getPatch: a label of the pods is in the revision", (*TEMPLATE, "workerTemplate", "metadata"), {"labels": {"a": "b"}}, "restarts"),
    ("getPatch: the size is in the revision", (*TEMPLATE, "size"), 3, "restarts"),
    ("getPatch: the restart policy is in the revision", (*TEMPLATE, "restartPolicy"), "None", "restarts"),
    ("Default: the default restart policy", (*TEMPLATE, "restartPolicy"), "RecreateGroupOnPodRestart", "updated"),
    ("getPatch: the network is in the revision", ("spec", "networkConfig"), {"subdomainPolicy": "UniquePerReplica"}, "restarts"),
    ("Default: the default network", ("spec", "networkConfig"), {"subdomainPolicy": "Shared"}, "updated"),
    ("getPatch: the replicas are not in the revision", ("spec", "replicas"), 2, "updated"),
    ("getPatch: the startup policy is not in the revision", ("spec", "startupPolicy"), "LeaderReady", "updated"),
    ("getPatch: the strategy is not in the revision", ("spec", "rolloutStrategy"), {"type": "RollingUpdate"}, "updated"),
    ("getPatch: a label of the set is not in the revision", ("metadata", "labels", "a"), "b", "updated"),
    ("the definition has no default pull policy", (*WORKER, "containers", 0, "imagePullPolicy"), "IfNotPresent", "restarts"),
    ("Go drops an empty list", (*WORKER, "containers", 0, "args"), [], "updated"),
    ("Go prints the canonical quantity", (*WORKER, "containers", 0, "resources", "limits", "nvidia.com/gpu"), "1000m", "updated"),
    ("ValidateUpdate: subgroups cannot come", (*TEMPLATE, "subGroupPolicy"), {"subGroupSize": 1}, "refused"),
]


@cases(("reason", "path", "value", "effect"), SETS)
def test_leader_worker_sets(reason, path, value, effect):
    found = part(leader_worker_set(), path, value)
    assert found.effect == effect
    assert [each.name for each in found.restarting] == ([] if effect == "updated" else ["Worker"])


TEMPLATES = ("spec", "template")
FIRST = (*TEMPLATES, "cliques", 0)
LEADER = (*TEMPLATES, "cliques", 1)
GROUP = (*TEMPLATES, "podCliqueScalingGroups", 0)
CLIQUES = clique_set()["spec"]["template"]["cliques"]
PODS = [
    ("computeGenerationHash: the pod spec", (*FIRST, "spec", "podSpec", "containers", 0, "image"), "worker:2", ["Frontend"]),
    ("computeGenerationHash: the labels", (*FIRST, "labels", "a"), "b", ["Frontend"]),
    ("computeGenerationHash: the annotations", (*FIRST, "annotations", "a"), "b", ["Frontend"]),
    ("one clique replaces its scaling group", (*LEADER, "annotations", "a"), "b", ["Decode"]),
    ("computeGenerationHash: the priority class of the set", (*TEMPLATES, "priorityClassName"), "high", ["Frontend", "Decode"]),
    ("computeGenerationHash: not that of a clique", (*FIRST, "spec", "podSpec", "priorityClassName"), "high", []),
    ("defaultPodSpec: the default grace period", (*FIRST, "spec", "podSpec", "terminationGracePeriodSeconds"), 30, []),
    ("defaultPodSpec: the default restart policy", (*FIRST, "spec", "podSpec", "restartPolicy"), "Always", []),
    ("no default of Grove: the DNS policy", (*FIRST, "spec", "podSpec", "dnsPolicy"), "ClusterFirst", ["Frontend"]),
    ("counts are not in the hash", (*FIRST, "spec", "replicas"), 3, []),
    ("counts of groups are not in the hash", (*GROUP, "replicas"), 3, []),
    ("the delay before a termination is not in the hash", (*TEMPLATES, "terminationDelay"), "5m", []),
]


@cases(("reason", "path", "value", "services"), PODS)
def test_clique_sets(reason, path, value, services):
    found = part(clique_set(), path, value)
    assert found.effect == ("restarts" if services else "updated")
    assert [each.name for each in found.restarting] == services


REFUSED = [
    ("validatePodCliqueUpdate: a clique comes", (*TEMPLATES, "cliques", 3), clique("more", "More"), (*TEMPLATES, "cliques")),
    ("validatePodCliqueUpdate: a clique goes", (*TEMPLATES, "cliques"), CLIQUES[1:], (*TEMPLATES, "cliques")),
    ("validatePodCliqueUpdate: minAvailable", (*FIRST, "spec", "minAvailable"), 2, (*FIRST, "spec", "minAvailable")),
    ("validatePodCliqueUpdate: startsAfter", (*FIRST, "spec", "startsAfter"), ["decode-ldr"], (*FIRST, "spec", "startsAfter")),
    ("validatePodCliqueUpdate: roleName", (*FIRST, "spec", "roleName"), "other", (*FIRST, "spec", "roleName")),
    (
        "validatePodCliqueUpdate: schedulerName",
        (*FIRST, "spec", "podSpec", "schedulerName"),
        "kai-scheduler",
        (*FIRST, "spec", "podSpec", "schedulerName"),
    ),
    (
        "validatePodCliqueSetTemplateSpecUpdate: the startup type",
        (*TEMPLATES, "cliqueStartupType"),
        "CliqueStartupTypeInOrder",
        (*TEMPLATES, "cliqueStartupType"),
    ),
    ("validatePodCliqueScalingGroupConfigsUpdate: cliqueNames", (*GROUP, "cliqueNames"), ["decode-ldr"], (*GROUP, "cliqueNames")),
    ("validatePodCliqueScalingGroupConfigsUpdate: minAvailable", (*GROUP, "minAvailable"), 2, (*GROUP, "minAvailable")),
    ("validatePodCliqueScalingGroupConfigsUpdate: a group goes", (*TEMPLATES, "podCliqueScalingGroups"), [], GROUP[:-1]),
]


@cases(("reason", "path", "value", "cause"), REFUSED)
def test_clique_sets_that_must_be_replaced(reason, path, value, cause):
    found = part(clique_set(), path, value)
    assert found.effect == "refused"
    assert found.causes == (cause,)
    assert [each.name for each in found.restarting] == [each.name for each in found.services]
    assert all(each.steps.at_once for each in found.rollouts)


@pytest.mark.parametrize(("startup", "effect"), [("CliqueStartupTypeInOrder", "refused"), ("CliqueStartupTypeAnyOrder", "updated")])
def test_the_order_of_cliques_is_fixed_where_they_start_in_order(startup, effect):
    old = written(clique_set(), (*TEMPLATES, "cliqueStartupType"), startup)
    assert part(old, (*TEMPLATES, "cliques"), [CLIQUES[1], CLIQUES[0], CLIQUES[2]]).effect == effect


def test_a_clique_goes_pod_by_pod_and_a_group_replica_by_replica():
    found = part(clique_set(), (*TEMPLATES, "priorityClassName"), "high")
    units = [
        (each.old_units, sum(demand.gpus for demand in each.old_demands), each.steps.surge, each.steps.unavailable)
        for each in found.rollouts
    ]
    assert units == [(2, 3, 0, 1), (2, 1, 0, 1)]


def test_a_group_of_a_leader_worker_set_goes_as_a_whole():
    (found,) = part(leader_worker_set(2, 3), (*TEMPLATE, "size"), 4).rollouts
    assert [sum(demand.gpus for demand in demands) for demands in (found.old_demands, found.new_demands)] == [3, 4]
    assert (found.steps.surge, found.steps.unavailable) == (0, 1)
