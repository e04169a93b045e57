"""From a render to the status: real API server and controllers, a fake kubelet, and the syncer with the rights of platform/syncer."""

from __future__ import annotations

import contextlib
import json

import pytest

from tests.support import given
from tests.support.cases import cases
from tests.testbed import expected_statuses, server, syncer
from tests.testbed.place import GRAPH, Place, conditions

COMPONENT, ADAPTER = "DynamoComponentDeployment", "DynamoGraphDeploymentScalingAdapter"


@pytest.fixture(scope="module")
def sync(dynamo, controllers, kubelet, kustomize, tmp_path_factory):
    """One syncer for all tests, with every feature."""
    folder = tmp_path_factory.mktemp("syncer")
    account = syncer.installed(dynamo, kustomize, folder, "pods", "restarts")
    with syncer.running(account, folder, "--pods", "--restarts") as running:
        yield running


@pytest.fixture
def place(dynamo, sync, request):
    """A namespace of its own for each test."""
    return Place(dynamo, dynamo.namespace("e2e-" + request.node.originalname.removeprefix("test_").replace("_", "-")[:50].rstrip("-")))


def chat(image="worker:1", **worker):
    """Frontend with one replica, and Worker with two, whose image is given."""
    services = {"Frontend": given.service("frontend"), "Worker": given.service("worker", main={"image": image}, replicas=2, **worker)}
    return given.graph(services, name="chat")


def successful(status):
    return status.get("state") == "successful"


def failed(status):
    return status.get("state") == "failed"


def hasty(objects, seconds=3):
    """The objects, with Deployments that fail after a few seconds instead of ten minutes or more."""
    for each in objects:
        if each["kind"] == "Deployment":
            each["spec"]["progressDeadlineSeconds"] = seconds
    return objects


