"""Quantities are printed as by an API server (apimachinery `pkg/api/resource`), and invalid quantities are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.kubernetes import quantity
from tests.support.cases import cases

CANONICAL = [
    ("a whole number stays", "3", "3"),
    ("a number that YAML read as an integer", 7, "7"),
    ("a number that YAML read as a fraction", 0.25, "250m"),
    ("thousandths that make a whole", "4000m", "4"),
    ("thousandths that do not", "2750m", "2750m"),
    ("a fraction becomes thousandths", "0.75", "750m"),
    ("a fraction without a leading zero", ".2", "200m"),
    ("odd spellings that fit survive: a bare point", "6.", "6."),
    ("a trailing zero behind the point goes", "2.0", "2"),
    ("thousands take the larger unit", "9000", "9k"),
    ("thousands of thousands take the one after that", "9000k", "9M"),
    ("numbers below a thousand of their unit stay", "900k", "900k"),
    ("binary units divide while exact", "3072Mi", "3Gi"),
    ("binary units stay where they are not exact", "3000Mi", "3000Mi"),
    ("binary fractions become the smaller unit", "2.5Gi", "2560Mi"),
    ("binary amounts below 1024 print as plain numbers", "0.25Ki", "256"),
    ("binary amounts that are no whole number print as decimals", "1.3Ki", "1331200m"),
    ("the largest binary unit", "4096Pi", "4Ei"),
    ("a binary amount ends where 64 bits do", "16Ei", "9223372036854775807"),
    ("exponents stay exponents", "7e3", "7e3"),
    ("exponents move to a multiple of three", "70e2", "7e3"),
    ("exponents that vanish", "7000e-3", "7"),
    ("a fraction with an exponent", "3e-1", "300e-3"),
    ("an upper-case E with digits is an exponent", "2E3", "2E3"),
    ("an upper-case E alone is a unit", "2E", "2E"),
    ("a number beyond all units gets an exponent", "5000000E", "5e24"),
    ("odd spellings that fit survive: a leading zero", "07", "07"),
    ("odd spellings that fit survive: a sign", "+2", "+2"),
    ("zero is zero, whatever its unit", "0Gi", "0"),
    ("a negative amount", "-500m", "-500m"),
    ("a negative amount of thousands", "-2000", "-2k"),
    ("a negative binary amount", "-2048Mi", "-2Gi"),
    ("parts below a billionth count as one", "0.1n", "1n"),
    ("billionths and millionths", "2500n", "2500n"),
    ("digits beyond the fast path are kept exactly", "1234567890123456789", "1234567890123456789"),
    ("many digits before a unit", "123456789012345678901234567890", "123456789012345678901234567890"),
    ("blanks around it do not count", " 8Gi ", "8Gi"),
]


@cases(("written", "printed"), CANONICAL)
def test_a_quantity_is_printed_in_its_canonical_form(written, printed):
    assert quantity.parse(written).text == printed
    assert quantity.canonical(written) == printed


REFUSED = [
    ("nothing", ""),
    ("a unit alone", "Gi"),
    ("a sign alone", "-"),
    ("a point alone", "."),
    ("a unit nobody knows", "4GB"),
    ("a unit in the wrong case", "4gi"),
    ("two points", "1.2.3"),
    ("a broken exponent", "1e1.5"),
    ("an exponent without digits", "1e+"),
    ("an exponent beyond all use", "1e1000"),
    ("a blank inside", "1 Gi"),
    ("an underscore", "1_000"),
    ("digits of another script", "٣"),
    ("more digits than anybody means", "9" * 5000),
    ("a boolean", True),
    ("infinity", float("inf")),
]


@cases("written", REFUSED)
def test_what_is_no_quantity_is_refused_and_otherwise_left_alone(written):
    with pytest.raises(ValueError, match=r"not a quantity|no suffix"):
        quantity.parse(written)
    assert quantity.canonical(written) == f"{written}"
    assert quantity.value(written) == 0


VALUES = [
    ("absent counts as nothing", None, 0),
    ("zero with a unit is zero", "0Gi", 0),
    ("one billionth is the unit", "1n", 1),
    ("a whole", "2", 2 * quantity.UNIT),
    ("two spellings of one amount are equal", "1Ki", 1024 * quantity.UNIT),
]


@cases(("written", "amount"), VALUES)
def test_the_value_is_in_billionths(written, amount):
    assert quantity.value(written) == amount


@given(st.from_regex(r"[+-]?([0-9]{1,20}(\.[0-9]{0,12})?|\.[0-9]{1,12})([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2})?", fullmatch=True))
def test_the_canonical_form_is_the_same_amount_and_its_own_canonical_form(written):
    parsed = quantity.parse(written)
    assert quantity.parse(parsed.text) == parsed


@given(st.one_of(st.text(max_size=12), st.floats(), st.integers(), st.text("0123456789.eEKiMmnu+-", max_size=12)))
def test_nothing_else_than_a_value_error_is_ever_raised(written):
    assert isinstance(quantity.canonical(written), str)
