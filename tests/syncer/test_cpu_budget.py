"""A resource whose reconcile needs too much CPU time waits, with a reason, while all others go on."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from functools import partial
from time import thread_time

import pytest

from krm_fn.cluster import work_queue
from krm_fn.cluster.work_queue import WorkQueue
from krm_fn.syncer import manager
from krm_fn.syncer.cpu_budget import CpuBudget, OverBudgetError
from tests.syncer.loops import eventually, runs
from tests.syncer.test_manager import Noting, Running, graph

LIMIT = 0.1
SOURCE = """
def work(seconds):
    end = thread_time() + seconds
    while thread_time() < end:
        pass
    done.append(seconds)
"""


def function(module, done):
    """A function that computes for some seconds, in a module of this name."""
    scope = {"__name__": module, "thread_time": thread_time, "done": done}
    exec(SOURCE, scope)  # noqa: S102 - our own text
    return scope["work"]


def controller(work):
    """A coroutine function of a controller that calls a function."""
    scope = {"__name__": "krm_fn.syncer.controllers.made", "work": work}
    exec("async def reconcile(seconds):\n    work(seconds)\n", scope)  # noqa: S102 - as above
    return scope["reconcile"]


class Slow(Noting):
    """Computes for a long time for the resource `bad`, in a module of the status."""

    def __init__(self):
        super().__init__()
        self.reports: list[tuple[str, str]] = []
        self.finished: list[float] = []
        self._compute = controller(function("krm_fn.syncer.status.made", self.finished))

    async def reconcile(self, key):
        self.done.append(key.name)
        await self._compute(60 if key.name == "bad" else 0)

    def report_put_aside(self, key, message):
        self.reports.append((key.name, message))


@pytest.fixture
def slow():
    running = Running()
    running.second = Slow()
    running.manager.register({"first": running.first, "second": running.second}, running.manager._watches)
    running.manager.budget = CpuBudget(LIMIT)
    return running


@runs
async def test_a_resource_that_computes_for_ever_is_put_aside_and_the_others_go_on(slow):
    with slow.manager.budget.interrupting():
        async with slow.working():
            slow.manager.resume()
            for name in ("bad", "one", "two"):
                slow.put(graph(name))
            await slow.idle()
            assert sorted(slow.second.finished) == [0, 0], "the endless computation did not end by itself"
            slow.put(graph("bad", version=2, status={"state": "pending"}))
            slow.put(graph("one", version=2, status={"state": "pending"}))
            await slow.idle()
    assert sorted(slow.second.done) == ["bad", "one", "one", "two"], "an event does not run it before its time"
    assert sorted(slow.first.done) == ["bad", "bad", "one", "one", "two"], "another controller serves it"
    (report,) = slow.second.reports
    assert report == ("bad", "needs more than 0.1 s of CPU time, so it is put aside for 60 s; divide it, or remove what it does not need")
    assert slow.sample("put_aside_total", kind="DynamoGraphDeployment") == 1
    assert slow.sample("reconcile_duration_seconds_count", kind="DynamoGraphDeployment", result="put_aside") == 1
    assert slow.sample("reconcile_errors_total", kind="DynamoGraphDeployment", error="OverBudgetError") == 0
    assert (slow.manager.queue.aside(), slow.manager.queue.waiting(), slow.manager.queue.age()) == (1, 0, 0.0)


@runs
async def test_the_cpu_time_of_a_resource_is_measured_and_a_slow_one_named(slow, monkeypatch, caplog):
    """The metric has no names, because each would be a series."""
    caplog.set_level("INFO", "krm_fn.syncer.manager")
    monkeypatch.setattr(manager, "SLOW", 0.01)
    slow.manager.budget = CpuBudget(60)

    async def reconcile(key):
        began = time.thread_time()
        while key.name == "large" and time.thread_time() - began < 0.02:
            pass

    monkeypatch.setattr(slow.first, "reconcile", reconcile)
    monkeypatch.setattr(slow.second, "reconcile", reconcile)
    async with slow.working():
        slow.manager.resume()
        for name in ("large", "small"):
            slow.put(graph(name))
        await slow.idle()
    assert slow.sample("reconcile_cpu_seconds_count", kind="DynamoGraphDeployment") == 4
    assert slow.sample("reconcile_cpu_seconds_bucket", kind="DynamoGraphDeployment", le="0.01") == 2
    named = [record.fields["name"] for record in caplog.records if "s of CPU time" in record.getMessage()]
    assert named == ["large", "large"], "each controller reconciles it"


@pytest.mark.parametrize("module", ["krm_fn.syncer.manager", "krm_fn.syncer.writer", "aiohttp.client", "logging"])
@runs
async def test_code_with_side_effects_is_not_interrupted(module):
    """It ends, and its time counts."""
    done: list[float] = []
    budget = CpuBudget(LIMIT)
    with budget.interrupting():
        result = await budget.run(controller(function(module, done))(3 * LIMIT))
    assert done == [3 * LIMIT]
    assert result.seconds > LIMIT


@pytest.mark.parametrize(
    "module", ["krm_fn.syncer.status.graph_status", "krm_fn.cluster.object_store", "krm_fn.render.labels", "krm_fn.syncer.informer_cache"]
)
@runs
async def test_code_that_only_reads_is_interrupted(module):
    done: list[float] = []
    budget = CpuBudget(LIMIT)
    with budget.interrupting(), pytest.raises(OverBudgetError):
        await budget.run(controller(function(module, done))(60))
    assert done == []


@runs
async def test_only_the_time_of_the_coroutine_itself_counts():
    budget, begin = CpuBudget(LIMIT), asyncio.Event()

    async def waiting():
        begin.set()
        await asyncio.sleep(0.05)
        return "answer"

    async def busy():
        await begin.wait()
        function("krm_fn.syncer.status.made", [])(2 * LIMIT)

    with budget.interrupting():
        result, _ = await asyncio.gather(budget.run(waiting()), busy())
    assert result.result == "answer"
    assert result.seconds < LIMIT


@runs
async def test_errors_and_a_cancellation_reach_the_coroutine():
    budget, ended = CpuBudget(), []

    async def failing():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await asyncio.Event().wait()
        raise ValueError("wrong")

    async def endless():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    with pytest.raises(ValueError, match="wrong"):
        await budget.run(failing())
    task = asyncio.create_task(budget.run(endless()))
    await asyncio.sleep(0)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert ended == [True]


def endless():
    """A function of a render that never ends, and that catches what it can."""
    while True:
        with contextlib.suppress(Exception):
            sum(range(1000))


def computing():
    """True while a thread computes."""
    return any(thread.name == "computation" for thread in threading.enumerate())


@runs
async def test_a_computation_in_a_thread_that_never_ends_is_interrupted_and_the_event_loop_goes_on():
    budget, turns = CpuBudget(LIMIT), 0
    computation = asyncio.create_task(budget.compute(endless))
    while not computation.done():
        turns += 1
        await asyncio.sleep(0.001)
    with pytest.raises(OverBudgetError):
        await computation
    assert turns > 1
    await eventually(lambda: not computing())


@runs
async def test_only_the_cpu_time_of_a_computation_counts():
    """It may wait for longer than the limit."""
    budget, go_on = CpuBudget(LIMIT), threading.Event()
    asyncio.get_running_loop().call_later(2 * LIMIT, go_on.set)
    assert await budget.compute(go_on.wait) is True


@runs
async def test_computations_run_one_at_a_time():
    budget, running, most = CpuBudget(), set(), []

    def work(number):
        running.add(number)
        most.append(len(running))
        time.sleep(0.005)
        running.remove(number)
        return number

    results = await asyncio.gather(*(budget.compute(partial(work, number)) for number in range(8)))
    assert results == [*range(8)]
    assert set(most) == {1}


@runs
async def test_an_error_of_a_computation_reaches_the_coroutine():
    with pytest.raises(ValueError, match="wrong"):
        await CpuBudget().compute(lambda: int("wrong"))


@runs
async def test_a_cancelled_computation_ends():
    """The process leaves nothing that runs on when the worker ends."""
    task = asyncio.create_task(CpuBudget().compute(endless))
    await eventually(computing)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually(lambda: not computing())


@runs
async def test_groups_of_keys_take_turns():
    """A namespace with many resources does not delay another."""
    queue: WorkQueue[str] = WorkQueue(0, group=lambda key: key[0], most=1)
    for key in ("a1", "a2", "a3", "b1", "a4", "c1", "b2"):
        queue.add(key)
    order = []
    while queue.depth():
        order.append(await queue.get())
        queue.done(order[-1])
    assert order == ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]


@runs
async def test_slow_keys_of_one_group_leave_workers_for_the_others():
    """The API server may need seconds for a large status."""
    queue: WorkQueue[str] = WorkQueue(0, group=lambda key: key[0], most=2)
    for key in ("a1", "a2", "a3", "a4"):
        queue.add(key)
    running = [await queue.get(), await queue.get()]
    queue.add("b1")
    assert await queue.get() == "b1"
    for key in running:
        queue.done(key)
    assert [await queue.get(), await queue.get()] == ["a3", "a4"]


@runs
async def test_a_key_that_was_put_aside_waits_twice_as_long_the_next_time(monkeypatch):
    monkeypatch.setattr(work_queue, "FIRST_ASIDE", 0.1)
    monkeypatch.setattr(work_queue, "LAST_ASIDE", 0.3)
    queue: WorkQueue[str] = WorkQueue(0)
    delays = []
    for _ in range(3):
        queue.add("a")
        key = await queue.get()
        delays.append(queue.put_aside(key))
        queue.done(key)
        queue.add(key)
        assert queue.depth() == 0, "it does not run before its time"
        await eventually(lambda: queue.depth() == 1)
    assert delays == [0.1, 0.2, 0.3]
    queue.forget(await queue.get())
    assert queue.aside() == 0
    queue.close()
