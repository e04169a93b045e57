"""The real controller of LeaderWorkerSets holds as many GPUs at the peak of a rollout as the forecast says."""

from __future__ import annotations

import itertools

from tests.review.forecast.rolled_services import Fleet, Service

STEPS = ((0, 1), (0, 2), (1, 0), (1, 1), (2, 1), ("50%", "25%"))
SIZES = ((2, 4), (4, 2), (1, 1))
SHAPES = [
    *(Service("LeaderWorkerSet", 4, 4, *sizes, *steps) for steps, sizes in itertools.product(STEPS, SIZES)),
    *(Service("LeaderWorkerSet", *pods, 1, 3, *steps) for steps, pods in itertools.product(((0, 1), (1, 1)), ((2, 4), (4, 2), (1, 1)))),
]


def test_the_controller_holds_as_many_gpus_as_the_forecast_says(control_plane, live_pods):
    fleet = Fleet(control_plane, {number: (service,) for number, service in enumerate(SHAPES)}, prefix="groups")
    assert fleet.roll_out() == []
