"""Every suggestion is about a definition that exists."""

from __future__ import annotations

import pytest

from krm_fn.schema import suggestions, table


def test_hints_are_about_definitions_that_are_there():
    """Without this test, a renamed model would lose its suggestions unnoticed."""
    definitions = table.load().definitions
    named = (
        {name for name, _ in suggestions._SYNONYMS}
        | {name for places in suggestions._ELSEWHERE.values() for _, name in places}
        | set(suggestions._ELSEWHERE)
    )
    assert named <= set(definitions)


def test_synonyms_are_not_fields():
    definitions = table.load().definitions
    assert not [(name, field) for name, field in suggestions._SYNONYMS if field in definitions[name]["properties"]]


@pytest.mark.parametrize(
    ("reason", "word", "known", "expected"),
    [
        ("one letter too few", "imag", ("image", "args"), "image"),
        ("case does not count", "NODECOUNT", ("nodeCount",), "nodeCount"),
        ("nor do dashes and underscores", "node-count_", ("nodeCount",), "nodeCount"),
        ("nothing resembles it", "zzz", ("image", "args"), ""),
        ("nothing is known", "image", (), ""),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_nearest(reason, word, known, expected):
    assert suggestions.nearest(word, known) == expected
