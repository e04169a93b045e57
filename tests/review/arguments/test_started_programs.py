"""Words that reach no program are found, and real shells and Python agree; words that a line reads are left alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from krm_fn.review.arguments import engine_commands
from tests.support.cases import cases

SHELL = ["/bin/sh", "-c"]
VLLM = "exec python3 -m dynamo.vllm"
RUNTIME = "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.5.1"


def mistakes(**container):
    """The code and the text of the item of each mistake."""
    problems = engine_commands.read(container).problems
    return [(problem.code, container[problem.word.field][problem.word.item]) for problem in problems if problem.is_mistake]


LOST = [
    ("a program in words", {"command": SHELL, "args": ["python3", "-m", "dynamo.vllm", "--model", "m"]}, "DYN623", "-m"),
    ("flags behind the line", {"command": SHELL, "args": ["python3 -m dynamo.vllm", "--model", "m"]}, "DYN623", "--model"),
    (
        "a second line",
        {"command": SHELL, "args": ["set -e", "python3 -m dynamo.vllm --model m"]},
        "DYN623",
        "python3 -m dynamo.vllm --model m",
    ),
    (
        "one flag behind the line",
        {"command": SHELL, "args": ["python3 -m dynamo.frontend", "--router-mode=kv"]},
        "DYN623",
        "--router-mode=kv",
    ),
    ("a misspelt module", {"command": ["python3", "-m", "dynamo.vlm"]}, "DYN638", "dynamo.vlm"),
    ("a hyphen in a module", {"command": SHELL, "args": ["python3 -m dynamo-vllm"]}, "DYN638", "python3 -m dynamo-vllm"),
    ("another name of an engine", {"command": ["python3", "-m", "dynamo.tensorrtllm"]}, "DYN638", "dynamo.tensorrtllm"),
    ("a misspelt frontend", {"command": ["python3", "-m", "dynamo.frontent"]}, "DYN638", "dynamo.frontent"),
    ("a module in place of a program", {"command": SHELL, "args": ["dynamo.trtllm --model m"]}, "DYN638", "dynamo.trtllm --model m"),
    ("a misspelt Python", {"command": ["pyhton3", "-m", "dynamo.vllm"]}, "DYN638", "pyhton3"),
    ("a program of one word and its file", {"command": SHELL, "args": ["python3", "run.py"]}, "DYN623", "run.py"),
    ("flags in place of a line", {"command": SHELL, "args": ["--model", "m"]}, "DYN623", "--model"),
    (
        "a shell in a line",
        {"command": SHELL, "args": ["exec bash -c python3 -m dynamo.vllm"]},
        "DYN623",
        "exec bash -c python3 -m dynamo.vllm",
    ),
    ("flags behind a line that reads a file", {"command": SHELL, "args": [f". venv && {VLLM}", "--model", "m"]}, "DYN623", "--model"),
    ("a shell without -c", {"command": ["/bin/sh"], "args": ["python3", "-m", "dynamo.vllm"]}, "DYN623", "python3"),
    ("a line for a shell without -c", {"command": ["bash", "-e", VLLM]}, "DYN623", VLLM),
    ("a blank behind a program", {"command": ["python3 ", "-m", "dynamo.vllm"]}, "DYN625", "python3 "),
    ("flags for Python", {"command": ["python3"], "args": ["--router-mode", "kv"]}, "DYN624", "--router-mode"),
    ("flags for Python behind its own", {"command": ["python3", "-u"], "args": ["--router-mode=kv"]}, "DYN624", "--router-mode=kv"),
    ("a module without -m", {"command": ["python3", "dynamo.vllm"], "args": ["--model", "m"]}, "DYN624", "dynamo.vllm"),
    ("a module without -m in a line", {"command": SHELL, "args": ["exec python3 dynamo.sglang"]}, "DYN624", "exec python3 dynamo.sglang"),
    ("a command of a shell", {"command": ["cd", "/workspace", "&&", "python3", "-m", "dynamo.vllm"]}, "DYN775", "cd"),
    ("Python alone", {"command": ["python3", "-u"]}, "DYN624", "-u"),
    ("no module", {"command": ["python3", "-m"]}, "DYN624", "-m"),
    ("a command line as a program", {"command": ["python3 -m dynamo.vllm --model m"]}, "DYN625", "python3 -m dynamo.vllm --model m"),
    ("a shell as a program", {"command": ["/bin/sh -c"], "args": ["true"]}, "DYN625", "/bin/sh -c"),
    ("a launcher as a program", {"command": ["exec python3 -m dynamo.vllm"]}, "DYN625", "exec python3 -m dynamo.vllm"),
    ("a module with its flags", {"command": ["python3", "-m"], "args": ["dynamo.vllm --model m"]}, "DYN625", "dynamo.vllm --model m"),
    ("-m with its module", {"command": ["python3"], "args": ["-m dynamo.frontend"]}, "DYN625", "-m dynamo.frontend"),
    ("-c with its line", {"command": ["sh", "-c true"]}, "DYN625", "-c true"),
    ("flags for an image that runs words", {"image": RUNTIME, "args": ["-m", "dynamo.vllm"]}, "DYN624", "-m"),
    ("a line for an image that runs words", {"image": RUNTIME, "args": ["python3 -m dynamo.vllm"]}, "DYN625", "python3 -m dynamo.vllm"),
]


@cases(("container", "code", "item"), LOST)
def test_words_that_reach_no_program_are_found(container, code, item):
    assert mistakes(**container) == [(code, item)]


RIGHT = [
    ("words for a line", {"command": SHELL, "args": ['exec python3 -m dynamo.vllm "$@"', "--", "--model", "m"]}),
    ("words by number", {"command": SHELL, "args": ["exec run ${1} $2", "name", "--model", "m"]}),
    ("words in a loop", {"command": SHELL, "args": ["for word\ndo echo x; done", "a", "b"]}),
    ("words for a file that the shell reads", {"command": SHELL, "args": [". ./run.sh", "name", "--model"]}),
    ("words for options", {"command": SHELL, "args": ["while getopts ab name; do :; done", "name", "-a"]}),
    ("a text with an engine and its words", {"command": SHELL, "args": [f'. venv && {VLLM} "$@"', "--", "--model", "m"]}),
    ("an empty word", {"command": SHELL, "args": [f"{VLLM} --model m", ""]}),
    ("a script", {"command": ["/bin/sh", "run.sh"], "args": ["python3", "--model m"]}),
    ("a name for the shell", {"command": SHELL, "args": ["exec run --a", "sh"]}),
    ("no name for the shell", {"command": SHELL, "args": ["exec run --a", "--"]}),
    ("options of bash", {"command": ["bash", "--norc", "-c", "exec run"]}),
    ("options of another shell", {"command": ["zsh", "--no-rcs", "-ec", "exec run"]}),
    ("a line behind --", {"command": ["sh", "-c", "--", "exec run"]}),
    ("options of Python", {"command": ["python3", "-u", "-X", "dev", "-W", "ignore", "-OO", "-m", "run"]}),
    ("the version of Python", {"command": ["python3", "--version"]}),
    ("a file of Python", {"command": ["python3", "dynamo/vllm/main.py", "--model m"]}),
    ("a text for Python", {"command": ["python3", "-c", "import dynamo", "--a"]}),
    ("Python that reads its input", {"command": SHELL, "args": ["cat run.py | python3"]}),
    ("Python for a terminal", {"command": ["python3"], "stdin": True}),
    ("an unknown module", {"command": ["python3", "$(PROGRAM)", "--a"]}),
    ("a program with blanks in its path", {"command": ["/opt/my engine/run", "--a"]}),
    ("flags for the program of an image", {"image": "acme/engine:1", "args": ["--model", "m"]}),
    ("an image with an unknown program", {"image": "acme/engine:1", "args": ["python3 -m dynamo.vllm"]}),
]


@cases("container", RIGHT)
def test_commands_that_reach_their_program_are_left_alone(container):
    assert mistakes(**container) == []


REAL = [
    ("flags for Python", [sys.executable, "--router-mode", "kv"]),
    ("a module with its flags", [sys.executable, "-m", "json.tool --help"]),
    ("a module without -m", [sys.executable, "json.tool"]),
    ("flags in place of a line", ["/bin/sh", "-c", "--model", "m"]),
    ("-c with its line", ["/bin/sh", "-c true"]),
    ("a line without -c", ["/bin/sh", "echo a"]),
]


@cases("command", REAL)
def test_real_programs_refuse_such_commands(command, tmp_path):
    done = subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)
    assert done.returncode != 0


def test_a_real_shell_drops_the_words_behind_its_line():
    done = subprocess.run(["/bin/sh", "-c", "echo a", "b", "c"], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "a\n"


def test_a_command_line_as_a_program_does_not_exist():
    with pytest.raises(FileNotFoundError):
        subprocess.run([f"{sys.executable} -m json.tool"], check=False, timeout=60)
