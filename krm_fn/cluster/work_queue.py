"""The queue of keys for the workers (client-go: workqueue). A key is queued once, and only one worker processes it at a time."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter, deque
from collections.abc import Callable, Hashable
from itertools import chain, islice
from time import monotonic
from typing import Generic, NamedTuple, TypeVar

K = TypeVar("K")

INTERVAL = 0.5
"""Seconds between two runs of one key: a rollout changes a workload many times a second."""
FIRST_RETRY = 0.05
LAST_RETRY = 60.0
FIRST_ASIDE, LAST_ASIDE = 60.0, 900.0
"""Seconds until a key runs again that was put aside, the first time and at most."""
RETRY_RATE, RETRY_BURST = 10.0, 100
"""The budget of retries over all keys: in a second, and at once after a time with few of them (client-go: BucketRateLimiter)."""
_FOLLOWERS = 2
"""The number of waiting retries that start after a retry that succeeded."""
_CANDIDATES = 16
"""The retries, in the order of their failures, of which these are chosen."""


class _Failure(NamedTuple):
    """The failures of a key in a row. `since` is the time of the `add` that led to the first of them."""

    number: int
    since: float


class _Retry(NamedTuple):
    """A retry that waits. It may start before its timer ends, but not before `earliest`."""

    timer: asyncio.TimerHandle
    earliest: float


class _Turns(Generic[K]):
    """The keys that are ready. Of each group, at most `most` stand in the line or run, so all groups have their turn."""

    def __init__(self, group: Callable[[K], Hashable], most: int) -> None:
        self._group = group
        self._most = most
        self._line: asyncio.Queue[K] = asyncio.Queue()
        self._active: Counter[Hashable] = Counter()
        self._waiting: dict[Hashable, deque[K]] = {}

    def put(self, key: K) -> None:
        """Adds a key."""
        group = self._group(key)
        if self._active[group] < self._most:
            self._active[group] += 1
            self._line.put_nowait(key)
        else:
            self._waiting.setdefault(group, deque()).append(key)

    async def get(self) -> K:
        """Waits for a key, and returns it until `done`."""
        return await self._line.get()

    def done(self, key: K) -> None:
        """Lets the next key of the same group into the line."""
        group = self._group(key)
        if group in self._waiting:
            self._line.put_nowait(self._waiting[group].popleft())
            if not self._waiting[group]:
                del self._waiting[group]
            return
        self._active[group] -= 1
        if not self._active[group]:
            del self._active[group]


class WorkQueue(Generic[K]):
    """A queue for the tasks of one event loop. All times are monotonic seconds.

    A worker calls `get`, works, then `forget` or `retry`, and always `done`. The first run of a key is immediate; the next runs follow
    with `interval` seconds between their starts, and the last `add` always leads to a run. A key that failed runs with its retry, and not
    before. Each retry that succeeds starts two others, so that all keys run soon after an outage.

    Groups of keys (`group`) take turns, and at most `most` keys of a group run at a time, so that one with many or slow keys does not delay
    another.
    """

    def __init__(self, interval: float = INTERVAL, group: Callable[[K], Hashable] = lambda _key: None, most: int = sys.maxsize) -> None:
        self._interval = interval
        self._ready: _Turns[K] = _Turns(group, most)
        self._added: dict[K, float] = {}  # the keys that must run, with the time of their first `add`; the oldest is first
        self._running: dict[K, float] = {}  # the keys that workers have, with the same time
        self._started: dict[K, float] = {}  # the last start of each key; the oldest is first
        self._timers: dict[K, asyncio.TimerHandle] = {}
        self._failures: dict[K, _Failure] = {}
        self._retries: dict[K, _Retry] = {}
        self._aside: dict[K, int] = {}  # the keys that were put aside, and how many times in a row
        self._budget = 0.0  # the time for which the last retry is planned by the budget

    def add(self, key: K) -> None:
        """Adds a key. A queued key runs once; a key that a worker processes runs once more after `done`."""
        if key not in self._added and key not in self._retries:
            self._added[key] = monotonic()
            if key not in self._running:
                self._schedule(key)

    def add_after(self, key: K, seconds: float) -> None:
        """Adds a key after a delay. Of several delays for one key the shortest counts, so the run must add the key again for the others."""
        loop = asyncio.get_running_loop()
        timer = self._timers.get(key)
        if timer is not None:
            if timer.when() <= loop.time() + seconds:
                return
            timer.cancel()
        self._timers[key] = loop.call_later(seconds, self._fire, key)

    async def get(self) -> K:
        """Waits for a key, and returns it to one worker until `done`."""
        key = await self._ready.get()
        self._running[key] = self._added.pop(key)
        self._remember_start(key)
        return key

    def done(self, key: K) -> None:
        """Ends the run of a key. The key runs again if it was added in the meantime."""
        del self._running[key]
        self._ready.done(key)
        if key in self._added:
            self._schedule(key)

    def retry(self, key: K, limit: float = LAST_RETRY, least: float = 0.0, *, limited: bool = True) -> float:
        """Runs a key again after a failure: 50 ms later, twice as long after each further failure, at most `limit`.

        A retry that is `limited` waits until the budget over all keys has room, too. No retry starts before `least` seconds. Returns the
        delay.
        """
        now = monotonic()
        failure = self._failures.get(key) or _Failure(0, self._running.get(key, now))
        self._failures[key] = failure._replace(number=failure.number + 1)
        delay: float = max(least, min(FIRST_RETRY * 2 ** min(failure.number, 16), limit), self._reserve(now) if limited else 0.0)
        self._added.pop(key, None)  # the retry also serves what was added during the run
        self._cancel_retry(key)
        self._retries[key] = _Retry(asyncio.get_running_loop().call_later(delay, self._start_retry, key), now + least)
        return delay

    def put_aside(self, key: K) -> float:
        """Runs a key again after a minute, twice as long after each further time, and not before. Returns the delay.

        It is no failure, so `age` does not count it.
        """
        self._failures.pop(key, None)
        self._added.pop(key, None)
        self._cancel_retry(key)
        times = self._aside[key] = self._aside.get(key, 0) + 1
        delay: float = min(FIRST_ASIDE * 2 ** min(times - 1, 16), LAST_ASIDE)
        self._retries[key] = _Retry(asyncio.get_running_loop().call_later(delay, self._start_retry, key), monotonic() + delay)
        return delay

    def aside(self) -> int:
        """Counts the keys that were put aside and have not run since, or were put aside again."""
        return sum(1 for key in self._aside if key in self._retries)

    def forget(self, key: K) -> None:
        """Resets the failures of a key, after a success. Other keys that failed may succeed now, too, so two of them start."""
        self._cancel_retry(key)
        self._aside.pop(key, None)
        if self._failures.pop(key, None) is None:
            return
        now = monotonic()
        candidates = islice(self._retries.items(), _CANDIDATES)
        for other in [other for other, retry in candidates if retry.earliest <= now][:_FOLLOWERS]:
            self._budget -= 1 / RETRY_RATE
            self._start_retry(other)

    def failures(self, key: K) -> int:
        """Returns the number of failures of a key in a row."""
        failure = self._failures.get(key)
        return failure.number if failure else 0

    def first_added(self, key: K) -> float:
        """Returns the time of the first `add` that led to the present run of a key, or to the first of its failures before.

        Raises KeyError if no worker has the key.
        """
        failure = self._failures.get(key)
        return min(self._running[key], failure.since) if failure else self._running[key]

    def depth(self) -> int:
        """Counts the keys that no worker has started."""
        return len(self._added)

    def waiting(self) -> int:
        """Counts the keys that wait for a retry."""
        return len(self._retries) - self.aside()

    def age(self) -> float:
        """Returns the seconds since the oldest `add` whose key no worker has processed with success; 0 if there is none."""
        failing = (failure.since for failure in self._failures.values())
        oldest = min(chain(self._added.values(), self._running.values(), failing), default=None)
        return 0.0 if oldest is None else monotonic() - oldest

    def close(self) -> None:
        """Cancels all timers."""
        for timer in (*self._timers.values(), *(retry.timer for retry in self._retries.values())):
            timer.cancel()
        self._timers.clear()
        self._retries.clear()

    def _fire(self, key: K) -> None:
        del self._timers[key]
        self.add(key)

    def _reserve(self, now: float) -> float:
        """Plans a retry by the budget. Returns the seconds until then."""
        self._budget = max(self._budget, now - RETRY_BURST / RETRY_RATE) + 1 / RETRY_RATE
        return self._budget - now

    def _start_retry(self, key: K) -> None:
        self._cancel_retry(key)
        self.add(key)

    def _cancel_retry(self, key: K) -> None:
        retry = self._retries.pop(key, None)
        if retry is not None:
            retry.timer.cancel()

    def _schedule(self, key: K) -> None:
        wait = self._started.get(key, -self._interval) + self._interval - monotonic()
        if wait <= 0:
            self._ready.put(key)
        else:
            asyncio.get_running_loop().call_later(wait, self._ready.put, key)

    def _remember_start(self, key: K) -> None:
        now = monotonic()
        self._started.pop(key, None)
        self._started[key] = now
        while (oldest := next(iter(self._started))) != key and self._started[oldest] < now - self._interval:
            del self._started[oldest]