def test_a_graph_turns_successful_with_its_counts(place):
    place.deploy(chat())
    status = place.wait("chat", successful)
    said = conditions(status)
    assert said.keys() == {"Ready"}
    assert (said["Ready"]["status"], said["Ready"]["reason"]) == ("True", "all_resources_are_ready")
    assert status["observedGeneration"] == said["Ready"]["observedGeneration"] == place.get(GRAPH, "chat")["metadata"]["generation"]
    every = {"replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1}
    assert status["services"] == {
        "Frontend": {"componentKind": "Deployment", "componentName": "chat-frontend", **every},
        "Worker": {"componentKind": "Deployment", "componentName": "chat-worker", **dict.fromkeys(every, 2)},
    }


def test_kubectl_waits_for_a_graph(place):
    """The graph has no status when kubectl begins to wait."""
    place.deploy(chat())
    assert "condition met" in place.kubectl("wait", "--for=condition=Ready", "dgd/chat", "--timeout=120s")
    assert place.kubectl("get", "dgd", "chat", "--no-headers").split()[:2] == ["chat", "True"]


BROKEN = {"Pull": "ImagePullBackOff", "Crash": "CrashLoopBackOff", "Place": "Unschedulable"}


def test_the_condition_says_what_a_person_must_repair(place):
    """Each service that is not ready is named with the reason of its newest pod, and the frontend no more as soon as it is ready."""
    services = {name: given.service("worker", main={"image": f"worker:{reason}"}) for name, reason in BROKEN.items()}
    place.deploy(given.graph({"Frontend": given.service("frontend"), **services}, name="chat"))

    def told(status):
        message = conditions(status).get("Ready", {}).get("message", "")
        return all(reason in message for reason in BROKEN.values()) and "chat-frontend" not in message

    status = place.wait("chat", told)
    message = conditions(status)["Ready"]["message"]
    assert status["state"] == "pending"
    assert conditions(status)["Reconciling"]["status"] == "True"
    assert [name in message for name in ("chat-pull", "chat-crash", "chat-place")] == [True, True, True]
    assert "Insufficient nvidia.com/gpu" in message


def test_a_broken_image_fails_and_its_repair_recovers(place):
    """The new pods never start, while the old ones still serve. The deadline of the rollout passes."""
    place.apply(hasty(place.render(chat())))
    place.wait("chat", successful)
    place.apply(hasty(place.render(chat("worker:ImagePullBackOff"))))
    # The reason of the pod may arrive after the deadline of the rollout.
    status = place.wait("chat", lambda status: failed(status) and "ImagePullBackOff" in conditions(status)["Ready"]["message"])
    stalled = conditions(status)["Stalled"]
    assert (stalled["status"], stalled["reason"]) == ("True", "ProgressDeadlineExceeded")
    assert conditions(status)["Ready"]["status"] == "False"
    assert "chat-worker" in conditions(status)["Ready"]["message"]
    place.apply(hasty(place.render(chat("worker:2"))))
    assert conditions(place.wait("chat", successful)).keys() == {"Ready"}


def test_a_change_is_never_successful_before_it_is_done(place):
    """The status is read as often as possible, from the change of the image until the new generation is successful."""
    place.deploy(chat())
    place.wait("chat", successful)
    place.deploy(chat("worker:NotReady"))
    generation = place.get(GRAPH, "chat")["metadata"]["generation"]
    status = place.wait("chat", lambda status: status.get("observedGeneration") == generation and not successful(status))
    assert conditions(status)["Ready"]["status"] == "False"
    for _ in range(20):
        assert not successful(place.status("chat"))
    place.deploy(chat("worker:2"))
    place.wait("chat", lambda status: successful(status) and status["observedGeneration"] > generation)
    images = [pod["spec"]["containers"][0]["image"] for pod in place.listed("Pod") if "worker" in pod["metadata"]["name"]]
    assert "worker:NotReady" not in images


def test_kubectl_scale_moves_pods(place):
    place.deploy(chat(scalingAdapter={"enabled": True}))
    place.wait("chat", successful)
    place.kubectl("scale", "dgdsa/chat-worker", "--replicas=3")
    place.wait("chat", lambda status: successful(status) and status["services"]["Worker"]["readyReplicas"] == 3)
    assert place.get("Deployment", "chat-worker")["status"]["readyReplicas"] == 3
    status = place.wait("chat-worker", lambda status: status.get("replicas") == 3, ADAPTER)
    labels = dict(each.split("=") for each in status["selector"].split(","))
    pods = [pod for pod in place.listed("Pod") if labels.items() <= pod["metadata"]["labels"].items()]
    assert len(pods) == 3
    place.deploy(chat("worker:2", scalingAdapter={"enabled": True}))
    assert place.get("Deployment", "chat-worker")["spec"]["replicas"] == 3, "Git has taken the number back"


def test_components_have_their_status(place):
    """With `components: true` the components of the graph are in Git too, for `kubectl get dcd`."""
    place.deploy(chat(), components=True)
    place.wait("chat", successful)
    for name in ("chat-frontend", "chat-worker"):
        status = place.wait(name, lambda status: conditions(status).get("Available", {}).get("status") == "True", COMPONENT)
        assert conditions(status)["Valid"]["status"] == "True"
        assert status["service"]["componentName"] == name


def test_a_component_without_a_graph(place):
    account = {"serviceAccountName": "worker"}  # only a graph makes one
    spec = {**given.service("worker", pod=account, replicas=2), "dynamoNamespace": "alone", "serviceName": "Worker"}
    place.deploy({"apiVersion": "nvidia.com/v1alpha1", "kind": COMPONENT, "metadata": {"name": "alone"}, "spec": spec})
    status = place.wait("alone", lambda status: conditions(status).get("Available", {}).get("status") == "True", COMPONENT)
    assert (status["service"]["replicas"], status["service"]["readyReplicas"]) == (2, 2)
    assert "condition met" in place.kubectl("wait", "--for=condition=Available", "dcd/alone", "--timeout=60s")


def test_a_graph_that_is_deleted_leaves_its_workloads_and_comes_back_clean(place, sync):
    """`kubectl delete dgd` deletes no workload. A new graph of that name takes the workloads over and knows nothing of the old status."""
    place.apply(hasty(place.render(chat("worker:ImagePullBackOff"))))
    place.wait("chat", failed)
    place.kubectl("delete", "dgd", "chat")
    server.eventually(lambda: sync.metric("resources", kind=GRAPH, namespace=place.namespace) == 0)
    assert {each["metadata"]["name"] for each in place.listed("Deployment")} == {"chat-frontend", "chat-worker"}
    assert place.listed(GRAPH) == []
    place.deploy(chat())
    assert conditions(place.wait("chat", successful)).keys() == {"Ready"}
    assert expected_statuses.differences(place.plane.client, namespaces=frozenset({place.namespace})) == []


SOURCES = [("keep", {GRAPH}), ("drop", set())]


@cases(("source", "kinds"), SOURCES)
def test_removal_from_git_removes_graph_and_workloads(source, kinds, place):
    """`kubectl apply --prune` deletes what the last render had and this one has not. A graph is in the cluster only if it is kept."""
    first = place.render(chat(), source=source)
    gitops(place, source, first)
    assert {each["metadata"]["name"] for each in place.listed("Deployment")} == {"chat-frontend", "chat-worker"}
    assert {GRAPH for _ in place.listed(GRAPH)} == kinds
    gitops(place, source, [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other"}, "data": {}}])
    assert place.listed("Deployment") == place.listed(GRAPH) == []
    server.eventually(lambda: not place.listed("Pod"))


def gitops(place, name, objects):
    """Apply the whole content of a repository, and delete what it had before."""
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    with contextlib.ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("KUBECTL_APPLYSET", "true")
        place.kubectl("apply", "--server-side", f"--applyset=git-{name}", "--prune", "-f", "-", input=listed)
