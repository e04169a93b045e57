"""Limits the CPU time of one reconcile: a tenant writes what it reads, and all resources share one thread.

A reconcile that reads and computes for too long is interrupted, but only in code without side effects. Any other reconcile ends first.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Coroutine, Generator, Iterator
from time import thread_time
from types import FrameType
from typing import Any, NamedTuple

LIMIT = 1.0
"""Seconds of CPU for one reconcile. The largest resources that an API server stores need a tenth of it."""
_TICK = 0.05
"""Seconds of CPU between two looks at the time."""
_PURE = (
    "krm_fn.status",
    "krm_fn.kube",
    "krm_fn.records",
    "krm_fn.workload_list",
    "krm_fn.sync.informer",
    "krm_fn.sync.packed_values",
    "krm_fn.sync.stored_objects",
)
"""Modules that only read, if a controller calls them, except through the manager, which updates the caches."""
_CONTROLLERS = "krm_fn.sync.controllers"


class OverBudgetError(Exception):
    """A reconcile needed more CPU time than `LIMIT`, and was interrupted."""


class MeteredResult(NamedTuple):
    """The result of a reconcile, and its CPU time in seconds."""

    result: Any
    seconds: float


class CpuBudget:
    """Measures the CPU time of coroutines of one thread. `limit` is in seconds."""

    def __init__(self, limit: float = LIMIT) -> None:
        self.limit = limit
        self._deadline: float | None = None

    @contextlib.contextmanager
    def interrupting(self) -> Iterator[None]:
        """Interrupts coroutines over the limit while the context is open. A signal does it, so this is for the main thread only."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGVTALRM, self._look)
        signal.setitimer(signal.ITIMER_VIRTUAL, _TICK, _TICK)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, before)

    async def run(self, coroutine: Coroutine[Any, Any, Any]) -> MeteredResult:
        """Runs a coroutine. Raises OverBudgetError if it is interrupted; else its CPU time may be over the limit, too."""
        return await _Metered(self, coroutine)

    def step(self, coroutine: Coroutine[Any, Any, Any], value: Any, error: BaseException | None, used: float) -> Any:
        """Runs a coroutine until it waits. `used` is its CPU time before. Raises StopIteration at its end."""
        self._deadline = thread_time() + self.limit - used
        try:
            return coroutine.send(value) if error is None else coroutine.throw(error)
        finally:
            self._deadline = None

    def _look(self, _number: int, frame: FrameType | None) -> None:
        if self._deadline is not None and thread_time() > self._deadline and _is_pure(frame):
            self._deadline = None
            raise OverBudgetError


class _Metered:
    """An awaitable that runs a coroutine step by step, and adds up the CPU time of the steps."""

    def __init__(self, budget: CpuBudget, coroutine: Coroutine[Any, Any, Any]) -> None:
        self._budget = budget
        self._coroutine = coroutine

    def __await__(self) -> Generator[Any, Any, MeteredResult]:
        used, value, error = 0.0, None, None
        while True:
            began = thread_time()
            try:
                awaited = self._budget.step(self._coroutine, value, error, used)
            except StopIteration as end:
                return MeteredResult(end.value, used + thread_time() - began)
            used += thread_time() - began
            value, error = None, None
            try:
                value = yield awaited
            except GeneratorExit:
                self._coroutine.close()
                raise
            except BaseException as problem:  # noqa: BLE001 - the coroutine handles it
                error = problem


def _is_pure(frame: FrameType | None) -> bool:
    """Returns True if all functions that a controller called only read. An interrupted one leaves nothing half done."""
    top = frame
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith(_CONTROLLERS):
            return frame is not top
        if not module.startswith(_PURE):
            return False
        frame = frame.f_back
    return False
