"""Both parsers of PyYAML give the same values, positions and findings: libyaml, and `krm_fn.base.yaml.python_parser`."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st

from krm_fn.base.yaml import positions, reader, stream
from krm_fn.base.yaml.python_parser import PythonParser
from tests.testbed import programs

pytestmark = pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML was built without libyaml")

LIBYAML = vars(stream)["Parser"]
FILES = sorted(path for path in (programs.ROOT / "examples").rglob("*.yaml") if path.stat().st_size < 100_000)
TEXTS = [path.read_text() for path in FILES if path.stat().st_size < 6000]
MARKS = (
    *("\t", "\n", "\r", "\r\n", "  ", "\u2028", "\x85", "\x01", "\x07"),
    *("- ", "-", ": ", ":", "? ", "?", ",", "[", "]", "{", "}", "'", '"', "\\", "\\x", "\\u00", "\\q", "\\U0011", "\\n"),
    *("&a ", "*a", "!x ", "!", "!!str ", "!<a>", "!a%2", "<<: ", "#", "|", "|2", "|0", ">-", "---", "...", "@", "`", "é", "😀"),
)


def read(text, parser):
    """The documents and findings of a text with a parser, and the positions of all fields of the first document."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "Parser", parser)
        documents, findings = reader.read(text, "a.yaml")
        paths = list(fields(documents[0].value)) if documents and not findings else []
        return documents, findings, positions.positions(text, paths)


def fields(value, path=()):
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*path, step)
        yield from fields(inner, (*path, step))


@st.composite
def spoiled(draw):
    """Some lines of an example, with a few marks of YAML put in and characters taken out."""
    lines = draw(st.sampled_from(TEXTS)).split("\n")
    first = draw(st.integers(0, len(lines) - 1))
    text = "\n".join(lines[first : first + draw(st.integers(3, 15))])
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(text)))
        text = text[:place] + draw(st.sampled_from(MARKS)) + text[place + draw(st.integers(0, 3)) :]
    return text


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(programs.ROOT)))
def test_examples_are_the_same(path):
    text = path.read_text()
    assert read(text, PythonParser) == read(text, LIBYAML)


@given(text=spoiled())
@example("a:\t1\n")  # a tab is a blank behind a key
@example("- \t- 1\n")  # but not before an entry
@example("a: b\t c\n")
@example("a: b\n\tc\n")
@example("a: |\t\n  b\n")
@example("a: |\n\tb\n")
@example("{a: b:}\n")  # libyaml refuses a colon before a bracket
@example("[a?]\n")
@example("[!x, b]\n")
@example("a: !!str\t1\n")
@example("a: 1\n\ufeffb: 2\n")
@example("{")  # the end of a text without a line break
@example("a: 1\n{")
@example('"\\q"')
@example('"\\ud83d"')  # half of a surrogate pair
@example('"\\U00110000"')
@example('"\\x0"')
@example("'a''b \"\\n'")
@example('"a\\\n  b\\tc"')
def test_random_texts_are_the_same(text):
    """Only messages about directives differ, and a text with two marks of the byte order at its beginning."""
    assume(not re.search(r"(?m)^%", text))
    assert read(text, PythonParser) == read(text, LIBYAML)
