"""Comments of a resource that is written again: each one is at its field in the new version."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from krm_fn.base.results import Path as FieldPath
from krm_fn.origins import text_origins
from krm_fn.render import dynamo_api
from krm_fn.render.convert import versions
from krm_fn.repository.files import reading, text_comments, text_nodes
from tests.support.cases import cases
from tests.testbed import programs

GRAPHS = [
    pytest.param(source, id=f"{Path(source.file).relative_to(programs.ROOT)}-{source.document}")
    for file in sorted((programs.ROOT / "examples").rglob("*.yaml"))
    for source in reading.read(str(file)).sources
    if isinstance(source.value, dict) and source.address.kind in (dynamo_api.GRAPH, dynamo_api.REQUEST) and "metadata" in source.value
]


def commented(text):
    """The text with a comment above and behind each key that is alone on its line."""
    tree = text_nodes.parse(text)
    assert tree
    keys = {key.start: (key, value) for _, key, value in tree.root.fields() if key is not value}
    numbers = {
        text.count("\n", 0, start): pair for start, pair in keys.items() if not text[text.rfind("\n", 0, start) + 1 : start].strip(" -")
    }
    lines = []
    for number, line in enumerate(text.split("\n")):
        if number in numbers:
            value = numbers[number][1]
            pad = " " * (len(line) - len(line.lstrip(" ")))
            lines.append(f"{pad}# above {number}")
            is_open = value.kind == "scalar" and (value.style or text.count("\n", 0, value.end) > number)
            lines.append(line if is_open or "#" in line else f"{line} # behind {number}")
        else:
            lines.append(line)
    return "\n".join(lines)


@pytest.mark.parametrize("source", GRAPHS)
def test_no_comment_is_lost_in_a_conversion(source):
    """Each example with a comment at every field has all of them after a conversion to the other version, and the values are converted."""
    text = commented(source.text)
    version = dynamo_api.BETA1 if source.address.api_version == dynamo_api.V1ALPHA1 else dynamo_api.ALPHA1
    new = versions.to(version, source.value)
    result = text_comments.replace_mapping(text, (), new, text_origins.path_map(source.value, version))
    assert result is not None
    assert sorted(re.findall(r"# (?:above|behind) \d+", result)) == sorted(re.findall(r"# (?:above|behind) \d+", text))
    assert reading.parse(result.encode(), "x").sources[0].value == new


def test_an_item_of_a_json_list():
    """JSON stays JSON, with the indentation of the item."""
    text = '{\n "items": [\n  {"a": 1},\n  {\n   "b": 2\n  }\n ]\n}\n'
    assert text_comments.replace_mapping(text, ("items", 1), {"c": [3]}, lambda path: path) == (
        '{\n "items": [\n  {"a": 1},\n  {\n    "c": [\n      3\n    ]\n  }\n ]\n}\n'
    )


def test_an_item_of_a_block_list():
    """Only the item is written again; its neighbours keep their style."""
    text = "items:\n- {a: 1} # one\n- b: 2 # two\n  # three\n  c: 3\n# end\n"
    moved: dict[FieldPath, FieldPath] = {("b",): ("x",), ("c",): ("k", "z")}
    result = text_comments.replace_mapping(text, ("items", 1), {"x": "v", "k": {"z": 1}}, lambda path: moved[path])
    assert result == "items:\n- {a: 1} # one\n- x: v # two\n  k:\n    # three\n    z: 1\n# end\n"


IMPOSSIBLE = [
    ("an alias", "a: &x {b: 1}\nc: *x\n", ("c",)),
    ("a missing field", "a: {b: 1}\n", ("c",)),
    ("an anchor that another field needs", "a:\n  b: &x 1\nc: *x\n", ("a",)),
    ("no YAML", "a: [\n", ("a",)),
]


@cases(("reason", "text", "at"), IMPOSSIBLE)
def test_a_part_without_a_text_of_its_own(reason, text, at):
    """The result would change other fields, so there is none."""
    assert text_comments.replace_mapping(text, at, {"new": "value"}, lambda path: path) is None
