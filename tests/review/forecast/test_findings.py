"""The findings of a forecast, each with a change that has it and a similar one that has not."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.review.forecast import forecast
from tests.review.forecast import given
from tests.review.forecast.edits import deployment, written
from tests.review.forecast.native_objects import json_copy, named
from tests.review.forecast.test_groups import clique_set, leader_worker_set
from tests.support.cases import cases

GPU = "nvidia.com/gpu"
MARKS = {"nvidia.com/dynamo-graph-deployment-name": "chat", "nvidia.com/dynamo-component": "Worker"}


def labelled(name: str = "chat-worker", **spec: Any) -> dict[str, Any]:
    """A Deployment of a service whose pods have one GPU each."""
    made = deployment()
    made["metadata"] = {"name": name, "labels": MARKS}
    made["spec"]["template"]["metadata"]["labels"] |= MARKS
    made["spec"] |= {"replicas": 2, **spec}
    return made


def data(value: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"a": value}}


def without(resource: dict[str, Any], field: str) -> dict[str, Any]:
    copied: dict[str, Any] = json_copy(resource)
    del copied["spec"][field]
    return copied


def scaled(resource: dict[str, Any]) -> dict[str, Any]:
    """A live Deployment whose replicas an autoscaler has set."""
    owner = {"manager": "kube-controller-manager", "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}}
    return written(json_copy(resource), ("metadata", "managedFields"), [owner])


IMAGE = ("spec", "template", "spec", "containers", 0, "image")
FRONTEND = ("spec", "template", "cliques", 0, "spec", "replicas")
SIZE = ("spec", "leaderWorkerTemplate", "size")
LEADER_IMAGE = ("spec", "leaderWorkerTemplate", "leaderTemplate", "spec", "containers", 0, "image")
SECOND_SET = written(leader_worker_set(), ("metadata", "name"), "large-worker-1")
NODES = [{"kind": "Node", "metadata": {"name": "one"}, "status": {"allocatable": {GPU: "3", "cpu": "8"}}}]
NO_GPUS = [{"kind": "Node", "metadata": {"name": "one"}, "status": {"allocatable": {"cpu": "8"}}}]


POD = ("spec", "template", "spec")
CERTIFICATE = {"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {"name": "chat"}, "spec": {"secretName": "tls"}}
MONITOR = {"apiVersion": "monitoring.coreos.com/v1", "kind": "PodMonitor", "metadata": {"name": "chat"}, "spec": {"jobLabel": "app"}}
SECRET = named("Secret", "fixed")
SAME_SECRET = {**{name: value for name, value in SECRET.items() if name != "stringData"}, "data": {"a": "MQ==", "b": "Mg=="}}
BY_HAND = {**named("StatefulSet"), "spec": {**named("StatefulSet")["spec"], "updateStrategy": {"type": "OnDelete"}}}


def changed(old: dict[str, Any], path: tuple[str | int, ...], value: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    return old, written(json_copy(old), path, value)


NEW_IMAGE = changed(labelled(), IMAGE, "worker:2")
ROWS = [
    ("a selector is immutable", [changed(labelled(), ("spec", "selector", "matchLabels", "a"), "b")], None, ["DYN530"]),
    ("an image is not", [NEW_IMAGE], None, []),
    ("Grove fixes the cliques", [changed(clique_set(), ("spec", "template", "cliques"), [])], None, ["DYN531"]),
    ("one free GPU is enough for a surge of one pod with one GPU", [NEW_IMAGE], NODES, []),
    ("no free GPU", [changed(labelled(replicas=3), IMAGE, "worker:2")], NODES, ["DYN532"]),
    ("two sets of one service", [changed(each, LEADER_IMAGE, "a:2") for each in (leader_worker_set(), SECOND_SET)], None, ["DYN533"]),
    ("one set of a service", [changed(leader_worker_set(), LEADER_IMAGE, "a:2")], None, []),
    ("Grove reads counts once", [changed(clique_set(), FRONTEND, 3)], None, ["DYN534"]),
    ("replicas leave the file", [(labelled(), without(labelled(), "replicas"))], None, ["DYN535"]),
    ("one replica leaves the file", [(labelled(replicas=1), without(labelled(), "replicas"))], None, []),
    ("an autoscaler owns the replicas", [(scaled(labelled()), without(labelled(), "replicas"))], None, []),
    ("pods read the data", [(labelled(), labelled()), (data("1"), data("2"))], None, ["DYN536"]),
    ("pods read data that stay", [(labelled(), labelled()), changed(data("1"), ("metadata", "labels"), {"a": "b"})], None, []),
    ("no pod reads the data", [(data("1"), data("2"))], None, []),
    ("a renamed service", [(labelled(), None), (None, labelled("chat-other"))], None, ["DYN537"]),
    ("a new service", [(labelled(), labelled()), (None, labelled("chat-other"))], None, []),
    ("nodes without GPUs", [(labelled(), labelled())], NO_GPUS, ["DYN538"]),
    ("a kind that krm-fn does not know", [changed(CERTIFICATE, ("spec", "secretName"), "other")], None, ["DYN574"]),
    ("a kind of a group without pods", [changed(MONITOR, ("spec", "jobLabel"), "other")], None, []),
    ("a gate that is off", [changed(labelled(), (*POD, "schedulingGroup"), {"podGroupName": "a"})], None, ["DYN573"]),
    ("a template of claims", [changed(named("ResourceClaimTemplate"), ("spec", "spec", "devices"), {})], None, ["DYN530"]),
    ("the same data of an immutable Secret in another form", [(SECRET, SAME_SECRET)], None, []),
    ("pods that a user replaces", [changed(BY_HAND, IMAGE, "worker:2")], None, ["DYN539"]),
    ("a paused Deployment", [changed(labelled(paused=True), IMAGE, "worker:2")], None, ["DYN539"]),
    ("older releases refuse another size", [changed(leader_worker_set(), SIZE, 3)], None, ["DYN540"]),
]


@cases(("reason", "states", "nodes", "codes"), ROWS)
def test_findings(reason, states, nodes, codes):
    found = forecast([given.change(old, new) for old, new in states], nodes)
    told = [*found.findings, *(each for outcome in found.outcomes for each in outcome.findings)]
    assert [each.code for each in told] == codes


def test_a_stuck_rollout_says_what_helps_and_what_it_costs():
    (outcome,) = forecast([given.change(*changed(labelled(replicas=3), IMAGE, "worker:2"))], NODES).outcomes
    (finding,) = outcome.findings
    assert outcome.stuck
    assert "a new pod needs 1 GPU, and 0 GPUs of the nodes are free" in finding.message
    assert 'max-surge: "0"' in finding.message
    assert "one replica stops at a time, enough with 0 GPUs free" in finding.message


POD_IMAGE = ("spec", "containers", 0, "image")
CLIQUES, SCALING_GROUP = ("spec", "template", "cliques"), ("spec", "template", "podCliqueScalingGroups", 0)
CLIQUE_IMAGE = (*CLIQUES, 1, "spec", "podSpec", "containers", 0, "image")


def without_pods(resource, replicas):
    """The object with a part that has no replicas."""
    return written(json_copy(resource), replicas, 0)


def restarting(old, new):
    return [service.name for service in forecast([given.change(old, new)]).restarting]


WITHOUT_PODS = [
    # reason, object, path of its replicas, path of an image, services that restart
    ("a Deployment", labelled(), ("spec", "replicas"), ("spec", "template", *POD_IMAGE), []),
    ("a LeaderWorkerSet", leader_worker_set(), ("spec", "replicas"), ("spec", "leaderWorkerTemplate", "workerTemplate", *POD_IMAGE), []),
    ("a scaling group", clique_set(), (*SCALING_GROUP, "replicas"), CLIQUE_IMAGE, []),
    ("another clique of the set", clique_set(), (*CLIQUES, 0, "spec", "replicas"), CLIQUE_IMAGE, ["Decode"]),
]


@cases(("old", "replicas", "image", "services"), WITHOUT_PODS)
def test_a_service_without_pods_does_not_restart(old, replicas, image, services):
    """A new template of a workload that is scaled to zero replaces no pod, also if the workload is scaled up at the same time."""
    new = written(json_copy(old), image, "worker:2")
    assert restarting(old, new)
    assert restarting(without_pods(old, replicas), without_pods(new, replicas)) == services
    assert restarting(without_pods(old, replicas), new) == services


@pytest.mark.parametrize("resource", [labelled(), leader_worker_set()], ids=["a Deployment", "a LeaderWorkerSet"])
def test_a_service_without_pods_does_not_restart_if_its_workload_gets_another_name(resource):
    renamed = {**resource, "metadata": {**resource["metadata"], "name": "another"}}
    empty = without_pods(resource, ("spec", "replicas"))
    services = [forecast([given.change(old, None), given.change(None, renamed)]).restarting for old in (resource, empty)]
    assert [len(restarting_services) for restarting_services in services] == [1, 0]


def test_a_service_that_an_autoscaler_may_have_scaled_up_restarts():
    """The number of its scaling adapter is only the first one."""
    old = {**labelled(), "spec": {name: value for name, value in labelled()["spec"].items() if name != "replicas"}}
    new = written(json_copy(old), ("spec", "template", *POD_IMAGE), "worker:2")
    adapter = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeploymentScalingAdapter", "metadata": old["metadata"]}
    scaled_to_zero = {**adapter, "spec": {"replicas": 0}}
    changes = [given.change(old, new), given.change(scaled_to_zero, scaled_to_zero)]
    assert len(forecast(changes).restarting) == 1
