"""Whatever breaks, every status is right soon after the repair: compared with what the objects of the cluster say.

No controller runs: the tests write the statuses of the Deployments, so that nothing else changes anything.
"""

from __future__ import annotations

import contextlib
import json
import signal
import threading
import time

import pytest

from krm_fn.render.dynamo_api import ADAPTER
from krm_fn.schemas.generate import crds as generated
from tests.support import definitions, given
from tests.testbed import server, syncer, tampering_proxy
from tests.testbed.fleet import Fleet
from tests.testbed.place import GRAPH, Place

AFTER_RESTART = 10
"""Seconds within which every status is right after an API server is ready again."""
AFTER_CRASH = 17
"""Seconds within which another replica writes after the leader has gone without a word."""
AFTER_RELEASE = 2
"""Seconds within which another replica writes after the leader has released its lease."""
SLACK = 15
"""Seconds more, because the machine that runs tests is busy, and because the comparison takes time."""


@pytest.fixture(scope="module")
def account(plane, kustomize, tmp_path_factory):
    """A kubeconfig of the account of platform/syncer."""
    return syncer.installed(plane, kustomize, tmp_path_factory.mktemp("account"), "restarts", "pods")


@pytest.fixture(scope="module")
def fleet(plane):
    """Twenty graphs in four namespaces, shared by all tests."""
    return Fleet(plane, "faults", 4, 5)


@pytest.fixture
def intact(fleet):
    """The fleet with every workload ready and no graph missing."""
    fleet.put(*fleet.graphs)
    fleet.turn(ready=True)
    return fleet


@pytest.fixture
def cut_off(account, between, tmp_path):
    """A syncer whose only way to the API server is a proxy, and the proxy."""
    config = syncer.through(account, tmp_path / "kubeconfig", between.port)
    with syncer.running(config, tmp_path, hasty=True) as running:
        yield running, between


def test_nothing_is_written_after_a_restart_of_the_syncer(intact, account, tmp_path):
    with syncer.running(account, tmp_path):
        intact.settle()
    assert {each.state() for each in intact.graphs} == {"successful"}
    with syncer.running(account, tmp_path, name="next") as running:
        server.eventually(lambda: running.metric("writes_total", kind=GRAPH, result="noop") >= len(intact.graphs))
        assert requests(running) == 0


def test_api_server_killed(intact, plane, account, tmp_path):
    """Changes before the end, a deletion while it restarts, and changes afterwards."""
    with syncer.running(account, tmp_path) as running:
        intact.settle()
        pid = running.server.pid
        intact.turn(ready=False)
        plane.apiserver.kill()
        time.sleep(1)
        assert running.ask("/livez")[0] == 200
        plane.apiserver.start()
        plane.wait()
        intact.graphs[0].delete("Deployment")
        intact.graphs[1].delete(GRAPH)
        intact.graphs[2].turn(ready=True)
        assert intact.settle(AFTER_RESTART + SLACK) < AFTER_RESTART + SLACK
        assert running.server.pid == pid
        server.eventually(running.ready, SLACK)
        ghosts(running, intact)


WATCHED = {
    "Deployment": "/apis/apps/v1/deployments?labelSelector=nvidia.com/dynamo-namespace",
    GRAPH: "/apis/nvidia.com/v1alpha1/dynamographdeployments",
}


def ghosts(running, fleet):
    """Fail if the syncer still remembers objects that do not exist. A deleted graph has no status by which one could see it."""
    for kind, path in WATCHED.items():
        there = len(fleet.plane.client.get(path)["items"])
        server.eventually(lambda: running.metric("cached_objects", kind=kind) == there, SLACK)  # noqa: B023 - called at once


def test_connection_that_swallows_everything(intact, cut_off):
    """Nothing closes the connections. The changes are seen as soon as the syncer gives the silent connection up."""
    running, proxy = cut_off
    intact.settle()
    proxy.swallow()
    intact.turn(ready=False)
    intact.settle(30)
    assert running.metric("watch_restarts_total", reason="stalled") > 0


