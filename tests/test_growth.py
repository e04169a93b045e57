"""The comparison of two sizes finds quadratic time, and no other."""

from __future__ import annotations

import pytest

from tests.support import growth
from tests.support.cases import cases

WORK = [
    ("nothing to do", lambda size: None, True),
    ("linear", lambda size: sum(range(size * 1000)), True),
    ("quadratic", lambda size: sum(range(size * size * 10)), False),
]


@pytest.mark.slow  # measures two sizes several times
@cases(("run", "linear"), WORK)
def test_linear_time_is_told_from_quadratic_time(run, linear):
    assert growth.is_linear(run, 300) is linear
