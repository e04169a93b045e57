"""Edits by position: each style of YAML and JSON, with everything else as it was."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from krm_fn.base.edits import Key, Quotes, Removal, Word
from krm_fn.base.results import Path
from krm_fn.base.yaml import reader
from krm_fn.kubernetes import paths
from krm_fn.repository.files import text_edits
from krm_fn.repository.files.text_edits import Words
from tests.support import yaml_styles
from tests.support.cases import cases

OLD, NEW = "r/vllm:1.5.1", "r/vllm:1.6.1"
IMAGE = ("spec", "image")
NOTE = ("metadata", "annotations", "a.b/c")

VALUES = [
    ("block", f"spec:\n  image: {OLD}\n", f"spec:\n  image: {NEW}\n"),
    ("a comment at the end", f"spec:\n  image: {OLD}   # why\n", f"spec:\n  image: {NEW}   # why\n"),
    ("a comment that names it", f"# {OLD}\nspec:\n  image: {OLD}\n", f"# {OLD}\nspec:\n  image: {NEW}\n"),
    ("single quotes", f"spec:\n  image: '{OLD}'\n", f"spec:\n  image: '{NEW}'\n"),
    ("double quotes", f'spec:\n  image: "{OLD}"\n', f'spec:\n  image: "{NEW}"\n'),
    ("an escape", 'spec:\n  image: "r\\/vllm:1.5.1"\n', f'spec:\n  image: "{NEW}"\n'),
    ("flow", f"spec: {{ image: {OLD}, b: c }}\n", f"spec: {{ image: {NEW}, b: c }}\n"),
    ("flow over lines", f"spec: {{\n  image: {OLD}, # x\n  b: c\n}}\n", f"spec: {{\n  image: {NEW}, # x\n  b: c\n}}\n"),
    ("literal", f"spec:\n  image: |-\n    {OLD}\n", f"spec:\n  image: |-\n    {NEW}\n"),
    ("folded", f"spec:\n  image: >-  # c\n    {OLD}\n\n  b: c\n", f"spec:\n  image: >-  # c\n    {NEW}\n\n  b: c\n"),
    ("an anchor without an alias", f"spec:\n  image: &i {OLD}\n", f"spec:\n  image: &i {NEW}\n"),
    ("a tag", f"spec:\n  image: !!str {OLD}\n", f"spec:\n  image: !!str {NEW}\n"),
    ("on the next line", f"spec:\n  image:\n    {OLD}\n", f"spec:\n  image:\n    {NEW}\n"),
    ("CRLF", f"spec:\r\n  image: {OLD}\r\n  b: c\r\n", f"spec:\r\n  image: {NEW}\r\n  b: c\r\n"),
    ("CRLF in a literal", f"spec:\r\n  image: |-\r\n    {OLD}\r\n", f"spec:\r\n  image: |-\r\n    {NEW}\r\n"),
    ("no line break at the end", f"spec:\n  image: {OLD}", f"spec:\n  image: {NEW}"),
    ("a marker and a directive", f"%YAML 1.1\n---\nspec:\n  image: {OLD}\n...\n", f"%YAML 1.1\n---\nspec:\n  image: {NEW}\n...\n"),
    ("JSON", f'{{"spec": {{"image": "{OLD}", "b": 1}}}}\n', f'{{"spec": {{"image": "{NEW}", "b": 1}}}}\n'),
    (
        "JSON over lines with tabs",
        f'{{\n\t"spec": {{\n\t\t"image": "{OLD}"\n\t}}\n}}\n',
        f'{{\n\t"spec": {{\n\t\t"image": "{NEW}"\n\t}}\n}}\n',
    ),
    ("an explicit key", f"spec:\n  ? image\n  : {OLD}\n", f"spec:\n  ? image\n  : {NEW}\n"),
    ("letters beyond ASCII before it", f"spec:\n  é: 'ü🙂'\n  image: {OLD}\n", f"spec:\n  é: 'ü🙂'\n  image: {NEW}\n"),
    (
        "an alias whose anchor changes too stays",
        f"spec:\n  image: &i {OLD}\nother: *i\n",
        f"spec:\n  image: &i {NEW}\nother: *i\n",
    ),
    ("an alias alone becomes a value", f"base: &i {OLD}\nspec:\n  image: *i\n", f"base: &i {OLD}\nspec:\n  image: {NEW}\n"),
]


@cases(("reason", "before", "after"), VALUES)
def test_a_value_changes_in_its_style(reason, before, after):
    """Only the value changes, and its quotes and its style stay."""
    changes: dict[Path, str] = {IMAGE: NEW} | ({("other",): NEW} if "other" in before else {})
    assert text_edits.edit_document(before, changes) == (after, ())


FIGURES = [
    ("a text without quotes", "a: 1.5.1\n", "1.6.1", "a: 1.6.1\n"),
    ("a text that would be a number", "a: 1.5.1\n", "1.6", 'a: "1.6"\n'),
    ("a number becomes a text", "a: 1.5\n", "v1.6", "a: v1.6\n"),
    ("a number in quotes", 'a: "1.5"\n', "1.6", 'a: "1.6"\n'),
    ("a word with a meaning", "a: b\n", "no", 'a: "no"\n'),
    ("nothing", "a:\nb: c\n", "v1.6", "a: v1.6\nb: c\n"),
    ("null", "a: null # c\n", "v1.6", "a: v1.6 # c\n"),
    ("a tilde", "a: ~\n", "v1.6", "a: v1.6\n"),
]


@cases(("reason", "before", "new", "after"), FIGURES)
def test_a_new_value_is_a_string(reason, before, new, after):
    """A text that YAML reads as a number gets quotes."""
    assert text_edits.edit_document(before, {("a",): new}) == (after, ())


ADDITIONS = [
    (
        "beside others",
        "metadata:\n  annotations:\n    x: y # c\n    # d\n  name: a\n",
        "metadata:\n  annotations:\n    x: y # c\n    a.b/c: v1\n    # d\n  name: a\n",
    ),
    ("a new mapping", "metadata:\n  name: a\nspec: {}\n", "metadata:\n  name: a\n  annotations:\n    a.b/c: v1\nspec: {}\n"),
    ("all of it", "kind: A\n", "kind: A\nmetadata:\n  annotations:\n    a.b/c: v1\n"),
    ("in flow", "metadata: {name: a}\n", "metadata: {name: a, annotations: {a.b/c: v1}}\n"),
    ("in an empty mapping", "metadata: {name: a, annotations: {}}\n", "metadata: {name: a, annotations: {a.b/c: v1}}\n"),
    ("after nothing", "metadata:\n  annotations:\n  name: a\n", "metadata:\n  annotations: {a.b/c: v1}\n  name: a\n"),
    ("after null", "metadata:\n  annotations: null # c\n", "metadata:\n  annotations: {a.b/c: v1} # c\n"),
    ("in JSON", '{"metadata": {"name": "a"}}', '{"metadata": {"name": "a", "annotations": {"a.b/c": "v1"}}}'),
    (
        "in JSON over lines",
        '{\n  "metadata": {\n    "name": "a"\n  }\n}\n',
        '{\n  "metadata": {\n    "name": "a",\n    "annotations": {"a.b/c": "v1"}\n  }\n}\n',
    ),
    ("in an empty mapping of JSON", '{"metadata": {}}', '{"metadata": {"annotations": {"a.b/c": "v1"}}}'),
    ("CRLF", "metadata:\r\n  name: a\r\n", "metadata:\r\n  name: a\r\n  annotations:\r\n    a.b/c: v1\r\n"),
    ("no line break at the end", "metadata:\n  name: a", "metadata:\n  name: a\n  annotations:\n    a.b/c: v1"),
    (
        "after a literal",
        "metadata:\n  note: |\n    x\n\n    y\n\nspec: {}\n",
        "metadata:\n  note: |\n    x\n\n    y\n  annotations:\n    a.b/c: v1\n\nspec: {}\n",
    ),
    (
        "after a list",
        "metadata:\n  list:\n  - a\n  - b # c\nspec: {}\n",
        "metadata:\n  list:\n  - a\n  - b # c\n  annotations:\n    a.b/c: v1\nspec: {}\n",
    ),
]


@cases(("reason", "before", "after"), ADDITIONS)
def test_a_missing_field_is_added(reason, before, after):
    """The field comes behind the other fields of its mapping, in the style of the mapping."""
    assert text_edits.edit_document(before, {NOTE: "v1"}) == (after, ())


REMOVALS = [
    ("in the middle", "a:\n  x: 1\n  b: 2 # c\n  y: 3\n", "a:\n  x: 1\n  y: 3\n"),
    ("a comment above stays", "a:\n  # why\n  b: 2\n  y: 3\n", "a:\n  # why\n  y: 3\n"),
    ("the last one", "a:\n  x: 1\n  b:\n    c: 2\nd: 4\n", "a:\n  x: 1\nd: 4\n"),
    ("the only one", "a:\n  b: 2\nd: 4\n", "a:\n  {}\nd: 4\n"),
    ("in flow", "a: {b: 2, y: 3}\n", "a: {y: 3}\n"),
    ("the last in flow", "a: {x: 1, b: [2, 3]}\n", "a: {x: 1}\n"),
    ("the only one in flow", "a: {b: 2}\n", "a: {}\n"),
    ("without a line break", "a:\n  x: 1\n  b: 2", "a:\n  x: 1\n"),
    ("CRLF", "a:\r\n  b: 2\r\n  y: 3\r\n", "a:\r\n  y: 3\r\n"),
    ("JSON", '{"a": {"x": 1,\n "b": 2}}', '{"a": {"x": 1}}'),
    ("a missing field", "a:\n  x: 1\n", "a:\n  x: 1\n"),
]


@cases(("reason", "before", "after"), REMOVALS)
def test_a_field_is_removed(reason, before, after):
    """The field goes with its line; all other lines stay."""
    assert text_edits.edit_document(before, {("a", "b"): None}) == (after, ())


def test_the_first_field_of_an_item_is_removed():
    """The dash of a list stays."""
    assert text_edits.edit_document("a:\n- b: 1\n  c: 2\n", {("a", 0, "b"): None}).text == "a:\n- c: 2\n"


IMPOSSIBLE = [
    ("an anchor that another field needs", f"spec:\n  image: &i {OLD}\nother: *i\n", {IMAGE: NEW}),
    ("a merged mapping", f"base: &b\n  image: {OLD}\nspec:\n  <<: *b\n", {IMAGE: NEW}),
    ("a value over several lines", "spec:\n  image: |\n    a\n    b\n", {IMAGE: NEW}),
    ("a mapping", "spec:\n  image: {a: b}\n", {IMAGE: NEW}),
    ("a missing item", "spec: []\n", {("spec", 0, "image"): NEW}),
    ("below a text", "metadata: x\n", {NOTE: "v1"}),
    ("no YAML", "a: [\n", {("a",): "b"}),
    ("nothing", "", {("a",): "b"}),
    ("a tag that does not fit", "spec:\n  image: !!float 1.5\n", {IMAGE: NEW}),
]


@cases(("reason", "before", "changes"), IMPOSSIBLE)
def test_a_field_without_a_position_of_its_own(reason, before, changes):
    """The text stays as it is, and the path is named."""
    assert text_edits.edit_document(before, changes) == (before, tuple(changes))


def test_one_failing_field_does_not_hinder_the_others():
    """An anchor that another field needs fails; a plain field is edited."""
    text = f"a: &i {OLD}\nb: *i\nc: {OLD}\n"
    assert text_edits.edit_document(text, {("a",): NEW, ("c",): NEW}) == (f"a: &i {OLD}\nb: *i\nc: {NEW}\n", (("a",),))


KEYS = st.sampled_from(["a", "b", "image", "x-y", "a.b/c", "é", "1", "on"])
LEAVES = st.one_of(st.sampled_from([OLD, "1.5.1", "y", "", "a b", "a: b", "#x", "l\nm\n", "'", '"']), st.integers(0, 9), st.booleans())
TREES = st.recursive(LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)), max_leaves=12)


def leaves(value, path=()):
    """The paths of all texts below mappings, and those of all mappings."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for step, inner in steps for found in leaves(inner, (*path, step)))]


