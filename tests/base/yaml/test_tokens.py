"""The end of a key, a scalar or a word, which an editor marks."""

from __future__ import annotations

from krm_fn.base.yaml import tokens
from tests.support.cases import cases

MARKED = (
    ("a key of a block", "  replica: 2", 3, "replica"),
    ("a key with a colon inside", "a:b: c", 1, "a:b"),
    ("a key without a value", "spec:", 1, "spec"),
    ("a quoted key", "'it''s': 2", 1, "'it''s'"),
    ("a key with escapes", '"a\\"b": 2', 1, '"a\\"b"'),
    ("a key of a flow mapping", "{image: x, replicas: 2}", 2, "image"),
    ("a value of a flow list", "args: [--a, --b=c]", 8, "--a"),
    ("the last value of a flow list", "args: [--a, --b=c]", 13, "--b=c"),
    ("commas belong to a plain scalar of a block", "- a, b  # c", 3, "a, b"),
    ("a tag and an anchor belong to the value", "- &a !!str b c", 3, "&a !!str b c"),
    ("a flow mapping", "- {a: b}", 3, "{a: b}"),
    ("a block scalar", "- |- # c", 3, "|- # c"),
    ("a quote that the line does not close", "- 'a b", 3, "'a b"),
    ("a column behind the line", "ab", 9, ""),
    ("an empty line", "", 1, ""),
)


@cases(("line", "column", "marked"), [(reason, line, column, marked) for reason, line, column, marked in MARKED])
def test_the_end_of_a_token(line, column, marked):
    assert line[column - 1 : tokens.end(line, column) - 1] == marked


def test_a_word_of_a_text_ends_with_a_blank():
    """A finding about a word in a line for a shell marks this word only."""
    assert tokens.end("  exec a --b=c, d", 10, is_word=True) == 16
    assert tokens.end("  exec", 40, is_word=True) == 7


def test_lines_are_those_of_editors():
    """A line separator of Unicode ends no line."""
    assert tokens.lines("a\r\nb\rc\u2028d\n") == ["a", "b", "c\u2028d", ""]
