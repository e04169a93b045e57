"""Whole syncers as processes, on a real API server: what they say, whom they leave alone, and how they end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from typing import NamedTuple

import pytest

from krm_fn.render import labels
from tests.support import given
from tests.testbed import server, syncer
from tests.testbed.place import GRAPH, Place, conditions, render

MARKER = "dynamo-operator-namespace-scope"
TIME = "2026-11-22T01:21:06Z"


@pytest.fixture(scope="module")
def account(plane, kustomize, tmp_path_factory):
    """A kubeconfig of the account of platform/syncer."""
    return syncer.installed(plane, kustomize, tmp_path_factory.mktemp("account"))


class Graph(NamedTuple):
    """A graph and its only workload, a Deployment whose status the test writes."""

    place: Place
    name: str

    @property
    def deployment(self):
        return f"{self.name}-worker"

    def state(self):
        return self.place.status(self.name).get("state", "")

    def message(self):
        return conditions(self.place.status(self.name))["Ready"]["message"]

    def turn(self, *, ready):
        """Make its pod ready or not."""
        condition = {"type": "Available", "status": str(ready), "lastTransitionTime": TIME, "lastUpdateTime": TIME}
        counts = {"replicas": 1, "updatedReplicas": 1, "readyReplicas": int(ready), "availableReplicas": int(ready)}
        generation = self.place.get("Deployment", self.deployment)["metadata"]["generation"]
        status = {**counts, "observedGeneration": generation, "conditions": [condition]}
        self.place.patch("Deployment", self.deployment, {"status": status}, "/status")


def deployed(plane, name, namespaces=1, graphs=1):
    """New graphs whose pods are ready."""
    places = [Place(plane, plane.namespace(f"{name}-{number}")) for number in range(namespaces)]
    made = [Graph(place, f"g{number}") for place in places for number in range(graphs)]
    for rendered in render(*(given.graph(name=each.name, namespace=each.place.namespace) for each in made)):
        if rendered["kind"] in (GRAPH, "Deployment"):
            answer = plane.apply(rendered, dry_run=False)
            assert answer.ok, answer.message
    turn(made, ready=True)
    return made


def turn(graphs, *, ready):
    for each in graphs:
        each.turn(ready=ready)


def settle(graphs, state, seconds=180):
    """Return as soon as all graphs have that state."""
    server.eventually(lambda: {each.state() for each in graphs} == {state}, seconds)


def records(running):
    return [json.loads(line) for line in running.log().splitlines()]


def said(running, part, **fields):
    """The records whose message has that part."""
    return [each for each in records(running) if part in each["message"] and fields.items() <= each.items()]


def events(plane, namespace):
    return {each["reason"]: each for each in plane.client.get(f"/apis/events.k8s.io/v1/namespaces/{namespace}/events")["items"]}


def test_it_says_what_it_serves_and_changes_are_events(plane, account, tmp_path, monkeypatch):
    monkeypatch.setenv("KRM_FN_SYNC_WORKER", "2")
    made = deployed(plane, "main-said")
    with syncer.running(account, tmp_path, "--namespace", "main-said-0") as running:
        settle(made, "successful")
        server.eventually(lambda: "Ready" in events(plane, "main-said-0"))
        turn(made, ready=False)
        server.eventually(lambda: "NotReady" in events(plane, "main-said-0"))
        event = events(plane, "main-said-0")["NotReady"]
        assert (event["type"], event["regarding"]["name"]) == ("Warning", "g0")
        assert event["note"] == conditions(made[0].place.status("g0"))["Ready"]["message"]
        (first,) = said(running, "krm-fn ")
        assert "serves namespaces main-said-0 of https://127.0.0.1:" in first["message"]
        assert said(running, "KRM_FN_SYNC_WORKER is unknown and sets nothing; did you mean KRM_FN_SYNC_WORKERS?", level="warning")
        assert said(running, "state pending: Resources not ready", level="info", namespace="main-said-0", name="g0")
        assert running.metric("resources", kind=GRAPH, namespace="main-said-0", state="pending") == 1
        watched = {
            kind for kind in ("Deployment", "LeaderWorkerSet") if f'last_event_seconds{{kind="{kind}"}}' in running.ask("/metrics")[1]
        }
        assert watched == {"Deployment"}, "the alert about silent watches needs no kind that the cluster does not have"
    assert running.server.end() == 0
    assert not [each for each in records(running) if each["level"] == "error"]


def test_namespaces_that_are_not_named_are_not_watched(plane, account, tmp_path):
    made = deployed(plane, "main-named", namespaces=2)
    with syncer.running(account, tmp_path, "--namespace", "main-named-1") as running:
        server.eventually(lambda: made[1].state() == "successful")
        assert running.metric("cached_objects", kind=GRAPH) == 1
        assert made[0].state() == ""


def test_a_graph_without_the_annotation_is_left_alone_and_said_once(plane, account, tmp_path):
    """An operator may manage it. The annotation may come later."""
    (graph,) = deployed(plane, "main-unmanaged")
    annotate(graph, None)
    with syncer.running(account, tmp_path, "--namespace", graph.place.namespace) as running:
        unmanaged = {"kind": GRAPH, "namespace": graph.place.namespace, "state": "unmanaged"}
        server.eventually(lambda: running.metric("resources", **unmanaged) == 1)
        graph.place.patch(GRAPH, graph.name, {"metadata": {"labels": {"x": "y"}}, "spec": {"backendFramework": "vllm"}})
        graph.turn(ready=False)
        server.eventually(lambda: running.metric("reconcile_duration_seconds_count", kind=GRAPH) >= 2)
        assert (running.metric("writes_total", result="written"), graph.state()) == (0, "")
        assert len(said(running, "has no annotation", level="info")) == 1
        annotate(graph, [{"service": "Worker", "apiVersion": "apps/v1", "kind": "Deployment", "name": graph.deployment}])
        server.eventually(lambda: graph.state() == "pending")
        assert running.metric("resources", **unmanaged) == 0


def test_a_graph_that_loses_its_annotation_is_unknown_until_it_is_rendered_again(plane, account, tmp_path):
    """Nothing shows any more which workloads it has. A status that another program writes then stays.

    When the syncer has judged a later change of another graph, it has seen all changes of this one.
    """
    graph, other = deployed(plane, "main-lost", graphs=2)
    rendered = graph.place.get(GRAPH, graph.name)["metadata"]["annotations"][labels.WORKLOADS]
    with syncer.running(account, tmp_path, "--namespace", graph.place.namespace) as running:
        settle([graph, other], "successful")
        annotate(graph, None)
        server.eventually(lambda: ready(graph)["status"] == "Unknown")
        assert (graph.state(), ready(graph)["reason"]) == ("initializing", "NotRendered")
        server.eventually(lambda: "NotRendered" in events(plane, graph.place.namespace))
        rest(running)
        writes = running.metric("writes_total", result="written")
        annotate(graph, rendered)
        settle([graph], "successful")
        annotate(graph, None)
        server.eventually(lambda: ready(graph)["status"] == "Unknown")
        graph.place.patch(GRAPH, graph.name, {"status": {"state": "pending"}}, "/status")
        graph.place.patch(GRAPH, graph.name, {"metadata": {"labels": {"x": "y"}}, "spec": {"backendFramework": "vllm"}})
        annotate(other, None)
        server.eventually(lambda: ready(other)["status"] == "Unknown")
        rest(running)
        assert (graph.state(), running.metric("writes_total", result="written")) == ("pending", writes + 3)


def rest(running):
    """Return as soon as the syncer has no more work with what it has seen."""
    server.eventually(lambda: running.metric("queue_age_seconds") == 0)


def ready(graph):
    return conditions(graph.place.status(graph.name))["Ready"]


def annotate(graph, entries):
    value = entries if entries is None or isinstance(entries, str) else json.dumps(entries)
    graph.place.patch(GRAPH, graph.name, {"metadata": {"annotations": {labels.WORKLOADS: value}}})


def test_a_broken_annotation_is_a_condition_and_ends_with_the_repair(plane, account, tmp_path):
    (graph,) = deployed(plane, "main-broken")
    good = graph.place.get(GRAPH, graph.name)["metadata"]["annotations"][labels.WORKLOADS]
    with syncer.running(account, tmp_path, "--namespace", graph.place.namespace) as running:
        server.eventually(lambda: graph.state() == "successful")
        annotate(graph, good[:-5])
        status = graph.place.wait(graph.name, lambda status: status.get("state") == "failed")
        assert conditions(status)["Stalled"]["reason"] == "InvalidWorkloads"
        assert status["services"], "the counts stay"
        server.eventually(lambda: "InvalidWorkloads" in events(plane, graph.place.namespace))
        annotate(graph, good)
        server.eventually(lambda: graph.state() == "successful")
        assert running.metric("reconcile_errors_total") == 0


def test_a_graph_that_lists_the_workload_of_another_says_so_until_it_lets_it_go(plane, account, tmp_path):
    """The other graph does not notice."""
    made = deployed(plane, "main-shared", graphs=2)
    one, two = made
    entry = {"service": "Worker", "apiVersion": "apps/v1", "kind": "Deployment", "name": one.deployment}
    with syncer.running(account, tmp_path, "--namespace", one.place.namespace):
        server.eventually(lambda: {each.state() for each in made} == {"successful"})
        annotate(two, [entry])
        server.eventually(lambda: f"{one.deployment} belongs to {GRAPH} {one.name}, so" in two.message())
        assert one.message() == "All resources are ready"
        annotate(two, [{**entry, "name": two.deployment}])
        server.eventually(lambda: {each.message() for each in made} == {"All resources are ready"})


def test_a_marker_keeps_a_cluster_wide_syncer_out_until_its_holder_ends(plane, account, kustomize, tmp_path):
    """The holder ends without replicas, so it deletes its marker, and the other goes on at once."""
    made = deployed(plane, "main-hybrid", namespaces=2)
    mine = made[0]
    with contextlib.ExitStack() as stack:
        wide = stack.enter_context(syncer.running(account, tmp_path, name="wide"))
        settle(made, "successful")
        rest(wide)  # it has looked at the graphs of other tests, too
        written = wide.metric("writes_total", result="written")
        flags = ("--namespace", mine.place.namespace, "--hold-namespaces", "--lease-namespace", mine.place.namespace)
        narrow = stack.enter_context(syncer.running(plane.kubeconfig, tmp_path, *flags, name="narrow"))
        server.eventually(lambda: bool(said(wide, f"namespace {mine.place.namespace} is left to")))
        turn(made, ready=False)
        settle(made, "pending")
        # A write is counted after its answer.
        server.eventually(lambda: narrow.metric("writes_total", result="written") == 1)
        server.eventually(lambda: wide.metric("writes_total", result="written") == written + 1)
        assert narrow.server.end(signal.SIGTERM) == 0
        assert not plane.client.request("GET", marker(mine)).ok
        turn(made, ready=True)
        settle(made, "successful", 20)
        assert len(said(wide, f"namespace {mine.place.namespace} is served again")) == 1


def marker(graph):
    return f"/apis/coordination.k8s.io/v1/namespaces/{graph.place.namespace}/leases/{MARKER}"


def test_changes_that_a_marker_hid_are_seen_when_its_time_is_over(plane, account, tmp_path):
    """The reference drops such changes and sees the graph again with its next change only."""
    (graph,) = deployed(plane, "main-expiry")
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
    spec = {"holderIdentity": "namespace-restricted-operator-0.9.0", "leaseDurationSeconds": 8, "renewTime": now}
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": MARKER, "namespace": graph.place.namespace}}
    assert plane.apply({**lease, "spec": spec}, dry_run=False).ok
    with syncer.running(account, tmp_path):
        assert graph.state() == ""
        began = time.monotonic()
        server.eventually(lambda: graph.state() == "successful")
        assert time.monotonic() - began < 30, "long before the next list of all objects"


def test_without_any_right_it_says_so_and_does_not_hurry(plane, tmp_path):
    with syncer.running(poor(plane, tmp_path), tmp_path, wait=False) as running:
        server.eventually(lambda: "is forbidden" in running.ask("/readyz")[1])
        time.sleep(3)
        code, text = running.ask("/readyz")
        assert code == 503
        assert 'DynamoGraphDeployment: dynamographdeployments.nvidia.com is forbidden: User "system:serviceaccount:main-poor:poor"' in text
        assert running.ask("/livez") == (200, "ok\n")
        assert running.metric("watch_restarts_total", kind=GRAPH) <= 3, "at once, after 1 and after 3 seconds"
        assert len([each for each in records(running) if each["level"] in ("warning", "error")]) <= 16, "one for each watch, and a few"
        assert running.server.end() == 0


def poor(plane, folder):
    """A kubeconfig of an account without rights."""
    plane.namespace("main-poor")
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "poor", "namespace": "main-poor"}}
    assert plane.apply(account, dry_run=False).ok
    return syncer.kubeconfig(plane, folder / "poor", syncer.token(plane, "main-poor", "poor"))


def test_without_the_right_to_write_it_says_so_once_and_tries_seldom(plane, tmp_path):
    made = deployed(plane, "main-reader", graphs=3)
    config = poor(plane, tmp_path)
    rules = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["list", "watch"]}]
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "main-reader"}, "rules": rules}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "main-reader"}
    subject = {"kind": "ServiceAccount", "name": "poor", "namespace": "main-poor"}
    binding = {**role, "kind": "ClusterRoleBinding", "roleRef": reference, "subjects": [subject]}
    del binding["rules"]
    for each in (role, binding):
        assert plane.apply(each, dry_run=False).ok
    try:
        with syncer.running(config, tmp_path, "--namespace", "main-reader-0") as running:
            server.eventually(lambda: running.metric("writes_total", result="forbidden") >= 2)
            time.sleep(2)
            assert running.metric("writes_total", result="forbidden") <= 2 + 3 * 3, "three workers ask at once, after 1, 2 and 4 seconds"
            assert len(said(running, "dynamographdeployments/status cannot be written: ", level="error")) == 1
    finally:
        for each in (binding, role):
            plane.client.request("DELETE", plane.client.path(each))
    assert {each.state() for each in made} == {""}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_well_and_soon(number, account, tmp_path):
    with syncer.running(account, tmp_path) as running:
        began = time.monotonic()
        assert running.server.end(number) == 0
        assert time.monotonic() - began < 20, "a kubelet waits for 30 seconds"
        assert "Traceback" not in running.log()


def test_a_second_signal_ends_it_at_once(plane, account, tmp_path):
    """The first one waits for the API server, to give the lease back."""
    with syncer.running(account, tmp_path, "--leader-election", "--lease-namespace", syncer.NAMESPACE) as running:
        server.eventually(lambda: running.metric("leader") == 1)
        plane.apiserver.pause()
        try:
            os.kill(running.server.pid, signal.SIGTERM)
            server.eventually(lambda: "SIGTERM: ending" in running.log())
            assert running.server.end(signal.SIGTERM) == 1
            assert "SIGTERM again: ending at once" in running.log()
        finally:
            plane.apiserver.resume()
            plane.wait()


def test_an_address_in_use_ends_it_with_a_sentence(account, tmp_path):
    with syncer.running(account, tmp_path, name="first") as first:
        with syncer.running(account, tmp_path, "--listen", f"127.0.0.1:{first.port}", wait=False, name="second") as second:
            assert second.server.end(signal.SIGCONT) == 1
        (record,) = [each for each in records(second) if each["level"] == "error"]
        assert record["message"].startswith(f"cannot listen on 127.0.0.1:{first.port}: ")
        assert "in use" in record["message"]


def test_a_namespace_that_cannot_be_held_ends_it_with_a_sentence(plane, account, tmp_path):
    plane.namespace("main-unheld")
    with syncer.running(account, tmp_path, "--namespace", "main-unheld", "--hold-namespaces", wait=False) as running:
        assert running.server.end(signal.SIGCONT) == 1
        (record,) = [each for each in records(running) if each["level"] == "error"]
        assert record["message"].startswith(f"the Lease main-unheld/{MARKER} cannot be held: 403 Forbidden")
