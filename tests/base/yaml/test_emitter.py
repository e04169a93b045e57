"""What is written is read as it was meant, by our reader and by PyYAML, and looks like kubectl's YAML."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.base.yaml import emitter, reader
from tests.support.cases import cases

SHAPES = [
    # reason, value, text
    ("dashes stand below their key", {"a": {"b": ["c", {"d": 1, "e": 2}]}}, "a:\n  b:\n  - c\n  - d: 1\n    e: 2\n"),
    ("lists in lists", [["a", ["b"]], [{"c": [1]}]], "- - a\n  - - b\n- - c:\n    - 1\n"),
    ("what is empty stays on its line", {"a": {}, "b": [], "c": None}, "a: {}\nb: []\nc: null\n"),
    ("order is kept", {"b": 1, "a": 2}, "b: 1\na: 2\n"),
    ("what could be something else is quoted", {"n": "n", "1": "1"}, '"n": "n"\n"1": "1"\n'),
    ("text with quotes in it is readable", {"json": '{"a":"it\'s"}'}, "json: '{\"a\":\"it''s\"}'\n"),
    ("text of several lines", {"a": "x\n\n  y: #z\n", "b": 1}, "a: |\n  x\n\n    y: #z\nb: 1\n"),
    ("no newline at the end", ["x\ny"], "- |-\n  x\n  y\n"),
    ("many newlines at the end", {"a": "x\n\n", "b": 1}, "a: |+\n  x\n\nb: 1\n"),
    ("tabs inside lines", {"a": "x\n\ty\n"}, "a: |\n  x\n  \ty\n"),
    ("trailing spaces are made visible", {"a": "x \ny"}, 'a: "x \\ny"\n'),
    ("leading spaces are made visible", {"a": " x\ny"}, 'a: " x\\ny"\n'),
    ("only newlines", {"a": "\n"}, 'a: "\\n"\n'),
    ("control characters are escaped", {"a": "\x00\x7f\u2028\ufeff"}, 'a: "\\x00\\x7f\\u2028\\ufeff"\n'),
    ("other scripts are not", {"a": "\u00e9\U0001f600"}, 'a: "\u00e9\U0001f600"\n'),
    ("no line is folded", {"a": "word " * 60 + "end"}, f"a: {'word ' * 60}end\n"),
    ("no anchors", {"a": (shared := {"x": 1}), "b": shared}, "a:\n  x: 1\nb:\n  x: 1\n"),
    ("floats have a dot for YAML 1.1", [1e16, 1.5, 1e-7], "- 1.0e+16\n- 1.5\n- 1.0e-07\n"),
    ("long keys", {"k" * 801: [1]}, f"? {'k' * 801}\n:\n- 1\n"),
    ("a scalar alone", "y", '"y"\n'),
]


@cases(("value", "text"), SHAPES)
def test_shape(value, text):
    assert emitter.text(value) == text


def test_indent_moves_every_line():
    value = {"a": "x\n\ny\n", "b": [{"c": 1}], "k" * 900: 1}
    lines = emitter.text(value).splitlines(keepends=True)
    assert emitter.text(value, 3) == "".join(f"   {line}" if line.strip() else line for line in lines)


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_what_json_cannot_hold_is_not_written(value):
    with pytest.raises(ValueError, match="not a JSON value"):
        emitter.text({"a": value})


@pytest.mark.parametrize("value", [(1,), {1}, b"x", {"a": object()}], ids=["tuple", "set", "bytes", "object"])
def test_what_is_no_json_is_not_written(value):
    with pytest.raises(TypeError):
        emitter.text(value)


TRICKY = st.text(alphabet=" \t\n\r:#-?\"'\\{}[]&*!|>%@`,.0123e+xyno~=<\u00e9\u0085\u2028\ufeff\U0001f600", max_size=12)
WORDS = st.sampled_from(["n", "on", "1e3", "2001-12-14", "22:22", "0o7", "---", "=", "<<", "k" * 900])
STRINGS = st.one_of(TRICKY, WORDS, st.text(max_size=20))
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not number.is_integer())
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | STRINGS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(STRINGS, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES.filter(lambda value: value is not None), st.integers(0, 4))
def test_reading_undoes_writing(value, indent):
    documents, found = reader.read(emitter.text(value, indent))
    assert not found
    assert [document.value for document in documents] == [value]


@given(st.recursive(STRINGS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(STRINGS, inner, max_size=4), max_leaves=12))
def test_yaml_1_1_reads_every_string_as_that_string(value):
    text = emitter.text(value)
    assert yaml.safe_load(text) == value
    assert yaml.load(text, yaml.CSafeLoader) == value