@given(st.data(), st.dictionaries(KEYS, TREES, min_size=1, max_size=4))
def test_the_values_are_the_wanted_ones_and_all_comments_stay(data, value):
    """For random texts: the new text has the wanted values and every comment of the old one, and a second run changes no byte."""
    text = yaml_styles.text(value, data.draw)
    (document,), findings = reader.read(text)
    assert (document.value, findings) == (value, [])
    places = [path for path in leaves(value) if path and not isinstance(paths.at(value, path), dict | list)]
    chosen = data.draw(st.lists(st.sampled_from(places), max_size=3, unique=True)) if places else []
    maps = [path for path in leaves(value) if isinstance(paths.at(value, path), dict)]
    added = (*data.draw(st.sampled_from(maps)), "new", "field")
    changes = {**dict.fromkeys(chosen, NEW), added: "v1"}
    result = text_edits.edit_document(text, changes)
    wanted = value
    for path in (path for path in changes if path not in result.failed):
        wanted = paths.replace_at(wanted, path, changes[path])
    assert reader.read(result.text)[0][0].value == wanted
    assert re.findall(r"# \w+", result.text) == re.findall(r"# \w+", text)
    assert not result.failed
    assert text_edits.edit_document(result.text, changes).text == result.text


COMMAND = "a: |  # c\n  run --x=1 \\\n    --yy 'z'\nb: 1\n"
OTHERS = [
    ("a key", "a: {b: 1} # c\n", ("a", "b"), Key("d"), "a: {d: 1} # c\n"),
    ("a key with children", "a:\n  b: # c\n  - d\n", ("a", "b"), Key("e"), "a:\n  e: # c\n  - d\n"),
    ("a key in JSON", '{"a": {"b": 1}}', ("a", "b"), Key("d"), '{"a": {"d": 1}}'),
    ("a key that is there already", "a: 1\nb: 2\n", ("a",), Key("b"), None),
    ("a key that is missing", "a: 1\n", ("b",), Key("c"), None),
    ("a removal", "a: 1\nb: 2 # c\n", ("b",), Removal(), "a: 1\n"),
    ("quotes of a number as it is written", "a: 1.10 # c\n", ("a",), Quotes(), 'a: "1.10" # c\n'),
    ("quotes of a word", "a: [yes, no]\n", ("a", 1), Quotes(), 'a: [yes, "no"]\n'),
    ("a number", "a: '2' # c\n", ("a",), 2, "a: 2 # c\n"),
    ("a boolean without a value before", "a:\nb: 1\n", ("a",), True, "a: true\nb: 1\n"),
    ("a list of a text", "a: b # c\n", ("a",), ["b"], 'a: ["b"] # c\n'),
    (
        "words in a block",
        COMMAND,
        ("a",),
        Words((Word(3, "--x", "--xx"), Word(9, "--yy", "--y"))),
        COMMAND.replace("--x", "--xx").replace("yy", "y"),
    ),
    ("a word with escapes", 'a: "x \\"y\\" z"\n', ("a",), Words((Word(1, '"y"', '"u"'),)), 'a: "x \\"u\\" z"\n'),
    ("a word in a plain text over lines", "a: b\n  c d\n", ("a",), Words((Word(1, "c", "e"),)), "a: b\n  e d\n"),
    ("a word that is not there", "a: b c\n", ("a",), Words((Word(1, "d", "e"),)), None),
    ("a word that needs quotes", "a: b c\n", ("a",), Words((Word(1, "c", ": e"),)), None),
    ("a word of a number", "a: 12\n", ("a",), Words((Word(0, "12", "13"),)), None),
]


