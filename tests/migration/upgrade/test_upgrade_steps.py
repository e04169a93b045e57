"""The steps of an upgrade: as few as possible, and with old and new pods that work together if the tables allow it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krm_fn.migration.upgrade import upgrade_steps
from krm_fn.migration.upgrade.upgrade_steps import Versions
from krm_fn.render.kinds import floors
from krm_fn.render.resolve.release_choice import RELEASES
from krm_fn.review.arguments import flag_tables
from tests.support.cases import cases
from tests.testbed import tier

PATHS = [
    # reason, release and runtime before, target, release and runtime after each step
    ("steps of two minor versions", "v0.9 0.9.0", "1.6", ["v1.2 1.1.1", "v1.3 1.3.1", "v1.5 1.5.1", "v1.6 1.6.2"]),
    ("the last step ends at an older patch", "v0.9 0.9.1", "1.5.0", ["v1.2 1.1.1", "v1.3 1.3.1", "v1.5 1.5.0"]),
    ("a runtime without a release of the same number", "v0.9 0.9.1", "1.1", ["v1.2 1.1.1"]),
    ("two minor versions", "v1.4 1.4.0", "1.6", ["v1.6 1.6.2"]),
    ("three minor versions", "v1.3 1.3.1", "1.6", ["v1.5 1.5.1", "v1.6 1.6.2"]),
    ("four minor versions, with an image between", "v1.2 1.2.0", "1.6", ["v1.4 1.4.2", "v1.6 1.6.2"]),
    ("five minor versions", "v1.2 1.1.1", "1.6", ["v1.3 1.3.1", "v1.5 1.5.1", "v1.6 1.6.2"]),
    ("a release that is pinned before its images stays until they have it", "v1.5 1.2.0", "1.6", ["v1.5 1.4.2", "v1.6 1.6.2"]),
    ("a runtime that the pinned release does not support is replaced at once", "v1.5 1.0.0", "1.6", ["v1.6 1.6.2"]),
    ("to 1.7 from two minor versions before", "v1.5 1.5.1", "1.7", ["v1.7 1.7.0"]),
    ("to 1.7", "v1.6 1.6.1", "1.7", ["v1.7 1.7.0"]),
    ("back from 1.7", "v1.7 1.7.0", "1.6", ["v1.6 1.6.2"]),
    ("to a named patch of 1.6", "v1.6 1.6.0", "1.6.2", ["v1.6 1.6.2"]),
    ("a release between", "v1.3 1.3.1", "1.5", ["v1.5 1.5.1"]),
    ("a new patch", "v1.6 1.6.0", "1.6", ["v1.6 1.6.2"]),
    ("at the target", "v1.6 1.6.2", "1.6", []),
    ("a release that is pinned behind the images", "v0.9 1.6.2", "1.6", ["v1.6 1.6.2"]),
    ("a release that is pinned beyond the target stays", "v1.6 1.4.0", "1.5", ["v1.6 1.5.1"]),
    ("back by one release", "v1.6 1.6.2", "1.5", ["v1.5 1.5.1"]),
    ("back to 0.9", "v1.6 1.6.2", "0.9", ["v1.5 1.5.1", "v1.3 1.3.1", "v1.2 1.1.1", "v0.9 0.9.1"]),
    ("back by four minor versions", "v1.6 1.6.2", "1.2", ["v1.4 1.4.2", "v1.2 1.2.1"]),
    ("an image of a release that krm-fn does not know", "v1.6 1.9.0", "1.6", ["v1.6 1.6.2"]),
]


def parsed(text: str) -> Versions:
    release, runtime = text.split()
    return Versions(release, flag_tables.number(runtime))


@cases(("start", "target", "points"), PATHS)
def test_a_path_has_the_fewest_steps_that_the_tables_allow(start, target, points):
    end = upgrade_steps.target(target)
    assert end is not None
    assert upgrade_steps.path(parsed(start), end) == tuple(map(parsed, points))


VERSIONS = st.builds(Versions, st.sampled_from([*RELEASES]), st.sampled_from(flag_tables.published_releases()))


@settings(max_examples=tier.number(200, 10))
@given(VERSIONS, st.sampled_from(flag_tables.published_releases()))
def test_each_path_ends_at_the_target_and_never_turns_back(start, end):
    points = (start, *upgrade_steps.path(start, end))
    assert points[-1].runtime == end
    positions = [[*RELEASES].index(point.release) for point in points]
    runtimes = [point.runtime for point in points]
    assert positions in (sorted(positions), sorted(positions, reverse=True))
    assert runtimes in (sorted(runtimes), sorted(runtimes, reverse=True))
    if start.release == upgrade_steps.release_of(start.runtime):
        assert all(upgrade_steps.distance(old.runtime, new.runtime) <= floors.OLDER for old, new in pairwise(points))
    if points[-1].release == upgrade_steps.release_of(end):  # otherwise it was pinned beyond the target
        assert upgrade_steps.path(points[-1], end) == ()


@pytest.mark.parametrize("text", ["", "newest", "1", "2.0", "1.8", "1.8.0", "1.5.1.2", "v", "-1.5", "1.5.1-rc1", "\uff11.5"])
def test_a_target_is_a_known_version(text):
    assert upgrade_steps.target(text) is None


def test_graphs_share_the_steps_that_they_have_in_common():
    """A graph of 1.3 is in the last two steps of a graph of 1.1, and one of 1.4 in the last one only."""
    starts = [parsed("v1.2 1.1.1"), parsed("v1.3 1.3.1"), parsed("v1.4 1.4.2")]
    steps = upgrade_steps.steps((start, upgrade_steps.path(start, (1, 6, 1))) for start in starts)
    assert [(step.number, step.old_release, step.release, step.old_runtime, step.runtime) for step in steps] == [
        (1, "v1.2", "v1.3", (1, 1, 1), (1, 3, 1)),
        (2, "v1.3", "v1.5", (1, 3, 1), (1, 5, 1)),
        (3, "v1.4", "v1.6", (1, 4, 2), (1, 6, 1)),
    ]


PINNED_BEYOND = [
    ("four minor versions", "v1.6 1.2.1", "1.6", ["v1.6 1.4.2", "v1.6 1.6.2"]),
    ("two minor versions", "v1.6 1.4.2", "1.6", ["v1.6 1.6.2"]),
    ("to a newer release", "v1.6 1.4.2", "1.7", ["v1.6 1.6.2", "v1.7 1.7.0"]),
]


@cases(("start", "target", "points"), PINNED_BEYOND)
def test_images_behind_a_pinned_release_move_in_steps_that_work_together(start, target, points):
    """`behaviour: v1.6` keeps the pods of images of 1.2. Their upgrade has images between, as without the pin."""
    end = upgrade_steps.target(target)
    assert end is not None
    assert upgrade_steps.path(parsed(start), end) == tuple(map(parsed, points))
