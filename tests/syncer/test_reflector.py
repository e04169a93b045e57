"""A reflector's store equals the cluster's objects after every fault, and each change was reported once.

The faults are real where an API server can have them; tests/syncer/test_reflector_answers.py has the others.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
import time
from itertools import pairwise

from krm_fn.cluster import reflector as reflectors
from krm_fn.cluster.access import Certificate, ClientIdentity, Cluster, Content, Trust
from krm_fn.cluster.api_resources import ApiResource
from tests.syncer.following import CONFIG_MAPS, following
from tests.syncer.loops import eventually, runs
from tests.testbed import api

WIDGETS = ApiResource("wire.example.com", "v1", "widgets", "Widget")


class Objects:
    """ConfigMaps of one namespace, changed by another client. `served` is what the server has."""

    def __init__(self, fragile, namespace):
        self._client = fragile.plane.client
        self._path = f"/api/v1/namespaces/{fragile.plane.namespace(namespace)}/configmaps"
        self.served = {}

    def put(self, name, value, watched="yes", **more):
        found = self._client.request("GET", f"{self._path}/{name}").ok
        metadata = {"name": name, "labels": {"watched": watched} if watched else {}}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"value": value, **more}}
        answer = self._client.request("PUT" if found else "POST", f"{self._path}/{name}" if found else self._path, body)
        assert answer.ok, answer.message
        self.served[name] = value
        return answer.body

    def delete(self, name):
        assert self._client.request("DELETE", f"{self._path}/{name}").ok
        del self.served[name]


@runs
async def test_follows_creations_updates_and_deletions_of_selected_objects(fragile):
    objects = Objects(fragile, "reflector")
    objects.put("a", "1")
    async with following(fragile.cluster(), "reflector") as follower:
        assert not follower.reflector.synced.is_set()
        await follower.synced()
        assert follower.view == {"a": "1"}
        before = follower.reflector.last_data
        objects.put("b", "1")
        objects.put("b", "2")
        objects.put("foreign", "1", watched="")
        objects.put("a", "1", other="a field that is not kept")
        objects.delete("b")
        objects.put("c", "1")
        await eventually(lambda: "c" in follower.view)
        assert follower.changes == [("a", None, "1"), ("b", None, "1"), ("b", "1", "2"), ("b", "2", None), ("c", None, "1")]
        assert follower.reflector.last_data > before
        objects.put("c", "1", watched="")  # loses its label
        await eventually(lambda: follower.changes[-1] == ("c", "1", None))
        assert follower.relists == 1
        assert not follower.reasons


@runs
async def test_each_namespace_is_followed_alone(fragile):
    """A reading of one namespace must not remove the objects of another one, and other namespaces are not read."""
    first, second, third = (Objects(fragile, f"reflector-{each}") for each in "abc")
    first.put("a", "1")
    second.put("b", "1")
    third.put("c", "1")
    async with following(fragile.cluster(), "reflector-a", "reflector-b") as follower:
        await follower.synced()
        assert follower.view == {"a": "1", "b": "1"}
        second.put("b", "2")
        third.put("c", "2")
        await eventually(lambda: follower.view == {"a": "1", "b": "2"})
        assert [change[0] for change in follower.changes].count("c") == 0


@runs
async def test_an_object_that_cannot_be_read_hides_no_other(fragile, caplog):
    objects = Objects(fragile, "reflector-broken")
    objects.put("a", "1", broken="yes")
    async with following(fragile.cluster(), "reflector-broken") as follower:
        await follower.synced()
        objects.put("b", "1")
        await eventually(lambda: follower.view == {"b": "1"})
        assert not follower.reasons
    assert "ConfigMap reflector-broken/a cannot be read" in caplog.text


@runs
async def test_the_answer_to_our_own_write_is_not_undone_by_the_older_event(fragile):
    """The answer reaches the store before the events of the watch; no change is reported twice."""
    objects = Objects(fragile, "reflector-own")
    objects.put("a", "1")
    async with following(fragile.cluster(), "reflector-own") as follower:
        await follower.synced()
        (key,) = follower.store.keys()
        objects.put("a", "2")
        answer = objects.put("a", "3")  # the loop has not read the events yet
        metadata = answer["metadata"]
        assert follower.store.update(key, metadata["uid"], metadata["resourceVersion"], "3")
        objects.put("end", "1")
        await eventually(lambda: "end" in follower.view)
        assert follower.changes == [("a", None, "1"), ("end", None, "1")]


@runs
async def test_the_api_server_is_killed_and_restarted(fragile):
    """Changes from before the kill and from after the restart arrive, also in a cluster where other objects changed meanwhile."""
    objects = Objects(fragile, "reflector-kill")
    for number in range(20):
        objects.put(f"object-{number}", "1")
    async with following(fragile.cluster(), "reflector-kill") as follower:
        await follower.synced()
        for number in range(40):
            objects.put("foreign", str(number), watched="")
        del objects.served["foreign"]
        fragile.plane.apiserver.kill()
        await eventually(lambda: follower.reasons["connection"] > 3)
        fragile.plane.apiserver.start()
        await asyncio.to_thread(fragile.plane.wait)
        for number in range(10):
            objects.put(f"object-{number}", "2")
        objects.put("new", "1")
        objects.delete("object-19")
        await eventually(lambda: follower.view == objects.served)
        assert ("object-19", "1", None) in follower.changes
        assert len(follower.changes) == 20 + 12


@runs
async def test_objects_deleted_while_disconnected_leave_no_ghost(fragile, between, monkeypatch):
    """A restarted server does not know the old resourceVersion any more (410), so the deletions never come as events.

    This server cannot stream lists either, as Kubernetes 1.33 and some configurations: pages take their place.
    """
    monkeypatch.setattr(reflectors, "PAGE", 3)
    objects = Objects(fragile, "reflector-ghost")
    for number in range(10):
        objects.put(f"object-{number}", "1")
    async with following(fragile.cluster(between.port), "reflector-ghost") as follower:
        await follower.synced()
        between.refuse()
        between.cut()
        objects.delete("object-3")
        objects.delete("object-7")
        objects.put("object-5", "2")
        fragile.plane.apiserver.kill()
        fragile.plane.apiserver.start("--feature-gates=WatchList=false")
        await asyncio.to_thread(fragile.plane.wait)
        for number in range(30):
            objects.put("foreign", str(number), watched="")
        del objects.served["foreign"]
        between.accept()
        await eventually(lambda: follower.view == objects.served)
        assert follower.reasons["expired"] >= 1
        assert follower.reasons["refused"] == 1
        assert sorted(follower.changes[10:]) == [("object-3", "1", None), ("object-5", "1", "2"), ("object-7", "1", None)]
        objects.put("object-5", "3")
        await eventually(lambda: follower.view == objects.served)
        assert follower.relists == 2
    fragile.plane.apiserver.kill()
    fragile.plane.apiserver.start()
    await asyncio.to_thread(fragile.plane.wait)


@runs
async def test_a_network_that_swallows_everything(fragile, between):
    """Only the silence tells: the connection stays open. The watch resumes where it was."""
    objects = Objects(fragile, "reflector-hole")
    objects.put("a", "1")
    async with following(fragile.cluster(between.port), "reflector-hole", stall=1) as follower:
        await follower.synced()
        between.swallow()
        objects.put("a", "2")
        await eventually(lambda: follower.view == {"a": "2"})
        assert follower.reasons["stalled"] >= 1
        assert follower.relists == 1


@runs
async def test_a_server_that_pauses_and_goes_on(fragile):
    """A paused etcd: nothing is answered, nothing is lost."""
    objects = Objects(fragile, "reflector-pause")
    objects.put("a", "1")
    async with following(fragile.cluster(), "reflector-pause", stall=1) as follower:
        await follower.synced()
        fragile.plane.etcd.pause()
        await eventually(lambda: follower.reasons["stalled"] >= 1)
        fragile.plane.etcd.resume()
        await asyncio.to_thread(fragile.plane.wait)
        objects.put("a", "2")
        await eventually(lambda: follower.view == {"a": "2"})
        assert follower.changes == [("a", None, "1"), ("a", "1", "2")]


def flow_control(namespace):
    """Flow control for one user: one request at a time, and 429 with `Retry-After: 1` for all others."""
    version, name = "flowcontrol.apiserver.k8s.io/v1", {"name": namespace}
    limited = {"nominalConcurrencyShares": 0, "lendablePercent": 0, "borrowingLimitPercent": 0, "limitResponse": {"type": "Reject"}}
    subject = {"kind": "ServiceAccount", "serviceAccount": {"namespace": namespace, "name": "stormy"}}
    everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}
    schema = {
        "matchingPrecedence": 2,
        "priorityLevelConfiguration": name,
        "rules": [{"subjects": [subject], "resourceRules": [everything]}],
    }
    return [
        {"apiVersion": version, "kind": "PriorityLevelConfiguration", "metadata": name, "spec": {"type": "Limited", "limited": limited}},
        {"apiVersion": version, "kind": "FlowSchema", "metadata": name, "spec": schema},
    ]


@contextlib.contextmanager
def unfinished(fragile, namespace, token):
    """Begins a request whose body does not arrive, so that it keeps its place in the flow control of the server."""
    tls = ssl.create_default_context(cafile=fragile.certificate)
    with socket.create_connection(("127.0.0.1", fragile.port)) as plain, tls.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
        head = f"POST /api/v1/namespaces/{namespace}/configmaps HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
        connection.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{".encode())
        connection.setblocking(False)
        yield connection


def is_answered(connection):
    try:
        connection.recv(1)
    except ssl.SSLWantReadError:
        return False
    return True


async def storm(fragile, namespace, token, others):
    """Takes the user's only place, and returns what gives it back.

    The server refuses the unfinished request if it comes while one of the `others` has the place. A request that came before the new
    FlowSchema applied does not take this place. So the request is sent again after some seconds.
    """
    while True:
        with contextlib.ExitStack() as stack:
            connection = stack.enter_context(unfinished(fragile, namespace, token))
            began = time.monotonic()
            while not is_answered(connection) and time.monotonic() - began < 5:
                if others() == 429:
                    return stack.pop_all()
                await asyncio.sleep(0.02)


def allow(fragile, namespace, name):
    """Lets a service account read and create ConfigMaps of its namespace."""
    version = "rbac.authorization.k8s.io/v1"
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch", "create"]}
    metadata = {"name": name, "namespace": namespace}
    subject = {"kind": "ServiceAccount", "name": name, "namespace": namespace}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
    for each in (
        {"apiVersion": version, "kind": "Role", "metadata": metadata, "rules": [rule]},
        {"apiVersion": version, "kind": "RoleBinding", "metadata": metadata, "subjects": [subject], "roleRef": role},
    ):
        answer = fragile.plane.apply(each, dry_run=False)
        assert answer.ok, answer.message


@runs
async def test_a_storm_of_429_is_waited_for(fragile):
    """Retry-After holds: no two attempts within a second."""
    namespace = "reflector-storm"
    objects = Objects(fragile, namespace)
    objects.put("a", "1")
    token = fragile.account(namespace, "stormy")
    allow(fragile, namespace, "stormy")
    for each in flow_control(namespace):
        answer = fragile.plane.apply(each, dry_run=False)
        assert answer.ok, answer.message
    stormy = api.Client(fragile.port, fragile.certificate, token)
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    with contextlib.closing(stormy), await storm(fragile, namespace, token, lambda: stormy.request("GET", path).status) as place:
        async with following(fragile.cluster(token=token), namespace) as follower:
            await eventually(lambda: follower.reasons["error"] >= 3)
            assert follower.view == {}
            place.close()
            await follower.synced()
            assert follower.view == {"a": "1"}
    assert set(follower.reasons) == {"error"}
    assert min(after - before for before, after in pairwise(follower.ends)) >= 1


@runs
async def test_a_forbidden_kind_is_a_problem_until_somebody_allows_it(fragile, monkeypatch, caplog):
    """The log says it once."""
    monkeypatch.setattr(reflectors, "LAST_RETRY", 0.3)
    objects = Objects(fragile, "reflector-forbidden")
    objects.put("a", "1")
    token = fragile.account("reflector-forbidden", "reader")
    async with following(fragile.cluster(token=token), "reflector-forbidden") as follower:
        await eventually(lambda: follower.reasons["forbidden"] >= 3)
        assert "cannot watch resource" in follower.reflector.problem
        assert not follower.reflector.synced.is_set()
        assert caplog.text.count("cannot watch resource") == 1
        allow(fragile, "reflector-forbidden", "reader")
        await follower.synced()
        assert follower.reflector.problem == ""
        assert follower.view == {"a": "1"}


def definition():
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"value": {"type": "string"}}}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    spec = {"group": WIDGETS.group, "scope": "Namespaced", "names": names, "versions": [version]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.wire.example.com"},
        "spec": spec,
    }


async def define(fragile):
    answer = fragile.plane.apply(definition(), dry_run=False)
    assert answer.ok, answer.message
    await eventually(lambda: fragile.plane.client.request("GET", WIDGETS.path("default")).ok)


async def undefine(fragile):
    path = fragile.plane.client.path(definition())
    assert fragile.plane.client.request("DELETE", path).ok
    await eventually(lambda: fragile.plane.client.request("GET", path).status == 404)
    await eventually(lambda: fragile.plane.client.request("GET", WIDGETS.path("default")).status == 404)


def widget(fragile, name, value):
    body = {"apiVersion": "wire.example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": {"value": value}}
    answer = fragile.plane.client.request("POST", WIDGETS.path("default"), body)
    assert answer.ok, answer.message


@runs
async def test_a_definition_that_comes_goes_and_is_exchanged(fragile, between, monkeypatch):
    """A kind without definition is synced and empty. Objects of an exchanged definition are other objects, also if the watch was cut."""
    monkeypatch.setattr(reflectors, "LAST_RETRY", 0.3)
    async with following(fragile.cluster(between.port), "", kind=WIDGETS) as follower:
        await follower.synced()
        assert follower.view == {}
        assert follower.reasons["missing"] == 1
        await define(fragile)
        for name in ("a", "b"):
            widget(fragile, name, "1")
        await eventually(lambda: follower.view == {"a": "1", "b": "1"})
        await undefine(fragile)
        await eventually(lambda: follower.view == {})
        await define(fragile)
        for name in ("a", "b"):
            widget(fragile, name, "2")
        await eventually(lambda: follower.view == {"a": "2", "b": "2"})
        between.refuse()
        between.cut()
        await undefine(fragile)
        await define(fragile)
        widget(fragile, "a", "3")
        between.accept()
        await eventually(lambda: follower.view == {"a": "3"})
        assert follower.reflector.problem == ""
    await undefine(fragile)


class Certificates:
    """The credentials of files that somebody renews."""

    def __init__(self, pair):
        self.pair = pair

    async def identity(self, *, refresh):
        return ClientIdentity("", Certificate(self.pair.certificate.encode(), self.pair.key.encode()))


@runs
async def test_an_expired_certificate_is_a_problem_until_it_is_renewed(fragile, between):
    """The next connection presents the new certificate."""
    objects = Objects(fragile, "reflector-certificate")
    objects.put("a", "1")
    credentials = Certificates(fragile.authority.issue("wire"))
    cluster = Cluster(f"https://127.0.0.1:{between.port}", Trust(Content(path=fragile.certificate)), credentials)
    async with following(cluster, "reflector-certificate") as follower:
        await follower.synced()
        credentials.pair = fragile.authority.issue("wire", days=-1)
        between.cut()
        objects.delete("a")
        objects.put("b", "1")
        await eventually(lambda: follower.reflector.problem == "Unauthorized")
        assert follower.view == {"a": "1"}
        credentials.pair = fragile.authority.issue("wire")
        await eventually(lambda: follower.view == {"b": "1"})
        assert follower.reflector.problem == ""


@runs
async def test_an_outage_is_one_line_in_the_log(fragile, between, caplog):
    """The next outage is another line. The line has no text that differs between the kinds."""
    caplog.set_level(logging.INFO, "krm_fn.cluster.reflector")
    objects = Objects(fragile, "reflector-outage")
    objects.put("a", "1")
    async with following(fragile.cluster(between.port), "reflector-outage") as follower:
        await follower.synced()
        for number in (1, 2):
            between.refuse()
            between.cut()
            seen = follower.reasons["connection"]
            await eventually(lambda: follower.reasons["connection"] >= seen + 4)  # noqa: B023 - called before the next turn
            between.accept()
            objects.put("a", f"after {number}")
            await eventually(lambda: follower.view == {"a": f"after {number}"})  # noqa: B023 - called before the next turn
            assert caplog.text.count("connecting again") == number
        assert "SSLContext" not in caplog.text


@runs
async def test_a_cancelled_reflector_leaves_no_connection(fragile, between):
    async with following(fragile.cluster(between.port), "default", "kube-system", kind=CONFIG_MAPS) as follower:
        await follower.synced()
        assert between.connections == 2
    await eventually(lambda: between.connections == 0)
