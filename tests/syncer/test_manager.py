"""A change becomes work for the controllers that it concerns, and no failure stops or hurries the work."""

import asyncio
import contextlib

import pytest

from krm_fn.cluster import work_queue
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.syncer import manager as engines
from krm_fn.syncer.controllers import GRAPHS, Controller, dynamo_watch
from krm_fn.syncer.informer_cache import InformerCache
from krm_fn.syncer.manager import Manager
from krm_fn.syncer.metrics import Metrics
from krm_fn.syncer.status import cached_object
from krm_fn.syncer.writer import RECEIVED, Retry
from tests.syncer.loops import eventually, runs

KEY = ObjectKey("nvidia.com", "DynamoGraphDeployment", "team-a", "chat")


def graph(name="chat", namespace="team-a", version=1, **fields):
    metadata = {"name": name, "namespace": namespace, "uid": f"uid-{name}", "resourceVersion": str(version)}
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "metadata": metadata, **fields}


class Noting(Controller):
    """Notes what it is asked for; `answers` says what becomes of it."""

    kind = GRAPHS
    counted = True

    def __init__(self):
        self.done = []
        self.times = []
        self.answers = []
        self.waits = []

    def state(self, value):
        return value.status.get("state", "unknown")

    async def reconcile(self, key):
        assert RECEIVED.get() > 0
        self.done.append(key.name)
        self.times.append(asyncio.get_running_loop().time())
        if self.waits:
            await self.waits[0].wait()
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, Exception):
            raise answer
        return answer


class Running:
    """An manager with its cache, two controllers, and workers while the context is open."""

    def __init__(self, serves=lambda namespace: True):
        self.cache, self.metrics = InformerCache(), Metrics()
        self.manager = Manager(self.cache, self.metrics, serves)
        self.manager.queue._interval = 0
        self.first, self.second = Noting(), Noting()
        self.manager.register({"first": self.first, "second": self.second}, {GRAPHS: dynamo_watch(GRAPHS)})

    def put(self, resource):
        """As a reflector does it."""
        found, metadata = cached_object.read(resource), resource["metadata"]
        taken, before = self.cache.store(GRAPHS).put(found.key, metadata["uid"], metadata["resourceVersion"], found)
        if taken and before != found:
            self.manager.handle_event(found.key, before, found)

    @contextlib.asynccontextmanager
    async def working(self, workers=2):
        tasks = [asyncio.create_task(self.manager.work()) for _ in range(workers)]
        try:
            yield
        finally:
            for each in tasks:
                each.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def idle(self):
        """Returns as soon as no key waits or runs."""
        await asyncio.sleep(0)
        await eventually(lambda: not self.manager.queue.depth() and not self.manager._running)

    def sample(self, name, **labels):
        return self.metrics.registry.get_sample_value(f"krm_fn_sync_{name}", labels) or 0


@pytest.fixture
def running():
    return Running()


@runs
async def test_a_sleeping_engine_fills_its_cache_and_works_on_everything_when_it_wakes(running):
    """A follower keeps warm caches. Its queue stays empty, so its metrics tell of no backlog."""
    async with running.working():
        running.put(graph("one"))
        running.put(graph("two"))
        assert (running.manager.queue.depth(), len(running.cache.store(GRAPHS))) == (0, 2)
        running.manager.resume()
        await running.idle()
        assert sorted(running.first.done) == sorted(running.second.done) == ["one", "two"]
        running.manager.pause()
        running.put(graph("three"))
        await running.idle()
        assert "three" not in running.first.done


@runs
async def test_a_controller_looks_again_when_something_else_than_an_object_asks_for_it(running):
    """The answer of a worker, for example. A sleeping manager works on nothing."""
    async with running.working():
        running.manager.enqueue("first", KEY)
        await running.idle()
        running.manager.resume()
        running.manager.enqueue("first", KEY)
        await running.idle()
        assert (running.first.done, running.second.done) == (["chat"], [])


@runs
async def test_a_failure_is_tried_again_with_growing_delays_and_counted(running):
    """Neither a bug nor a conflict becomes a hot loop."""
    running.first.answers = [ZeroDivisionError("a bug"), Retry("a conflict"), ValueError("a bug"), None]
    began = asyncio.get_running_loop().time()
    async with running.working():
        running.manager.resume()
        running.put(graph())
        await eventually(lambda: len(running.first.done) == 4)
        await running.idle()
    assert asyncio.get_running_loop().time() - began >= 0.05 + 0.1 + 0.2
    assert running.second.done == ["chat"]
    assert running.sample("reconcile_errors_total", kind=KEY.kind, error="ZeroDivisionError") == 1
    assert [running.sample("reconcile_duration_seconds_count", kind=KEY.kind, result=each) for each in ("error", "retry", "success")] == [
        2,
        1,
        2,
    ]


