"""The waves of a step: the graphs that are upgraded together, so that their rollouts fit a number of GPUs, or the nodes of a cluster.

All workloads of a graph are in one wave, so its frontend and its workers change together. The graphs of a wave begin at the same time, and
the next wave begins when all of them have ended.

With a number of GPUs, a wave fits if the peaks of its graphs and the GPUs of all other graphs are together within the limit. These waves
are the fewest possible for up to `_EXACT` graphs that need more GPUs than they hold. For more graphs that need the same number of GPUs
after the step as before, they are at most 11/9 of the fewest, and one more: it is the algorithm first-fit decreasing (Dósa 2007).

With nodes, a wave fits if the simulation of the forecast ends and no pod waits for a node. This order is a heuristic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from krm_fn.base import codes, report, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes.types import Resource
from krm_fn.review import forecast
from krm_fn.review.forecast import Gpus, native_workloads, rollouts, simulation
from krm_fn.review.forecast.gpu_capacity import Nodes
from krm_fn.review.forecast.rollouts import Rollout, Service

_EXACT = 10
"""The largest number of graphs for which all divisions into waves are compared: 3 to the power of it are tried."""
GraphKey = Service
"""A graph: its namespace and name, with an empty service; or a standalone component: its namespace and name, with an empty graph."""


class GraphRollouts(NamedTuple):
    """The rollouts of all workloads of one graph in a step, and their GPUs."""

    graph: GraphKey
    rollouts: tuple[Rollout, ...]
    gpus: Gpus

    @property
    def extra(self) -> int:
        """The GPUs that the graph needs at its peak besides those that it holds before the step."""
        return self.gpus.peak - self.gpus.before

    @property
    def growth(self) -> int:
        """The GPUs that the graph holds after the step besides those before it; negative if it holds fewer."""
        return self.gpus.after - self.gpus.before


class Misfit(NamedTuple):
    """A graph that does not fit even if it is upgraded alone.

    `missing` is the number of GPUs by which the limit is too low, or that must become free on one node. `remedies` say what would help.
    """

    graph: GraphKey
    missing: int
    remedies: tuple[str, ...]


class Waves(NamedTuple):
    """The waves in their order, the GPUs of all graphs at the peak of each wave, and the graphs that fit in no wave.

    `waiting` are graphs that fit the nodes alone only because some of their new pods wait until old ones have stopped. `excess` is the
    number of GPUs above the limit that the graphs hold before the step: then only graphs that need no more of them fit.
    """

    waves: tuple[tuple[GraphKey, ...], ...]
    peaks: tuple[int, ...]
    misfits: tuple[Misfit, ...] = ()
    waiting: tuple[GraphKey, ...] = ()
    excess: int = 0


def of_graph(graph: GraphKey, parts: Iterable[Rollout]) -> GraphRollouts:
    """Returns the rollouts of a graph with their GPUs."""
    all_rollouts = tuple(parts)
    return GraphRollouts(graph, all_rollouts, forecast.total_gpus(all_rollouts))


def within(graphs: Sequence[GraphRollouts], limit: int) -> Waves:
    """Returns the waves in which all graphs together never need more than `limit` GPUs. Graphs that the step leaves out count, too."""
    room = limit - sum(entry.gpus.before for entry in graphs)
    fitting, rest = _fitting(graphs, room)
    fitting_keys = {entry.graph for entry in fitting}
    free = [entry for entry in fitting if not entry.extra and not entry.growth]
    others = [entry for entry in graphs if entry.graph in fitting_keys and (entry.extra or entry.growth)]
    waves = _fewest(others, room) if len(others) <= _EXACT else _first_fit(others, room)
    if free:
        waves = [[*free, *(waves[0] if waves else ())], *waves[1:]]
    misfits = [Misfit(entry.graph, entry.extra - room_at_end, _remedies(entry)) for entry, room_at_end in rest]
    return Waves(_keys(graphs, waves), (*_peaks(graphs, waves),), tuple(misfits), excess=max(-room, 0))


def _keys(graphs: Sequence[GraphRollouts], waves: Iterable[Sequence[GraphRollouts]]) -> tuple[tuple[GraphKey, ...], ...]:
    """Returns the graphs of each wave in the order of the input."""
    members = [{entry.graph for entry in wave} for wave in waves]
    return tuple(tuple(entry.graph for entry in graphs if entry.graph in wave) for wave in members)


def _fitting(graphs: Iterable[GraphRollouts], room: int) -> tuple[list[GraphRollouts], list[tuple[GraphRollouts, int]]]:
    """Divides graphs into those that fit one after the other, and those that do not, with the GPUs that are free at the end.

    Graphs that give GPUs back go first, those with the lowest peak before others. Graphs that grow go last, those that give back the most
    after their peak before others: if they fit in any order, they fit in this one.
    """
    fitting, rest = [], []
    for entry in sorted(graphs, key=_order):
        if entry.extra <= max(room, 0):
            fitting.append(entry)
            room -= entry.growth
        else:
            rest.append(entry)
    return fitting, [(entry, max(room, 0)) for entry in rest]


def _order(entry: GraphRollouts) -> tuple[bool, int]:
    return entry.growth > 0, entry.growth - entry.extra if entry.growth > 0 else entry.extra


def _fewest(graphs: Sequence[GraphRollouts], room: int) -> list[list[GraphRollouts]]:
    """Returns the fewest waves, by comparing all divisions. `room` is the number of GPUs that are free before the first wave."""
    everything = (1 << len(graphs)) - 1
    sums = [(0, 0)] * (everything + 1)
    for mask in range(1, everything + 1):
        entry, below = graphs[mask.bit_length() - 1], sums[mask & ~(1 << (mask.bit_length() - 1))]
        sums[mask] = below[0] + entry.extra, below[1] + entry.growth
    best: dict[int, tuple[int, int]] = {0: (0, 0)}  # for each set of graphs that are done: the number of waves, and the last wave
    for done in range(everything + 1):
        if done not in best:
            continue
        free = max(room - sums[done][1], 0)
        wave = rest = everything & ~done
        while wave:
            if sums[wave][0] <= free and best[done][0] + 1 < best.get(done | wave, (len(graphs) + 1,))[0]:
                best[done | wave] = best[done][0] + 1, wave
            wave = (wave - 1) & rest
    waves, done = [], everything
    while done:
        wave = best[done][1]
        waves.append([entry for index, entry in enumerate(graphs) if wave >> index & 1])
        done &= ~wave
    return waves[::-1]


def _first_fit(graphs: Sequence[GraphRollouts], room: int) -> list[list[GraphRollouts]]:
    """Returns waves that are filled one after the other, the graphs of the highest peaks first. Graphs that grow follow in their order."""
    shrinking = sorted((entry for entry in graphs if entry.growth <= 0), key=lambda entry: -entry.extra)
    growing = sorted((entry for entry in graphs if entry.growth > 0), key=_order)
    waves = []
    while shrinking or growing:
        wave: list[GraphRollouts] = []
        free = max(room, 0)
        for entry in shrinking:
            if entry.extra <= free:
                wave.append(entry)
                free -= entry.extra
        shrinking = [entry for entry in shrinking if entry not in wave]
        while growing and not shrinking and growing[0].extra <= free:
            free -= growing[0].extra
            wave.append(growing.pop(0))
        waves.append(wave)
        room -= sum(entry.growth for entry in wave)
    return waves


def _peaks(graphs: Sequence[GraphRollouts], waves: Iterable[Sequence[GraphRollouts]]) -> Iterable[int]:
    """Yields the GPUs of all graphs at the peak of each wave."""
    held = sum(entry.gpus.before for entry in graphs)
    for wave in waves:
        yield held + sum(entry.extra for entry in wave)
        held += sum(entry.growth for entry in wave)


def on_nodes(graphs: Sequence[GraphRollouts], nodes: Sequence[Resource], pods: Sequence[Resource]) -> Waves:
    """Returns the waves in which no pod waits for a node. `nodes` and `pods` are those of the cluster before the step.

    A graph whose pods wait if it is upgraded alone, and whose rollout still ends, is a wave of its own.
    """
    free_nodes, located = rollouts.place([rollout for entry in graphs for rollout in entry.rollouts], nodes, pods)
    parts = iter(located)
    remaining = [entry._replace(rollouts=tuple(next(parts) for _ in entry.rollouts)) for entry in graphs]
    waves: list[list[GraphRollouts]] = []
    peaks: list[int] = []
    waiting: list[GraphKey] = []
    held = sum(entry.gpus.before for entry in graphs)
    while remaining:
        wave = _fill_wave(remaining, free_nodes) or _alone(remaining, free_nodes)
        if not wave:
            break
        result = _simulate_wave(wave, free_nodes)
        free_nodes = result.nodes
        if result.waited:
            waiting.append(wave[0].graph)
            most = result.peak - sum(entry.gpus.before for entry in wave)
        else:
            most = sum(entry.extra for entry in wave)
        waves.append(wave)
        peaks.append(held + most)
        held += sum(entry.growth for entry in wave)
        remaining = [entry for entry in remaining if entry not in wave]
    misfits = [Misfit(entry.graph, _missing(entry, free_nodes), _remedies(entry)) for entry in remaining]
    return Waves(_keys(graphs, waves), tuple(peaks), tuple(misfits), tuple(waiting))


class _NodesAfter(NamedTuple):
    """The peak of a simulated wave, the nodes after it, and true if a pod waited or a rollout did not end."""

    peak: int
    nodes: Nodes
    waited: bool
    stuck: bool


def _simulate_wave(wave: Iterable[GraphRollouts], nodes: Nodes) -> _NodesAfter:
    """Simulates a wave on a copy of the nodes."""
    after = nodes.copy()
    result = simulation.simulate([rollout for entry in wave for rollout in entry.rollouts], after)
    return _NodesAfter(result.peak, after, result.waited, any(result.stuck))


def _fits(wave: Sequence[GraphRollouts], nodes: Nodes) -> bool:
    """True if no pod waits, whether the first or the last graph of the wave begins first: a scheduler can place their pods in any order."""
    if sum(entry.extra for entry in wave) > nodes.free():
        return False
    results_of_orders = (_simulate_wave(order, nodes) for order in (wave, wave[::-1]))
    return not any(result.waited or result.stuck for result in results_of_orders)


def _fill_wave(graphs: Sequence[GraphRollouts], nodes: Nodes) -> list[GraphRollouts]:
    """Returns a wave to which no further graph can be added, those with the highest peaks first, in the order of the input.

    Many graphs are tried at once, then halves, so that few are simulated alone.
    """
    wave: list[GraphRollouts] = []
    members: set[GraphKey] = set()
    candidates = sorted(graphs, key=lambda entry: -entry.extra)
    start, size = 0, len(graphs)
    while start < len(graphs):
        tried = members | {entry.graph for entry in candidates[start : start + size]}
        trial = [entry for entry in graphs if entry.graph in tried]
        if _fits(trial, nodes):
            wave, members, start, size = trial, tried, start + size, size * 2
        elif size > 1:
            size //= 2
        else:
            start += 1
    return wave


def _alone(graphs: Sequence[GraphRollouts], nodes: Nodes) -> list[GraphRollouts]:
    """Returns the first graph whose rollout ends if it is upgraded alone, although its pods wait."""
    return next(([entry] for entry in sorted(graphs, key=lambda entry: -entry.extra) if not _simulate_wave([entry], nodes).stuck), [])


def _missing(entry: GraphRollouts, nodes: Nodes) -> int:
    """Returns the GPUs that must become free besides those of the nodes; at least one, because no node has enough for a pod."""
    return max(simulation.needed_gpus(entry.rollouts) - nodes.free(), 1)


def _remedies(entry: GraphRollouts) -> tuple[str, ...]:
    """Returns what would let a graph need fewer GPUs at its peak."""
    remedies = []
    peak = entry.gpus.peak
    surging = [rollout for rollout in entry.rollouts if rollout.replaces and rollout.steps.surge and rollouts.gpus(rollout.new_demands)]
    for index, choice in enumerate(native_workloads.deployment_choices(1) if surging else ()):
        changed = [
            rollout._replace(steps=native_workloads.deployment_choices(rollout.new_units)[index].steps) if rollout in surging else rollout
            for rollout in entry.rollouts
        ]
        if (fewer := of_graph(entry.graph, changed).gpus.peak) < peak:
            remedies.append(f"{choice.advice} ({choice.cost}; the peak is then {report.pluralize(fewer, 'GPU')})")
            peak = fewer
    return (*remedies, "lower its replicas during the step")


def findings(waves: Waves, resources: dict[GraphKey, Resource]) -> Iterable[Result]:
    """Reports each graph that fits in no wave. `resources` are the graphs and the standalone components of the step."""
    for misfit in waves.misfits:
        missing, remedies = report.pluralize(misfit.missing, "GPU is", "GPUs are"), ", or ".join(misfit.remedies)
        message = f"the graph does not fit, even if it is upgraded alone: {missing} missing; {remedies}"
        yield results.error(codes.GRAPH_DOES_NOT_FIT_GPUS, message, results.ref(resources.get(misfit.graph) or {}))
    if waves.excess:
        message = f"before the step, the graphs hold {waves.excess} more GPUs than the limit, so no wave can be within it; raise the limit"
        yield results.warning(codes.GPU_LIMIT_ALREADY_EXCEEDED, message, results.ref(next(iter(resources.values()), {})))
