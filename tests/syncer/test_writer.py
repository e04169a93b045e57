"""What becomes of a write, on a real API server with Dynamo's definitions."""

import asyncio
import contextlib
import logging
import time

import pytest
from aiohttp import web

from krm_fn.cluster.client import Client
from krm_fn.cluster.object_store import StoredObject
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.syncer import writer as writers
from krm_fn.syncer.controllers import ADAPTERS, GRAPHS, REQUESTS
from krm_fn.syncer.metrics import Metrics
from krm_fn.syncer.status import cached_object, cached_request
from krm_fn.syncer.writer import RECEIVED, Retry, Writer
from tests.syncer import odd_server
from tests.syncer.loops import eventually, runs
from tests.testbed import api, server

READY = {"state": "successful", "conditions": []}
LONGEST = 32768


def graph(plane, namespace, name="chat"):
    """A new graph, as the cache knows it."""
    plane.namespace(namespace)
    service = {"componentType": "frontend", "extraPodSpec": {"mainContainer": {"image": "x:1"}}}
    resource = {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": GRAPHS.kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"services": {"Frontend": service}},
    }
    server.eventually(lambda: plane.apply(resource, dry_run=False).ok)  # a new definition takes a moment
    return entry(plane, namespace, name)


def entry(plane, namespace, name="chat"):
    found = plane.client.get(GRAPHS._replace(version="v1alpha1").path(namespace, name))
    return StoredObject(found["metadata"]["uid"], found["metadata"]["resourceVersion"], cached_object.read(found))


class Written:
    """A writer with its metrics. `leads` is what it is told, and `cached` has the keys of the objects in the cache."""

    def __init__(self, client):
        self.leads = True
        self.metrics = Metrics()
        self.cached: set[ObjectKey] = set()
        self.writer = Writer(client, lambda: self.leads, self.metrics, lambda key: key in self.cached)
        RECEIVED.set(time.monotonic())

    async def status(self, entry, patch):
        return await self.writer.status(GRAPHS, entry.value.key, entry, patch)

    def count(self, result):
        return self.metrics.registry.get_sample_value("krm_fn_sync_writes_total", {"kind": GRAPHS.kind, "result": result}) or 0


@contextlib.asynccontextmanager
async def writing(fragile, token=""):
    async with Client(fragile.cluster(token=token)) as client:
        yield Written(client)


@runs
async def test_a_status_is_written_and_the_answer_is_the_new_object(fragile, plane):
    found = graph(plane, "write-ok")
    async with writing(fragile) as written:
        outcome = await written.status(found, READY)
        assert (outcome.result, outcome.pause) == ("written", None)
        assert outcome.resource["status"] == READY
        assert entry(plane, "write-ok").resource_version == outcome.resource["metadata"]["resourceVersion"]
        (manager,) = [each for each in outcome.resource["metadata"]["managedFields"] if each.get("subresource") == "status"]
        assert manager["manager"] == "dynamo-status-syncer"
        assert written.count("written") == 1
        assert written.metrics.registry.get_sample_value("krm_fn_sync_status_lag_seconds_count") == 1


@runs
async def test_a_graph_that_changed_since_is_not_written(fragile, plane):
    """The status would tell of a spec that the syncer has not seen."""
    found = graph(plane, "write-conflict")
    plane.kubectl("annotate", "dgd", "chat", "-n", "write-conflict", "x=y")
    async with writing(fragile) as written:
        with pytest.raises(Retry, match="409"):
            await written.status(found, READY)
        assert written.count("conflict") == 1
    assert entry(plane, "write-conflict").value.status == {}


@runs
async def test_a_graph_that_was_made_anew_is_not_written(fragile, plane):
    found = graph(plane, "write-anew")
    plane.kubectl("delete", "dgd", "chat", "-n", "write-anew")
    graph(plane, "write-anew")
    async with writing(fragile) as written:
        with pytest.raises(Retry, match="409"):
            await written.status(found, READY)


@runs
async def test_a_graph_that_is_gone_needs_nothing_more(fragile, plane):
    found = graph(plane, "write-gone")
    plane.kubectl("delete", "dgd", "chat", "-n", "write-gone")
    async with writing(fragile) as written:
        outcome = await written.status(found, READY)
        assert (outcome.result, outcome.pause, written.count("gone")) == ("gone", None, 1)