def test_deletions_while_disconnected(intact, plane, cut_off):
    """The API server forgets its history meanwhile, so the syncer must find out by itself what has gone."""
    running, proxy = cut_off
    intact.settle()
    proxy.refuse()
    proxy.cut()
    intact.graphs[0].delete("Deployment")
    intact.graphs[1].delete(GRAPH)
    intact.graphs[1].delete("Deployment")
    for each in intact.graphs[2:]:
        each.turn(ready=False)
    plane.apiserver.stop()
    plane.apiserver.start()
    plane.wait()
    proxy.accept()
    intact.settle(AFTER_RESTART + SLACK)
    ghosts(running, intact)


def test_etcd_paused(intact, plane, account, tmp_path):
    """While etcd stands still, reads of the API server work and writes hang."""
    with syncer.running(account, tmp_path) as running:
        intact.settle()
        for each in intact.graphs[:10]:
            each.turn(ready=False)
        plane.etcd.pause()
        time.sleep(6)
        plane.etcd.resume()
        plane.wait()
        intact.graphs[-1].turn(ready=False)
        intact.settle(AFTER_RESTART + SLACK)
        server.eventually(running.ready, SLACK)


def test_two_replicas_and_one_writer(intact, account, tmp_path):
    """The leader is paused until its lease has expired: the other takes over, and the paused one ends without a write when it goes on."""
    flags = ["--leader-election", "--lease-namespace", syncer.NAMESPACE]
    with contextlib.ExitStack() as stack:
        both = [stack.enter_context(syncer.running(account, tmp_path, *flags, name=name)) for name in ("one", "two")]
        server.eventually(lambda: sum(each.metric("leader") for each in both) == 1)
        leader, other = sorted(both, key=lambda each: each.metric("leader"), reverse=True)
        intact.turn(ready=False)
        intact.settle()
        assert (leader.metric("writes_total", result="written") > 0, requests(other)) == (True, 0)
        leader.server.pause()
        intact.turn(ready=True)
        intact.settle(AFTER_CRASH + SLACK)
        assert other.metric("leader") == 1
        leader.server.resume()
        assert leader.server.end(signal.SIGCONT) == 1
        third = stack.enter_context(syncer.running(account, tmp_path, *flags, name="three"))
        assert other.server.end(signal.SIGTERM) == 0
        intact.turn(ready=False)
        intact.settle(AFTER_RELEASE + SLACK)
        assert third.metric("leader") == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_ended_while_it_writes(number, intact, plane, account, tmp_path):
    """The API server does not answer the writes that are under way. The next syncer finishes the work."""
    with syncer.running(account, tmp_path) as running:
        intact.settle()
        turning = threading.Thread(target=lambda: [each.turn(ready=False) for each in intact.graphs[:8]])
        turning.start()
        turning.join()
        plane.apiserver.pause()
        try:
            code = running.server.end(number, seconds=30)  # a kubelet waits as long
        finally:
            plane.apiserver.resume()
    assert code == (0 if number == signal.SIGTERM else -signal.SIGKILL)
    with syncer.running(account, tmp_path, name="next"):
        intact.settle()


@pytest.fixture
def tampered(fragile, account, tmp_path):
    """A syncer behind a proxy that can damage events and show other certificates, and the proxy."""
    with tampering_proxy.before(fragile.port, fragile.certificate, tmp_path, fragile.authority.serve()) as proxy:
        config = syncer.through(account, tmp_path / "kubeconfig", proxy.port, fragile.authority.certificate)
        with syncer.running(config, tmp_path, hasty=True) as running:
            yield running, proxy


def test_too_many_requests(intact, tampered):
    """Every request is answered with 429 for some seconds. The syncer asks seldom, and then recovers."""
    running, proxy = tampered
    intact.settle()
    intact.turn(ready=False)
    proxy.refuse(every=True)
    intact.turn(ready=True)
    time.sleep(5)
    assert 0 < proxy.refused < 20 * len(intact.graphs)
    assert running.ask("/livez")[0] == 200
    proxy.refuse(every=False)
    intact.settle(AFTER_RESTART + SLACK)


