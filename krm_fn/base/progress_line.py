"""One line on a terminal that says what a long command does.

Nothing is printed without a terminal on stderr, on a terminal without control sequences, and in CI, which sets the variable `CI`.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TextIO

from krm_fn.base import report

_PAUSE = 1.0
"""The seconds before the line appears, and between two updates. A short command prints nothing."""

_WIDTH = 79
_CLEAR = "\r\x1b[K"


class _Line:
    """Writes the current step with the seconds that the command has run, until it is stopped."""

    def __init__(self, title: str, stream: TextIO) -> None:
        self._title, self._stream, self._step = title, stream, ""
        self._begin, self._end = time.monotonic(), threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def _write(self) -> None:
        while not self._end.wait(_PAUSE):
            step = f", {self._step}" if self._step else ""
            line = report.visible(f"{self._title}: {time.monotonic() - self._begin:.0f} s{step}")
            self._stream.write(_CLEAR + line[:_WIDTH])
            self._stream.flush()

    def stop(self) -> None:
        """Ends the thread and removes the line."""
        self._end.set()
        self._thread.join()
        if time.monotonic() - self._begin >= _PAUSE:
            self._stream.write(_CLEAR)
            self._stream.flush()

    def show(self, step: str) -> None:
        """Sets the step that the line names."""
        self._step = step


_lines: list[_Line] = []
"""The line that is shown; empty without one."""


def is_visible() -> bool:
    """Returns True if stderr is a terminal that can show a line."""
    return bool(sys.stderr and sys.stderr.isatty()) and not os.environ.get("CI") and os.environ.get("TERM") != "dumb"


@contextlib.contextmanager
def show_progress(title: str) -> Iterator[Callable[[str], None]]:
    """Yields a function that names the current step of the work. The line is removed at the end. An inner call uses the outer line."""
    if _lines:
        yield _lines[0].show
        return
    if not is_visible():
        yield lambda _step: None
        return
    line = _Line(title, sys.stderr)
    _lines.append(line)
    try:
        yield line.show
    finally:
        _lines.clear()
        line.stop()
