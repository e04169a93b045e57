"""Events about graphs, on a real API server."""

import asyncio
import contextlib

from aiohttp import web

from krm_fn.cluster import backoff
from krm_fn.cluster.client import Client
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.syncer import event_recorder as module
from krm_fn.syncer.controllers import GRAPHS
from krm_fn.syncer.event_recorder import NORMAL, WARNING, EventRecorder
from krm_fn.syncer.metrics import Metrics
from tests.syncer import odd_server
from tests.syncer.loops import eventually, runs


class Telling:
    """Events about one graph that exists only by name, as after its deletion."""

    def __init__(self, fragile, client, namespace):
        self.plane = fragile.plane
        self.namespace = namespace
        self.metrics = Metrics()
        self.events = EventRecorder(client, "sync-0", self.metrics)

    def record(self, reason="Ready", note="All resources are ready", type_=NORMAL, uid="1", namespace=""):
        key = ObjectKey(GRAPHS.group, GRAPHS.kind, namespace or self.namespace, "chat")
        self.events.record(GRAPHS, key, uid, type_, reason, note)

    def stored(self):
        return self.plane.client.get(f"/apis/events.k8s.io/v1/namespaces/{self.namespace}/events")["items"]

    def count(self, result):
        return self.metrics.registry.get_sample_value("krm_fn_sync_events_total", {"result": result}) or 0


@contextlib.asynccontextmanager
async def telling(fragile, namespace, token=""):
    fragile.plane.namespace(namespace)
    async with Client(fragile.cluster(token=token)) as client:
        found = Telling(fragile, client, namespace)
        task = asyncio.create_task(found.events.run())
        try:
            yield found
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


@runs
async def test_an_event_names_its_graph_and_its_writer(fragile):
    async with telling(fragile, "event-one") as told:
        told.record("ProgressDeadlineExceeded", "chat-worker: " + "x" * 5000, WARNING)
        await eventually(lambda: told.count("written") == 1)
        (event,) = told.stored()
        assert (event["type"], event["reason"], event["action"]) == ("Warning", "ProgressDeadlineExceeded", "StatusUpdate")
        assert event["note"].startswith("chat-worker: x")
        assert (event["reportingController"], event["reportingInstance"]) == ("dynamo.krm-fn.io/sync", "sync-0")
        regarding = {"apiVersion": "nvidia.com/v1alpha1", "kind": GRAPHS.kind, "namespace": "event-one", "name": "chat", "uid": "1"}
        assert event["regarding"] == regarding
        listed = fragile.plane.kubectl("get", "events", "-n", "event-one", "--no-headers")
        assert "dynamographdeployment/chat" in listed


@runs
async def test_a_repetition_counts_up_the_same_event(fragile):
    """A graph that becomes ready and unready in turn has two events, not hundreds."""
    async with telling(fragile, "event-series") as told:
        for _ in range(3):
            told.record("Ready")
            told.record("NotReady", "Resources not ready", WARNING)
        await eventually(lambda: told.count("written") == 6)
        assert {each["reason"]: each["series"]["count"] for each in told.stored()} == {"Ready": 3, "NotReady": 3}
        told.record(uid="2")
        await eventually(lambda: told.count("written") == 7)
        assert len(told.stored()) == 3, "another object of the same name"


@runs
async def test_an_event_that_expired_meanwhile_is_made_anew(fragile):
    """An API server deletes events after an hour, or sooner."""
    async with telling(fragile, "event-expired") as told:
        told.record()
        await eventually(lambda: told.count("written") == 1)
        fragile.plane.kubectl("delete", "events", "--all", "-n", "event-expired")
        told.record()
        await eventually(lambda: told.count("written") == 2)
        assert len(told.stored()) == 1


@runs
async def test_one_object_has_a_limited_number_of_events(fragile):
    async with telling(fragile, "event-burst") as told:
        for number in range(40):
            told.record(f"Reason{number}")
        told.record(uid="2")
        await eventually(lambda: told.count("written") == 26)
        assert told.count("limited") == 15


@runs
async def test_a_mass_outage_loses_no_event(fragile):
    """All graphs of a fleet fail at the same moment, and some of them report it again and again before the first event is written."""
    async with telling(fragile, "event-outage") as told:
        for _ in range(3):
            for number in range(600):
                told.record("NotReady", type_=WARNING, uid=str(number))
        await eventually(lambda: told.count("written") == 1800)
        assert (told.count("dropped"), told.count("limited"), told.count("error")) == (0, 0, 0)
        assert [event["series"]["count"] for event in told.stored()] == [3] * 600


@runs
async def test_a_namespace_that_is_deleted_costs_no_other_namespace_its_events(fragile, caplog):
    """The server refuses new objects in a namespace that ends with 403. That is nobody's mistake, and no problem."""
    path = f"/api/v1/namespaces/{fragile.plane.namespace('event-ends')}"
    async with telling(fragile, "event-stays") as told:
        fragile.plane.client.request("DELETE", path)  # no controller runs, so the namespace ends for ever
        told.record(namespace="event-ends")
        await eventually(lambda: told.count("gone") == 1)
        told.record()
        told.record(namespace="event-unknown", uid="2")
        await eventually(lambda: (told.count("written"), told.count("gone")) == (1, 2))
        assert (told.count("forbidden"), caplog.records) == (0, [])


