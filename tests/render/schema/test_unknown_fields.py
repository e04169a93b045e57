"""Every suggestion is about a definition that exists."""

from __future__ import annotations

import pytest

from krm_fn.render.schema import misplaced_fields, table, unknown_fields


def test_hints_are_about_definitions_that_are_there():
    """Without this test, a renamed model would lose its suggestions unnoticed."""
    definitions = table.load().definitions
    named = (
        {name for name, _ in (*unknown_fields._FIXES, *unknown_fields._BELOW, *unknown_fields._IN_MAIN)}
        | {parent.definition for parents in misplaced_fields.PARENTS.values() for parent in parents}
        | set(misplaced_fields.PARENTS)
    )
    assert named <= set(definitions)


def test_synonyms_are_not_fields():
    definitions = table.load().definitions
    assert not [
        (name, field)
        for name, field in (*unknown_fields._FIXES, *unknown_fields._BELOW, *unknown_fields._IN_MAIN)
        if field in definitions[name]["properties"]
    ]


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
    assert unknown_fields.nearest(word, known) == expected


CLAIM = "io.k8s.api.core.v1.PersistentVolumeClaimVolumeSource"


@pytest.mark.parametrize(
    ("reason", "definition", "key", "parent", "expected"),
    [
        ("an amount without its side", "Resources", "gpu", {}, "move it below limits"),
        ("in place of the only missing field", CLAIM, "name", {"name": "a"}, "write claimName"),
        ("beside all required fields", CLAIM, "name", {"claimName": "a", "name": "a"}, "write one of claimName, readOnly"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_fix(reason, definition, key, parent, expected):
    assert unknown_fields.fix(definition, key, parent).text == expected
