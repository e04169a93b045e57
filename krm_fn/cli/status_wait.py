"""The progress of `krm-fn status --wait` on stderr: one line on a terminal, and lines in a log."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from time import monotonic

from krm_fn.base import progress_line
from krm_fn.cli import command_output

_REPEAT = 60.0
"""Seconds until a line without a change is printed again, so that a log does not look dead."""


@contextlib.contextmanager
def show_wait() -> Iterator[Callable[[str], None]]:
    """Yields a function that shows what is waited for. Without a terminal, and in CI, it prints a line if the text has changed."""
    if progress_line.is_visible():
        with progress_line.show_progress("waiting") as show:
            yield show
    else:
        yield _Log().show


class _Log:
    """Prints each new text, and an old one once a minute, with the seconds since the begin."""

    def __init__(self) -> None:
        self._begin = monotonic()
        self._last, self._printed = "", 0.0

    def show(self, text: str) -> None:
        """Prints the text, unless it was printed in the last minute."""
        now = monotonic()
        if text != self._last or now - self._printed >= _REPEAT:
            command_output.print_line(f"waiting: {now - self._begin:.0f} s, {text}", err=True)
            self._last, self._printed = text, now
