"""Fields that move to another object, other entries in place of one, and objects in place of a text: the rest of the text stays."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from krm_fn.base.edits import Addition, Items, Move
from krm_fn.base.results import Path
from krm_fn.base.yaml import emitter, reader
from krm_fn.repository.files import text_edits
from tests.support import growth
from tests.support.cases import cases

MOVES = [
    (
        "up, to the end of its object",
        "a:\n  b:\n    # why\n    x: 1 # one\n    y: 2\n  c: 3\n",
        "a:\n  b:\n    y: 2\n  c: 3\n  # why\n  x: 1 # one\n",
        ("a", "b", "x"),
        ("a", "x"),
    ),
    ("up, from the last line", "a:\n  b:\n    y: 2\n    x: 1\n", "a:\n  b:\n    y: 2\n  x: 1\n", ("a", "b", "x"), ("a", "x")),
    ("up, without a line end", "a:\n  b:\n    y: 2\n    x: 1", "a:\n  b:\n    y: 2\n  x: 1", ("a", "b", "x"), ("a", "x")),
    (
        "up, as the only field",
        "a:\n  b:\n    # why\n    x: 1\n  c: 3\n",
        "a:\n  b: {}\n  c: 3\n  # why\n  x: 1\n",
        ("a", "b", "x"),
        ("a", "x"),
    ),
    ("down, into an object", "a:\n  x: [1,   2]\n  b:\n    y: 2\n", "a:\n  b:\n    y: 2\n    x: [1,   2]\n", ("a", "x"), ("a", "b", "x")),
    (
        "down, into a missing object",
        "a:\n  # why\n  x: |\n    text\n\n    more\n  y: 2\n",
        "a:\n  b:\n    # why\n    x: |\n      text\n\n      more\n  y: 2\n",
        ("a", "x"),
        ("a", "b", "x"),
    ),
    ("down, as the only field", "a:\n  x: 1 # one\nc: 3\n", "a:\n  b:\n    x: 1 # one\nc: 3\n", ("a", "x"), ("a", "b", "x")),
    ("down, behind a dash", "a:\n- x: 1 # one\n  y: 2\n", "a:\n- b:\n    x: 1 # one\n  y: 2\n", ("a", 0, "x"), ("a", 0, "b", "x")),
    ("with another name", "a: {c: d}\nlabels: {e: f}\n", "a: {c: d}\nb:\n  tags: {e: f}\n", ("labels",), ("b", "tags")),
    (
        "into an entry of a list",
        "a:\n- name: main\nx:\n- 1\n# end\n- 2\n",
        "a:\n- name: main\n  x:\n  - 1\n  # end\n  - 2\n",
        ("x",),
        ("a", 0, "x"),
    ),
    ("of flow style, down", "a: {x: 1, y: 2}\n", "a: {b: {x: 1}, y: 2}\n", ("a", "x"), ("a", "b", "x")),
    ("of flow style, up", "{a: {b: {y: 2, x: '1'}, c: 3}}\n", "{a: {b: {y: 2}, c: 3, x: '1'}}\n", ("a", "b", "x"), ("a", "x")),
    ("from flow style to block style", "a:\n  b: {x: '1', y: 2}\n", "a:\n  b: {y: 2}\n  x: '1'\n", ("a", "b", "x"), ("a", "x")),
    ("in JSON", '{"a": {"b": {"x": 1}, "c": 3}}', '{"a": {"b": {}, "c": 3, "x": 1}}', ("a", "b", "x"), ("a", "x")),
    (
        "with line ends of Windows",
        "a:\r\n  b:\r\n    x: 1\r\n    y: 2\r\n",
        "a:\r\n  b:\r\n    y: 2\r\n  x: 1\r\n",
        ("a", "b", "x"),
        ("a", "x"),
    ),
]


@cases(("old", "new", "path", "to"), MOVES)
def test_a_field_moves_with_its_comments_and_its_format(old, new, path, to):
    """The rest of the text has the same bytes, except for the indentation of the field."""
    assert text_edits.edit_document(old, {path: Move(to)}) == (new, ())


REFUSED = [
    ("a field that is there", "a:\n  b:\n    x: 1\n  x: 2\n", ("a", "b", "x"), ("a", "x")),
    ("an object that is a text", "a: text\nx: 1\n", ("x",), ("a", "x")),
    ("an object without a value", "a:\nx: 1\n", ("x",), ("a", "x")),
    ("an object with an anchor that others use", "a: &a\n  y: 1\nb: *a\nx: 1\n", ("x",), ("a", "x")),
    ("block style into flow style", "a: {y: 1}\nx:\n  z: 1 # one\n", ("x",), ("a", "x")),
    ("an entry that is missing", "a:\n- y: 1\nx: 1\n", ("x",), ("a", 1, "x")),
    ("a comment of the field behind it", "a:\n- x: 1\n  # of y\n  y: 2\n", ("a", 0, "x"), ("x",)),
]


@cases(("text", "path", "to"), REFUSED)
def test_a_move_without_one_text_is_refused(text, path, to):
    """The text stays as it is."""
    assert text_edits.edit_document(text, {path: Move(to)}) == (text, (path,))


def test_several_fields_move_together():
    """Fields of one object get one object around them, at the first of them."""
    old = "a:\n  # cores\n  cpu: 1\n  b: 2\n  memory: 1Gi # much\n"
    moves: dict[Path, Move] = {("a", name): Move(("a", "limits", name)) for name in ("cpu", "memory")}
    new = "a:\n  limits:\n    # cores\n    cpu: 1\n    memory: 1Gi # much\n  b: 2\n"
    assert text_edits.edit_document(old, moves) == (new, ())


OTHERS = [
    ("two entries in place of one", "a:\n- b\n- --x 1 # one\n- c\n", 'a:\n- b\n- --x\n- "1" # one\n- c\n', {("a", 1): Items(("--x", "1"))}),
    ("entries in flow style", "a: [b, '--x 1']\n", 'a: [b, --x, "1"]\n', {("a", 1): Items(("--x", "1"))}),
    ("entries in place of an object", "a:\n- --x: 1\n", 'a:\n- --x\n- "1"\n', {("a", 0): Items(("--x", "1"))}),
    ("entries behind one", "a: ['b']\n", "a: ['b', --x]\n", {("a", 0): Items(("b", "--x"))}),
    ("entries at two places", "a: [b, c]\n", "a: [b, d, c, e]\n", {("a", 0): Items(("b", "d")), ("a", 1): Items(("c", "e"))}),
    ("an object in place of a text", "a: b # c\n", "a: {name: b} # c\n", {("a",): {"name": "b"}}),
    ("a text in place of a list", "a: [b] # c\n", "a: b # c\n", {("a",): "b"}),
    (
        "a list in place of an object",
        "a:\n  b: c\n  d: 1\n",
        'a:\n  - name: b\n    value: c\n  - name: d\n    value: "1"\n',
        {("a",): [{"name": "b", "value": "c"}, {"name": "d", "value": "1"}]},
    ),
    ("an object in place of a list", "a:\n- b: c\n- d: e\nf: g\n", "a:\n  b: c\n  d: e\nf: g\n", {("a",): {"b": "c", "d": "e"}}),
    ("a field that is missing", "a:\n  b: c # d\n", "a:\n  b: c # d\n  e: {}\n", {("a", "e"): Addition({})}),
]


@cases(("old", "new", "changes"), OTHERS)
def test_another_shape_of_a_value_is_written(old, new, changes):
    """The value gets the style of the old one."""
    assert text_edits.edit_document(old, changes) == (new, ())


def test_a_comment_has_no_place_in_another_shape():
    """A list in place of an object would lose it, so the text stays."""
    text = "a:\n  b: c # why\n"
    assert text_edits.edit_document(text, {("a",): [{"name": "b"}]}) == (text, (("a",),))


VALUES = st.recursive(
    st.text("ab#: \n'\"", max_size=6) | st.integers(0, 9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("pqrst"), inner, max_size=3),
    max_leaves=8,
)


@given(value=VALUES, beside=st.dictionaries(st.sampled_from("pqrst"), VALUES, max_size=3), depth=st.integers(1, 3))
def test_a_random_field_moves_or_stays(value, beside, depth):
    """The text has the values after the move, or the same bytes as before."""
    wrong = {"top": {"keep": 1, "inner": {**beside, "x": value}}}
    to = (("x",), ("top", "x"), ("top", "inner", "y", "x"))[depth - 1]
    text = emitter.text(wrong)
    new, failed = text_edits.edit_document(text, {("top", "inner", "x"): Move(to)})
    if failed:
        assert new == text
        return
    inner = {**beside, "y": {"x": value}} if depth == 3 else beside
    expected = {"top": {"keep": 1, "inner": inner, **({"x": value} if depth == 2 else {})}, **({"x": value} if depth == 1 else {})}
    assert reader.read(new)[0][0].value == expected


def test_the_time_grows_linearly_with_the_number_of_moves():
    """All moves of a text are one pass."""

    def move(count):
        text = "".join(f"a{number}:\n  b:\n    x: 1\n    y: 2\n" for number in range(count))
        new, failed = text_edits.edit_document(text, {(f"a{number}", "b", "x"): Move((f"a{number}", "x")) for number in range(count)})
        assert (failed, new.count("  x: 1\n")) == ((), count)

    assert growth.is_linear(move, 60)
