"""Unquoted scalars mean what they mean to kubectl and the API server; the table was compared with sigs.k8s.io/yaml."""

import string

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.base.yaml import scalars
from tests.support.cases import cases

RESOLVED = [
    # reason, text, value
    ("a boolean of YAML 1.1 in two letters", "on", True),
    ("a boolean of YAML 1.1 in one letter", "y", True),
    ("n is false, although PyYAML disagrees", "n", False),
    ("capital booleans", "NO", False),
    ("Off", "Off", False),
    ("mixed case is no boolean", "yEs", "yEs"),
    ("the empty scalar", "", None),
    ("tilde", "~", None),
    ("null", "Null", None),
    ("octal with a leading zero", "0777", 511),
    ("octal of YAML 1.2", "0o777", 511),
    ("negative octal", "-0o17", -15),
    ("a leading zero that cannot be octal is a float, and a whole float an integer", "08", 8),
    ("hexadecimal", "0xFF", 255),
    ("binary", "0b11", 3),
    ("binary with other digits", "0b12", "0b12"),
    ("binary with a sign inside", "0b+0", 0),
    ("binary with a minus inside", "0b-1_01", -5),
    ("binary with a sign inside and beyond 64 bits", "0b+1" + "0" * 63, "0b+1" + "0" * 63),
    ("binary with two signs", "-0b-1", "-0b-1"),
    ("binary with a sign inside, in capitals", "0B+1", "0B+1"),
    ("hexadecimal with a sign inside", "0x+1", "0x+1"),
    ("underscores", "1_000", 1000),
    ("a leading underscore", "_1", "_1"),
    ("exponent without sign", "1e3", 1000),
    ("exponent with leading zero", "12e03", 12000),
    ("exponent without digits", "1e", "1e"),
    ("plus", "+1", 1),
    ("fraction without a leading digit", ".5", 0.5),
    ("fraction without digits", "1.", 1),
    ("only a dot", ".", "."),
    ("only a sign", "-", "-"),
    ("a fraction stays a float", "1.5", 1.5),
    ("a whole float is an integer after the trip through JSON", "1.0", 1),
    ("no base 60 with one colon", "22:22", "22:22"),
    ("no base 60 with two colons", "1:30:00", "1:30:00"),
    ("no dates", "2001-12-14", "2001-12-14"),
    ("no times", "2001-12-14T21:59:43.10-05:00", "2001-12-14T21:59:43.10-05:00"),
    ("the largest integer", "9223372036854775807", 2**63 - 1),
    ("one more is a float", "9223372036854775808", 2.0**63),
    ("the smallest integer", "-9223372036854775808", -(2**63)),
    ("30 digits", "123456789012345678901234567890", 1.2345678901234568e29),
    ("400 digits are beyond a float", "1" * 400, "1" * 400),
    ("an exponent beyond a float", "1e999", "1e999"),
    ("an unsigned 64-bit mask", "0xFFFFFFFFFFFFFFFF", 2.0**64),
    ("a longer mask", "0x1FFFFFFFFFFFFFFFF", "0x1FFFFFFFFFFFFFFFF"),
    ("equals sign", "=", "="),
    ("merge sign as a value", "<<", "<<"),
    ("digits of another script are text", "\u0661\u0662", "\u0661\u0662"),
    ("a hash that looks like a float", "1234e567", "1234e567"),
    ("a hash that is a float", "1234e56", 1234e56),
    ("a version", "1.2.3", "1.2.3"),
]


@cases(("text", "value"), RESOLVED)
def test_resolve(text, value):
    resolved = scalars.resolve(text)
    assert (type(resolved), resolved) == (type(value), value)


@pytest.mark.parametrize("text", [".inf", "-.Inf", "+.INF", ".nan", ".NaN"])
def test_what_json_cannot_hold_is_refused(text):
    with pytest.raises(ValueError, match=text.replace("+", r"\+")):
        scalars.resolve(text)


@pytest.mark.parametrize("text", [".Nan", "inf", "NaN", "-.nan"])
def test_what_only_looks_like_it_is_text(text):
    assert scalars.resolve(text) == text


PLAIN = [
    # reason, text, True if it may be unquoted
    ("an image", "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.8.1", True),
    ("a flag", "--model", True),
    ("a short flag", "-c", True),
    ("a path", "/bin/sh", True),
    ("a variable that Kubernetes expands", "$(POD_IP):8000", True),
    ("a URL", "http://a:80/b#c", True),
    ("words", "a b, c [d] {e}", True),
    ("a quantity", "80Gi", True),
    ("milli-CPUs", "100m", True),
    ("a number", "2", False),
    ("a version", "1.2", False),
    ("a boolean in any case", "yEs", False),
    ("one letter that is a boolean", "n", False),
    ("one letter that is none", "x", True),
    ("nothing", "", False),
    ("null", "null", False),
    ("a colon and a space", "a: b", False),
    ("a colon at the end", "a:", False),
    ("a comment", "a #b", False),
    ("a hash inside a word", "a#b", True),
    ("a leading space", " a", False),
    ("a trailing space", "a ", False),
    ("a tag", "!a", False),
    ("an alias", "*a", False),
    ("a list entry", "- a", False),
    ("a document marker", "---", False),
    ("a base 60 number", "1:30", False),
    ("a date", "2001-12-14", False),
    ("a hash of hexadecimal digits", "1234e567", False),
    ("an exabyte, which could be an exponent", "1E", False),
    ("two lines", "a\nb", False),
    ("another script", "\u00e9", False),
    ("merge sign", "<<", False),
]


@cases(("text", "expected"), PLAIN)
def test_plain(text, expected):
    assert scalars.plain(text) is expected


@given(st.text(alphabet=string.printable, max_size=12))
def test_what_is_plain_is_a_string_to_every_reader(text):
    if scalars.plain(text):
        assert scalars.resolve(text) == text
        assert yaml.safe_load(f"{text}: {text}") == {text: text}
        assert yaml.safe_load(f"- {text}") == [text]
