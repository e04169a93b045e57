"""Limits the CPU time of one reconcile: a tenant writes what it reads, and all resources share one thread.

A reconcile that reads and computes for too long is interrupted, but only in code without side effects. Any other reconcile ends first.
Long computations, such as renders, have a thread of their own, so that other reconciles go on meanwhile. They have the same limit.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import signal
import threading
import time
from collections.abc import Callable, Coroutine, Generator, Iterator
from concurrent.futures import Future
from time import thread_time
from types import FrameType
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")

LIMIT = 0.5
"""Seconds of CPU for one reconcile, and for one computation in a thread. The largest resources that an API server stores need a fifth."""
_TICK = 0.05
"""Seconds of CPU between two looks at the time."""
_PURE = (
    "krm_fn.syncer.status",
    "krm_fn.kubernetes",
    "krm_fn.base.records",
    "krm_fn.render.labels",
    "krm_fn.render.names",
    "krm_fn.render.workload_list",
    "krm_fn.cluster.informer",
    "krm_fn.syncer.informer_cache",
    "krm_fn.syncer.packed_values",
    "krm_fn.cluster.object_store",
)
"""Modules that only read, if a controller calls them, except through the manager, which updates the caches."""
_CONTROLLERS = "krm_fn.syncer.controllers"


class OverBudgetError(Exception):
    """A reconcile needed more CPU time than `LIMIT`, and was interrupted."""


class MeteredResult(NamedTuple):
    """The result of a reconcile, and its CPU time in seconds."""

    result: Any
    seconds: float


class CpuBudget:
    """Measures the CPU time of coroutines of one thread, and of their computations in other threads. `limit` is in seconds."""

    def __init__(self, limit: float = LIMIT) -> None:
        self.limit = limit
        self._deadline: float | None = None
        self._computation = asyncio.Semaphore()  # threads share one interpreter, so a second one would only slow down the event loop

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

    async def compute(self, work: Callable[[], T]) -> T:
        """Runs a function without side effects in a thread, one at a time. Raises OverBudgetError if it is interrupted."""
        async with self._computation:
            thread = _InterruptibleThread(work)
            thread.start()
            result = asyncio.wrap_future(thread.result)
            try:
                while not result.done():
                    await asyncio.wait([result], timeout=_TICK)
                    if thread.seconds() > self.limit:
                        thread.interrupt()
            finally:  # both have an effect only if this task is cancelled
                thread.interrupt()
                result.cancel()
            return await result

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


class _InterruptedError(BaseException):
    """Ends a computation. It is no `Exception`, so that no code takes it for an internal error."""


class _InterruptibleThread(threading.Thread, Generic[T]):
    """A thread that runs one function, and that other threads can interrupt. `result` is what the function returns or raises."""

    def __init__(self, work: Callable[[], T]) -> None:
        super().__init__(name="computation", daemon=True)
        self.result: Future[T] = Future()
        self.result.set_running_or_notify_cancel()  # so it cannot be cancelled any more
        self._work = work
        self._running = threading.Lock()
        self._clock: int | None = None  # of its CPU time, while the function runs
        self._is_interrupted = False

    def run(self) -> None:
        """Runs the function."""
        try:
            try:
                with self._running:
                    if self._is_interrupted:
                        raise _InterruptedError
                    self._clock = time.pthread_getcpuclockid(threading.get_ident())
                value = self._work()
            finally:
                with self._running:  # after this, no interrupt arrives any more
                    self._clock = None
        except _InterruptedError:
            self.result.set_exception(OverBudgetError())
        except BaseException as problem:  # noqa: BLE001 - the caller handles it
            self.result.set_exception(problem)
        else:
            self.result.set_result(value)

    def seconds(self) -> float:
        """Returns the CPU time of the function so far; 0 if it does not run."""
        with self._running:
            return 0.0 if self._clock is None else time.clock_gettime(self._clock)

    def interrupt(self) -> None:
        """Raises an exception in the function, wherever it is. Python code sees it at once, and C code after its end."""
        with self._running:
            self._is_interrupted = True
            if self.ident is not None and self._clock is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.ident), ctypes.py_object(_InterruptedError))


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
