"""The GPUs of a rollout at its peak: the most that any order allows in which pods become ready."""

from __future__ import annotations

import itertools

from krm_fn.review import forecast
from krm_fn.review.forecast import gpu_capacity, simulation
from krm_fn.review.forecast.rollouts import Rollout, Steps
from tests.review.forecast.rolled_services import Controller
from tests.support.cases import cases

GPU = "nvidia.com/gpu"


def demand(gpus):
    return (gpu_capacity.Demand(((GPU, gpus),) if gpus else ()),)


def rollout(old_pods, new_pods, old, new, steps, **more):
    return Rollout(old_pods, new_pods, demand(old), demand(new), steps, **more)


PEAKS = [
    ("larger pods: the last old pod stops when a new one is ready", rollout(4, 4, 2, 4, Steps(1, 1)), 18),
    ("eight times as large", rollout(8, 8, 1, 8, Steps(2, 2)), 66),
    ("many pods", rollout(20, 20, 4, 8, Steps(5, 5)), 180),
    ("a surge of two without missing pods", rollout(3, 3, 2, 4, Steps(2, 0)), 16),
    ("smaller pods: the peak is at the start", rollout(4, 4, 4, 2, Steps(1, 1)), 18),
    ("no surge: a new pod starts when an old one has stopped", rollout(4, 4, 2, 4, Steps(0, 1)), 16),
    ("more pods: old ones are added first", rollout(2, 10, 1, 2, Steps(3, 2)), 23),
    ("fewer pods", rollout(10, 4, 2, 4, Steps(1, 1)), 20),
    ("a StatefulSet with more and smaller pods: new pods have the new template", rollout(2, 4, 4, 2, Steps(0, 1, numbered=True)), 12),
    ("a StatefulSet with larger pods", rollout(4, 4, 2, 4, Steps(0, 1, numbered=True)), 16),
    ("groups: the surge stays until few old groups are left", rollout(4, 4, 2, 4, Steps(1, 1, numbered=True)), 18),
    ("groups: one stops at a time, and only if all others are ready", rollout(4, 4, 2, 4, Steps(2, 1, numbered=True)), 20),
    ("groups that get smaller: the surge starts before an old group stops", rollout(4, 4, 4, 2, Steps(1, 1, numbered=True)), 18),
    ("groups without a surge", rollout(4, 4, 2, 4, Steps(0, 1, numbered=True)), 16),
]


@cases(("reason", "of_service", "gpus"), PEAKS)
def test_peak(reason, of_service, gpus):
    assert simulation.peak([of_service]) == gpus
    assert forecast.total_gpus([of_service]).peak == gpus


def test_several_rollouts_may_be_at_their_peaks_together():
    growing, shrinking = rollout(4, 4, 2, 4, Steps(1, 1)), rollout(4, 4, 4, 2, Steps(1, 1))
    assert simulation.peak([growing, shrinking]) == 18 + 18


SHAPES = [
    (replicas, Steps(surge, unavailable), old, new)
    for replicas, surge, unavailable in itertools.product(range(1, 8), range(4), range(3))
    for old, new in ((1, 1), (1, 2), (2, 1), (1, 8), (4, 1))
    if (surge or unavailable) and unavailable <= replicas
]


def test_no_order_of_ready_pods_has_another_peak():
    for replicas, steps, old, new in SHAPES:
        states = Controller(replicas, steps).every()
        most = max(old_pods * old + new_pods * new for old_pods, _, new_pods, _ in states)
        assert simulation.peak([rollout(replicas, replicas, old, new, steps)]) == most, (replicas, steps, old, new)


def test_a_rollout_that_fits_its_peak_never_waits():
    for replicas, steps, old, new in SHAPES:
        of_service = rollout(replicas, replicas, old, new, steps)
        peak = simulation.peak([of_service])
        assert simulation.simulate([of_service], gpu_capacity.pool({GPU: peak})) == (peak, (False,), False)
        fewer = max(peak - 1, replicas * old)
        assert simulation.simulate([of_service], gpu_capacity.pool({GPU: fewer})).waited is (fewer < peak)
