"""The waves of a step: which graphs are upgraded together, so that the GPUs suffice."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, example, settings
from hypothesis import given as drawn
from hypothesis import strategies as st

from krm_fn.migration.upgrade import waves
from krm_fn.review.forecast import gpu_capacity, rollouts, simulation
from krm_fn.review.forecast.rollouts import Rollout, Service, Steps
from tests.review.forecast.test_simulation import GPU, node, size
from tests.support import given
from tests.support.cases import cases
from tests.testbed import tier

SURGE, IN_PLACE, AT_ONCE = Steps(1, 0), Steps(0, 1), Steps(0, 9, at_once=True)


def graph(name, *parts):
    return waves.of_graph(Service("team", name, ""), parts)


def rolling(replicas, gpus, steps=SURGE, *, new_replicas=None, new_gpus=None):
    """A rollout of pods with `gpus` GPUs each."""
    after = size(gpus if new_gpus is None else new_gpus)
    return Rollout(replicas, replicas if new_replicas is None else new_replicas, size(gpus), after, steps)


def fleet(*surges, steps=SURGE):
    """Graphs with one pod each that needs this number of GPUs: `a`, `b` and so on."""
    return [graph(name, rolling(1, gpus, steps)) for name, gpus in zip("abcdefghijklmnop", surges, strict=False)]


def names(result):
    return ["".join(key.graph for key in wave) for wave in result.waves]


GIVES_BACK, GROWS = graph("a", rolling(2, 2, IN_PLACE, new_gpus=1)), graph("a", rolling(1, 2, IN_PLACE, new_gpus=4))
PAIR = graph("a", rolling(2, 0), rolling(1, 1))
WITHIN = [
    # reason, graphs, limit, waves, peaks, graphs that do not fit with the GPUs that are missing
    ("no graph", [], 4, [], [], {}),
    ("room for both", fleet(1, 1), 4, ["ab"], [4], {}),
    ("room for one", fleet(1, 1), 3, ["a", "b"], [3, 3], {}),
    ("pairs that fill the room", fleet(3, 2, 1, 2), 12, ["ac", "bd"], [12, 12], {}),
    ("one that first-fit decreasing divides into three", fleet(4, 4, 3, 3, 3, 3), 30, ["acd", "bef"], [30, 30], {}),
    ("no room", fleet(1, 2), 3, [], [], {"a": 1, "b": 2}),
    ("no room for one", fleet(1, 2), 4, ["a"], [4], {"b": 1}),
    ("pods that stop first need no room", fleet(1, 2, steps=IN_PLACE), 3, ["ab"], [3], {}),
    ("a graph that shrinks makes room", [graph("b", rolling(1, 2)), GIVES_BACK], 6, ["a", "b"], [6, 6], {}),
    ("a graph that grows goes last", [GROWS, graph("b", rolling(1, 2))], 6, ["b", "a"], [6, 6], {}),
    ("pods without GPUs", fleet(0, 0), 0, ["ab"], [0], {}),
    ("frontend and worker of one graph", [PAIR, graph("b", rolling(1, 1))], 3, ["a", "b"], [3, 3], {}),
]


@cases(("graphs", "limit", "expected", "peaks", "misfits"), WITHIN)
def test_waves_within_a_limit(graphs, limit, expected, peaks, misfits):
    """The GPUs of all graphs together, of those that wait and those that are done too, stay within the limit."""
    result = waves.within(graphs, limit)
    assert (names(result), [*result.peaks]) == (expected, peaks)
    assert {misfit.graph.graph: misfit.missing for misfit in result.misfits} == misfits


COUNT = st.integers(0, 3)
PARTS = st.builds(
    lambda replicas, gpus, steps, new_replicas, new_gpus: rolling(
        replicas, gpus, steps, new_replicas=new_replicas if new_replicas < 4 else None, new_gpus=new_gpus if new_gpus < 4 else None
    ),
    COUNT,
    COUNT,
    st.sampled_from([SURGE, IN_PLACE, Steps(2, 1), AT_ONCE]),
    st.integers(0, 8),
    st.integers(0, 8),
)


def fleets(most):
    """Fleets of graphs with one or two workloads each. Most keep their number and size of pods."""
    graphs = st.lists(st.lists(PARTS, min_size=1, max_size=2), max_size=most)
    return graphs.map(lambda drawn_graphs: [graph(f"{number}", *parts) for number, parts in enumerate(drawn_graphs)])


def simulated_peaks(graphs, result, limit):
    """Simulates the waves one after the other on a cluster with `limit` GPUs; yields the GPUs of all graphs at the peak of each wave."""
    pool = gpu_capacity.pool({GPU: limit})
    for entry in graphs:
        for rollout in entry.rollouts:
            for _ in range(rollout.old_units):
                assert pool.take(rollout.old_demands) is not None
    by_key = {entry.graph: entry for entry in graphs}
    for wave in result.waves:
        held = limit - pool.free()
        parts = [part._replace(placements=(("any",),) * part.old_units) for key in wave for part in by_key[key].rollouts]
        simulated = simulation.simulate(parts, pool)
        assert (simulated.waited, any(simulated.stuck)) == (False, False)
        yield held + simulated.peak - sum(by_key[key].gpus.before for key in wave)


@settings(max_examples=tier.number(60, 10), deadline=None)
@drawn(fleets(6), st.integers(0, 12))
def test_no_wave_needs_more_than_the_limit_and_no_graph_is_lost(graphs, spare):
    check_waves(graphs, sum(entry.gpus.before for entry in graphs) + spare)


def check_waves(graphs, limit):
    """Simulates the waves: their peaks stay within the limit, and each graph is in one wave or is named as one that does not fit."""
    result = waves.within(graphs, limit)
    assert all(peak <= named <= limit for peak, named in zip(simulated_peaks(graphs, result, limit), result.peaks, strict=True))
    planned = [key for wave in result.waves for key in wave]
    assert sorted([*planned, *(misfit.graph for misfit in result.misfits)]) == sorted(entry.graph for entry in graphs)
    assert all(result.waves)
    assert all(misfit.missing > 0 for misfit in result.misfits)


def fewest(graphs, room):
    """The fewest waves by trying each set of graphs as the first one; None if there are none."""
    if not graphs:
        return 0
    counts = []
    for count in range(1, len(graphs) + 1):
        for wave in itertools.combinations(graphs, count):
            if sum(entry.extra for entry in wave) <= room:
                rest = [entry for entry in graphs if entry not in wave]
                counts.append(fewest(rest, room - sum(entry.growth for entry in wave)))
    return min((count + 1 for count in counts if count is not None), default=None)


@settings(max_examples=tier.number(40, 10), deadline=None)
@drawn(fleets(5), st.integers(0, 8))
def test_the_waves_are_the_fewest_and_all_graphs_fit_if_an_order_exists(graphs, spare):
    result = waves.within(graphs, sum(entry.gpus.before for entry in graphs) + spare)
    count = fewest(graphs, spare)
    assert (len(result.waves) if not result.misfits else None) == count


@settings(max_examples=tier.number(40, 10), deadline=None)
@drawn(fleets(7), st.integers(0, 8), st.integers(1, 4))
def test_a_greater_limit_never_needs_more_waves(graphs, spare, more):
    """That holds if all graphs fit: a greater limit can give a wave to a graph that did not fit."""
    limit = sum(entry.gpus.before for entry in graphs) + spare
    result = waves.within(graphs, limit)
    assume(not result.misfits)
    assert len(waves.within(graphs, limit + more).waves) <= len(result.waves)


@settings(max_examples=tier.number(40, 10), deadline=None)
@drawn(st.lists(st.integers(1, 8), min_size=1, max_size=8), st.integers(8, 16))
@example([4, 4, 3, 3, 3, 3], 10)
def test_many_graphs_need_at_most_a_few_more_waves(extras, spare):
    """First-fit decreasing needs at most 11/9 of the fewest waves and 6/9 more (Dósa 2007)."""
    graphs = [graph(f"{number}", rolling(1, gpus)) for number, gpus in enumerate(extras)]
    best = waves.within(graphs, sum(extras) + spare)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waves, "_EXACT", 0)
        result = waves.within(graphs, sum(extras) + spare)
    assert len(result.waves) <= (11 * len(best.waves) + 6) // 9
    assert sorted(key for wave in result.waves for key in wave) == sorted(entry.graph for entry in graphs)
    assert max(result.peaks) <= sum(extras) + spare


@settings(max_examples=tier.number(40, 10), deadline=None)
@drawn(fleets(12), st.integers(0, 12))
def test_many_graphs_stay_within_the_limit(graphs, spare):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waves, "_EXACT", 0)
        check_waves(graphs, sum(entry.gpus.before for entry in graphs) + spare)


def test_graphs_that_hold_more_than_the_limit_are_named():
    result = waves.within([*fleet(2), graph("b", rolling(1, 1, IN_PLACE))], 2)
    assert (names(result), result.excess) == (["b"], 1)
    findings = [*waves.findings(result, {Service("team", "a", ""): given.graph({}, name="a")})]
    assert given.findings(findings) == [("DYN666", ""), ("DYN667", "")]


def test_a_graph_that_does_not_fit_is_named_with_what_would_help():
    """The remedies are those that lower its peak, the cheapest first."""
    (misfit,) = waves.within([graph("a", rolling(2, 4))], 9).misfits
    assert misfit.missing == 3
    surge, replicas = misfit.remedies
    assert "maxSurge" in surge or "max-surge" in surge
    assert "one replica stops at a time; the peak is then 8 GPUs" in surge
    assert replicas == "lower its replicas during the step"


NODES = [
    # reason, graphs, GPUs of nodes, waves, graphs that wait alone, graphs that do not fit
    ("room for all", fleet(1, 1), (4,), ["ab"], "", ""),
    ("room for one", fleet(1, 1), (3,), ["a", "b"], "", ""),
    ("room in pieces", fleet(2, 2), (3, 3), [], "", "ab"),
    ("room on one of two nodes", fleet(2, 2), (4, 3), ["a", "b"], "", ""),
    ("a pod may be missing, so the others wait", [graph("a", rolling(4, 1, Steps(1, 1)))], (4,), ["a"], "a", ""),
    ("no further GPU is needed", fleet(2, 2, steps=IN_PLACE), (4,), ["ab"], "", ""),
    ("no node", fleet(1), (), [], "", "a"),
    ("pods without GPUs need no node", fleet(0), (), ["a"], "", ""),
]


@cases(("graphs", "gpus", "expected", "waiting", "misfits"), NODES)
def test_waves_on_nodes(graphs, gpus, expected, waiting, misfits):
    result = waves.on_nodes(graphs, [node(f"node-{number}", count) for number, count in enumerate(gpus)], [])
    assert (names(result), "".join(key.graph for key in result.waiting)) == (expected, waiting)
    assert "".join(misfit.graph.graph for misfit in result.misfits) == misfits
    assert len(result.peaks) == len(result.waves)


@settings(max_examples=tier.number(40, 10), deadline=None)
@drawn(fleets(6), st.lists(st.integers(1, 12), max_size=4))
def test_no_pod_waits_on_nodes_and_no_graph_is_lost(graphs, gpus):
    """The waves are simulated again, from the state before the step. Only a wave of one graph may wait, and it ends."""
    nodes = [node(f"node-{number}", count) for number, count in enumerate(gpus)]
    result = waves.on_nodes(graphs, nodes, [])
    free, located = rollouts.place([part for entry in graphs for part in entry.rollouts], nodes, [])
    parts = iter(located)
    by_key = {entry.graph: [next(parts) for _ in entry.rollouts] for entry in graphs}
    for wave in result.waves:
        simulated = simulation.simulate([part for key in wave for part in by_key[key]], free)
        assert not any(simulated.stuck)
        assert not simulated.waited or (len(wave) == 1 and wave[0] in result.waiting)
    planned = [key for wave in result.waves for key in wave]
    assert sorted([*planned, *(misfit.graph for misfit in result.misfits)]) == sorted(entry.graph for entry in graphs)
