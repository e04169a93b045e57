"""The position of a field is that of its key, or of the nearest existing parent if the field is missing."""

from hypothesis import given
from hypothesis import strategies as st

from krm_fn.base.yaml import emitter, positions
from tests.support.cases import cases

TEXT = """\
# comment
a:
  b: [x, {y: z}]
  "c d": |
    a: 1
  e: &e
  - f: 1
    g: 2
  -
    h: 3
i: *e
on: {j: 1}
"""

FIELDS = [
    # reason, path, line, column
    ("the document", (), 2, 1),
    ("a key", ("a",), 2, 1),
    ("an entry of a flow list", ("a", "b", 0), 3, 7),
    ("a key in it", ("a", "b", 1, "y"), 3, 11),
    ("a quoted key", ("a", "c d"), 4, 3),
    ("a key after a text of several lines", ("a", "e", 0, "g"), 8, 5),
    ("an entry of a block list", ("a", "e", 0), 7, 5),
    ("an entry below its dash", ("a", "e", 1), 10, 5),
    ("a key that could be a boolean", ("on", "j"), 12, 6),
    ("a missing key", ("a", "x", "y"), 2, 1),
    ("a missing entry", ("a", "b", 7), 3, 3),
    ("a key where a list is", ("a", "b", "x"), 3, 3),
    ("an entry where a mapping is", ("a", 0), 2, 1),
    ("a field below a text", ("a", "c d", "x"), 4, 3),
    ("a field that comes from an alias", ("i", 0, "f"), 11, 1),
]


@cases(("path", "line", "column"), FIELDS)
def test_position(path, line, column):
    assert positions.position(TEXT, path) == (line, column)


def test_several_fields_are_found_where_each_is_found_alone():
    """The order of the paths does not matter; paths may be nested or repeated."""
    asked = [path for _, path, _, _ in FIELDS]
    assert positions.positions(TEXT, [*reversed(asked), asked[1]]) == {path: (line, column) for _, path, line, column in FIELDS}


def test_of_a_key_that_stands_twice_the_first_one_counts():
    assert positions.positions("a: {b: 1}\na: {c: 2}\n", [("a",), ("a", "b"), ("a", "c")]) == {
        ("a",): (1, 1),
        ("a", "b"): (1, 5),
        ("a", "c"): (1, 1),
    }


def test_nothing_is_read_behind_the_last_field_that_is_asked_for():
    """Broken YAML after that field does not matter."""
    assert positions.positions("a: 1\nb: 2\nc: [\n", [("b",), ("a",)]) == {("b",): (2, 1), ("a",): (1, 1)}


BROKEN = [
    # reason, text, path, position
    ("nothing", "", ("a",), (1, 1)),
    ("broken behind the field", "a: 1\nb: 2\nc: [\n", ("b",), (2, 1)),
    ("broken before the field", "a: 1\nb: [\nc: 3\n", ("c",), (1, 1)),
    ("half a surrogate pair", "a: \ud800\n", ("a",), (1, 1)),
    ("a byte order mark", "\ufeffa: {b: 1}\n", ("a", "b"), (1, 5)),
    ("the second of two documents is not looked at", "a: 1\n---\nb: 2\n", ("b",), (1, 1)),
    ("JSON", '{"a": [\n  {"b": 1}]}', ("a", 0, "b"), (2, 4)),
]


@cases(("text", "path", "position"), BROKEN)
def test_position_in_whatever_comes(text, path, position):
    assert positions.position(text, path) == position


KEYS = st.from_regex(r"[a-z]{1,4}", fullmatch=True)
VALUES = st.recursive(
    st.integers(), lambda inner: st.lists(inner, min_size=1, max_size=3) | st.dictionaries(KEYS, inner, min_size=1, max_size=3)
)


def paths(value, above=()):
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    yield above
    for step, child in children:
        yield from paths(child, (*above, step))


@given(VALUES)
def test_every_field_is_found_where_it_is_written(value):
    text = emitter.text(value)
    lines = text.splitlines()
    for path in paths(value):
        line, column = positions.position(text, path)
        written = lines[line - 1][column - 1 :]
        if path and isinstance(path[-1], str):
            key, colon, _ = written.partition(":")
            assert (key.strip('"'), colon) == (path[-1], ":")


@given(VALUES, st.lists(st.lists(KEYS | st.integers(0, 3), max_size=4).map(tuple), max_size=6))
def test_several_at_once_are_where_each_is_alone(value, missing):
    text = emitter.text(value)
    asked = [*paths(value), *missing]
    assert positions.positions(text, asked) == {path: positions.position(text, path) for path in asked}


@given(st.text(), st.lists(KEYS | st.integers(0, 3), max_size=4))
def test_no_text_raises(text, path):
    line, column = positions.position(text, tuple(path))
    assert line >= 1
    assert column >= 1
