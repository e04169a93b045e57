"""The queue runs each key as often as needed, and never twice at a time.

Time limits have one side only where the machine may be slow: a run may be late, but never early.
"""

from __future__ import annotations

import asyncio
from time import monotonic

import pytest

from krm_fn.sync.work_queue import WorkQueue
from tests.sync.loops import eventually, runs

INTERVAL = 0.2


@pytest.fixture
def queue():
    """A queue with short intervals. The tests create its asyncio parts outside a loop, as Python 3.10 and later allow."""
    return WorkQueue(INTERVAL)


async def nothing_comes(queue, seconds=0.05):
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(seconds):
            await queue.get()


@runs
async def test_a_key_waits_once(queue):
    for key in ("a", "b", "a", "a"):
        queue.add(key)
    assert queue.depth() == 2
    assert [await queue.get(), await queue.get()] == ["a", "b"]
    assert queue.depth() == 0
    await nothing_comes(queue)


@runs
async def test_an_add_during_a_run_leads_to_one_more_run_after_it(queue):
    queue.add("a")
    await queue.get()
    queue.add("a")
    queue.add("a")
    await nothing_comes(queue, 2 * INTERVAL)
    queue.done("a")
    assert await queue.get() == "a"
    queue.done("a")
    await nothing_comes(queue, 2 * INTERVAL)


@runs
async def test_the_first_run_is_immediate_and_the_last_add_always_runs(queue):
    """At most one run of a key in each interval; ticks in between make one run at its end."""
    started = []
    added = 0.0
    queue.add("a")
    for _ in range(3):
        await queue.get()
        started.append(monotonic())
        queue.done("a")
        for _ in range(10):
            queue.add("a")
            added = monotonic()
    assert await queue.get() == "a"
    assert monotonic() > added
    assert started[2] - started[0] >= 2 * INTERVAL * 0.95
    queue.done("a")
    await nothing_comes(queue, 2 * INTERVAL)


@runs
async def test_an_interval_holds_back_no_other_key(queue):
    queue.add("a")
    await queue.get()
    queue.done("a")
    queue.add("a")  # waits for its interval
    queue.add("b")
    assert [await queue.get(), await queue.get()] == ["b", "a"]


@runs
async def test_of_several_timers_the_earliest_holds(queue, caplog):
    queue.add_after("a", 0.2)
    queue.add_after("a", 0.05)
    queue.add_after("a", 0.3)
    assert queue.depth() == 0
    assert await queue.get() == "a"
    queue.done("a")
    await nothing_comes(queue, 0.4)
    assert not caplog.text  # asyncio logs the errors of timers
    queue.close()


@runs
async def test_delays_of_retries_double_to_a_minute_and_start_again_after_a_success(queue):
    delays = [queue.retry("a") for _ in range(13)]
    assert delays[:4] == [0.05, 0.1, 0.2, 0.4]
    assert delays[-2:] == [60, 60]
    assert queue.retry("b") == 0.05
    queue.forget("a")
    assert queue.retry("a") == 0.05
    assert {await queue.get(), await queue.get()} == {"a", "b"}


@runs
async def test_age_and_time_of_receipt_count_from_the_first_add(queue):
    assert queue.age() == 0
    before = monotonic()
    queue.add("a")
    await asyncio.sleep(0.05)
    queue.add("a")
    queue.add("b")
    assert queue.age() >= 0.05
    await queue.get()
    assert before <= queue.received("a") <= monotonic() - 0.05
    with pytest.raises(KeyError):
        queue.received("b")


@runs
async def test_a_closed_queue_fires_no_timer(queue):
    queue.add_after("a", 0.02)
    queue.close()
    await nothing_comes(queue, 0.1)


@runs
async def test_workers_share_many_keys_and_lose_none(queue):
    """1,000 keys, added again while they run: no key has two workers at a time, and the last add of each is served."""
    version, served, busy = dict.fromkeys(range(1000), 0), {}, set()

    async def work():
        while True:
            key = await queue.get()
            assert key not in busy
            busy.add(key)
            seen = version[key]
            await asyncio.sleep(0)
            served[key] = seen
            busy.remove(key)
            queue.done(key)

    async with asyncio.TaskGroup() as group:
        workers = [group.create_task(work()) for _ in range(8)]
        for turn in range(3):
            for key in version:
                version[key] = turn
                queue.add(key)
                if not key % 100:
                    await asyncio.sleep(0)
        await eventually(lambda: served == version and not queue.depth())
        for worker in workers:
            worker.cancel()


@runs
async def test_starts_of_old_keys_are_forgotten(queue):
    """Ten thousand graphs that come and go leave nothing behind."""
    for key in range(100):
        queue.add(key)
        queue.done(await queue.get())
    await asyncio.sleep(INTERVAL)
    queue.add(0)
    queue.done(await queue.get())
    assert len(queue._started) == 1
