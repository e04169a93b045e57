"""How flags get into the command line of a user (reference: utils.go, backend_sglang.go isPythonCommand)."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.kubernetes import values
from krm_fn.render.engines import _command_lines
from tests.support.cases import cases

PYTHON = [
    *("python", "python2", "python3", "python3.11", "python3.12.1", "/usr/bin/python3.8", "./python3", "../bin/python", "venv/bin/python3"),
]
NOT_PYTHON = ["", "java", "sh", "python-config", "pythonx", "python ", "python3/", "python3.", "pypy3", "Python3", "python3\n", "python٣"]
SHELLS = ["sh", "/bin/sh", "bash", "/usr/bin/bash", "dash", "zsh", "./sh"]
NO_SHELLS = ["", "fish", "csh", "sh ", "/bin/sh/x", "bashful", "ssh", "python3"]


@pytest.mark.parametrize("program", PYTHON)
def test_python(program):
    assert _command_lines.is_python({"command": [program, "-c"]})


@pytest.mark.parametrize("program", NOT_PYTHON)
def test_not_python(program):
    assert not _command_lines.is_python({"command": [program]})


@pytest.mark.parametrize("program", SHELLS)
def test_a_shell(program):
    assert _command_lines.is_shell({"command": [program, "-c"]})


@pytest.mark.parametrize("program", NO_SHELLS)
def test_no_shell(program):
    assert not _command_lines.is_shell({"command": [program]})


def test_no_command_is_neither_python_nor_a_shell():
    assert not _command_lines.is_python({})
    assert not _command_lines.is_shell({"command": []})


LINES = [
    ("after the module", "python3 -m dynamo.eng --model m", "python3 -m dynamo.eng --F 1 --model m"),
    ("at the end", "python3 -m dynamo.eng", "python3 -m dynamo.eng --F 1"),
    ("after the last word that names it", "python3 -m dynamo.eng --model eng/x --y", "python3 -m dynamo.eng --model eng/x --F 1 --y"),
    ("before an operator that ends a command", "python3 -m dynamo.eng& wait", "python3 -m dynamo.eng --F 1& wait"),
    ("before a pipe", "A=1 python -m dynamo.eng | tee l", "A=1 python -m dynamo.eng --F 1 | tee l"),
    (
        "in each command that starts it",
        "python3 -m dynamo.eng --a && python3.12 -m dynamo.eng --b",
        "python3 -m dynamo.eng --F 1 --a && python3.12 -m dynamo.eng --F 1 --b",
    ),
    ("not in another program's arguments", "pip install eng && python3 -m dynamo.eng", "pip install eng && python3 -m dynamo.eng --F 1"),
    ("before a continued line", "python3 -m dynamo.eng \\\n  --model m", "python3 -m dynamo.eng --F 1 \\\n  --model m"),
    ("before the end of the line", "python3 -m dynamo.eng\n", "python3 -m dynamo.eng --F 1\n"),
    ("nowhere in a script", "./start.sh", "./start.sh"),
    ("nowhere without Python", "dynamo.eng --model m", "dynamo.eng --model m"),
    ("nowhere in another engine's line", "python3 -m dynamo.other", "python3 -m dynamo.other"),
]


@cases(("line", "changed"), LINES)
def test_flags_follow_the_word_that_names_the_engine(line, changed):
    assert _command_lines.after_framework(line, "--F 1", "eng") == changed


INJECTED = [
    (
        "a Python command gets words at its end",
        {"command": ["python3", "-m", "dynamo.eng"], "args": ["--model", "m"]},
        False,
        {"command": ["python3", "-m", "dynamo.eng"], "args": ["--model", "m", "--F", "1"]},
    ),
    (
        "also where it has no arguments",
        {"command": ["python3", "-m", "dynamo.eng"]},
        False,
        {"command": ["python3", "-m", "dynamo.eng"], "args": ["--F", "1"]},
    ),
    (
        "a Python command that needs a shell becomes one line",
        {"command": ["python3"], "args": ["-m", "dynamo.eng"]},
        True,
        {"command": ["sh", "-c"], "args": ["exec python3 -m dynamo.eng --F 1"]},
    ),
    (
        "a line for a shell keeps its shell",
        {"command": ["/bin/bash", "-c"], "args": ["python3 -m dynamo.eng"]},
        True,
        {"command": ["/bin/bash", "-c"], "args": ["python3 -m dynamo.eng --F 1"]},
    ),
    (
        "only the first argument that starts the engine is changed",
        {"args": ["echo", "python3 -m dynamo.eng a", "python3 -m dynamo.eng b"]},
        False,
        {"args": ["echo", "python3 -m dynamo.eng --F 1 a", "python3 -m dynamo.eng b"]},
    ),
    ("a command that does not name it stays", {"command": ["x"], "args": ["y"]}, True, {"command": ["x"], "args": ["y"]}),
    (
        "words of one call in several arguments are not put together",
        {"command": ["env", "python3"], "args": ["-m", "dynamo.eng"]},
        False,
        {"command": ["env", "python3"], "args": ["-m", "dynamo.eng"]},
    ),
]


@cases(("container", "needs_shell", "changed"), INJECTED)
def test_inject(container, needs_shell, changed):
    before = copy.deepcopy(container)
    assert _command_lines.inject(container, "--F 1", "eng", needs_shell=needs_shell, quoted=False) == changed
    assert container == before


OPTIONS = [
    ("two words", ["python3"], ["--x", "mp"], True),
    ("one word", [], ["--x=mp"], True),
    ("in a line for a shell", ["sh", "-c"], ["python3 -m e --x mp --y"], True),
    ("with more blanks", ["sh", "-c"], ["python3 -m e --x \\\n  mp --x  mp"], True),
    ("over the end of the command", ["python3", "--x"], ["mp"], True),
    ("another value", [], ["--x", "ray", "mp"], False),
    ("another option", [], ["--y", "mp"], False),
    ("no words", [], [], False),
]


@cases(("command", "args", "found"), OPTIONS)
def test_an_option_with_its_value_is_found_in_the_whole_command_line(command, args, found):
    assert _command_lines.has_option([*command, *args], "--x", "mp") is found


NUMBERS = [
    ("digits", "16", 16),
    ("zeros in front", "08", 8),
    ("a plus", "+4", 4),
    ("a minus", "-4", -4),
    ("the largest of 64 bits", "9223372036854775807", 2**63 - 1),
    ("one more", "9223372036854775808", None),
    ("a fraction", "1.0", None),
    ("a unit", "8k", None),
    ("nothing", "", None),
    ("a sign alone", "+", None),
    ("blanks", " 8", None),
    ("an underscore", "1_0", None),
    ("other digits", "٣", None),
]


@cases(("text", "number"), NUMBERS)
def test_whole_numbers_are_read_as_go_reads_them(text, number):
    assert values.int64(text) == number


@given(st.text(max_size=30), st.sampled_from(["vllm", "sglang"]))
def test_every_line_can_be_searched(line, framework):
    changed = _command_lines.after_framework(line, "--F", framework)
    assert len(changed) >= len(line)
    assert changed == line or "--F" in changed
