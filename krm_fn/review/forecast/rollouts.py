"""Rollouts: their units and steps, and a simulation that finds the pods of each moment and the rollouts that never end.

A unit is what a controller replaces at once: a pod of a Deployment, a group of a LeaderWorkerSet, or a replica of a scaling group.
`krm_fn.review.forecast.simulated_rollout` has the rules of the controllers.

A new unit holds its GPUs from its start, and is ready later. Controllers count ready units, so a rollout is at its peak if its units become
ready one after the other. A unit that stops gives its GPUs back at once: the time that a container takes to end does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from krm_fn.kube import identity, values
from krm_fn.kube.types import Resource
from krm_fn.records import NamedTuple
from krm_fn.review.forecast import gpu_capacity
from krm_fn.review.forecast.gpu_capacity import Demand, Nodes, Placement
from krm_fn.review.forecast.simulated_rollout import SimulatedRollout as _SimulatedRollout

_PLENTY = 10**9


class Service(NamedTuple):
    """One service of one graph. `graph` is empty for a standalone component."""

    namespace: str
    graph: str
    name: str


class Selector(NamedTuple):
    """Namespace and labels of the pods of a rollout. Pods with the same value of the label `unit` are one unit.

    Without `unit`, each pod is a unit.
    """

    namespace: str
    labels: tuple[tuple[str, str], ...]
    unit: str = ""


class Steps(NamedTuple):
    """The units that may run besides the wanted number, and the units that may be missing.

    `at_once` is true if all old units stop before the first new unit starts. `numbered` is true for units with numbers, as in a
    StatefulSet: the last one is replaced first, a new unit takes the number of an old one, and the surge has the numbers after them.
    """

    surge: int = 0
    unavailable: int = 1
    at_once: bool = False
    numbered: bool = False


class Rollout(NamedTuple):
    """One rollout: from a number of old units to a number of new units.

    `old_demands` and `new_demands` have one demand for each pod of a unit. `replaces` is false if the old units stay and only their number
    changes. A rollout that is `pruned` begins when all others have ended or wait, because an object is pruned after all others are applied.
    `selector` finds the old pods. `placements` are the known nodes of old units; the other old units are placed where they fit. `service`
    has the pods; None if that is the only service of the object. `dropped` is the number of old units that stop because their number leaves
    the file, until another writer sets it.
    """

    old_units: int
    new_units: int
    old_demands: tuple[Demand, ...]
    new_demands: tuple[Demand, ...]
    steps: Steps = Steps()
    replaces: bool = True
    pruned: bool = False
    selector: Selector | None = None
    placements: tuple[Placement, ...] = ()
    service: Service | None = None
    dropped: int = 0


def recreated(rollout: Rollout) -> Rollout:
    """Returns the rollout of an object that is deleted and created again: all old units stop first."""
    return rollout._replace(steps=Steps(0, rollout.new_units, at_once=True))


def gpus(demands: Iterable[Demand]) -> int:
    """Returns the number of GPUs of one unit."""
    return sum(demand.gpus for demand in demands)


def place(rollouts: Sequence[Rollout], nodes: Sequence[Resource], pods: Sequence[Resource]) -> tuple[Nodes, list[Rollout]]:
    """Returns the nodes without the GPUs of all pods that run, and the rollouts with the nodes of their old units.

    Old units whose pods are not among `pods` are placed where they fit.
    """
    free_nodes = gpu_capacity.nodes_without_pods(nodes, pods)
    located = [rollout._replace(placements=tuple(_placements(rollout, pods))[: rollout.old_units]) for rollout in rollouts]
    return free_nodes, [_completed(rollout, free_nodes) for rollout in located]


def _completed(rollout: Rollout, nodes: Nodes) -> Rollout:
    missing = rollout.old_units - len(rollout.placements)
    others = (nodes.take(rollout.old_demands, unbounded=True) or () for _ in range(missing))
    return rollout._replace(placements=(*rollout.placements, *others))


def _placements(rollout: Rollout, pods: Sequence[Resource]) -> Iterator[Placement]:
    """Yields the nodes of each complete old unit. A unit without all its pods is left out: its pods do not move."""
    selector = rollout.selector
    if selector is None:
        return
    units: dict[str, list[Resource]] = {}
    for index, pod in enumerate(pods):
        if gpu_capacity.runs(pod) and _is_selected(pod, selector):
            units.setdefault(_labels(pod).get(selector.unit) or f"pod {index}", []).append(pod)
    for unit in units.values():
        placement = _placement(rollout.old_demands, unit)
        if placement is not None:
            yield placement


def _is_selected(pod: Resource, selector: Selector) -> bool:
    labels, namespace = _labels(pod), identity.key(pod).namespace
    return bool(selector.labels) and namespace == selector.namespace and all(labels.get(key) == value for key, value in selector.labels)


def _labels(pod: Resource) -> dict[str, Any]:
    return values.mapping(pod.get("metadata"), "labels")


def _placement(demands: tuple[Demand, ...], pods: list[Resource]) -> Placement | None:
    """Returns the node of each pod of a unit in the order of its demands; None if the pods do not have these demands."""
    remaining = [(gpu_capacity.pod_demand(pod.get("spec")).amounts, f"{values.mapping(pod.get('spec')).get('nodeName')}") for pod in pods]
    nodes = []
    for demand in demands:
        match = next((pod for pod in remaining if pod[0] == demand.amounts), None)
        if match is None:
            return None
        remaining.remove(match)
        nodes.append(match[1])
    return tuple(nodes)


class SimulationResult(NamedTuple):
    """The largest number of GPUs at one time, and for each rollout True if it never ends.

    `waited` is true if a unit did not fit on the nodes when its rollout began it.
    """

    peak: int
    stuck: tuple[bool, ...]
    waited: bool = False


def simulate(rollouts: Sequence[Rollout], nodes: Nodes) -> SimulationResult:
    """Simulates rollouts that begin at the same time, until nothing changes any more. `nodes` is changed.

    Each round lets each controller act once and then places the units that wait, in the order of the rollouts. Units become ready when no
    controller acts any more. Pruned objects go last. Rollouts without GPUs always end.
    """
    simulated = [_SimulatedRollout(rollout, nodes) for rollout in rollouts if gpus(rollout.old_demands) or gpus(rollout.new_demands)]
    most = held = sum(rollout.gpus() for rollout in simulated)
    waited = False
    for pruning in (False, True):
        active = [rollout for rollout in simulated if pruning or not rollout.is_pruned]
        while active:
            before = sum(rollout.gpus() for rollout in active)
            if not sum(rollout.act() + rollout.place() for rollout in active if not rollout.is_blocked()):
                if sum(rollout.become_ready() for rollout in active):
                    continue
                waited = waited or not all(rollout.is_complete() for rollout in active)
                break
            held += sum(rollout.gpus() for rollout in active) - before
            most = max(most, held)
            waited = waited or any(rollout.has_waiting() for rollout in active)
            active = [rollout for rollout in active if not rollout.is_complete()]
    waits = {id(rollout.rollout): not rollout.is_complete() for rollout in simulated}
    return SimulationResult(most, tuple(waits.get(id(rollout), False) for rollout in rollouts), waited)


def peak(rollouts: Iterable[Rollout]) -> int:
    """Returns the largest number of GPUs at one time if there are enough, in whatever order the units of all rollouts become ready.

    It is the sum of the peaks of the rollouts: their controllers do not wait for each other, so all may be at their peaks.
    """
    return sum(_peak_alone(_numbers_of(rollout)) for rollout in rollouts)


class _Numbers(NamedTuple):
    """The numbers of a rollout that decide its peak. GPUs are those of one unit."""

    old_units: int
    new_units: int
    old_gpus: int
    new_gpus: int
    steps: Steps
    replaces: bool


def _numbers_of(rollout: Rollout) -> _Numbers:
    old_gpus, new_gpus = gpus(rollout.old_demands), gpus(rollout.new_demands)
    return _Numbers(rollout.old_units, rollout.new_units, old_gpus, new_gpus, rollout.steps, rollout.replaces)


@lru_cache(maxsize=4096)  # most rollouts of a fleet have the same numbers
def _peak_alone(numbers: _Numbers) -> int:
    old_demands, new_demands = ((Demand((("gpus", count),) if count else ()),) for count in (numbers.old_gpus, numbers.new_gpus))
    rollout = Rollout(numbers.old_units, numbers.new_units, old_demands, new_demands, numbers.steps, numbers.replaces)
    return simulate([rollout], _pool([rollout], _PLENTY)).peak


def needed(rollouts: Sequence[Rollout]) -> int:
    """Returns the smallest number of free GPUs with which all rollouts end, if they are on one node and of one resource."""
    held = sum(gpus(rollout.old_demands) * rollout.old_units for rollout in rollouts)
    least, most, tried = 0, peak(rollouts) - held, 0
    while least < most:
        if any(simulate(rollouts, _pool(rollouts, held + tried)).stuck):
            least = tried + 1
        else:
            most = tried
        is_bounded = most <= 2 * least  # a few GPUs are mostly enough, so the numbers double until they are
        tried = (least + most) // 2 if is_bounded else 2 * least
    return least


def _pool(rollouts: Sequence[Rollout], count: int) -> Nodes:
    """Returns one node with this many GPUs of each resource."""
    demands = (demand for rollout in rollouts for demand in (*rollout.old_demands, *rollout.new_demands))
    return gpu_capacity.pool({name: count for demand in demands for name, _ in demand.amounts})
