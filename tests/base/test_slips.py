"""Slips of the pen: which names are taken for another one, and which differ on purpose."""

from __future__ import annotations

from krm_fn.base import slips
from tests.support.cases import cases

PAIRS = [
    ("letters that name a zone", "cache-eu", "cache-us", ""),
    ("a single letter", "cache-a", "cache-b", ""),
    ("another short word", "team-chat", "team-chap", ""),
    ("another letter in a long word", "model-cashe", "model-cache", "model-cache"),
    ("a missing separator", "hftoken", "hf-token", "hf-token"),
    ("a short name", "abc", "abcd", ""),
    ("another case", "hf_token", "HF_TOKEN", "HF_TOKEN"),
]


@cases(("name", "known", "found"), PAIRS)
def test_short_words_differ_on_purpose(name, known, found):
    assert slips.nearest(name, [known]) == found
