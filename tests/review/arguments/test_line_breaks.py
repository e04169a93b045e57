"""Lines that a shell ends too early are found at the character to mend, and the command is judged as its author meant it."""

from __future__ import annotations

import subprocess

import pytest

from krm_fn.review.arguments import line_breaks, shell_words
from tests.support import growth
from tests.support.cases import cases

RUN = "exec python3 -m dynamo.vllm"


def joined(text):
    """The words of each command, and the text from each break on."""
    commands, breaks = line_breaks.join(shell_words.split_line(text, {}), text)
    return [[word.text for word in command] for command in commands], [text[found.start :] for found in breaks]


ENDED = [
    ("a comment between lines", f"{RUN} --a \\\n  # --b \\\n  --c\n", "# --b \\\n  --c\n", "above the command"),
    ("a comment at the end of a line", f"{RUN} --a # first \\\n  --c\n", "# first \\\n  --c\n", "above the command"),
    ("no backslash", f"{RUN} --a\n  --c\n", "--a\n  --c\n", "write one there"),
    ("no backslash behind a value", f"{RUN} --a 'x y'\n  --c\n", "'x y'\n  --c\n", "write one there"),
    ("no backslash, and a comment in its own line", f"{RUN} --a\n# note\n  --c\n", "--a\n# note\n  --c\n", "write one there"),
    ("a blank behind the backslash", f"{RUN} --a \\ \n  --c\n", "\\ \n  --c\n", "remove the blank"),
    ("a tab behind the backslash", f"{RUN} --a \\\t\n  --c\n", "\\\t\n  --c\n", "remove the blank"),
    ("an end of a line of Windows", f"{RUN} --a \\\r\n  --c\r\n", "\\\r\n  --c\r\n", "remove the blank"),
    ("a blank behind a backslash at a word", f"{RUN} --a\\ \n  --c\n", "--a\\ \n  --c\n", "remove the blank"),
    ("an empty line", f"{RUN} --a \\\n\n  --c\n", "--c\n", "remove the empty line"),
    ("a comment behind the backslash", f"{RUN} --a \\ # note\n  --c\n", "\\ # note\n  --c\n", "above the command"),
    ("lines that YAML has joined", f"{RUN} --a \\ --c\n", "\\ --c\n", "end the line behind the backslash"),
]


@cases(("text", "rest", "fix"), ENDED)
def test_a_line_that_ends_too_early_is_found(text, rest, fix):
    """The words behind it count as flags of the command, so that their own mistakes are found too."""
    commands, breaks = joined(text)
    assert breaks == [rest]
    assert [word for word in commands[0] if word.startswith("--")] == ["--a", "--c"]
    _, (found,) = line_breaks.join(shell_words.split_line(text, {}), text)
    assert fix in found.message.partition("; ")[2]


ALONE = [
    ("at the start", "--model m", "--model m"),
    ("behind an operator", "cd /w && --model m", "--model m"),
    ("behind a command of another program", "vllm serve m\n  --port 80", "m\n  --port 80"),
]


@cases(("text", "rest"), ALONE)
def test_a_command_that_begins_with_a_flag_is_found(text, rest):
    assert joined(text)[1] == [rest]


RIGHT = [
    ("lines that go on", f"{RUN} --a \\\n  --b 'c d' \\\n  --c\n"),
    ("a comment before and behind", f"# first\n{RUN} --a \\\n  --b # last\n# end\n"),
    ("an array of bash", f'FLAGS=(\n  --a 1\n  # --b\n  --c\n)\n{RUN} "${{FLAGS[@]}}"\n'),
    ("a longer array of bash", f"FLAGS=(--a)\nFLAGS+=(\n  --b\n  --c)\n{RUN}\n"),
    ("patterns", 'case "$1" in\n  --a) run;;\n  --b|--c)\n  run\n  ;;\nesac\n'),
    ("patterns in a loop", "while true; do case $1 in\n  --a) shift;;\n  --*) break;;\n  esac\ndone\n"),
    ("arithmetic", "((--count))\nfor ((i=9; --i; )); do run; done\n"),
    ("a text in quotes", f"{RUN} --a '\n  --b\n  # c\n'\n"),
    ("a here-document", "cat <<EOF > flags\n  --a\n  --b\nEOF\n"),
    ("an unknown word", "$COMMAND\n$FLAGS --a\n"),
    ("a blank that another program needs", "printf '%s' a \\ \nrun\n"),
    ("an escaped blank in a value", f"{RUN} --a x\\ y\n"),
    ("two backslashes", f"{RUN} --a x\\\\ \n"),
]


@cases("text", RIGHT)
def test_right_lines_are_left_alone(text):
    commands, breaks = joined(text)
    assert breaks == []
    assert commands == [[word.text for word in command] for command in shell_words.split_line(text, {}).commands]


@pytest.mark.parametrize(
    "text", [row[1] for row in ENDED if "joined" not in row[0]], ids=[row[0] for row in ENDED if "joined" not in row[0]]
)
def test_a_real_shell_ends_the_command_there(text):
    """The program gets no `--c`: the shell runs it as a program of its own."""
    line = "run() { printf '%s\\n' \"$@\"; }\n" + text.replace(RUN, "run")
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=False, timeout=60)
    assert "--c" not in done.stdout
    assert "--c" in done.stderr


@pytest.mark.slow  # measures two sizes several times
@pytest.mark.parametrize("part", ["--a\n", f"{RUN} \\ \n", "# a\n", "\\ a ", "a;", ";(\n--a\n)\n"])
def test_a_long_line_takes_linear_time(part):
    """200 KB take about four times as long as 50 KB."""

    def join(size):
        text = f"{RUN} " + part * (size // len(part))
        line_breaks.join(shell_words.split_line(text, {}), text)

    assert growth.is_linear(join, 50_000)
