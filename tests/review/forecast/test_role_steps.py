"""The steps of a DisaggregatedSet, as its controller computes them (`TestComputeAllSteps` of its planner has the same walks)."""

from __future__ import annotations

import itertools

from krm_fn.review.forecast import role_steps
from krm_fn.review.forecast.role_steps import Counts, Role
from tests.support.cases import cases

ROWS = [
    (
        "two alike roles: one more of each, then one less of each",
        [Role(2, 2), Role(2, 2)],
        [((2, 2), (0, 0)), ((2, 2), (1, 1)), ((1, 1), (1, 1)), ((1, 1), (2, 2)), ((0, 0), (2, 2))],
    ),
    ("one replica each: both up, both down", [Role(1, 1), Role(1, 1)], [((1, 1), (0, 0)), ((1, 1), (1, 1)), ((0, 0), (1, 1))]),
    ("without surge, old ones go first", [Role(1, 1, 0, 1), Role(1, 1, 0, 1)], [((1, 1), (0, 0)), ((0, 0), (0, 0)), ((0, 0), (1, 1))]),
    ("nothing runs, and nothing shall", [Role(0, 0), Role(0, 0)], [((0, 0), (0, 0))]),
]


@cases(("roles", "walk"), ROWS)
def test_the_steps_of_a_rollout(roles, walk):
    assert [*role_steps.steps(roles)] == [Counts(*each) for each in walk]


PAIRS = itertools.product([(1, 1), (3, 1), (1, 4), (3, 4)], [(1, 1), (2, 5), (5, 1), (5, 5)], (0, 1, 2))
SHAPES = [[Role(old, new, surge, 0 if surge else 1) for old, new in (one, other)] for one, other, surge in PAIRS]


def test_each_rollout_ends_and_no_old_role_is_left_alone():
    """The controller never keeps an old prefill without its decode. For that, a role without surge can have one replica more."""
    for roles in SHAPES:
        walk = [*role_steps.steps(roles)]
        assert walk[-1] == Counts((0, 0), tuple(role.new for role in roles)), roles
        assert [counts for counts in walk if len({bool(old) for old in counts.old}) > 1] == [], roles
        for role, peak in zip(roles, role_steps.peaks(roles), strict=True):
            assert max(role.old, role.new) <= peak <= max(role.old, role.new + max(role.surge, 1)), roles
