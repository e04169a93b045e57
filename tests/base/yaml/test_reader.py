"""Texts become the values that the API server would see, or findings with a place; nothing that comes in raises or hangs."""

import importlib
import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.base.yaml import builder, reader, stream
from krm_fn.base.yaml.python_parser import PythonParser
from tests.support import growth
from tests.support.cases import cases


@pytest.fixture(params=["libyaml", "python"])
def parser(request, monkeypatch):
    """Both parsers: the C extension, and what stands in where it is missing."""
    if request.param == "python":
        monkeypatch.setattr(stream, "Parser", PythonParser)
    return request.param


READ = [
    # reason, text, values of its documents
    ("a mapping", "a: 1\nb: [x, {y: z}]\n", [{"a": 1, "b": ["x", {"y": "z"}]}]),
    ("keys are texts as written", "y: 1\n1: 2\n1.0: 3\nnull: 4\n~: 5\n", [{"y": 1, "1": 2, "1.0": 3, "null": 4, "~": 5}]),
    ("quotes make strings", "a: 'y'\nb: \"1\"\n", [{"a": "y", "b": "1"}]),
    ("blocks are strings", "a: |\n  1\nb: >-\n  y\n  y\n", [{"a": "1\n", "b": "y y"}]),
    ("values of YAML 1.1", "a: on\nb: 0777\nc: 08\nd: 22:22\n", [{"a": True, "b": 511, "c": 8, "d": "22:22"}]),
    ("special signs as values", "a: =\nb: <<\n", [{"a": "=", "b": "<<"}]),
    ("several documents", "a: 1\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
    ("empty documents do not count", "---\n---\na: 1\n---\n# nothing\n---\n", [{"a": 1}]),
    ("a byte order mark", "\ufeffa: 1\n", [{"a": 1}]),
    ("Windows line ends", "a: 1\r\nb: |\r\n  x\r\n  y\r\n", [{"a": 1, "b": "x\ny\n"}]),
    ("aliases", "a: &x [1]\nb: *x\n", [{"a": [1], "b": [1]}]),
    ("an anchored value keeps its type", "a: &x y\nb: *x\n", [{"a": True, "b": True}]),
    ("a key that is an alias", "a: &x k\n*x : 1\n", [{"a": "k", "k": 1}]),
    ("an anchor that is set again", "a: &x 1\nb: &x 2\nc: *x\n", [{"a": 1, "b": 2, "c": 2}]),
    ("a merge before its mapping's keys", "b: &b {x: 1, y: 2}\nc:\n  <<: *b\n  x: 3\n", [{"b": {"x": 1, "y": 2}, "c": {"x": 3, "y": 2}}]),
    ("a merge after them", "c:\n  x: 3\n  <<: {x: 1, y: 2}\n", [{"c": {"x": 3, "y": 2}}]),
    ("of several merged mappings the first wins", "c:\n  <<: [{x: 1}, {x: 2, y: 2}]\n", [{"c": {"x": 1, "y": 2}}]),
    ("of two merges too", "c: {<<: {x: 1}, <<: {x: 2, y: 2}}\n", [{"c": {"x": 1, "y": 2}}]),
    ("a quoted merge sign is a key", "c: {'<<': 1}\n", [{"c": {"<<": 1}}]),
    ("a quoted merge sign is a string as a value", 'a: "<<"\n', [{"a": "<<"}]),
    ("the tag that kustomize writes for the string <<", "a: !!merge <<\nb: [!!merge <<]\n", [{"a": "<<", "b": ["<<"]}]),
    ("a merge key with its tag", "c: {!!merge <<: {x: 1}, y: 2}\n", [{"c": {"x": 1, "y": 2}}]),
    (
        "standard tags",
        "a: !!str 1\nb: !!int '1'\nc: !!float 1.5\nd: !!bool y\ne: !!null ~\n",
        [{"a": "1", "b": 1, "c": 1.5, "d": True, "e": None}],
    ),
    ("standard tags of collections", "a: !!map {b: !!seq [1]}\n", [{"a": {"b": [1]}}]),
    ("the tag of no meaning", "a: ! 1\n", [{"a": "1"}]),
    ("binary text", "a: !!binary aGVsbG8=\n", [{"a": "hello"}]),
    ("30 digits", "a: 123456789012345678901234567890\n", [{"a": 1.2345678901234568e29}]),
    ("JSON", '{"a": [1, 2.0, true, null, "x"]}', [{"a": [1, 2, True, None, "x"]}]),
    ("JSON with tabs", '{\n\t"a": 1\n}\n', [{"a": 1}]),
    ("JSON with a surrogate pair", '{"a": "\\ud83d\\ude00"}', [{"a": "\U0001f600"}]),
    ("JSON with 30 digits", '{"a": 123456789012345678901234567890}', [{"a": 1.2345678901234568e29}]),
    ("YAML that begins like JSON", "{a: b}\n", [{"a": "b"}]),
    ("two JSON documents", '{"a": 1}\n---\n{"b": 2}\n', [{"a": 1}, {"b": 2}]),
    ("nothing", "", []),
    ("only a comment", "# a\n", []),
]


@cases(("text", "values"), READ)
def test_read(text, values, parser):
    documents, found = reader.read(text)
    assert not found
    assert [document.value for document in documents] == values


FLOW_LIMIT = 1000 if yaml.__with_libyaml__ and importlib.import_module("yaml._yaml").get_version() >= (0, 2, 6) else 200
"""libyaml has a limit of its own since 0.2.6. In brackets it reads 1,024 characters ahead, and so reports that limit first."""


def nested(opening, levels=100_000):
    return opening * levels


LAUGHS = "a0: &a0 [x]\n" + "".join(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 10))
CHAIN = "a0: &a0 [x]\n" + "".join(f"a{step}: &a{step} {'[' * 150}*a{step - 1}{']' * 150}\n" for step in range(1, 9))

