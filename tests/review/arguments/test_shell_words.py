"""Lines for a shell are split as a shell splits them, with the positions of their words."""

from __future__ import annotations

import contextlib
import re
import subprocess

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from krm_fn.review.arguments import shell_words
from krm_fn.review.arguments.shell_words import UNKNOWN, UnclosedError
from tests.support import growth
from tests.support.cases import cases
from tests.testbed import tier

VARIABLES = {"NAME": "value", "TWO": "a b", "EMPTY": "", "QUOTE": "it's", "SIZE": "2"}


def commands(line):
    return [[word.text for word in command] for command in shell_words.split_line(line, VARIABLES).commands]


SPLIT = [
    ("blanks", "a  b\tc", [["a", "b", "c"]]),
    ("quotes", """a 'b c' "d e" f'g'"h" """, [["a", "b c", "d e", "fgh"]]),
    ("an empty word", "a '' \"\"", [["a", "", ""]]),
    ("escapes", r'a\ b \" "c\"d" "e\f"', [["a b", '"', 'c"d', r"e\f"]]),
    ("a line that goes on", "a \\\n  b\\\nc", [["a", "bc"]]),
    ("lines", "a\nb\n\nc", [["a"], ["b"], ["c"]]),
    ("operators", "a && b || c; d | e & f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
    ("operators without blanks", "a&&b;c|d", [["a"], ["b"], ["c"], ["d"]]),
    ("a comment", "a # b 'c\nd#e", [["a"], ["d#e"]]),
    ("redirections", "a > b 2>&1 c >> d <e", [["a", "c"]]),
    ("a group and a subshell", "(a b); { c; }", [["a", "b"], ["{", "c"], ["}"]]),
    ("a variable of a shell", "a $NAME ${NAME}x", [["a", "value", "valuex"]]),
    ("a variable in quotes", "a \"$TWO\" '$TWO'", [["a", "a b", "$TWO"]]),
    ("a variable with blanks", "a $TWO x${TWO}y", [["a", "a", "b", "xa", "by"]]),
    ("an empty variable", 'a $EMPTY "$EMPTY"', [["a", ""]]),
    ("a reference of Kubernetes", "a $(NAME) '$(NAME)' \"$(TWO)\"", [["a", "value", "value", "a b"]]),
    ("an unknown variable", 'a $OTHER "x$OTHER"', [["a", UNKNOWN, f"x{UNKNOWN}"]]),
    ("an unknown reference", "a $(OTHER)", [["a", UNKNOWN]]),
    ("a value with quotes", "a $QUOTE", [["a", UNKNOWN]]),
    ("a substitution", "a $(b 'c)' $(d)) `e f` $((1 + 2))", [["a", UNKNOWN, UNKNOWN, UNKNOWN]]),
    ("a variable with a default", "a ${NAME:-b} ${#NAME}", [["a", UNKNOWN, UNKNOWN]]),
    ("arguments of the shell", 'a "$@" $1 $?', [["a", UNKNOWN, UNKNOWN, UNKNOWN]]),
    ("a dollar sign for Kubernetes", "a $$NAME $$(b)", [["a", "value", UNKNOWN]]),
    ("a single dollar sign", "a $ b$", [["a", "$", "b$"]]),
    ("braces that bash expands", 'a {"b":1,"c":2} {}', [["a", UNKNOWN, "{}"]]),
    ("a variable that the line sets", "NAME=other; a $NAME $SIZE", [["NAME=other"], ["a", UNKNOWN, "2"]]),
    ("a line that reads a file", ". ./file; a $SIZE $(SIZE)", [[".", "./file"], ["a", UNKNOWN, "2"]]),
    ("nothing", "  # a\n", []),
]


@cases(("line", "words"), SPLIT)
def test_a_line_is_split_as_a_shell_does(line, words):
    assert commands(line) == words


@pytest.mark.parametrize(
    ("line", "quote"),
    [("a 'b", "'"), ('a "b', '"'), ("a 'b' 'c\n", "'"), ("a $(b", "$("), ("a ${b", "${"), ("a `b", "`"), ('a "$(b"', "$(")],
)
def test_a_quote_without_an_end_is_an_error(line, quote):
    with pytest.raises(UnclosedError) as raised:
        shell_words.split_line(line, {})
    assert raised.value.quote == quote


def test_the_words_of_a_here_document_are_no_words():
    line = shell_words.split_line("a; cat <<EOF\nb 'c\nEOF\n", {})
    assert [[word.text for word in command] for command in line.commands] == [["a"], ["cat"]]
    assert line.problem


def test_each_word_has_its_position():
    line = "cd /w &&\n  exec 'a b' $TWO"
    words = [word for command in shell_words.split_line(line, VARIABLES).commands for word in command]
    assert [line[word.start :][:5] for word in words] == ["cd /w", "/w &&", "exec ", "'a b'", "$TWO", "$TWO"]


PARTS = st.sampled_from(
    [
        *("a", "--flag", "=", "2", " ", "  ", "\n", "'b c'", '"d e"', "\\ ", "\\\n", "$NAME", '"$NAME"', "${SIZE}", "$TWO", '"$TWO"'),
        *(";", "&&", "||", " # x\n", "''", '""', "'", '"', "\\", "x", ".", "$", "$EMPTY", " > /dev/null ", "2>&1", ":", "/", '"a\\"b"'),
    ]
)
PROGRAM = "run() { for word; do printf '%s\\0' \"$word\"; done; printf '\\1\\0'; }\n"


@settings(max_examples=tier.number(60, 10), deadline=None, derandomize=True)
@given(st.lists(PARTS, max_size=14))
def test_the_words_are_those_of_a_real_shell(parts):
    """A program that prints its words, with random words behind it, gets what the reader reads; a syntax error is one for both."""
    line = "run " + "".join(parts)
    done = subprocess.run(
        ["/bin/sh", "-c", PROGRAM + line.replace("$$", "$")],
        env={**VARIABLES, "PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    try:
        words: list[str] = next(iter(commands(line)), [])
    except UnclosedError:
        assert done.returncode != 0
        return
    assume(not re.search(r"\$\w*\\\n", line))  # a name that goes on in the next line
    assume("Syntax error" not in done.stderr and "> /dev/null" not in line and "\\|" not in line)
    assume(UNKNOWN not in "".join(words))
    printed = done.stdout.split("\1\0")[0].split("\0")[:-1]
    assert words[1:] == printed


@pytest.mark.slow  # measures two sizes several times
@pytest.mark.parametrize(
    "part", ["'", '"', "$(", "${", "`", "{,", "a=b ", "\\", "$A ", "<<", "((", "\n", "'a' ", '"a"', "#", "$$", "{a,b}"]
)
def test_a_long_line_takes_linear_time(part):
    """200 KB of anything take about four times as long as 50 KB."""

    def split(size):
        with contextlib.suppress(UnclosedError):
            shell_words.split_line(part * (size // len(part)), {"A": "b c"})

    assert growth.is_linear(split, 50_000)
