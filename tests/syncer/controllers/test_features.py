"""Syncers without a feature, or without its rights. Each test runs its own syncer, for one namespace."""

from __future__ import annotations

import copy
from typing import Any

from krm_fn.render import labels
from krm_fn.schemas.generate import crds
from tests.support import given
from tests.testbed import server, syncer
from tests.testbed.place import GRAPH, Place, conditions

ADAPTER = "DynamoGraphDeploymentScalingAdapter"
SCALED: dict[str, Any] = {"scalingAdapter": {"enabled": True}, "replicas": 2}


def alone(dynamo, name, folder, account=None, *options):
    """A namespace, and a syncer that works in no other one."""
    place = Place(dynamo, dynamo.namespace(name))
    return place, syncer.running(account or dynamo.kubeconfig, folder, "--namespace", name, "--no-leader-election", *options)


def test_without_restarts_nothing_is_stamped_and_the_condition_says_so(dynamo, controllers, kubelet, tmp_path):
    """The status of the restart is computed all the same."""
    place, running = alone(dynamo, "features-restarts", tmp_path)
    with running:
        place.deploy(given.graph({"A": given.service("worker")}, name="chat", restart={"id": "r1"}), restart="sync")
        status = place.wait("chat", lambda status: status.get("state") == "successful")
        assert status["restart"] == {"observedID": "r1", "phase": "Restarting", "inProgress": ["A"]}
        message = "All resources are ready; restart r1 waits, because krm-fn sync runs without --restarts"
        assert conditions(status)["Ready"]["message"] == message
        assert labels.RESTART_AT not in place.get("Deployment", "chat-a")["spec"]["template"]["metadata"].get("annotations", {})


def test_without_scaling_the_condition_says_so(dynamo, controllers, kubelet, tmp_path):
    place, running = alone(dynamo, "features-scaling", tmp_path, None, "--no-scaling")
    with running:
        place.deploy(given.graph({"A": given.service("worker", **SCALED)}, name="chat"))
        status = place.wait("chat-a", lambda status: "Stalled" in conditions(status), ADAPTER)
        message = "krm-fn sync runs without --scaling, so the adapter has no spec.replicas; scale it, or run the syncer with --scaling"
        assert conditions(status)["Stalled"]["message"] == message
        assert place.get("Deployment", "chat-a")["spec"]["replicas"] == 1


def test_without_the_rights_the_condition_says_so_and_the_log_says_it_once(dynamo, controllers, kubelet, kustomize, tmp_path):
    """The feature is on, and the account has the rights of the core only."""
    syncer.installed(dynamo, kustomize, tmp_path)
    name = dynamo.namespace("features-rights")
    account = syncer.kubeconfig(dynamo, tmp_path / "bare", core_only(dynamo, name))
    place, running = alone(dynamo, name, tmp_path, account)
    with running as poor:
        place.deploy(given.graph({"A": given.service("worker", **SCALED), "B": given.service("worker", **SCALED)}, name="chat"))
        told = [place.wait(f"chat-{each}", lambda status: "Stalled" in conditions(status), ADAPTER) for each in "ab"]
        message = conditions(told[0])["Ready"]["message"]
        assert message.startswith("the adapter cannot get its first number, 2 replicas: dynamographdeploymentscalingadapters.nvidia.com ")
        assert 'cannot patch resource "dynamographdeploymentscalingadapters"' in message
        server.eventually(lambda: "UpdateFailed" in events(place))
        assert poor.log().count("dynamographdeploymentscalingadapters cannot be written") == 1


def test_the_planner_finds_the_number_of_an_adapter_in_the_graph(dynamo, controllers, kubelet, kustomize, tmp_path):
    """A planner takes the number in the graph for the present one, and waits while it differs from the ready pods."""
    account = syncer.installed(dynamo, kustomize, tmp_path, "planner")
    place, running = alone(dynamo, "features-planner", tmp_path, account, "--graph-replicas")

    def present(status):
        """The number in the graph and in its status."""
        found = place.get(GRAPH, "chat")["spec"]["services"]["Decode"].get("replicas")
        return status.get("state") == "successful" and found, status.get("services", {}).get("Decode", {}).get("readyReplicas")

    with running:
        services = {"Planner": given.service("planner"), "Decode": given.service("decode", **SCALED), "Frontend": given.service("frontend")}
        place.deploy(given.graph(services, name="chat"))
        place.wait("chat", lambda status: present(status) == (2, 2))
        place.kubectl("scale", "dgdsa/chat-decode", "--replicas=3")
        place.wait("chat", lambda status: present(status) == (3, 3))
        assert "replicas" not in place.get(GRAPH, "chat")["spec"]["services"]["Frontend"]
        server.eventually(lambda: (graph := place.get(GRAPH, "chat"))["status"]["observedGeneration"] == graph["metadata"]["generation"])


def test_a_definition_without_conditions_is_no_reason_to_write_again(dynamo, controllers, kubelet, tmp_path):
    """The vendor's definition of adapters has neither conditions nor observedGeneration, so the server drops them from each write.

    Nothing is written after a restart of the syncer, neither with that definition nor with ours.
    """
    place, running = alone(dynamo, "features-conditions", tmp_path)
    ours = next(each for each in crds.definitions() if each["spec"]["names"]["kind"] == ADAPTER)
    vendors = copy.deepcopy(ours)
    status = vendors["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]
    for field in ("conditions", "observedGeneration"):
        del status[field]
    services = {"A": given.service("worker", **SCALED)}
    try:
        for definition in (vendors, ours):
            assert dynamo.apply(definition, dry_run=False).ok
            place.kubectl("delete", "dgdsa,deployments", "--all", "--wait")
            with running as first:
                place.deploy(given.graph(services, name="chat"))
                place.wait("chat", lambda status: status.get("state") == "successful" and status["services"]["A"]["readyReplicas"] == 2)
                status = place.wait("chat-a", is_scaled, ADAPTER)
                server.eventually(lambda: first.metric("queue_age_seconds") == 0)
                assert ("conditions" in status) == (definition is ours)
            place, running = alone(dynamo, "features-conditions", tmp_path)
            with running as second:
                server.eventually(lambda: second.metric("writes_total", kind=ADAPTER, result="noop") >= 1)
                assert second.metric("writes_total", result="written") == 0
            place, running = alone(dynamo, "features-conditions", tmp_path)
    finally:
        dynamo.apply(ours, dry_run=False)


def is_scaled(status):
    """True if the adapter has its two pods. The vendor's definition drops the condition that says so."""
    return status.get("replicas") == 2 and conditions(status).get("Ready", {"status": "True"})["status"] == "True"


def events(place):
    """The reasons of the events in a namespace."""
    found = place.plane.client.get(f"/apis/events.k8s.io/v1/namespaces/{place.namespace}/events")["items"]
    return {each["reason"] for each in found}


def core_only(plane, namespace):
    """The token of an account with the roles of the core of platform/syncer, and no role of a feature."""
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "bare", "namespace": namespace}}
    assert plane.apply(account, dry_run=False).ok
    for role in ("krm-fn-sync", "krm-fn-sync-events"):
        binding = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": f"bare-{role}"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": "bare", "namespace": namespace}],
        }
        assert plane.apply(binding, dry_run=False).ok
    return syncer.token(plane, namespace, "bare")
