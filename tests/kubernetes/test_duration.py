"""Durations are read and written as Go does it (package time, ParseDuration and Duration.String)."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.kubernetes import duration
from tests.support.cases import cases

WRITTEN = [
    ("minutes", "15m", "15m0s"),
    ("hours", "4h", "4h0m0s"),
    ("many hours", "100h", "100h0m0s"),
    ("seconds that make minutes", "90s", "1m30s"),
    ("a fraction of an hour", "1.5h", "1h30m0s"),
    ("a fraction without a zero", ".5m", "30s"),
    ("a point without a fraction", "5.m", "5m0s"),
    ("a plus", "+5m", "5m0s"),
    ("a fraction of a second beside minutes", "1m0.25s", "1m0.25s"),
    ("hours and milliseconds", "1h1ms", "1h0m0.001s"),
    ("half a second", "0.5s", "500ms"),
    ("microseconds that make milliseconds", "1500us", "1.5ms"),
    ("one microsecond in either spelling", "1µs", "1µs"),
    ("nanoseconds", "10ns", "10ns"),
    ("parts of nanoseconds are dropped", "1.5ns", "1ns"),
    ("also at the end of a minute", "59.9999999999s", "59.999999999s"),
    ("nothing", "0", ""),
    ("no seconds", "0s", ""),
    ("less than a nanosecond", "0.1ns", ""),
    ("below nothing", "-5m", ""),
]


@cases(("written", "text"), WRITTEN)
def test_text(written, text):
    assert duration.text(written) == text


@pytest.mark.parametrize("written", ["", "15", "m", "1h30", "1 h", "h1", "1d", "1h-5m", "--5m", "1e3s", "1,5h", "٣m", ".s", "+"])
def test_what_go_does_not_read_is_refused(written):
    with pytest.raises(ValueError, match="write for example 15m"):
        duration.seconds(written)


@given(st.integers(1, 2**62))
def test_what_was_written_is_read_as_the_same(nanoseconds):
    text = duration.text(f"{nanoseconds}ns")
    assert duration.seconds(text) == Decimal(nanoseconds) * Decimal("1e-9")
    assert duration.text(text) == text
