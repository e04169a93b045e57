"""A text in block style has the same values with their types, and the same lines of items, as PyYAML's parser and `Builder` give it."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from krm_fn.base.yaml import block_style, reader
from krm_fn.render.krm.event_layout import EventLayout
from krm_fn.render.krm.layout import Layout
from tests.support.cases import cases

ROOT = Path(__file__).resolve().parents[3]
HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
READ = [
    # text, value
    ("a: b\n", {"a": "b"}),
    ("a: 1\nb: true\nc: ~\nd: 0777\ne: 1e3\non: y\n", {"a": 1, "b": True, "c": None, "d": 511, "e": 1000, "on": True}),
    ("a:\n  b: c\nd:\n- e\n- f: g\n  h: i\n", {"a": {"b": "c"}, "d": ["e", {"f": "g", "h": "i"}]}),
    ("a:\n  - - b\n    - c: d\n  - - {}\n", {"a": [["b", {"c": "d"}], [{}]]}),
    ("a:\nb:\n  c:\nd: []\n", {"a": None, "b": {"c": None}, "d": []}),
    ("# one\n\na: b\n  # two\nc: d\n", {"a": "b", "c": "d"}),
    ("a: 'it''s'\nb: \"c: d\"\nc: --model\nd: a#b\n", {"a": "it's", "b": "c: d", "c": "--model", "d": "a#b"}),
    ("a: |\n  b\n   c\n\nd: |-\n  e\nf: |+\n  g\n\n", {"a": "b\n c\n", "d": "e", "f": "g\n\n"}),
    ("a:\n- |\n  b\n- c: |\n    d\n", {"a": ["b\n", {"c": "d\n"}]}),
]
LEFT = [
    # reason, text
    ("an anchor", "a: &b c\n"),
    ("an alias", "a: *b\n"),
    ("a tag", "a: !!str b\n"),
    ("a merge", "<<: {}\n"),
    ("brackets", "a: [b]\n"),
    ("a folded block", "a: >\n  b\n"),
    ("an escape", 'a: "\\n"\n'),
    ("a comment behind a value", "a: b # c\n"),
    ("a text on two lines", "a: b\n  c\n"),
    ("a value below its key", "a:\n  b\n"),
    ("a document marker", "---\na: b\n"),
    ("a second document", "a: b\n---\nc: d\n"),
    ("two blanks after a dash", "a:\n  - b\n  -  c\n"),
    ("a tab", "a:\tb\n"),
    ("another line end", "a: b\r\n"),
    ("a line separator in a text", "a: 'b\u2028c'\n"),
    ("no line end", "a: b"),
    ("a key twice", "a: b\na: c\n"),
    ("a wrong indentation", "a:\n    b: c\n  d: e\n"),
    ("an entry in a mapping", "a: b\n- c\n"),
    ("a key in a list", "a:\n  - b\n  c: d\n"),
    ("a list", "- a\n"),
    ("only comments", "# a\n"),
    ("a deeper line below an older key", "a:\nb: c\n  d: e\n"),
    ("a number that JSON does not have", "a: .inf\n"),
    ("blanks in a literal block", "a: |\n  b\n   \n  c\n"),
    ("a literal block with a shallow line", "a:\n  b: |\n  c\n"),
    ("a literal block without a line", "a: |\n"),
    ("too deep", "".join(f"{' ' * level}a:\n" for level in range(150))),
]


def typed(value):
    """A value as text that differs for `1`, `1.0` and `True`, and for another order of keys."""
    return json.dumps(value)


@cases(("text", "value"), READ)
def test_block_style_is_read(text, value):
    block = block_style.read(text)
    assert block is not None
    assert typed(block.value) == typed(value)


@cases("text", LEFT)
def test_a_text_with_anything_else_is_left_to_the_complete_parser(text):
    assert block_style.read(text) is None


@cases(("text", "value"), READ)
def test_the_complete_parser_reads_the_same(text, value):
    (document,), findings = reader.read(text)
    assert not findings
    assert typed(document.value) == typed(value)


def lines(layout, value):
    """The spans and lines of all parts of a ResourceList, and the column of its dashes."""
    parts = [part for part in (*value.values(), *value["items"]) if isinstance(part, dict | list)]
    return [(layout.spans.get(id(part)), layout.lines.get(id(part))) for part in parts], layout.column


def is_same(text):
    """Compares both readers. False if only the complete one reads the text."""
    layout, complete = Layout(text), EventLayout(text)
    value = layout.read_block()
    if value is None:
        return False
    expected, findings = reader.attempt(complete.read, text)
    assert not findings
    assert typed(value) == typed(expected)
    assert lines(layout, value) == lines(complete, expected)
    return True


def as_list(documents, indent=""):
    """The text of a ResourceList with these texts as items."""
    entries = [f"{indent}- {document.strip()}".replace("\n", f"\n{indent}  ") for document in documents]
    return HEAD + "".join(f"{entry}\n" for entry in entries) + "functionConfig:\n  kind: DynamoRender\n"


def examples():
    """All documents of the examples, without the comments before them."""
    files = sorted((ROOT / "examples").rglob("*.yaml"))
    documents = [part for file in files for part in file.read_text().split("\n---\n")]
    return ["\n".join(line for line in document.splitlines() if not line.startswith("#")) for document in documents]


def test_examples_have_the_same_values_and_lines():
    read = [is_same(as_list([document], indent)) for document in examples() for indent in ("", "  ")]
    assert sum(read) > 100


BITS = (
    *("  ", " ", "- ", "-", ":", ": ", "#", " #", "'", '"', "|", "|-", "|+", ">", "&a", "*a", "!x", "{}", "[]", "~", "\t", "?", "<<: "),
    *("---", "...", "%", "@", "é", "\u2028", "\x85", "\\", "0", "null", "1e3", "=", ",", "\n", "\n\n", "\n  ", "\n# c", "\r\n", "\ufeff"),
)


def changed(text, chance):
    """A text with a random mistake."""
    position = chance.randrange(len(text))
    if chance.random() < 0.5:
        return text[:position] + chance.choice(BITS) + text[position:]
    if chance.random() < 0.5:
        return text[:position] + text[position + chance.randint(1, 3) :]
    written = text.split("\n")
    number = chance.randrange(len(written))
    written[number] = " " * chance.randint(0, 8) + written[chance.randrange(len(written))].strip()
    return "\n".join(written)


@pytest.mark.parametrize("seed", range(10))
def test_texts_with_mistakes_have_the_same_values_and_lines(seed):
    chance = Random(seed)  # noqa: S311 - the same texts in each run
    documents, read = examples(), 0
    for _ in range(150):
        text = as_list(["\n".join(chance.choice(documents).split("\n")[: chance.randint(3, 40)])], chance.choice(["", "  "]))
        for _ in range(chance.randint(1, 3)):
            text = changed(text, chance)
        read += is_same(text.rstrip("\n") + "\n")
    assert read > 10
