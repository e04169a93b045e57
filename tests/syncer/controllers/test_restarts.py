"""Restarts in sync mode on a real control plane, with the rights of platform/syncer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from krm_fn.cluster.object_store import StoredObject
from krm_fn.render import labels
from krm_fn.syncer.controllers import restart_controller
from krm_fn.syncer.status import replica_status
from krm_fn.syncer.status.rolling_restart import RestartAnnotation
from tests.support import given
from tests.testbed import server, syncer
from tests.testbed.place import Place

ORDER = ("Frontend", "Worker", "Prefill")
SYNC = {"restart": "sync"}


@pytest.fixture(scope="module")
def sync(dynamo, controllers, kubelet, kustomize, tmp_path_factory):
    """One syncer for all tests."""
    folder = tmp_path_factory.mktemp("syncer")
    with syncer.running(syncer.installed(dynamo, kustomize, folder, "restarts"), folder, "--restarts") as running:
        yield running


@pytest.fixture
def place(dynamo, sync, request):
    """A namespace of its own for each test."""
    return Place(dynamo, dynamo.namespace("restart-" + request.node.originalname.removeprefix("test_").replace("_", "-")[:48].rstrip("-")))


def chat(restart=None, frontend="web:1", kind="Sequential"):
    """Three services. A frontend with the tag NotReady runs and is never ready."""
    services = {
        "Frontend": given.service("frontend", main={"image": frontend}),
        "Worker": given.service("worker", replicas=2),
        "Prefill": given.service("prefill"),
    }
    strategy = {"type": "Sequential", "order": list(ORDER)} if kind == "Sequential" else {"type": kind}
    spec: dict[str, Any] = {"restart": {"id": restart, "strategy": strategy}} if restart else {}
    return given.graph(services, name="chat", **spec)


def restarted(restart):
    """True for a status whose restart is complete."""
    return lambda status: status.get("restart") == {"observedID": restart, "phase": "Completed"} and status["state"] == "successful"


def restarting(restart, *services):
    return lambda status: status.get("restart") == {"observedID": restart, "phase": "Restarting", "inProgress": list(services)}


def stamps(place):
    """The restart in the pod template of each Deployment, by service."""
    return {service: template(deployment).get(labels.RESTART_AT) for service, deployment in deployments(place).items()}


def deployments(place):
    """All Deployments at one moment, by service."""
    return {each["metadata"]["labels"][labels.COMPONENT]: each for each in place.listed("Deployment")}


def states(place, first):
    """All Deployments by service, after each change since they were listed. The watch of the server has every one of them, in order."""
    watch = f"{place.path('Deployment')}?watch=1&timeoutSeconds=2&resourceVersion={first['metadata']['resourceVersion']}"
    live = {each["metadata"]["labels"][labels.COMPONENT]: each for each in first["items"]}
    for line in place.kubectl("get", "--raw", watch).splitlines():
        changed = json.loads(line)["object"]
        live[changed["metadata"]["labels"][labels.COMPONENT]] = changed
        yield dict(live)


def template(deployment):
    return deployment["spec"]["template"]["metadata"].get("annotations", {})


def rolled(deployment):
    """True if all pods of a Deployment are of its newest template, and ready."""
    status, wanted = deployment["status"], deployment["spec"]["replicas"]
    counts = {status.get(each) for each in ("replicas", "updatedReplicas", "availableReplicas")}
    return status.get("observedGeneration") == deployment["metadata"]["generation"] and counts == {wanted}


def pods(place):
    """The uids of all pods that stay."""
    return {each["metadata"]["uid"] for each in place.listed("Pod") if "deletionTimestamp" not in each["metadata"]}


def successful(status):
    return status.get("state") == "successful"


def test_a_sequential_restart_rolls_one_service_after_the_other(place):
    """After each change of a Deployment, a service is stamped only if all services before it are stamped and rolled out."""
    place.deploy(chat(), **SYNC)
    place.wait("chat", successful)
    before, first = pods(place), place.plane.client.get(place.path("Deployment"))
    place.deploy(chat("r1"), **SYNC)
    place.wait("chat", restarted("r1"))
    numbers = set()
    for live in states(place, first):
        begun = [service for service in ORDER if template(live[service]).get(labels.RESTART_AT) == "r1"]
        assert tuple(begun) == ORDER[: len(begun)]
        assert all(rolled(live[service]) for service in begun[:-1])
        numbers.add(len(begun))
    assert numbers >= {1, 2, 3}
    server.eventually(lambda: len(pods(place)) == 4)
    assert pods(place).isdisjoint(before)


def test_a_parallel_restart_rolls_all_services(place):
    """It is complete when the pods are replaced, not before (the operator reports it at once)."""
    place.deploy(chat(), **SYNC)
    place.wait("chat", successful)
    before = pods(place)
    place.deploy(chat("r1", kind="Parallel"), **SYNC)
    place.wait("chat", restarted("r1"))
    assert stamps(place) == dict.fromkeys(ORDER, "r1")
    assert all(rolled(each) for each in deployments(place).values())
    server.eventually(lambda: len(pods(place)) == 4)
    assert pods(place).isdisjoint(before)


def test_the_restart_of_a_render_has_the_same_status(place):
    place.deploy(chat())
    place.wait("chat", successful)
    place.deploy(chat("r1", kind="Parallel"))
    place.wait("chat", restarted("r1"))
    assert stamps(place) == dict.fromkeys(ORDER, "r1")


def test_a_restart_waits_for_a_service_and_can_be_replaced_or_removed(place, sync):
    """The frontend never gets ready, so no other service is restarted. Each change of `spec.restart` takes effect in the middle."""
    place.deploy(chat("r1", frontend="web:NotReady"), **SYNC)
    place.wait("chat", restarting("r1", "Frontend"))
    server.eventually(lambda: stamps(place) == {"Frontend": "r1", "Worker": None, "Prefill": None})
    place.deploy(chat("r2", frontend="web:NotReady"), **SYNC)
    place.wait("chat", restarting("r2", "Frontend"))
    server.eventually(lambda: stamps(place) == {"Frontend": "r2", "Worker": None, "Prefill": None})
    place.deploy(chat(frontend="web:NotReady"), **SYNC)
    place.wait("chat", lambda status: "restart" not in status)
    assert stamps(place) == {"Frontend": "r2", "Worker": None, "Prefill": None}
    place.deploy(chat("r3", frontend="web:NotReady"), **SYNC)
    place.wait("chat", restarting("r3", "Frontend"))
    sync.server.kill()
    place.deploy(chat("r3", frontend="web:2"), **SYNC)
    sync.server.start()
    place.wait("chat", restarted("r3"))
    assert stamps(place) == dict.fromkeys(ORDER, "r3")


def test_a_deployment_that_is_applied_again_keeps_its_restart(place):
    """Server-side apply leaves fields that it does not know, so the restart stays when GitOps repeats itself."""
    place.deploy(chat("r1"), **SYNC)
    place.wait("chat", restarted("r1"))
    generations = {service: each["metadata"]["generation"] for service, each in deployments(place).items()}
    place.deploy(chat("r1"), **SYNC)
    assert {service: each["metadata"]["generation"] for service, each in deployments(place).items()} == generations


def test_both_templates_of_a_leader_worker_set_are_stamped(place):
    limits: dict[str, Any] = {"resources": {"limits": {"gpu": "1"}}, "multinode": {"nodeCount": 2}}
    worker = given.service("worker", main={"args": ["python3 -m dynamo.sglang"]}, **limits)
    place.deploy(given.graph({"Worker": worker}, name="chat", restart={"id": "r1"}), **SYNC)

    def both():
        group = place.get("LeaderWorkerSet", "chat-worker-0")["spec"]["leaderWorkerTemplate"]
        notes = [group[name]["metadata"]["annotations"] for name in ("leaderTemplate", "workerTemplate")]
        return all(each.get(labels.RESTART_AT) == "r1" and labels.POD_GROUP in each for each in notes)

    server.eventually(both)


def test_the_cliques_of_a_service_are_stamped_once(place, sync):
    """A program that writes the whole list of cliques removes the stamp. The syncer says it, and does not stamp again and again.

    Grove's list of cliques has no keys, so each apply replaces it. The definition in tests/crds has keys, because its rules need them:
    here a merge patch replaces the list.
    """
    graph = given.graph({"Frontend": given.service("frontend"), "Worker": given.service("worker")}, name="chat", restart={"id": "r1"})
    objects = place.render(graph, orchestrator="grove", **SYNC)
    place.apply(objects)
    place.apply([clique(place, "chat-0-frontend"), clique(place, "chat-0-worker")])

    def carried():
        cliques = place.get("PodCliqueSet", "chat")["spec"]["template"]["cliques"]
        return {each["name"]: each["annotations"].get(labels.RESTART_AT) for each in cliques}

    server.eventually(lambda: carried() == {"frontend": "r1", "worker": None})
    place.wait("chat", restarting("r1", "Frontend"))
    whole = next(each for each in objects if each["kind"] == "PodCliqueSet")
    place.patch("PodCliqueSet", "chat", {"spec": {"template": {"cliques": whole["spec"]["template"]["cliques"]}}})
    server.eventually(lambda: "removed restart r1 from PodCliqueSet chat" in sync.log())
    assert carried() == {"frontend": None, "worker": None}

    def events():
        return place.kubectl("get", "events", "-o", "jsonpath={.items[*].reason}").split()

    server.eventually(lambda: {"Restarted", "RestartUndone"} <= set(events()))


def test_an_index_of_a_list_is_only_right_for_the_version_that_was_read(place):
    """A JSON patch names a clique by its index. The server refuses it if the object changed in between, and adds missing annotations."""
    graph = given.graph({"Frontend": given.service("frontend"), "Worker": given.service("worker")}, name="chat")
    place.apply(place.render(graph, orchestrator="grove"))
    path = place.path("PodCliqueSet", "chat")
    live = place.get("PodCliqueSet", "chat")
    own = replica_status.get("PodCliqueSet").read({"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", **live})
    bare = own.templates[1]._replace(annotated=False)
    due = [RestartAnnotation(own.key, own.templates[0], "r1"), RestartAnnotation(own.key, bare, "r1")]

    def sent(version):
        body, media_type = restart_controller.restart_patch(due, StoredObject(live["metadata"]["uid"], version, own))
        return place.plane.client.request("PATCH", path, body, media_type)

    place.patch("PodCliqueSet", "chat", {"metadata": {"annotations": {"some": "change"}}})
    stale = live["metadata"]["resourceVersion"]
    assert sent(stale).status == 409
    answer = sent(place.get("PodCliqueSet", "chat")["metadata"]["resourceVersion"])
    assert answer.ok, answer.message
    first, second = (each["annotations"] for each in answer.body["spec"]["template"]["cliques"])
    assert first == {**live["spec"]["template"]["cliques"][0]["annotations"], labels.RESTART_AT: "r1"}
    assert second == {labels.RESTART_AT: "r1"}


def clique(place, name):
    """A PodClique as Grove makes it."""
    marks = {labels.MANAGED_BY: labels.GROVE_MANAGER, labels.PART_OF: "chat"}
    metadata = {"name": name, "namespace": place.namespace, "labels": marks}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "metadata": metadata, "spec": {"roleName": name, "replicas": 1}}


def test_a_graph_that_lists_the_workload_of_another_restarts_nothing_there(place):
    """The other graph still restarts."""
    place.deploy(chat(kind="Parallel"), **SYNC)
    place.wait("chat", lambda status: status.get("state") == "successful")
    entries = [{"service": "Worker", "apiVersion": "apps/v1", "kind": "Deployment", "name": f"chat-{name.lower()}"} for name in ORDER]
    annotations = {labels.WORKLOADS: json.dumps(entries), labels.RESTART: "sync"}
    place.apply([given.graph(name="thief", namespace=place.namespace, annotations=annotations, restart={"id": "stolen"})])
    place.wait("thief", lambda status: "belongs to DynamoGraphDeployment chat" in str(status))
    place.deploy(chat("r1", kind="Parallel"), **SYNC)
    place.wait("chat", restarted("r1"))
    assert set(stamps(place).values()) == {"r1"}
