"""Findings have colours on a terminal, unless the user or the terminal does without, and nowhere else."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

from tests.cli import console
from tests.cli.console import GRAPH, MISSPELT
from tests.support.cases import cases
from tests.testbed import programs

CODES = re.compile(r"\x1b\[[0-9;]*m")


def terminal(*arguments, **environment):
    """What a verb prints on a terminal: its stdout and stderr. `CI` is set, because a busy machine would show a progress line."""
    reading, writing = pty.openpty()
    command = [sys.executable, "-m", "krm_fn", *arguments]
    settings = {"PATH": os.environ["PATH"], "PYTHONPATH": str(programs.ROOT), "TERM": "xterm", "CI": "true", **environment}
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=writing, stderr=writing, env=settings) as running:
        os.close(writing)
        shown = b""
        try:
            while part := os.read(reading, 65536):
                shown += part
        except OSError:  # Linux: the program has closed the terminal
            pass
        os.close(reading)
        running.wait(timeout=300)
    return shown.decode().replace("\r\n", "\n")


@pytest.fixture
def misspelt(tmp_path):
    (tmp_path / "graph.yaml").write_text(MISSPELT)
    return tmp_path / "graph.yaml"


def words(text):
    """The words of a text in alphabetical order, without colours and without those that a terminal gets."""
    return sorted(word.rstrip(";:") for word in CODES.sub("", text).split() if word != "fix:")


@pytest.mark.parametrize("verb", ["check", "render"])
def test_a_terminal_gets_colours_and_the_same_words(verb, misspelt):
    shown = terminal(verb, str(misspelt))
    done = console.run(verb, misspelt, notes=True)
    assert "\x1b[31m\x1b[1merror\x1b[0m DYN023" in shown
    assert words(shown) == words(done.out + done.err)


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_terminal_gets_a_finding_in_three_parts(columns, misspelt):
    """Where it is with the line of the file, what it is, and how to fix it. No line of a text is longer than the terminal, or than 120."""
    shown = terminal("check", "--quiet", str(misspelt), NO_COLOR="1", COLUMNS=str(columns))
    where, _, caret, *text = shown.splitlines()
    assert "error DYN023" in where
    assert caret.strip() == "^"
    assert [line[:7] for line in text if line.startswith("  fix: ")] == ["  fix: "]
    assert all(line.startswith("  ") and len(line) <= min(columns, 120) for line in text)


def test_a_pipe_and_the_format_oneline_have_a_finding_in_one_line(misspelt):
    done = console.run("check", misspelt)
    assert terminal("check", "-o", "oneline", "--color", "never", str(misspelt)).startswith(done.out.partition("\n")[0])
    assert console.run("check", "-o", "oneline", misspelt).out == done.out


def test_findings_about_an_export_have_colours(tmp_path):
    (tmp_path / "export").write_text("NAME   READY\nchat   1/1\n")
    shown = terminal("adopt", "--live", str(tmp_path / "export"), "--output-dir", str(tmp_path / "new"))
    assert "\x1b[31m\x1b[1merror\x1b[0m DYN565" in shown


WITHOUT = [
    ("the user has NO_COLOR set", {"NO_COLOR": "1"}),
    ("the terminal is dumb", {"TERM": "dumb"}),
]


@cases(("reason", "environment"), WITHOUT)
def test_a_terminal_without_colours(reason, environment, misspelt):
    assert "\x1b" not in terminal("check", str(misspelt), **environment)


def test_an_empty_no_color_says_nothing(misspelt):
    assert "\x1b" in terminal("check", str(misspelt), NO_COLOR="")


@pytest.mark.parametrize("style", ["json", "github"])
def test_formats_for_programs_have_no_colours(style, misspelt):
    assert "\x1b" not in terminal("check", "-o", style, str(misspelt))


def test_objects_have_no_colours(tmp_path):
    (tmp_path / "graph.yaml").write_text(GRAPH)
    assert "\x1b" not in terminal("render", str(tmp_path / "graph.yaml"))


PIPES = [
    # reason, arguments, environment, colours
    ("a pipe", [], {}, False),
    ("the option", ["--color", "always"], {}, True),
    ("FORCE_COLOR", [], {"FORCE_COLOR": "1"}, True),
    ("NO_COLOR comes first", [], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ("the option comes before variables", ["--color", "always"], {"NO_COLOR": "1"}, True),
    ("the option switches colours off", ["--color", "never"], {"FORCE_COLOR": "1"}, False),
]


@cases(("arguments", "environment", "expected"), PIPES)
def test_a_pipe(arguments, environment, expected, misspelt, monkeypatch):
    """Logs of CI are pipes that can show colours."""
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    done = console.run("check", *arguments, misspelt)
    assert ("\x1b[31m\x1b[1merror" in done.out) is expected
