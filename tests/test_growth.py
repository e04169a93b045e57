"""The comparison of two sizes finds quadratic time, and no other."""

from __future__ import annotations

import pytest

from tests.support import growth

WORK = [
    ("nothing to do", lambda size: None, True),
    ("linear", lambda size: sum(range(size * 1000)), True),
    ("quadratic", lambda size: sum(range(size * size * 10)), False),
]


@pytest.mark.slow  # measures two sizes several times
@pytest.mark.parametrize(("run", "linear"), [row[1:] for row in WORK], ids=[row[0] for row in WORK])
def test_linear_time_is_told_from_quadratic_time(run, linear):
    assert growth.is_linear(run, 300) is linear
