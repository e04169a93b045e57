"""The queue of keys for the workers (client-go: workqueue). A key is queued once, and only one worker processes it at a time."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Generic, TypeVar

K = TypeVar("K")

INTERVAL = 0.5
"""Seconds between two runs of one key: a rollout changes a workload many times a second."""
FIRST_RETRY = 0.05
LAST_RETRY = 60.0


class WorkQueue(Generic[K]):
    """A queue for the tasks of one event loop. All times are monotonic seconds.

    A worker calls `get`, works, then `forget` or `retry`, and always `done`. The first run of a key is immediate; the next runs follow
    with `interval` seconds between their starts, and the last `add` always leads to a run.
    """

    def __init__(self, interval: float = INTERVAL) -> None:
        self._interval = interval
        self._ready: asyncio.Queue[K] = asyncio.Queue()
        self._added: dict[K, float] = {}  # the keys that must run, with the time of their first `add`; the oldest is first
        self._running: dict[K, float] = {}  # the keys that workers have, with the same time
        self._started: dict[K, float] = {}  # the last start of each key; the oldest is first
        self._timers: dict[K, asyncio.TimerHandle] = {}
        self._failures: dict[K, int] = {}

    def add(self, key: K) -> None:
        """Adds a key. A queued key runs once; a key that a worker processes runs once more after `done`."""
        if key not in self._added:
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
        if key in self._added:
            self._schedule(key)

    def retry(self, key: K, limit: float = LAST_RETRY, least: float = 0.0) -> float:
        """Adds a key after a failure: 50 ms later, twice as long after each further failure, at most `limit`, and not before `least`.

        Returns the delay.
        """
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        delay: float = max(least, min(FIRST_RETRY * 2 ** min(failures, 16), limit))
        self.add_after(key, delay)
        return delay

    def forget(self, key: K) -> None:
        """Resets the failures of a key, after a success."""
        self._failures.pop(key, None)

    def received(self, key: K) -> float:
        """Returns the time of the first `add` that led to the present run of a key. Raises KeyError if no worker has the key."""
        return self._running[key]

    def depth(self) -> int:
        """Counts the keys that no worker has started."""
        return len(self._added)

    def age(self) -> float:
        """Returns the seconds since the oldest `add` that no worker has started; 0 if the queue is empty."""
        oldest = next(iter(self._added.values()), None)
        return 0.0 if oldest is None else monotonic() - oldest

    def close(self) -> None:
        """Cancels all timers."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _fire(self, key: K) -> None:
        del self._timers[key]
        self.add(key)

    def _schedule(self, key: K) -> None:
        wait = self._started.get(key, -self._interval) + self._interval - monotonic()
        if wait <= 0:
            self._ready.put_nowait(key)
        else:
            asyncio.get_running_loop().call_later(wait, self._ready.put_nowait, key)

    def _remember_start(self, key: K) -> None:
        now = monotonic()
        self._started.pop(key, None)
        self._started[key] = now
        while (oldest := next(iter(self._started))) != key and self._started[oldest] < now - self._interval:
            del self._started[oldest]