@cases(("text", "path", "change", "wanted"), OTHERS)
def test_keys_words_and_other_values(text: str, path: Path, change: object, wanted: str | None):
    """Each kind of edit changes its part only. An edit that has no position, or that would change more, fails."""
    result = text_edits.edit_document(text, {path: change})
    assert result == ((text, (path,)) if wanted is None else (wanted, ()))


def test_a_field_below_a_renamed_one_is_edited_too():
    """Both paths are those of the text before the edits."""
    changes: dict[Path, object] = {("a",): Key("b"), ("a", "c"): 2}
    assert text_edits.edit_document("a: {c: 1}\n", changes).text == "b: {c: 2}\n"


SHARED = [
    ("an anchor", "a: &x {b: 1}\nc: *x\n", ("a", "b"), True),
    ("an alias", "a: &x {b: 1}\nc: *x\n", ("c", "b"), True),
    ("a merge key", "a: &x {b: 1}\nc:\n  <<: *x\n", ("c", "b"), True),
    ("another field", "a: &x {b: 1}\nc: *x\nd: 1\n", ("d",), False),
]


@cases(("text", "path", "is_shared"), SHARED)
def test_texts_of_several_fields_are_known(text: str, path: Path, is_shared: bool):
    """An edit of such a text can change another field."""
    assert text_edits.is_shared(text, path) is is_shared