BROKEN = [
    # reason, text, code, line, column, words that help
    ("a tab for indentation", "a:\n\tb: 1\n", "DYN004", 2, 1, "indent with spaces"),
    ("a sign that begins no text", "a: @b\n", "DYN004", 1, 4, "cannot begin with @; put it in quotes"),
    ("two colons in a line", "a: b: c\n", "DYN004", 1, 5, "in quotes"),
    ("a line that stands too far left", "a:\n    b: 1\n  c: 2\n", "DYN004", 3, 3, "the 4 blanks of line 2 or"),
    ("a quote in a list that is not closed", 'a:\n- "x\n- "y"\n', "DYN004", 2, 3, "that opens on line 2 is not closed on its line"),
    ("a quote of a key that is not closed", "a: 'x\nb: 'y'\n", "DYN004", 1, 4, "that opens on line 1 is not closed on its line"),
    ("an apostrophe in quotes", "a: 'it's'\n", "DYN004", 1, 8, "write each quote inside of the text as ''"),
    ("JSON in double quotes", 'a: "{"b": 1}"\n', "DYN004", 1, 7, "put the text in single quotes"),
    ("a quote too few in brackets", 'a: ["b, "c"]\n', "DYN004", 1, 10, "close the quote where the text ends"),
    ("text behind a quote", 'a: "b" c\n', "DYN004", 1, 8, "the whole text in one pair of quotes"),
    (
        "a map and a list in one value",
        'e:\n  A: "1"\n  - name: B\n    value: c\n',
        "DYN004",
        2,
        3,
        "write it as - name: A, and value: with",
    ),
    ("a list behind a map", "e:\n    A: 1\n  - B\n", "DYN004", 2, 5, "on line 2, with 2 blanks before it, begin it with a dash too"),
    ("a dash below an entry", "a:\n  - x: 1\n    - y\n", "DYN004", 3, 5, "the 2 blanks of the dash on line 2"),
    ("a key in the column of dashes", "e:\n  - name: A\n  value: b\n", "DYN004", 3, 3, "give it the 4 blanks of name on line 2"),
    ("a key behind texts", "c:\n  args:\n    - a\n    x: 1\n", "DYN004", 4, 5, "give it the 2 blanks of args on line 2"),
    ("a line at a level of none", "# no\na:\n    b: 1\n  c: 2\n", "DYN004", 4, 3, "the 4 blanks of line 3 or the 0 blanks of line 2"),
    ("a key below a value", "a:\n  b: 1\n    c: 2\n", "DYN004", 3, 5, "so no key can be below it; give c: the 2 blanks of b:"),
    ("a name without metadata", "kind: A\n  name: b\n", "DYN004", 2, 3, "no line metadata: stands above name; write it there"),
    ("a key at the level of its parent", "a:\n  b:\n  c: 1\n    d: 2\n", "DYN004", 3, 3, "belongs below b; give it the 4 blanks of d"),
    ("a key too deep in an entry", "a:\n- b: 1\n    c: 2\n", "DYN004", 3, 5, "give c: the 2 blanks of b:"),
    ("an object with a dash", "limits:\n  - cpu: 1\n  memory: 2\n", "DYN004", 2, 3, "remove the dash before cpu"),
    (
        "a first entry without its dash",
        "e:\n    name: A\n    value: b\n  - name: C\n    value: d\n",
        "DYN004",
        2,
        5,
        "write - name: A, with 2 blanks before the dash",
    ),
    ("an entry without its dash", "e:\n- name: A\n  value: b\n  name: C\n  value: d\n", "DYN007", 4, 3, "here; write - name: C"),
    ("a key without a colon", "a:\n  b 1\n  c: 2\n", "DYN004", 2, 3, "put a colon behind its key"),
    ("a merge key without a colon", "a:\n  << *x\n  c: 2\n", "DYN004", 2, 3, "put a colon behind its key, <<"),
    (
        "two keys on a line",
        "e:\n  - name: A value: b\n",
        "DYN004",
        2,
        18,
        "write value: on a line of its own, or put the text behind name: in quotes",
    ),
    ("a map in place of components", "components:\n  F:\n    x: 1\n  - name: W\n", "DYN004", 2, 3, "write - name: F in place of F:"),
    ("a blank before a tag", "a:\n  image: b/c: 1.0\n", "DYN004", 2, 13, "write image: b/c:1.0"),
    ("an entry without a dash", "c:\n  - name: a\n    x: 1\n  b-c:\n    x: 2\n", "DYN004", 4, 3, "write - name: b-c"),
    (
        "a flag without a dash",
        'a:\n  - "x"\n  --max-len\n  - b\n',
        "DYN004",
        3,
        3,
        "this line has no dash, and is no key; write - --max-len",
    ),
    ("no blank behind a colon", "e:\n  - name: A\n    value:x\n  - name: B\n", "DYN004", 3, 5, "write value: x"),
    ("no blank behind the colon above a key", "e:\n  - name:A\n    value: x\n", "DYN004", 2, 5, "write name: A"),
    ("an entry in services", "services:\n  - name: F\n    x: 1\n  w:\n    x: 2\n", "DYN004", 2, 3, "write F: in place of - name: F"),
    ("a comma that is missing", '{\n  "a": 1\n  "b": 2\n}\n', "DYN004", 2, 9, "line 2 has no comma at its end"),
    (
        "a conflict of a merge",
        "a:\n<<<<<<< HEAD\n  b: 1\n=======\n  b: 2\n>>>>>>> other\n",
        "DYN004",
        2,
        1,
        "on the lines 2, 4 and 6; keep one of its two parts",
    ),
    (
        "two objects without a line between them",
        "apiVersion: v1\nkind: A\nmetadata: {name: a}\napiVersion: v1\nkind: B\nmetadata: {name: b}\n",
        "DYN007",
        4,
        1,
        "write a line --- above this one",
    ),
    ("a tab behind lines", "a:\n  b: 1\n\tc: 2\n", "DYN004", 3, 1, "indent with spaces"),
    ("a cause that the text does not show", "a:\n  b: |\n    x\n   c: 1\n", "DYN004", 4, 4, "correct this line, or the one above it"),
    ("two things of one name", "a: {b: 1}\na: {b: 2}\n", "DYN007", 2, 1, "give one of the two another name, or remove it"),
    ("a map in two parts", "a: {b: 1}\na: {c: 2}\n", "DYN007", 2, 1, "write the entries of both below one a"),
    ("a list twice", "a: [1]\na: [2]\n", "DYN007", 2, 1, "write the entries of both below one a"),
    ("a quote that is not closed", "a: 1\nb: 'x\nc: 2\n", "DYN004", 2, 4, "close the quote"),
    ("a bracket that is not closed", "a: [1\nb: 2\n", "DYN004", 2, 2, "close the bracket"),
    ("an alias without anchor", "a: *b\n", "DYN004", 1, 4, "write the value out"),
    ("a value that holds itself", "a: &a [*a]\n", "DYN004", 1, 8, "write the value out"),
    ("a value that holds itself under an older name", "b: &a 1\na: &a [*a]\n", "DYN004", 2, 8, "write the value out"),
    ("a merge of a text", "a: {<<: b}\n", "DYN004", 1, 5, "needs a mapping"),
    ("a key twice", "a:\n  b: 1\n  c: 2\n  b: 3\n", "DYN007", 4, 3, "remove one"),
    ("a key twice beside a merge", "a: {<<: {b: 1}, b: 2, b: 3}\n", "DYN007", 1, 23, "remove one"),
    ("a key twice in JSON", '{"a": 1,\n "a": 2}', "DYN007", 2, 2, "remove one"),
    ("a tag of one's own", "a: !secret b\n", "DYN008", 1, 4, "know the tag"),
    ("a tag of another kind of value", "a: !!int b\n", "DYN008", 1, 4, "!!int"),
    ("a merge tag on another value", "a: !!merge b\n", "DYN008", 1, 4, "know the tag"),
    ("a tag on a mapping", "a: !!set {b}\n", "DYN008", 1, 4, "know the tag"),
    ("binary that is no text", "a: !!binary /w==\n", "DYN008", 1, 4, "write the text"),
    ("a list as a key", "? [a]\n: b\n", "DYN009", 1, 3, "quotes"),
    ("an unquoted template", "a: {{ b }}\n", "DYN009", 1, 5, "quotes"),
    ("infinity", "a: .inf\n", "DYN010", 1, 4, "quotes"),
    ("NUL", "a: x\nb: \x00\n", "DYN003", 2, 4, "U+0000"),
    ("a bell", "a: \x07\n", "DYN003", 1, 4, "U+0007"),
    ("half a surrogate pair in JSON", '{"a": "\\ud83d"}', "DYN004", 1, 10, "escape code"),
    ("100,000 open brackets", nested("["), "DYN005", 1, FLOW_LIMIT + 1, "200 levels"),
    ("100,000 open braces", nested("{"), "DYN005", 1, FLOW_LIMIT + 1, "200 levels"),
    ("100,000 JSON objects", nested('{"a":'), "DYN005", 1, 1001, "200 levels"),
    ("100,000 dashes", nested("- "), "DYN005", 1, 401, "200 levels"),
    ("JSON that is deep but closed", "[" * 300 + "]" * 300, "DYN005", 1, 201, "200 levels"),
    ("aliases that explode", LAUGHS, "DYN006", 6, 40, "use fewer"),
    ("aliases that make it deep", CHAIN, "DYN006", 3, 159, "200 levels"),
]


