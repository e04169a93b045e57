"""Runs calls that wait for programs side by side, one a core, and yields their results in the order of the calls."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

Value = TypeVar("Value")
_MOST = 8
"""The most calls at one time: each program that kustomize starts needs some 100 MiB."""


def run_in_order(calls: Iterable[Callable[[threading.Event], Value]]) -> Generator[Value, None, None]:
    """Yields the results of calls in their order. At most two calls a core are begun or wait to be read.

    Each call gets an event. It is set if the results are no longer read, for example after a signal, and the call must then end.
    Raises what a call raises, in its turn.
    """
    cores = min(count_cores(), _MOST)
    pending, stopped = iter(calls), threading.Event()
    with ThreadPoolExecutor(cores) as pool:
        try:
            begun: deque[Future[Value]] = deque(pool.submit(call, stopped) for call in islice(pending, 2 * cores))
            while begun:
                value = begun.popleft().result()
                begun.extend(pool.submit(call, stopped) for call in islice(pending, 1))
                yield value
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)


def count_cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
