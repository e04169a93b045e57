"""Real controllers hold as many GPUs at the peak of a rollout as the forecast says, if pods become ready one after the other."""

from __future__ import annotations

import itertools
import os

from tests.review.forecast.rolled_services import Fleet, Service

STRIDE = int(os.environ.get("KRM_FN_PEAK_STRIDE", "6"))  # every sixth shape; `make forecast` takes all
SIZES = ((2, 4), (1, 8), (4, 2), (2, 2))


def shapes():
    """Yields sixty shapes: services that are rolled out together."""
    steps = ((1, 0), (0, 1), (1, 1), (2, 2), ("25%", "25%"), ("50%", 0), (0, "34%"), (3, 1))
    for (surge, unavailable), sizes, replicas in zip(
        itertools.cycle(steps), itertools.cycle(SIZES), itertools.islice(itertools.cycle((1, 3, 4, 5, 8)), 32)
    ):
        yield (Service("Deployment", replicas, replicas, *sizes, surge, unavailable),)
    for (surge, unavailable), pods in itertools.product(((1, 0), (1, 1), ("25%", "25%")), ((2, 5), (5, 2))):
        yield (Service("Deployment", *pods, 1, 3, surge, unavailable),)
    for sizes, pods in itertools.product(SIZES[:3], ((3, 3), (2, 4), (4, 2))):
        yield (Service("StatefulSet", *pods, *sizes),)
    for first, second in itertools.combinations(range(5), 2):
        pair = (SIZES[first % 4], SIZES[second % 4])
        yield (Service("Deployment", 4, 4, *pair[0], 1, first % 2), Service("Deployment", 3, 3, *pair[1], "50%", second % 2))
    for count in (2, 3, 4):
        yield tuple(Service("Deployment", number, number, 2, 4, 1, 1) for number in range(1, count + 1))


SHAPES = [*shapes()]


def test_there_are_sixty_shapes_of_each_kind():
    assert len(SHAPES) == 60
    sizes = {(service.new > service.old) - (service.new < service.old) for shape in SHAPES for service in shape}
    assert sizes == {-1, 0, 1}


def test_the_controllers_hold_as_many_gpus_as_the_forecast_says(control_plane, controllers):
    fleet = Fleet(control_plane, {number: shape for number, shape in enumerate(SHAPES) if number % STRIDE == 0})
    assert fleet.roll_out() == []
    assert all(service.seen() <= service.forecast().peak for service in fleet.services.values())
