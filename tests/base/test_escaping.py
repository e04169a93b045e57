"""Escapes: nothing in a text acts on its reader, JSON and YAML keep their values, and ordinary text stays as it is."""

from __future__ import annotations

import json
import re

import yaml
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.base import escaping
from krm_fn.base.yaml import emitter
from tests.support.cases import cases

ESCAPED = [
    # reason, text, output
    ("ordinary text", "a b/c:8000 é 日本 ✓", "a b/c:8000 é 日本 ✓"),
    ("an address of IPv6 inside a line", "http://[::1]:80", "http://[::1]:80"),
    ("two number signs", "## title", "## title"),
    ("a line feed and a tab", "a\n\tb", r"a\n\tb"),
    ("a control character of ASCII", "\x1b[2J\x7f", r"\x1b[2J\x7f"),
    ("a control character of ISO 8859", "\x9b2J\x85", r"\x9b2J\x85"),
    ("bidirectional text", "\u202ea\u2066", r"\u202ea\u2066"),
    ("line ends of Unicode", "\u2028\u2029", r"\u2028\u2029"),
    ("invisible characters", "\u200b\ufeff\u3164\ufe0f", r"\u200b\ufeff\u3164\ufe0f"),
    ("an invisible character beyond 16 bits", "\U000e0100\U000e0041", r"\U000e0100\U000e0041"),
    ("half of a surrogate pair", "\ud800", r"\ud800"),
    ("a command to GitHub", "::error::x", r"\x3a:error::x"),
    ("a command to GitHub after blanks", "  ::error::x", r"  \x3a:error::x"),
    ("an older command to GitHub", "a ##[group]x", r"a \x23#[group]x"),
    ("a command to Azure Pipelines", "a ##vso[x]", r"a \x23#vso[x]"),
    ("three number signs", "###[x]", r"#\x23#[x]"),
]
TEXTS = st.text(st.characters(), max_size=20) | st.lists(st.sampled_from(["::", "##[", "##vso[", "\n", " ", "\t", "a"]), max_size=6).map(
    "".join
)
COMMAND = re.compile(r"^\s*::|##[A-Za-z]*\[", re.MULTILINE)


@cases(("text", "output"), ESCAPED)
def test_visible(text, output):
    assert escaping.visible(text) == output
    assert escaping.visible(output) == output, "an escaped text stays as it is"


@given(TEXTS)
def test_every_character_of_an_output_is_visible(text):
    for shown in (
        escaping.output(text, colours=False),
        escaping.join_lines([text]),
        escaping.output(escaping.paint(text, 31), colours=False),
    ):
        assert all(character == "\n" or character.isprintable() for character in shown)
        assert not COMMAND.search(shown)
    assert escaping.join_lines([text]).count("\n") == 1


@given(TEXTS)
def test_json_keeps_the_value(text):
    shown = escaping.json_text({"key": [text]}, 2)
    assert json.loads(shown) == {"key": [text]}
    assert all(character == "\n" or character.isprintable() for character in shown)
    assert not COMMAND.search(shown)


@given(TEXTS.filter(lambda text: not re.search("[\ud800-\udfff]", text)))
def test_yaml_keeps_the_value(text):
    shown = emitter.text({"key": text, text: [text]})
    assert yaml.safe_load(shown) == {"key": text, text: [text]}
    assert not COMMAND.search(shown)


COLOURED = [
    # reason, text, colours, output
    ("a colour of krm-fn", escaping.paint("a", 31, 1), True, "\x1b[31m\x1b[1ma\x1b[0m"),
    ("a painted text that has a colour", escaping.paint("\x1b[32ma", 31), True, "\x1b[31m\\x1b[32ma\x1b[0m"),
    ("another control sequence", "\x1b[8ma\x1b[2J", True, r"\x1b[8ma\x1b[2J"),
    ("an output without colours", escaping.paint("a", 31), False, r"\x1b[31ma\x1b[0m"),
]


@cases(("text", "colours", "output"), COLOURED)
def test_colours(text, colours, output):
    assert escaping.output(text, colours=colours) == output
    assert escaping.join_lines([text], colours=colours) == f"{output}\n"