@runs
async def test_a_namespace_without_the_right_is_tried_again_and_the_others_have_their_events(fragile, caplog, monkeypatch):
    """The right may be missing in one namespace only, and it may come later."""
    now = 0.0
    monkeypatch.setattr(backoff, "monotonic", lambda: now)
    token = fragile.account("event-right", "some")
    fragile.plane.namespace("event-forbidden")
    await grant(fragile, "event-right")
    async with telling(fragile, "event-right", token) as told:
        told.record(namespace="event-forbidden")
        await eventually(lambda: told.count("forbidden") == 1)
        told.record("NotReady", namespace="event-forbidden")
        assert told.count("forbidden") == 2, "dropped without a request"
        told.record(uid="2")
        await eventually(lambda: told.count("written") == 1)
        assert len(caplog.records) == 1
        assert 'cannot create resource "events"' in caplog.text
        await grant(fragile, "event-forbidden")
        now += backoff.FORBIDDEN
        told.record("NotReady", namespace="event-forbidden")
        await eventually(lambda: told.count("written") == 2)


async def grant(fragile, namespace):
    """Lets the account of the test write events in a namespace, and waits until the server knows it."""
    path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
    rule = {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]}
    assert fragile.plane.client.request("POST", f"{path}/roles", {"metadata": {"name": "events"}, "rules": [rule]}).ok
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "events"}
    subjects = [{"kind": "ServiceAccount", "name": "some", "namespace": "event-right"}]
    body = {"metadata": {"name": "events"}, "roleRef": reference, "subjects": subjects}
    assert fragile.plane.client.request("POST", f"{path}/rolebindings", body).ok
    attributes = {"namespace": namespace, "verb": "create", "group": "events.k8s.io", "resource": "events"}
    review = {"spec": {"user": "system:serviceaccount:event-right:some", "resourceAttributes": attributes}}
    reviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    await eventually(lambda: fragile.plane.client.request("POST", reviews, review).body["status"]["allowed"])


@runs
async def test_events_outlive_a_server_that_is_away(fragile, between):
    async with Client(fragile.cluster(between.port)) as client:
        told = Telling(fragile, client, fragile.plane.namespace("event-away"))
        between.refuse()
        task = asyncio.create_task(told.events.run())
        for number in range(300):
            told.record(uid=str(number))
        await eventually(lambda: told.events._queue.waiting() == 300)
        between.accept()
        await eventually(lambda: told.count("written") == 300)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@runs
async def test_an_event_whose_answer_is_lost_is_written_once(fragile, between, monkeypatch):
    """The next attempt finds the event of its own name: that is a success, and not a lost event."""
    monkeypatch.setattr(module, "_LAST_RETRY", 0.01)
    async with Client(fragile.cluster(between.port), timeout=1) as client:
        told = Telling(fragile, client, fragile.plane.namespace("event-answer"))
        await client.versions.path(GRAPHS.path("a", "b"))
        await client.request("GET", "/version", timeout=60)
        connections = client._request_session
        between.mute()
        task = asyncio.create_task(told.events.run())
        told.record()
        await eventually(lambda: told.count("written") + told.count("error"))
        assert (told.count("written"), len(told.stored())) == (1, 1)
        assert client._request_session is not connections, "no answer was lost"
        told.record()
        await eventually(lambda: told.count("written") == 2)
        (event,) = told.stored()
        assert event["series"]["count"] == 2
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@runs
async def test_an_event_that_the_server_never_takes_is_given_up_and_counted(monkeypatch, caplog):
    monkeypatch.setattr(module, "_LAST_RETRY", 0.01)
    answers = [web.json_response({"message": "broken"}, status=500) for _ in range(module._ATTEMPTS)]
    async with odd_server.giving(*answers) as (server, cluster), Client(cluster) as client:
        metrics = Metrics()
        events = EventRecorder(client, "sync-0", metrics)
        monkeypatch.setattr(client.versions, "_versions", {})
        task = asyncio.create_task(events.run())
        events.record(GRAPHS, ObjectKey(GRAPHS.group, GRAPHS.kind, "team-a", "chat"), "1", NORMAL, "Ready", "All resources are ready")
        await eventually(lambda: metrics.registry.get_sample_value("krm_fn_sync_events_total", {"result": "error"}) == 1)
        assert len(server.asked) == module._ATTEMPTS
        assert "events that could not be written since the last such line: 1; the last one: 500" in caplog.text
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@runs
async def test_more_events_than_the_queue_holds_are_counted(fragile, monkeypatch):
    monkeypatch.setattr(module, "_QUEUE_LIMIT", 10)
    async with Client(fragile.cluster()) as client:
        told = Telling(fragile, client, "team-a")
        for number in range(12):
            told.record(uid=str(number))
        assert told.count("dropped") == 2


@runs
async def test_no_events_if_they_are_off(fragile):
    async with Client(fragile.cluster()) as client:
        told = Telling(fragile, client, "event-off")
        told.events = EventRecorder(client, "sync-0", told.metrics, enabled=False)
        told.record()
        assert told.events._queue.depth() == 0
