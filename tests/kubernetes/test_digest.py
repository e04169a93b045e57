"""Digests are those of hashlib, without its library."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from krm_fn.kubernetes import digest


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_a_digest_is_that_of_hashlib(text):
    assert digest.hexadecimal(text) == hashlib.sha256(text.encode()).hexdigest()
