"""Quantities, and the text of values in messages."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.render.schema import fixes, schema_check

# The pattern that API servers put on quantities in resource definitions.
NUMBER = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
QUANTITY = re.compile(rf"^(\+|-)?{NUMBER}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?{NUMBER}))?\Z")


@pytest.mark.parametrize("text", ["1", "+1", "-1", "0.5", ".5", "5.", "16Gi", "500m", "1k", "1E", "1e3", "1E-3", "1e+.5", "100n"])
def test_quantities(text):
    assert schema_check.is_quantity(text)


@pytest.mark.parametrize(
    "text", ["", "+", "-", ".", "Gi", "1 Gi", "16GB", "16gb", "1K", "1ki", "1e", "1e+", "1..5", "--1", "1\n", "٣", "1e1e1", " 1"]
)
def test_not_quantities(text):
    assert not schema_check.is_quantity(text)


@given(text=st.text(alphabet="0159.+-eEKMGmniu ", max_size=7))
def test_quantities_are_what_the_pattern_says(text):
    assert schema_check.is_quantity(text) == bool(QUANTITY.match(text))


def test_long_values_are_shortened():
    assert fixes.show_scalar("x" * 1000) == '"' + "x" * 55 + '…"'
    assert fixes.show_scalar("x" * 58) == '"' + "x" * 58 + '"'
