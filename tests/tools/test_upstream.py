"""`make upstream` fails when PyPI has a newer minor release than krm-fn."""

from __future__ import annotations

import pytest
import upstream

from krm_fn.render.resolve import release_choice

CASES = [
    ("the same release", ["1.5.1", "1.6.1"], 0),
    ("a newer patch version", ["1.6.1", "1.6.9"], 0),
    ("a newer minor release", ["1.6.1", "1.7.0"], 1),
    ("a minor release with two digits", ["1.6.1", "1.10.0"], 1),
    ("a newer major release", ["2.0.0"], 1),
    ("a candidate of a newer release", ["1.6.1", "1.7.0rc1", "1.7.0.post1"], 0),
    ("no release", ["1.7.0rc1"], 1),
]


@pytest.mark.parametrize(("published", "code"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
def test_only_a_newer_release_fails(published, code):
    assert upstream.judged(published, ["v0.9", "v1.5", "v1.6"])[0] == code


def test_the_line_names_the_newest_release_and_what_to_read():
    _, line = upstream.judged(["9.0.0"], list(release_choice.RELEASES))
    assert [*release_choice.RELEASES][-1] in line
    assert "UPSTREAM.md" in line
