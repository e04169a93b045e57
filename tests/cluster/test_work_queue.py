"""The queue runs each key as often as needed, and never twice at a time.

Time limits have one side only where the machine may be slow: a run may be late, but never early.
"""

from __future__ import annotations

import asyncio
from time import monotonic

import pytest

from krm_fn.cluster import work_queue as module
from krm_fn.cluster.work_queue import WorkQueue
from tests.syncer.loops import eventually, runs

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
    assert before <= queue.first_added("a") <= monotonic() - 0.05
    with pytest.raises(KeyError):
        queue.first_added("b")


@runs
async def test_age_counts_keys_that_fail_until_they_succeed(queue):
    """An alert fires if a resource is not processed for a while, also if it waits for its next attempt."""
    queue.add("a")
    await asyncio.sleep(0.05)
    await queue.get()
    assert queue.age() >= 0.05, "a worker may hang"
    queue.retry("a", least=60)
    queue.done("a")
    assert (queue.age() >= 0.05, queue.depth(), queue.waiting()) == (True, 0, 1)
    queue.forget("a")
    assert (queue.age(), queue.waiting()) == (0, 0)


@runs
async def test_a_key_that_failed_runs_with_its_retry_only(queue):
    """A rollout changes a workload many times a second. Each change would lead to one more write that fails."""
    queue.add("a")
    await queue.get()
    queue.add("a")
    queue.retry("a", least=2 * INTERVAL)
    queue.done("a")
    queue.add("a")
    await nothing_comes(queue, 1.5 * INTERVAL)
    assert await queue.get() == "a"
    queue.done("a")
    await nothing_comes(queue, 2 * INTERVAL)


@runs
async def test_retries_of_all_keys_share_a_budget(queue, monkeypatch):
    """5,000 graphs whose writes fail cost ten requests in a second, not thousands. A conflict of another graph does not wait for them."""
    monkeypatch.setattr(module, "monotonic", lambda: 1000.0)
    delays = [queue.retry(str(number)) for number in range(5000)]
    assert delays[: module.RETRY_BURST] == [module.FIRST_RETRY] * module.RETRY_BURST
    assert sum(delay <= 60 for delay in delays) <= module.RETRY_BURST + 60 * module.RETRY_RATE + 1
    assert queue.retry("conflict", limited=False) == module.FIRST_RETRY
    queue.close()


@runs
async def test_all_keys_run_soon_after_the_first_success(queue):
    """The budget alone would spread 2,000 retries over three minutes after the end of an outage. No key waits after the first one."""
    for number in range(2000):
        queue.retry(number)
    ran: set[int] = set()
    while len(ran) < 2000:
        key = await queue.get()
        queue.forget(key)
        queue.done(key)
        ran.add(key)
        assert queue.depth() or len(ran) == 2000
    assert queue.waiting() == 0
    # On a slow machine, the time of each key comes without a success, too. Then the budget is free from the next retry on.
    assert queue.retry("a") <= 1 / module.RETRY_RATE, "the budget is free again"


@runs
async def test_a_success_starts_no_retry_before_the_time_that_the_server_gave(queue):
    queue.retry("busy", least=60)
    queue.retry("failed")
    queue.forget("failed")
    await nothing_comes(queue, INTERVAL)
    queue.close()


@runs
async def test_a_closed_queue_fires_no_timer(queue):
    queue.add_after("a", 0.02)
    queue.retry("b")
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
