"""Long work shows one line on a terminal, a few lines in the log of a CI job, and nothing elsewhere."""

from __future__ import annotations

import contextlib
import io
import sys
import threading

from krm_fn.base import progress_line
from tests.cli import console
from tests.support.cases import cases


class Terminal(io.StringIO):
    """A terminal that says when it was written to."""

    def __init__(self):
        super().__init__()
        self.written = threading.Event()

    def isatty(self):
        return True

    def write(self, text):
        count = super().write(text)
        self.written.set()
        return count


def terminal(monkeypatch):
    """A terminal as stderr, and no pause before the line. A fixture could not set it: pytest sets stderr again before a test."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress_line, "_PAUSE", 0.0)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def test_the_line_names_the_step_and_is_removed(monkeypatch):
    stream = terminal(monkeypatch)
    with progress_line.show_progress("check") as step:
        step("apps/\x1bprod")
        stream.written.clear()
        assert stream.written.wait(60)
    written = stream.getvalue()
    assert "\r\x1b[Kcheck: 0 s, apps/\\x1bprod" in written
    assert written.endswith("\r\x1b[K")
    assert "\n" not in written


def test_an_inner_step_uses_the_outer_line(monkeypatch):
    stream = terminal(monkeypatch)
    with progress_line.show_progress("outer"), progress_line.show_progress("inner") as step:
        step("work")
        stream.written.clear()
        assert stream.written.wait(60)
    assert "inner" not in stream.getvalue()
    assert "outer: 0 s, work" in stream.getvalue()


def test_long_commands_show_the_line(tmp_path, monkeypatch):
    """Each command that can take long shows one line around all of its work."""
    titles = []

    @contextlib.contextmanager
    def shown(title):
        titles.append(title)
        yield lambda _step: None

    monkeypatch.setattr(progress_line, "show_progress", shown)
    (tmp_path / "graph.yaml").write_text(console.GRAPH)
    console.run("check", tmp_path)
    console.run("diff", "--old", tmp_path, tmp_path)
    assert titles == ["check", "diff"]


def test_the_log_of_a_ci_job_has_whole_lines(monkeypatch):
    """In CI also on a terminal, because a log has no control sequences."""
    stream = terminal(monkeypatch)
    monkeypatch.setenv("CI", "true")
    monkeypatch.setattr(progress_line, "_LOG_PAUSE", 0.01)
    with progress_line.show_progress("check") as step:
        step("apps/\x1bprod")
        stream.written.clear()
        assert stream.written.wait(60)
    lines = stream.getvalue().splitlines(keepends=True)
    assert "check: 0 s, apps/\\x1bprod\n" in lines
    assert "\x1b" not in stream.getvalue()


SILENT = [
    ("the log of a short CI job", Terminal, {"CI": "true"}),
    ("another log", io.StringIO, {}),
    ("a dumb terminal", Terminal, {"TERM": "dumb"}),
]


@cases(("stream_type", "variables"), SILENT)
def test_elsewhere_is_no_line(stream_type, variables, monkeypatch):
    terminal(monkeypatch)
    stream = stream_type()
    monkeypatch.setattr(sys, "stderr", stream)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with progress_line.show_progress("check") as step:
        step("work")
    assert stream.getvalue() == ""
