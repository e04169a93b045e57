"""Compares the CPU time of two sizes of an input: a bound in seconds would depend on the machine, and on what else it does."""

from __future__ import annotations

import contextlib
import gc
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST = 8
"""Four times the size takes 4 times as long if the time is linear, and 16 times if it is quadratic."""
_LEAST = 0.005
"""Seconds of CPU below which a clock measures its own steps, and what else the machine does."""
_ATTEMPTS = 5


def is_linear(run: Callable[[int], object], size: int) -> bool:
    """True if `run(4 * size)` takes less than 8 times the CPU time of `run(size)`. Measures again before it says no."""
    small = max(min(seconds(run, size) for _ in range(2)), _LEAST)
    return any(seconds(run, 4 * size) < MOST * small for _ in range(_ATTEMPTS))


def seconds(run: Callable[[int], object], size: int) -> float:
    """The CPU time of this process for a size."""
    with no_collector():
        began = time.process_time()
        run(size)
        return time.process_time() - began


@contextlib.contextmanager
def no_collector() -> Iterator[None]:
    """Measures without the garbage collector, whose time depends on all objects of the process: also on those of other tests."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
