"""Runs calls that wait for programs side by side, one a core, and yields their results in the order of the calls."""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, NamedTuple, TypeVar

Value = TypeVar("Value")
_MOST = 8
"""The most calls at one time: each program that kustomize starts needs some 100 MiB."""
_PAUSE = 0.1
"""The longest time between two looks at `stopped`, in seconds."""


class ReaderStoppedError(Exception):
    """The results are no longer read."""


class Reader(NamedTuple):
    """The thread that reads the results, as its calls see it. `stopped` is set if it no longer reads them, for example after a signal."""

    stopped: threading.Event
    tasks: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None]

    def call(self, function: Callable[[], Value]) -> Value:
        """Calls a function in the thread that reads the results, and returns its value. Raises what it raises, and ReaderStoppedError.

        Only one thread does the work of krm-fn, so its tables need no locks.
        """
        future: Future[Value] = Future()
        self.tasks.put((function, future))
        while not self.stopped.is_set():
            try:
                return future.result(_PAUSE)
            except TimeoutError:
                if future.done():  # the value came after the time limit, or the function raised this error itself
                    return future.result()
        raise ReaderStoppedError

    def work_until(self, first: Future[Any]) -> None:
        """Calls the functions of calls until a result is there."""
        first.add_done_callback(lambda _: self.tasks.put(None))
        while not first.done():
            if task := self.tasks.get():
                function, future = task
                try:
                    future.set_result(function())
                except Exception as problem:  # noqa: BLE001 - the caller raises it
                    future.set_exception(problem)


def run_in_order(calls: Iterable[Callable[[Reader], Value]]) -> Generator[Value, None, None]:
    """Yields the results of calls in their order. At most two calls a core are begun or wait to be read.

    A call must end soon after its reader has stopped. Raises what a call raises, in its turn.
    """
    cores = min(count_cores(), _MOST)
    pending, reader = iter(calls), Reader(threading.Event(), queue.SimpleQueue())
    with ThreadPoolExecutor(cores) as pool:
        try:
            begun: deque[Future[Value]] = deque(pool.submit(call, reader) for call in islice(pending, 2 * cores))
            while begun:
                reader.work_until(begun[0])
                value = begun.popleft().result()
                begun.extend(pool.submit(call, reader) for call in islice(pending, 1))
                yield value
        finally:
            reader.stopped.set()
            pool.shutdown(cancel_futures=True)


def count_cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