@runs
async def test_a_server_that_fails_for_all_resources_gets_few_requests_and_all_of_them_after_its_first_success(running):
    """Also if the resources change all the time."""
    loop, failing = asyncio.get_running_loop(), True

    async def reconcile(key):
        running.first.done.append(key.name)
        if failing:
            raise Retry("500", limit=120, limited=True)

    running.first.reconcile = reconcile
    async with running.working(workers=8):
        running.manager.resume()
        began = loop.time()
        for version in range(1, 6):
            for number in range(300):
                running.put(graph(f"g{number}", version=version, status={"round": version}))
            await asyncio.sleep(0.3)
        allowed = 300 + work_queue.RETRY_BURST + work_queue.RETRY_RATE * (loop.time() - began)
        assert len(running.first.done) <= allowed + 1
        assert running.manager.queue.age() >= 1.5
        failing, before = False, len(running.first.done)
        await eventually(lambda: not running.manager.queue.waiting())
        assert {*running.first.done[before:]} == {f"g{number}" for number in range(300)}
        await running.idle()
        assert running.manager.queue.age() == 0


@runs
async def test_a_retry_after_a_time_of_the_server_waits_that_long(running):
    running.first.answers = [Retry("429", 0.5)]
    async with running.working():
        running.manager.resume()
        running.put(graph())
        await eventually(lambda: len(running.first.done) == 2)
        assert running.first.times[1] - running.first.times[0] >= 0.4


@runs
async def test_a_resource_can_ask_for_its_next_turn(running):
    running.first.answers = [0.3]
    async with running.working():
        running.manager.resume()
        running.put(graph())
        await eventually(lambda: len(running.first.done) == 2)
        assert running.first.times[1] - running.first.times[0] >= 0.2
        assert running.sample("reconcile_duration_seconds_count", kind=KEY.kind, result="requeue") == 1


@runs
async def test_a_namespace_that_is_not_served_is_left_alone_also_if_its_keys_wait_already():
    served = {"team-a", "team-b"}
    running = Running(lambda namespace: namespace in served)
    running.manager.resume()
    running.put(graph("here", "team-a"))
    running.put(graph("there", "team-b"))
    running.put(graph("elsewhere", "team-c"))
    served.remove("team-b")
    async with running.working():
        await running.idle()
        assert running.first.done == ["here"]
        served.add("team-b")
        running.manager.resume("team-b")
        await running.idle()
        assert running.first.done == ["here", "there"]


@runs
async def test_waking_a_namespace_does_not_wake_a_follower(running):
    running.put(graph())
    running.manager.resume("team-a")
    assert running.manager.queue.depth() == 0


@runs
async def test_the_answer_to_a_write_reaches_the_other_controllers_only(running):
    """The watch brings the same version again, and that is no change."""
    running.put(graph(version=1))
    running.manager.resume()
    async with running.working():
        await running.idle()
        written = graph(version=2, status={"state": "successful"})
        running.manager.update_cache(GRAPHS, written, running.first)
        await running.idle()
        assert (len(running.first.done), len(running.second.done)) == (1, 2)
        assert running.cache.cached_object(KEY).status == {"state": "successful"}
        running.put(written)
        running.manager.update_cache(GRAPHS, graph("gone", version=3), running.first)
        await running.idle()
        assert (len(running.first.done), len(running.second.done)) == (1, 2)
        assert len(running.cache.store(GRAPHS)) == 1, "the answer to a write does not bring a deleted object back"


@runs
async def test_quiet_waits_for_running_work(running):
    running.first.waits = [asyncio.Event()]
    running.manager.resume()
    async with running.working():
        running.put(graph())
        await eventually(lambda: running.first.done == ["chat"])
        running.manager.pause()
        waiting = asyncio.create_task(running.manager.wait_idle())
        await asyncio.sleep(0.05)
        assert not waiting.done()
        running.first.waits[0].set()
        await waiting


def test_states_of_resources_are_counted_and_vanish_with_them(running):
    """The reference's gauges keep the last value of a state that no resource has any more."""
    running.manager.register({"first": running.first}, {GRAPHS: dynamo_watch(GRAPHS)})
    running.put(graph("one", status={"state": "failed"}))
    running.put(graph("two"))
    assert running.manager.resources() == {(KEY.kind, "team-a", "failed"): 1, (KEY.kind, "team-a", "unknown"): 1}
    gone = KEY._replace(name="one")
    running.manager.handle_event(gone, running.cache.store(GRAPHS).drop(gone), None)
    assert running.manager.resources() == {(KEY.kind, "team-a", "unknown"): 1}


def test_tasks_of_two_controllers_for_one_resource_differ():
    assert engines.Task("graphs", KEY) != engines.Task("scaling", KEY)