def test_a_write_that_is_answered_once_with_404(plane, tampered):
    """The write of the replicas of a Deployment reaches the path of another object, which does not exist. It is repeated."""
    running, proxy = tampered
    place = Place(plane, plane.namespace("faults-missing"))
    services = {"Frontend": given.service("frontend"), "Worker": given.service("worker", replicas=3, scalingAdapter={"enabled": True})}
    place.deploy(given.graph(services, name="chat"))
    server.eventually(lambda: place.get(ADAPTER, "chat-worker")["spec"].get("replicas") is not None)
    proxy.misdirect("/deployments/chat-worker/scale", "/deployments/chat-walker/scale", 1)
    place.kubectl("scale", "dgdsa/chat-worker", "--replicas=5")
    server.eventually(lambda: place.get("Deployment", "chat-worker")["spec"]["replicas"] == 5)
    assert running.metric("writes_total", kind="Deployment", result="gone") == 1
    events = f"/apis/events.k8s.io/v1/namespaces/{place.namespace}/events"
    server.eventually(lambda: any("to 5 replicas" in event["note"] for event in plane.client.get(events)["items"]))
    assert "UpdateFailed" not in {event["reason"] for event in plane.client.get(events)["items"]}
    place.kubectl("delete", "dgd,dgdsa,deployment", "--all")


def test_watch_that_sends_garbage(intact, tampered):
    running, proxy = tampered
    intact.settle()
    proxy.damage(3)
    intact.turn(ready=False)
    intact.settle(AFTER_RESTART + SLACK)
    proxy.damage(0)
    assert running.metric("watch_restarts_total", reason="garbage") > 0


def test_certificate_that_expires(intact, tampered, fragile):
    """The syncer says so, and goes on as soon as the server shows a valid certificate."""
    running, proxy = tampered
    intact.settle()
    proxy.show(fragile.authority.serve(days=-1))
    intact.turn(ready=False)
    server.eventually(lambda: "certificate has expired" in running.server.log.read_text())
    assert running.ask("/livez")[0] == 200
    proxy.show(fragile.authority.serve())
    intact.settle(AFTER_RESTART + SLACK)


def test_definition_without_a_field_and_back(intact, plane, account, tmp_path):
    """Definitions as the vendor's drop status.observedGeneration from each write. The syncer does not write it again and again."""
    (definition,) = [each for each in generated.definitions() if each["spec"]["names"]["kind"] == GRAPH]
    with syncer.running(account, tmp_path) as running:
        intact.settle()
        definitions.serve(plane, [without_generation(definition)])
        server.eventually(lambda: not keeps_generation(intact))
        intact.turn(ready=False)
        server.eventually(lambda: {each.state() for each in intact.graphs} == {"pending"})
        intact.settle()
        server.eventually(lambda: quiet(running))
    definitions.serve(plane, [definition])
    server.eventually(lambda: keeps_generation(intact))
    with syncer.running(account, tmp_path, name="next"):
        intact.settle()


def requests(running):
    """How many writes the syncer has sent."""
    return running.metric("writes_total") - running.metric("writes_total", result="noop")


def quiet(running):
    """True if it writes nothing for three seconds. It counts a write only after the stored status has changed."""
    written = requests(running)
    time.sleep(3)
    return requests(running) == written


def without_generation(definition):
    copied = json.loads(json.dumps(definition))
    for version in (each for each in copied["spec"]["versions"] if each["served"]):
        del version["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]["observedGeneration"]
    return copied


def keeps_generation(fleet):
    """True if the API server stores the field. It takes a new definition into use after a moment."""
    first = fleet.graphs[0]
    found = first.place.patch(GRAPH, first.name, {"status": {"observedGeneration": 99}}, "/status")
    return "observedGeneration" in found["status"]


def test_definition_deleted_and_made_anew(intact, plane, account, tmp_path):
    """All graphs go with their definition. New graphs of the same names get their status."""
    (definition,) = [each for each in generated.definitions() if each["spec"]["names"]["kind"] == GRAPH]
    with syncer.running(account, tmp_path, hasty=True) as running:
        intact.settle()
        plane.kubectl("delete", "crd", definition["metadata"]["name"], "--timeout=60s")
        server.eventually(lambda: running.metric("cached_objects", kind=GRAPH) == 0)
        definitions.serve(plane, [definition])
        intact.put(*intact.graphs)
        intact.settle(AFTER_RESTART + SLACK)
        assert {each.state() for each in intact.graphs} == {"successful"}
