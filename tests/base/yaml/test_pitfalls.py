"""If YAML readers disagree, our reader agrees with kubectl and the API server, and our writer avoids ambiguous text."""

import pytest
import yaml

from krm_fn.base.yaml import emitter, reader
from tests.support.cases import cases

MATRIX = [
    # reason, what stands behind `a: `, what kubectl sees
    ("long booleans", "[yes, on, Off, NO]", [True, True, False, False]),
    ("short booleans", "[y, n]", [True, False]),
    ("octal of both YAMLs", "[0777, 0o777]", [511, 511]),
    ("binary and underscores", "[0b11, 1_000]", [3, 1000]),
    ("exponents without dot or sign", "[1e3, 12e03]", [1000, 12000]),
    ("a leading zero before an 8", "08", 8),
    ("base 60", '["x", 1:30:00, 22:22]', ["x", "1:30:00", "22:22"]),
    ("a date", "2001-12-14", "2001-12-14"),
    ("a plus", "+1", 1),
    ("30 digits", "123456789012345678901234567890", 1.2345678901234568e29),
    ("signs with a meaning", "[=, <<]", ["=", "<<"]),
    ("a merge", "{<<: {b: 1}, c: 2}", {"b": 1, "c": 2}),
    ("hashes", "[1234e567, 12345678, 0x1F, 00123456]", ["1234e567", 12345678, 31, 42798]),
]


@cases(("written", "value"), MATRIX)
def test_read_as_kubectl_does(written, value):
    documents, found = reader.read(f"a: {written}\n")
    assert not found
    assert documents[0].value == {"a": value}


def test_keys_are_what_was_written():
    """The exception: kubectl reads the key `y` as `"true"`; our reader keeps `y`."""
    assert reader.read("y: 1\n")[0][0].value == {"y": 1}


REFUSED = [
    # reason, text, code
    ("infinity", "a: .inf\n", "DYN010"),
    ("no number", "a: .NaN\n", "DYN010"),
    ("a tag, which kubectl ignores and others refuse", "a: !foo x\n", "DYN008"),
    ("a key twice, of which kubectl takes the last", "a: 1\na: 2\n", "DYN007"),
    ("a tab", "\ta: 1\n", "DYN004"),
]


@cases(("text", "code"), REFUSED)
def test_refused(text, code):
    assert [result.code for result in reader.read(text)[1]] == [code]


TEXTS = ["yes", "on", "Off", "NO", "y", "n", "0777", "0o777", "0b11", "1_000", "1e3", "08", "1:30:00", "22:22", "2001-12-14", "+1", ".inf"]
TEXTS += [
    ".NaN",
    "1" * 30,
    "=",
    "<<",
    "!foo x",
    "*x",
    "&x",
    "~",
    "null",
    "",
    "1234e567",
    "0x1F",
    "- a",
    "a: b",
    "#",
    "%",
    "@",
    "`",
    "|",
    ">",
]


@pytest.mark.parametrize("text", TEXTS)
def test_texts_stay_texts_to_every_reader(text):
    written = emitter.text({text: [text]})
    assert reader.read(written)[0][0].value == {text: [text]}
    assert yaml.safe_load(written) == {text: [text]}
