"""One line on a terminal that says what a long command does now. Without a terminal, nothing is printed."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from krm_fn import report

_AFTER = 1.0
"""The seconds before the line appears, so that a short command prints nothing."""

_WIDTH = 79
_CLEAR = "\r\x1b[K"


@contextlib.contextmanager
def shown(title: str) -> Iterator[Callable[[str], None]]:
    """Yields a function that shows a step of the work on stderr. The line is removed at the end."""
    stream = sys.stderr
    if not (stream and stream.isatty()):
        yield lambda _step: None
        return
    started, steps = time.monotonic(), 0

    def show(step: str) -> None:
        nonlocal steps
        steps += 1
        seconds = time.monotonic() - started
        if seconds >= _AFTER:
            line = report.visible(f"{title}: {seconds:.0f} s, {steps}: {step}")[:_WIDTH]
            stream.write(f"{_CLEAR}{line}")
            stream.flush()

    try:
        yield show
    finally:
        stream.write(_CLEAR if time.monotonic() - started >= _AFTER else "")
        stream.flush()
