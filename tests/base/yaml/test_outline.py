"""The fields of an unfinished text, and what is at a position in it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.base.yaml import outline, reader
from tests.support.cases import cases
from tests.testbed import programs

CURSORS = (
    ("a key of an object", "a:\n  b: 1\n  c|", ("a",), "c", False),
    ("an empty line below a key", "a:\n  |", ("a",), "", False),
    ("an empty line beside a key", "a:\n  b: 1\n|", (), "", False),
    ("a value", "a:\n  b: x|", ("a", "b"), "x", True),
    ("a value in quotes", "a: 'x y|'", ("a",), "x y", True),
    ("an entry of a list", "a:\n  - x\n  - --y|", ("a", 1), "--y", False),
    ("a list at the column of its key", "a:\n- x\n- y|", ("a", 1), "y", False),
    ("a key of an entry", "a:\n- b: 1\n  c|", ("a", 0), "c", False),
    ("a list in a list", "a:\n- - x\n  - y|", ("a", 0, 1), "y", False),
    ("a key behind a list", "a:\n- b: 1\nc|", (), "c", False),
    ("a key in flow style", "a: {b: 1, c|", ("a",), "c", False),
    ("a value in flow style", "a: {b: 1, c: d|}", ("a", "c"), "d", True),
    ("a list in flow style", "a: [x, --y|]", ("a", 1), "--y", True),
    ("an object in a list in flow style", "a: [{b: 1}, {c|", ("a", 1), "c", False),
    ("behind a closed object", "a: {b: {c: 1}, d|", ("a",), "d", False),
    ("a line of a text", "a: |\n  b: c\n  d@".replace("|", "PIPE").replace("@", "|").replace("PIPE", "\x00"), ("a",), "d", True),
    ("the second document", "a: 1\n---\nb:\n  c|", ("b",), "c", False),
    ("a comment with a colon", "a: # b: c\n  d|", ("a",), "d", False),
    ("a broken line above", "a:\n  b: 'x\n  c: }{\n  d|", ("a",), "d", False),
)


@cases(("text", "path", "word", "is_value"), CURSORS)
def test_what_is_at_a_position(text, path, word, is_value):
    """`|` is the position."""
    before = text.partition("|")[0].replace("\0", "|")
    lines = text.replace("|", "", 1).replace("\0", "|").split("\n")
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    assert outline.cursor(lines, line, column)[:4:1] == (path, word, column - len(word), is_value)


@pytest.mark.parametrize("name", ["agg-vllm", "older-planner", "v1beta1-agg-vllm", "epp-gateway", "request"])
def test_the_fields_are_those_of_a_parser(name):
    """In the style of the examples: each scalar in its line has the same path and the same text."""
    for file in sorted((programs.ROOT / "examples" / name).glob("*.yaml")):
        text = file.read_text("utf-8")
        documents, _ = reader.read(text)
        lines = text.split("\n")
        for document in documents:
            whole = outline.document(lines, document.line)
            known = {field.path: field.value for field in outline.fields([lines[number - 1] for number in whole])}
            for path, value in leaves(document.value):
                if isinstance(value, str) and value and value in text:
                    assert known[path] == value, f"{file}: {path}"


def leaves(value, path=()):
    if isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, step))
    else:
        yield path, value


@given(st.text(alphabet="ab:-[]{},'\"#| \n&*>", max_size=60), st.integers(0, 2**16))
def test_no_text_is_an_error(text, seed):
    """Each position of each text has an answer."""
    lines = text.split("\n")
    line = seed % len(lines) + 1
    column = random.Random(seed).randint(1, len(lines[line - 1]) + 1)  # noqa: S311 - any position
    outline.cursor(lines, line, column)
    outline.under(lines, line, column)