@runs
async def test_a_graph_that_the_server_does_not_find_is_written_until_a_watch_says_that_it_is_gone(fragile, plane):
    """A server that starts, or one of several that is behind, answers 404 for a moment. A single answer must not be the last word."""
    found = graph(plane, "write-missing")
    plane.kubectl("delete", "dgd", "chat", "-n", "write-missing")
    async with writing(fragile) as written:
        written.cached.add(found.value.key)
        for _ in range(2):
            with pytest.raises(Retry, match="404") as raised:
                await written.status(found, READY)
            assert (raised.value.limit, raised.value.limited) == (writers.MISSING, True)
        found = graph(plane, "write-missing")
        assert (await written.status(found, READY)).result == "written"
        plane.kubectl("delete", "dgd", "chat", "-n", "write-missing")
        written.cached.clear()
        assert (await written.status(found, READY)).result == "gone"


@runs
async def test_a_missing_right_is_said_once_and_tried_seldom(fragile, plane, caplog):
    found = graph(plane, "write-forbidden")
    async with writing(fragile, fragile.account("write-forbidden", "poor")) as written:
        for _ in range(3):
            outcome = await written.status(found, READY)
            assert (outcome.result, 0 < outcome.pause <= 1) == ("forbidden", True)
            assert 'cannot patch resource "dynamographdeployments/status"' in outcome.message
        assert written.count("forbidden") == 1, "one question for all objects"
        other = graph(plane, "write-forbidden-too")
        assert (await written.status(other, READY)).result == "forbidden"
        assert written.count("forbidden") == 2, "a right may end with its namespace"
    (warned,) = [each for each in caplog.records if each.levelno >= logging.WARNING]
    assert 'cannot patch resource "dynamographdeployments/status"' in warned.getMessage()


@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
@runs
async def test_a_status_that_is_too_large_is_written_with_shorter_texts(fragile, plane):
    """A condition may have 32 KiB, and a request 3 MiB."""
    found = graph(plane, "write-large")
    now = "2026-02-03T10:00:00Z"
    condition = {"type": "Ready", "status": "False", "reason": "x", "lastTransitionTime": now}
    async with writing(fragile) as written:
        for number, size in enumerate((LONGEST + 1, 4_000_000)):
            message = str(number) + "x" * size
            outcome = await written.status(found, {"state": "pending", "conditions": [{**condition, "message": message}]})
            assert (outcome.result, written.count("invalid")) == ("written", number + 1)
            (stored,) = outcome.resource["status"]["conditions"]
            assert stored["message"] == message[:1023] + "…"
            found = entry(plane, "write-large")


@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
@runs
async def test_a_field_that_may_not_be_cut_is_left_out(fragile, plane):
    """A generated graph with shorter texts would be another graph."""
    namespace = plane.namespace("write-expendable")
    spec = {"model": "m", "backend": "vllm", "profilingConfig": {"profilerImage": "x:1", "config": {}}}
    metadata = {"name": "llm", "namespace": namespace}
    asked = {"apiVersion": "nvidia.com/v1alpha1", "kind": REQUESTS.kind, "metadata": metadata, "spec": spec}
    server.eventually(lambda: plane.apply(asked, dry_run=False).ok)
    live = plane.client.get(REQUESTS._replace(version="v1alpha1").path(namespace, "llm"))
    found = StoredObject(live["metadata"]["uid"], live["metadata"]["resourceVersion"], cached_request.read(live))
    graph = {"apiVersion": "nvidia.com/v1alpha1", "kind": GRAPHS.kind, "metadata": {"name": "x", "annotations": {"a": "x" * 2_000_000}}}
    async with writing(fragile) as written:
        status = {"state": "Ready", "generatedDeployment": graph}
        outcome = await written.writer.status(REQUESTS, found.value.key, found, status, ("generatedDeployment",))
        assert (outcome.result, outcome.resource["status"]) == ("written", {"state": "Ready"})


@runs
async def test_a_status_that_the_server_refuses_is_said_and_tried_seldom(fragile, plane, caplog):
    found = graph(plane, "write-refused")
    services = {"Frontend": {"componentKind": "Table", "componentName": "x", "replicas": 1, "updatedReplicas": 1}}
    async with writing(fragile) as written:
        outcome = await written.status(found, {"services": services})
        assert (outcome.result, outcome.pause) == ("invalid", writers.INVALID)
    assert 'Unsupported value: "Table"' in caplog.text


@runs
async def test_nothing_is_sent_without_the_lead(fragile, plane):
    found = graph(plane, "write-follower")
    async with writing(fragile) as written:
        written.leads = False
        with pytest.raises(Retry, match="does not lead"):
            await written.status(found, READY)
        assert (written.count("refused"), written.count("written")) == (1, 0)
    assert entry(plane, "write-follower").value.status == {}


