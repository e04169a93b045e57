"""A syncer with the rights of platform/syncer names what is changed by hand on a real API server, and nothing else."""

from __future__ import annotations

from typing import Any

from tests.support import given
from tests.syncer.controllers import test_features
from tests.testbed import server, syncer
from tests.testbed.place import conditions


def drift(status: dict[str, Any]) -> str:
    """The message of the condition; empty without it."""
    return str(conditions(status).get("Drifted", {}).get("message", ""))


def test_changes_by_hand_are_named_until_the_render_is_applied_again(dynamo, controllers, kubelet, kustomize, tmp_path):
    """kubectl scales a Deployment, sets an image and deletes a Service. The graph stays ready, and an event says what changed."""
    account = syncer.installed(dynamo, kustomize, tmp_path)
    place, running = test_features.alone(dynamo, "drift", tmp_path, account, "--services")
    services = {"Frontend": given.service("frontend"), "Worker": given.service("worker", replicas=3)}
    graph = given.graph(services, name="chat")
    with running:
        place.deploy(graph)
        place.wait("chat", lambda status: status.get("state") == "successful" and drift(status) == "")
        place.kubectl("scale", "deployment/chat-worker", "--replicas=1")
        place.kubectl("set", "image", "deployment/chat-frontend", "main=other:2")
        place.kubectl("delete", "service/chat-frontend")
        told = (
            "Service chat-frontend not found; Deployment chat-frontend: image of container main changed by kubectl-set; "
            "Deployment chat-worker: replicas=1, in the graph=3, changed by kubectl; apply the render again"
        )
        status = place.wait("chat", lambda status: status.get("state") == "successful" and drift(status) == told)
        assert conditions(status)["Ready"]["status"] == "True"
        server.eventually(lambda: "Drifted" in test_features.events(place))
        place.deploy(graph)
        place.wait("chat", lambda status: status.get("state") == "successful" and "Drifted" not in conditions(status))


def test_an_autoscaler_is_no_change_by_hand(dynamo, controllers, kubelet, tmp_path):
    """An adapter scales a Deployment without replicas in Git, and the controllers write to all objects."""
    place, running = test_features.alone(dynamo, "drift-adapter", tmp_path, None, "--services")
    with running:
        place.deploy(given.graph({"Worker": given.service("worker", replicas=1, scalingAdapter={"enabled": True})}, name="chat"))
        place.kubectl("scale", "dgdsa/chat-worker", "--replicas=2")
        place.wait("chat", lambda status: status.get("services", {}).get("Worker", {}).get("readyReplicas") == 2)
        assert place.wait("chat", lambda status: status["state"] == "successful")
        assert "Drifted" not in conditions(place.status("chat"))