@cases(("text", "code", "line", "column", "words"), BROKEN)
def test_broken(text, code, line, column, words):
    _, found = reader.read(text, "a.yaml")
    assert [(result.severity, result.code, result.file, result.line, result.column) for result in found] == [
        ("error", code, "a.yaml", line, column)
    ]
    assert words in found[0].message


@pytest.mark.slow  # measures two sizes several times
@pytest.mark.parametrize("opening", ["[", "{", '{"a":', "- "])
def test_many_levels_take_linear_time(opening, parser):
    assert growth.is_linear(lambda levels: reader.read(nested(opening, levels)), 100_000)


@pytest.mark.parametrize(("text", "code"), [(row[1], row[2]) for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_the_python_parser_finds_the_same(text, code, monkeypatch):
    monkeypatch.setattr(stream, "Parser", PythonParser)
    assert [result.code for result in reader.read(text)[1]] == [code]


def test_everything_wrong_is_found_at_once():
    text = "a: 1\na: .inf\n---\nb: [\n---\nc: 3\nd: !x y\n"
    documents, found = reader.read(text)
    assert [result.code for result in found] == ["DYN007", "DYN010", "DYN004", "DYN008"]
    assert [document.value for document in documents] == [{"a": 1}, {"c": 3, "d": "y"}]


@pytest.mark.parametrize("text", ["a: !!int hunter2\n", "a: !!merge hunter2\n", "a: !!binary hunter2\n", "a: -.inf\n"])
def test_a_finding_shows_no_value(text, parser):
    """The text may be a Secret."""
    (found,) = reader.read(text)[1]
    assert "hunter2" not in found.message
    assert ".inf" not in found.message


def test_findings_have_an_end():
    _, found = reader.read("".join(f"a: {number}\n" for number in range(10_000)))
    assert len(found) == builder.FINDINGS + 1
    assert "fix them first" in found[-1].message
    _, found = reader.read("---\n\x01\n" * 10_000)
    assert len(found) == reader.BROKEN_DOCUMENTS


def test_words_that_the_caller_takes_as_text():
    """A writer that does not know all booleans of YAML 1.1 leaves such texts without quotes."""
    documents, found = reader.read("a: [y, n, no, Y]\n---\nb: y\n", literal=("y", "n"))
    assert ([each.value for each in documents], found) == ([{"a": ["y", "n", False, True]}, {"b": "y"}], [])


def test_documents_know_where_they_stand():
    text = "# first\na: 1\n---\n# second\nb: 2\nc: 3\n--- {d: 4}\n...\n---\n---\ne: 5\n"
    documents, _ = reader.read(text, "a.yaml")
    slices = [text[document.start : document.end] for document in documents]
    assert slices == ["a: 1\n", "b: 2\nc: 3\n", "--- {d: 4}\n", "e: 5\n"]
    assert [document.line for document in documents] == [2, 5, 7, 11]
    assert [(document.file, document.number) for document in documents] == [("a.yaml", number) for number in range(4)]


UNDECODABLE = [
    # reason, bytes, line, column, words that help
    ("a byte of Latin-1", "a: 1\nb: \u00e9t\u00e9 \u00fc".encode("latin-1"), 2, 4, "0xe9"),
    ("characters before it count once", "b: \u00e9".encode() + b"\xff", 1, 5, "save the text as UTF-8"),
    ("UTF-16", "a: 1".encode("utf-16"), 1, 1, "UTF-16"),
    ("a text that ends in the middle of a character", "\u00e9".encode()[:1], 1, 1, "0xc3"),
]


@cases(("data", "line", "column", "words"), UNDECODABLE)
def test_undecodable(data, line, column, words):
    text, found = reader.decode(data, "a.yaml")
    assert text == ""
    assert [(result.code, result.file, result.line, result.column) for result in found] == [("DYN002", "a.yaml", line, column)]
    assert words in found[0].message


def test_decode_takes_the_byte_order_mark_off():
    assert reader.decode(b"\xef\xbb\xbfa: \xc3\xa9") == ("a: \u00e9", [])


SIGNS = [*" \n\t:-?[]{}&*!|>'\"%@,#~<a1\r\ufeff", "---\n", "a: ", "- ", "&a ", "*a", "<<: ", "!!str "]
YAML_LIKE = st.lists(st.sampled_from(SIGNS), max_size=40)


@given(st.one_of(st.text(), st.text(alphabet=st.characters()), YAML_LIKE.map("".join)))
def test_no_text_raises(text):
    documents, found = reader.read(text)
    for result in found:
        assert result.severity == "error"
        assert result.line >= 1
        assert result.column >= 1
    for document in documents:
        json.dumps(document.value, allow_nan=False)


@given(st.binary())
def test_no_bytes_raise(data):
    text, found = reader.decode(data)
    assert not (text and found)
    reader.read(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(alphabet=st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet=st.characters(exclude_categories=["Cs"])), inner, max_size=3)
    ),
    max_leaves=10,
).filter(lambda value: isinstance(value, (dict, list)))


@given(JSON, st.booleans())
def test_json_is_read_as_python_reads_it(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    documents, found = reader.read(text)
    assert not found
    assert [document.value for document in documents] == [value]
