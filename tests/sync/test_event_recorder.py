"""Events about graphs, on a real API server."""

import asyncio
import contextlib

from krm_fn.kube.identity import ObjectKey
from krm_fn.sync import event_recorder as module
from krm_fn.sync.client import Client
from krm_fn.sync.controllers import GRAPHS
from krm_fn.sync.event_recorder import NORMAL, WARNING, EventRecorder
from krm_fn.sync.metrics import Metrics
from tests.sync.loops import eventually, runs


class Telling:
    """Events about one graph that exists only by name, as after its deletion."""

    def __init__(self, fragile, client, namespace):
        self.plane = fragile.plane
        self.namespace = namespace
        self.metrics = Metrics()
        self.events = EventRecorder(client, "sync-0", self.metrics)

    def record(self, reason="Ready", note="All resources are ready", type_=NORMAL, uid="1"):
        self.events.record(GRAPHS, ObjectKey(GRAPHS.group, GRAPHS.kind, self.namespace, "chat"), uid, type_, reason, note)

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
        assert told.count("dropped") == 15


@runs
async def test_without_the_right_events_are_off_and_said_once(fragile, caplog):
    token = fragile.account("event-forbidden", "poor")
    async with telling(fragile, "event-forbidden", token) as told:
        told.record()
        told.record("NotReady")
        await eventually(lambda: told.count("error") == 1)
        await asyncio.sleep(0.2)
        told.record("Another")
        await asyncio.sleep(0.2)
        assert told.count("error") == 1
        assert len(caplog.records) == 1
        assert 'cannot create resource "events"' in caplog.text


@runs
async def test_a_server_that_is_away_loses_events_and_nothing_else(fragile, between):
    async with Client(fragile.cluster(between.port)) as client:
        told = Telling(fragile, client, "event-away")
        between.refuse()
        task = asyncio.create_task(told.events.run())
        for number in range(300):
            told.record(uid=str(number))
        assert told.count("dropped") == 300 - module._QUEUE_LIMIT
        await eventually(lambda: told.count("error") == module._QUEUE_LIMIT)
        assert not task.done()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@runs
async def test_no_events_if_they_are_off(fragile):
    async with Client(fragile.cluster()) as client:
        told = Telling(fragile, client, "event-off")
        told.events = EventRecorder(client, "sync-0", told.metrics, enabled=False)
        told.record()
        assert told.events._queue.empty()
