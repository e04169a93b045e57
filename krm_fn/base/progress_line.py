"""One line on a terminal that says what a long command does, and a few lines in the log of a CI job, which sets the variable `CI`.

Nothing is printed elsewhere: without a terminal on stderr, and on a terminal without control sequences.
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

_LOG_PAUSE = 10.0
"""The seconds before the first line in a log. Each further one comes after twice the time, so that a log stays short."""

_WIDTH = 79
_CLEAR = "\r\x1b[K"


class _Line:
    """Writes the current step with the seconds that the command has run into one line of a terminal, until it is stopped."""

    def __init__(self, title: str, stream: TextIO) -> None:
        self._title, self._stream, self._step = title, stream, ""
        self._begin, self._end = time.monotonic(), threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def _write(self) -> None:
        while not self._end.wait(_PAUSE):
            self._stream.write(_CLEAR + self._text()[:_WIDTH])
            self._stream.flush()

    def _text(self) -> str:
        step = f", {self._step}" if self._step else ""
        return report.visible(f"{self._title}: {time.monotonic() - self._begin:.0f} s{step}")

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


class _LogLines(_Line):
    """Writes whole lines into the log of a CI job."""

    def _write(self) -> None:
        pause = _LOG_PAUSE
        while not self._end.wait(pause):
            self._stream.write(self._text() + "\n")
            self._stream.flush()
            pause *= 2

    def stop(self) -> None:
        """Ends the thread. The lines stay."""
        self._end.set()
        self._thread.join()


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
    is_log = bool(sys.stderr and os.environ.get("CI"))
    if not is_log and not is_visible():
        yield lambda _step: None
        return
    line = (_LogLines if is_log else _Line)(title, sys.stderr)
    _lines.append(line)
    try:
        yield line.show
    finally:
        _lines.clear()
        line.stop()
