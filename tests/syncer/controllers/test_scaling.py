"""Scaling adapters and the counts of Grove on a real control plane, with the rights of platform/syncer."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from krm_fn.render import labels, names
from tests.support import given
from tests.testbed import api, programs, server, syncer
from tests.testbed.place import GRAPH, Place, conditions

ADAPTER = "DynamoGraphDeploymentScalingAdapter"
SCALED = {"scalingAdapter": {"enabled": True}}
GROVE = {"orchestrator": "grove"}


@pytest.fixture(scope="module")
def sync(dynamo, controllers, kubelet, kustomize, tmp_path_factory):
    """One syncer for all tests."""
    folder = tmp_path_factory.mktemp("syncer")
    with syncer.running(syncer.installed(dynamo, kustomize, folder), folder) as running:
        yield running


@pytest.fixture
def place(dynamo, sync, request):
    """A namespace of its own for each test."""
    return Place(dynamo, dynamo.namespace("scale-" + request.node.originalname.removeprefix("test_").replace("_", "-")[:50].rstrip("-")))


def chat(**worker):
    services = {"Frontend": given.service("frontend"), "Worker": given.service("worker", **{**SCALED, **worker})}
    return given.graph(services, name="chat")


def successful(status):
    return status.get("state") == "successful"


def has(replicas):
    """True for the status of an adapter whose workload runs that many."""
    return lambda status: status.get("replicas") == replicas and conditions(status)["Ready"]["status"] == "True"


def refused(reason):
    """True for the status of an adapter that says why its number does not arrive."""
    return lambda status: conditions(status).get("Ready", {}).get("reason") == reason


def reasons(place):
    found = place.plane.client.get(f"/apis/events.k8s.io/v1/namespaces/{place.namespace}/events")["items"]
    return {each["reason"] for each in found}


def test_a_new_workload_gets_the_number_of_its_adapter(place):
    """A render leaves the number out of the Deployment, so Kubernetes starts one pod."""
    place.deploy(chat(replicas=3))
    place.wait("chat-worker", has(3), ADAPTER)
    assert place.get("Deployment", "chat-worker")["spec"]["replicas"] == 3


def test_an_autoscaler_finds_the_number_and_the_pods_of_an_adapter(place):
    """HorizontalPodAutoscaler and KEDA read and write the subresource `scale`, which an API server computes from the status."""
    place.deploy(chat(replicas=2))
    place.wait("chat-worker", has(2), ADAPTER)
    target = {"apiVersion": "nvidia.com/v1alpha1", "kind": ADAPTER, "name": "chat-worker"}
    scaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "worker", "namespace": place.namespace},
        "spec": {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 4},
    }
    assert place.plane.apply(scaler, dry_run=False).ok
    scale = json.loads(place.kubectl("get", "--raw", f"{place.path(ADAPTER, 'chat-worker')}/scale"))
    assert (scale["spec"]["replicas"], scale["status"]["replicas"]) == (2, 2)
    found = place.kubectl("get", "pods", "-l", scale["status"]["selector"], "-o", "name").split()
    assert len(found) == 2


def test_scaling_is_told_with_its_time(place):
    place.deploy(chat(replicas=1))
    first = place.wait("chat-worker", has(1), ADAPTER)
    assert "lastScaleTime" not in first
    place.kubectl("scale", "dgdsa/chat-worker", "--replicas=2")
    place.wait("chat-worker", lambda status: has(2)(status) and "lastScaleTime" in status, ADAPTER)
    server.eventually(lambda: "Scaled" in reasons(place))
    notes = place.kubectl("get", "events.events.k8s.io", "-o", "jsonpath={.items[*].note}")
    assert "Scaled service Worker from 1 to 2 replicas" in notes
    place.kubectl("scale", "dgdsa/chat-worker", "--replicas=0")
    place.wait("chat-worker", has(0), ADAPTER)


def test_what_is_rendered_again_keeps_the_number(place):
    """Neither the Deployment nor the graph takes the number back. Git says 1 all the time."""
    rendered = place.render(chat(replicas=1))
    place.apply(rendered)
    place.wait("chat-worker", has(1), ADAPTER)
    place.kubectl("scale", "dgdsa/chat-worker", "--replicas=3")
    place.wait("chat-worker", has(3), ADAPTER)
    place.apply(each for each in rendered if each["kind"] != ADAPTER)
    assert place.get("Deployment", "chat-worker")["spec"]["replicas"] == 3
    place.wait("chat", lambda status: successful(status) and status["services"]["Worker"]["replicas"] == 3)


APPLIES = [("apply", "--server-side"), ("apply", "--server-side", "--field-manager=other"), ("apply",)]


@pytest.mark.parametrize("arguments", APPLIES, ids=["on the server", "by another manager", "on the client"])
def test_an_apply_leaves_an_autoscaled_adapter_alone(place, arguments):
    """An apply of the same file changes nothing, and is no conflict. Another number in the graph has no effect."""
    name = f"chat{APPLIES.index(arguments)}"
    files = [place.render({**chat(replicas=replicas), "metadata": {"name": name}}) for replicas in (2, 3)]
    texts = [json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}) for objects in files]
    place.kubectl(*arguments, "-f", "-", input=texts[0])
    place.wait(f"{name}-worker", has(2), ADAPTER)
    place.kubectl("scale", f"dgdsa/{name}-worker", "--replicas=5")
    place.wait(f"{name}-worker", has(5), ADAPTER)
    for text in (texts[0], texts[0], texts[1]):
        place.kubectl(*arguments, "-f", "-", input=text)
        place.wait(f"{name}-worker", has(5), ADAPTER)
        assert place.get("Deployment", f"{name}-worker")["spec"]["replicas"] == 5
    assert place.get(ADAPTER, f"{name}-worker")["spec"]["replicas"] == 5


SCALES = [({"desiredReplicas": 5}, ""), ({"replicas": 5}, "/scale")]


@pytest.mark.parametrize(("change", "part"), SCALES, ids=["of an earlier version", "that was scaled"])
@pytest.mark.parametrize("arguments", APPLIES, ids=["on the server", "by another manager", "on the client"])
def test_an_apply_that_takes_the_number_out_of_an_adapter_scales_nothing(place, arguments, change, part):
    """The former file had `replicas`. An apply on the client then removes the field, whoever wrote it last."""
    name = f"chat{APPLIES.index(arguments)}{SCALES.index((change, part))}"
    rendered = place.render({**chat(replicas=2), "metadata": {"name": name}})
    former = [{**each, "spec": {**each["spec"], "replicas": 2}} if each["kind"] == ADAPTER else each for each in rendered]
    texts = [json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}) for objects in (former, rendered)]
    place.kubectl(*arguments, "-f", "-", input=texts[0])
    place.wait(f"{name}-worker", has(2), ADAPTER)
    place.patch(ADAPTER, f"{name}-worker", {"spec": change}, part)
    place.wait(f"{name}-worker", has(5), ADAPTER)
    before = place.get("Deployment", f"{name}-worker")["metadata"]["generation"]
    place.kubectl(*arguments, "-f", "-", input=texts[1])
    wanted = {"replicas": 5, "dgdRef": {"name": name, "serviceName": "Worker"}}
    server.eventually(lambda: place.get(ADAPTER, f"{name}-worker")["spec"] == wanted)
    place.wait(f"{name}-worker", has(5), ADAPTER)
    deployment = place.get("Deployment", f"{name}-worker")
    assert (deployment["spec"]["replicas"], deployment["metadata"]["generation"]) == (5, before)


def test_the_planner_scales_with_the_rights_that_it_gets(place, kustomize):
    """The planner reads the graph, waits for Ready, and patches the scale of an adapter, with the rights of platform/roles only."""
    graph = given.graph({"Planner": given.service("planner"), "Decode": given.service("decode", **SCALED)}, name="chat")
    for role in yaml.safe_load_all((Path(programs.ROOT) / "platform" / "roles" / "planner.yaml").read_text()):
        assert place.plane.apply(role, dry_run=False).ok
    place.deploy(graph)
    with planner(place) as client:
        server.eventually(lambda: client.request("GET", place.path(GRAPH, "chat")).ok)  # a new binding takes effect after a moment
        server.eventually(
            lambda: conditions(client.get(place.path(GRAPH, "chat")).get("status", {})).get("Ready", {}).get("status") == "True"
        )
        scale = f"{place.path(ADAPTER, 'chat-decode')}/scale"
        answer = client.request("PATCH", scale, {"spec": {"replicas": 2}}, api.MERGE)
        assert answer.ok, answer.message
        assert client.request("GET", scale).body["spec"]["replicas"] == 2
        assert client.request("GET", place.path(ADAPTER, "chat-decode")).body["spec"]["replicas"] == 2
        assert client.request("GET", place.path("Pod")).ok
        assert client.request("GET", place.path("Deployment")).status == 403
    place.wait("chat", lambda status: successful(status) and status["services"]["Decode"]["readyReplicas"] == 2)
    place.wait("chat-decode", has(2), ADAPTER)


@contextlib.contextmanager
def planner(place):
    """A client with the account that a render gives the planner."""
    config = json.loads(place.plane.kubeconfig.read_text())
    cluster = config["clusters"][0]["cluster"]
    token = syncer.token(place.plane, place.namespace, names.PLANNER_ACCOUNT)
    client = api.Client(urlsplit(cluster["server"]).port, Path(cluster["certificate-authority"]), token)
    with contextlib.closing(client):
        yield client


def nodes():
    """A graph with a worker on two nodes."""
    main = {"command": ["sh", "-c"], "args": ["python3 -m dynamo.sglang"]}
    fields: dict[str, Any] = {"multinode": {"nodeCount": 2}, "resources": {"limits": {"gpu": "1"}}, **SCALED}
    return given.graph({"Worker": given.service("worker", main=main, replicas=2, **fields)}, name="chat")


def test_a_set_with_all_replicas_of_a_service_follows_its_adapter(place):
    """A render for release 1.5 makes one set and leaves the number out of it."""
    place.deploy(nodes(), behaviour="v1.5", workerHash="none")
    server.eventually(lambda: place.get("LeaderWorkerSet", "chat-worker-0")["spec"]["replicas"] == 2)
    place.kubectl("scale", "dgdsa/chat-worker", "--replicas=3")
    server.eventually(lambda: place.get("LeaderWorkerSet", "chat-worker-0")["spec"]["replicas"] == 3)


def test_leader_worker_sets_change_in_git_only(place):
    """A render for release 0.9 makes a set for each replica."""
    place.deploy(nodes())
    place.wait(
        "chat-worker",
        lambda status: refused("ReplicasChangeInGit")(status) and conditions(status)["Ready"]["status"] == "True",
        ADAPTER,
    )
    place.kubectl("scale", "dgdsa/chat-worker", "--replicas=3")
    status = place.wait("chat-worker", lambda status: "Stalled" in conditions(status), ADAPTER)
    assert conditions(status)["Ready"]["message"].endswith("set replicas: 3 for service Worker in Git")
    assert [each["metadata"]["name"] for each in place.listed("LeaderWorkerSet")] == ["chat-worker-0", "chat-worker-1"]


def test_an_adapter_without_a_graph_waits_for_it(place):
    spec = {"replicas": 2, "dgdRef": {"name": "chat", "serviceName": "Worker"}}
    metadata = {"name": "chat-worker", "namespace": place.namespace}
    assert place.plane.apply({"apiVersion": "nvidia.com/v1alpha1", "kind": ADAPTER, "metadata": metadata, "spec": spec}, dry_run=False).ok
    place.wait("chat-worker", refused("GraphNotFound"), ADAPTER)
    place.deploy(chat(replicas=2))
    place.wait("chat-worker", has(2), ADAPTER)


def test_a_second_adapter_of_a_service_changes_nothing(place):
    """Two adapters would scale the service in turn."""
    place.deploy(chat(replicas=1))
    place.wait("chat-worker", has(1), ADAPTER)
    spec = {"replicas": 5, "dgdRef": {"name": "chat", "serviceName": "Worker"}}
    metadata = {"name": "other", "namespace": place.namespace}
    assert place.plane.apply({"apiVersion": "nvidia.com/v1alpha1", "kind": ADAPTER, "metadata": metadata, "spec": spec}, dry_run=False).ok
    place.wait("other", refused("AdapterConflict"), ADAPTER)
    assert place.get("Deployment", "chat-worker")["spec"]["replicas"] == 1
    place.kubectl("delete", "dgdsa", "chat-worker")
    place.wait("other", has(5), ADAPTER)


# Grove


def grove(place, kind, name, replicas):
    """An object as Grove makes it for the PodCliqueSet `chat`."""
    marks = {labels.MANAGED_BY: labels.GROVE_MANAGER, labels.PART_OF: "chat"}
    spec = {"roleName": name} if kind == "PodClique" else {"cliqueNames": [f"{name}-ldr", f"{name}-wkr"]}
    metadata = {"name": name, "namespace": place.namespace, "labels": marks}
    return {"apiVersion": "grove.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": {"replicas": replicas, **spec}}


def test_objects_of_grove_get_the_number_of_the_graph_or_of_their_adapter(place):
    """Grove reads a number from its PodCliqueSet only when it creates an object. The objects here exist with the numbers of before."""
    services = {
        "Frontend": given.service("frontend", replicas=3),
        "Worker": given.service("worker", replicas=2, **SCALED),
        "Decode": given.service(
            "decode",
            main={"args": ["python3 -m dynamo.sglang"]},
            replicas=4,
            multinode={"nodeCount": 2},
            resources={"limits": {"gpu": "1"}},
        ),
    }
    place.deploy(given.graph(services, name="chat"), **GROVE)
    made = {"chat-0-frontend": "PodClique", "chat-0-worker": "PodClique", "chat-0-decode": "PodCliqueScalingGroup"}
    place.apply(grove(place, kind, name, 1) for name, kind in made.items())

    def numbers():
        return [place.get(kind, name)["spec"]["replicas"] for name, kind in made.items()]

    server.eventually(lambda: numbers() == [3, 2, 4])
    place.kubectl("scale", "dgdsa/chat-worker", "--replicas=5")
    server.eventually(lambda: numbers() == [3, 5, 4])
    place.kubectl("scale", "dgdsa/chat-worker", "--replicas=0")
    status = place.wait("chat-worker", refused("TooFewReplicas"), ADAPTER)
    assert conditions(status)["Stalled"]["message"] == "a PodClique needs 1 or more replicas; scale the adapter to 1 or more"
    assert numbers() == [3, 5, 4]
    server.eventually(lambda: "Scaled" in reasons(place))


def test_a_graph_that_lists_the_workload_of_another_changes_nothing_there(place):
    """Whoever may write graphs and adapters, and nothing else, must not scale or restart what belongs to another graph."""
    place.deploy(chat(replicas=2))
    place.wait("chat-worker", has(2), ADAPTER)
    entry = {"service": "Worker", "apiVersion": "apps/v1", "kind": "Deployment", "name": "chat-worker"}
    thief = given.graph(
        name="thief", namespace=place.namespace, annotations={labels.WORKLOADS: json.dumps([entry]), labels.RESTART: "sync"}
    )
    thief["spec"]["restart"] = {"id": "stolen"}
    metadata, target = {"name": "thief-worker", "namespace": place.namespace}, {"name": "thief", "serviceName": "Worker"}
    adapter = {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": ADAPTER,
        "metadata": metadata,
        "spec": {"replicas": 0, "dgdRef": target},
    }
    place.apply([thief, adapter])
    place.wait("thief-worker", refused("WorkloadOfAnotherOwner"), ADAPTER)
    place.wait("thief", lambda status: "belongs to DynamoGraphDeployment chat" in conditions(status)["Ready"]["message"])
    place.kubectl("scale", "dgdsa/chat-worker", "--replicas=3")
    place.wait("chat-worker", has(3), ADAPTER)
    live = place.get("Deployment", "chat-worker")
    assert live["spec"]["replicas"] == 3
    assert labels.RESTART_AT not in live["spec"]["template"]["metadata"].get("annotations", {})
    assert "belongs to" not in conditions(place.status("chat"))["Ready"]["message"]