@runs
async def test_a_server_that_is_away_is_tried_again(fragile, plane, between):
    found = graph(plane, "write-away")
    between.refuse()
    async with Client(fragile.cluster(between.port)) as client:
        written = Written(client)
        with pytest.raises(Retry):
            await written.status(found, READY)
        assert written.count("error") == 1


@runs
async def test_an_error_of_the_server_is_tried_again_less_and_less_and_is_one_line_a_minute(caplog):
    """A webhook that fails, for example, answers each write with 500, perhaps for hours."""
    answers = [web.json_response({"message": "webhook failed"}, status=status) for status in (500, 503, 429)]
    async with odd_server.giving(*answers) as (_, cluster), Client(cluster) as client:
        written = Written(client)
        key = ObjectKey(GRAPHS.group, GRAPHS.kind, "team-a", "chat")
        kind = GRAPHS._replace(version="v1alpha1")
        for _ in answers:
            with pytest.raises(Retry, match="webhook failed") as raised:
                await written.writer.patch(kind, key, {}, subresource="status")
            assert (raised.value.limit, raised.value.limited) == (writers.FAILING, True)
        assert written.count("error") == 3
    (line,) = caplog.messages
    assert line.startswith("requests that failed since the last such line, and are tried again: 1; the last one: 500")


@runs
async def test_a_few_writes_at_once(fragile, plane, between, monkeypatch):
    """The API server is the bottleneck. More writes at once would only wait there."""
    monkeypatch.setattr(writers, "IN_FLIGHT", 3)
    found = graph(plane, "write-many")
    async with Client(fragile.cluster(between.port)) as client:
        written = Written(client)
        between.swallow()
        tasks = [asyncio.create_task(written.status(found, READY)) for _ in range(8)]
        await eventually(lambda: between.connections == 3)
        await asyncio.sleep(0.3)
        assert between.connections == 3
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        between.cut()
        await asyncio.sleep(0.2)


@runs
async def test_a_patch_with_a_precondition_replaces_no_other_number(fragile, plane):
    """An autoscaler may scale an adapter between our read and our write of its first replicas."""
    plane.namespace("write-first")
    adapter = {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": ADAPTERS.kind,
        "metadata": {"name": "chat", "namespace": "write-first"},
        "spec": {"dgdRef": {"name": "chat", "serviceName": "Worker"}},
    }
    server.eventually(lambda: plane.apply(adapter, dry_run=False).ok)  # a new definition takes a moment
    path = ADAPTERS._replace(version="v1alpha1").path("write-first", "chat")
    key = cached_object.read(adapter).key

    def stored():
        metadata = plane.client.get(path)["metadata"]
        return StoredObject(metadata["uid"], metadata["resourceVersion"], None)

    read = stored()
    assert plane.client.request("PATCH", f"{path}/scale", {"spec": {"replicas": 2}}, api.MERGE).ok
    async with writing(fragile) as written:
        with pytest.raises(Retry):
            await written.writer.patch(ADAPTERS, key, {"metadata": read.preconditions, "spec": {"replicas": 1}})
        assert plane.client.get(path)["spec"]["replicas"] == 2
        assert (
            await written.writer.patch(ADAPTERS, key, {"metadata": stored().preconditions, "spec": {"replicas": 3}})
        ).result == "written"
    assert plane.client.get(path)["spec"]["replicas"] == 3


@runs
async def test_scale_and_patch(fragile):
    """The scale of a Deployment, and an annotation of its pod template."""
    plane = fragile.plane
    plane.namespace("write-scale")
    pod = {"metadata": {"labels": {"x": "y"}}, "spec": {"containers": [{"name": "main", "image": "x:1"}]}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "x", "namespace": "write-scale"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"x": "y"}}, "template": pod},
    }
    assert plane.apply(deployment, dry_run=False).ok
    kind = GRAPHS._replace(group="apps", version="v1", resource="deployments", kind="Deployment")
    key = cached_object.read(deployment).key
    async with writing(fragile) as written:
        assert (await written.writer.scale(kind, key, 3)).resource["spec"]["replicas"] == 3
        stamp = {"spec": {"template": {"metadata": {"annotations": {"nvidia.com/restartAt": "1"}}}}}
        assert (await written.writer.patch(kind, key, stamp)).result == "written"
    spec = plane.client.get(kind.path("write-scale", "x"))["spec"]
    assert (spec["replicas"], spec["template"]["metadata"]["annotations"]) == (3, {"nvidia.com/restartAt": "1"})
