"""The command lines of Dynamo's programs are read from containers, with the positions of their words; all others are left alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krm_fn.review.arguments import engine_commands
from krm_fn.review.arguments.shell_words import UNKNOWN
from tests.support import growth
from tests.support.cases import cases
from tests.testbed import tier

SHELL = ["/bin/sh", "-c"]
ENV = [
    {"name": "SIZE", "value": "2"},
    {"name": "MORE", "value": "--a 1 --b"},
    {"name": "HF_TOKEN", "value": "x"},
    {"name": "LATE", "value": "$(SIZE)"},
]


def read(**container):
    """The module and the words of each command line."""
    commands = engine_commands.read({"env": ENV, **container}).commands
    return [(command.start.text, [word.text for word in command.words]) for command in commands]


READ = [
    ("words", {"command": ["python3", "-m", "dynamo.vllm"], "args": ["--a", "b c"]}, "dynamo.vllm", ["--a", "b c"]),
    ("words in args only", {"args": ["python3", "-m", "dynamo.frontend", "--a"]}, "dynamo.frontend", ["--a"]),
    ("a module in the word of its option", {"command": ["python3", "-mdynamo.vllm", "--a"]}, "dynamo.vllm", ["--a"]),
    ("another Python", {"command": ["/usr/bin/python3.12", "-u", "-X", "dev", "-m", "dynamo.sglang"]}, "dynamo.sglang", []),
    ("a line", {"command": SHELL, "args": ["python3 -m dynamo.vllm --a 'b c'"]}, "dynamo.vllm", ["--a", "b c"]),
    ("a line in the command", {"command": [*SHELL, "exec python3 -m dynamo.vllm --a"]}, "dynamo.vllm", ["--a"]),
    ("options of the shell", {"command": ["bash", "-e", "-o", "pipefail", "-c"], "args": ["python -m dynamo.vllm"]}, "dynamo.vllm", []),
    ("several options of the shell in one", {"command": ["bash", "-lc"], "args": ["python -m dynamo.vllm"]}, "dynamo.vllm", []),
    (
        "commands before it",
        {"command": SHELL, "args": ["cd /w && ulimit -n 9; A=1 exec python3 -m dynamo.vllm --a"]},
        "dynamo.vllm",
        ["--a"],
    ),
    ("commands behind it", {"command": SHELL, "args": ["python3 -m dynamo.vllm --a 2>&1 | tee log && b --c"]}, "dynamo.vllm", ["--a"]),
    ("lines", {"command": SHELL, "args": ["set -e\nexec python3 -m dynamo.vllm \\\n  --a \\\n  --b\n"]}, "dynamo.vllm", ["--a", "--b"]),
    ("a condition", {"command": SHELL, "args": ["if true; then python3 -m dynamo.vllm --a; fi"]}, "dynamo.vllm", ["--a"]),
    ("env", {"command": ["env", "A=b", "python3", "-m", "dynamo.vllm"]}, "dynamo.vllm", []),
    ("a launcher", {"command": ["numactl", "--cpunodebind=0", "python3", "-m", "dynamo.vllm", "--a"]}, "dynamo.vllm", ["--a"]),
    (
        "a shell in a launcher in a line",
        {"command": SHELL, "args": ["mpirun -n 2 -x A bash -c 'trtllm-llmapi-launch python3 -m dynamo.trtllm --a \"b c\"'"]},
        "dynamo.trtllm",
        ["--a", "b c"],
    ),
    (
        "a reference",
        {"command": ["python3", "-m", "dynamo.vllm"], "args": ["--n", "$(SIZE)", "$$(SIZE)"]},
        "dynamo.vllm",
        ["--n", "2", "$(SIZE)"],
    ),
    ("an unknown reference", {"command": ["python3", "-m", "dynamo.vllm", "$(OTHER)"]}, "dynamo.vllm", [UNKNOWN]),
    ("a secret variable", {"command": ["python3", "-m", "dynamo.vllm", "--k=$(HF_TOKEN)"]}, "dynamo.vllm", [f"--k={UNKNOWN}"]),
    ("a variable of variables", {"command": ["python3", "-m", "dynamo.vllm", "$(LATE)"]}, "dynamo.vllm", [UNKNOWN]),
    ("variables in a line", {"command": SHELL, "args": ["python3 -m dynamo.vllm $MORE ${SIZE}"]}, "dynamo.vllm", ["--a", "1", "--b", "2"]),
]


@cases(("container", "module", "words"), READ)
def test_the_command_line_of_a_program_is_read(container, module, words):
    assert read(**container) == [(module, words)]


LEFT_ALONE = [
    ("another module", {"command": ["python3", "-m", "processor", "--a"]}),
    ("a file", {"command": ["python3", "dynamo.vllm", "-m", "dynamo.vllm"]}),
    ("a text", {"command": ["python3", "-c", "import dynamo", "-m", "dynamo.vllm"]}),
    ("a script", {"command": ["/bin/bash", "run.sh", "python3", "-m", "dynamo.vllm"]}),
    ("an unknown program before it", {"command": SHELL, "args": ["echo python3 -m dynamo.vllm --a"]}),
    ("a comment", {"command": SHELL, "args": ["# python3 -m dynamo.vllm --a"]}),
    ("a text in quotes", {"command": SHELL, "args": ["log 'python3 -m dynamo.vllm --a'"]}),
    ("a line without a shell", {"args": ["python3 -m dynamo.vllm --a"]}),
    ("words that are no texts", {"command": ["python3", "-m", "dynamo.vllm", 5]}),
    ("no list", {"command": "python3 -m dynamo.vllm"}),
    ("nothing", {}),
    ("Python alone", {"command": ["python3", "-m"]}),
]


@cases("container", LEFT_ALONE)
def test_other_commands_are_left_alone(container):
    assert read(**container) == []


def test_each_word_has_its_item_and_its_position():
    line = "cd /w\nexec python3 -m dynamo.vllm --a 'b c'\n"
    commands = engine_commands.read({"command": SHELL, "args": [line]}).commands
    assert [(word.field, word.item, line[word.offset :][:3]) for word in commands[0].words] == [("args", 0, "--a"), ("args", 0, "b c")]


def test_words_of_a_shell_in_a_shell_have_their_positions():
    line = "nohup bash -c 'exec python3 -m dynamo.vllm --a b' &"
    commands = engine_commands.read({"command": SHELL, "args": [line]}).commands
    assert [line[word.offset :][:2] for word in commands[0].words] == ["--", "b'"]


UNREADABLE = [
    ("a quote without an end", {"command": SHELL, "args": ["python3 -m dynamo.vllm --a 'b"]}, True),
    ("a substitution without an end", {"command": SHELL, "args": ["python3 -m dynamo.vllm --a $(b"]}, False),
    ("a script", {"command": ["bash", "run.sh"]}, False),
    ("a here-document", {"command": SHELL, "args": ["cat <<EOF\nit's\nEOF\n"]}, False),
]


@cases(("container", "is_mistake"), UNREADABLE)
def test_a_line_that_cannot_be_read_says_why(container, is_mistake):
    (problem,) = engine_commands.read(container).problems
    assert problem.is_mistake is is_mistake
    assert problem.reason


ITEMS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(["python3", "-m", "dynamo.vllm", "sh", "-c", "'", '"', "$(", "exec python3 -m dynamo.vllm '"]),
    st.none(),
    st.integers(),
)
FIELDS = st.one_of(
    st.lists(ITEMS, max_size=6), st.none(), st.text(max_size=5), st.dictionaries(st.text(max_size=2), st.integers(), max_size=1)
)


@settings(max_examples=tier.number(200, 10), deadline=None)
@given(
    FIELDS,
    FIELDS,
    st.one_of(st.none(), st.lists(st.one_of(st.none(), st.dictionaries(st.sampled_from(["name", "value"]), ITEMS)), max_size=2)),
)
def test_no_container_raises(command, args, env):
    engine_commands.read({"command": command, "args": args, "env": env})


@pytest.mark.slow  # measures two sizes several times
@pytest.mark.parametrize("word", ["--a ", "--a='b c' ", "python3 -m dynamo.vllm ", "sh -c ", "sh -c 'a' ", "env "])
def test_a_long_line_takes_linear_time(word):
    """200 KB take about four times as long as 50 KB."""

    def read(size):
        engine_commands.read({"command": SHELL, "args": ["exec python3 -m dynamo.vllm " + word * (size // len(word))]})

    assert growth.is_linear(read, 50_000)
