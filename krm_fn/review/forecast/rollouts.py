"""Rollouts: their units and steps, and the nodes on which their old units run.

A unit is what a controller replaces at once: a pod of a Deployment, a group of a LeaderWorkerSet, or a replica of a scaling group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import identity, values
from krm_fn.kubernetes.types import Resource
from krm_fn.review.forecast import gpu_capacity
from krm_fn.review.forecast.gpu_capacity import Demand, Nodes, Placement


class Service(NamedTuple):
    """One service of one graph. `graph` is empty for a standalone component."""

    namespace: str
    graph: str
    name: str


class RolloutPods(NamedTuple):
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
    the file, until another writer sets it. Rollouts with the same text in `together` have one controller, which takes a step only when the
    new units of all of them are ready.
    """

    old_units: int
    new_units: int
    old_demands: tuple[Demand, ...]
    new_demands: tuple[Demand, ...]
    steps: Steps = Steps()
    replaces: bool = True
    pruned: bool = False
    selector: RolloutPods | None = None
    placements: tuple[Placement, ...] = ()
    service: Service | None = None
    dropped: int = 0
    together: str = ""


def recreate(rollout: Rollout) -> Rollout:
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
    return free_nodes, [_complete_rollout(rollout, free_nodes) for rollout in located]


def _complete_rollout(rollout: Rollout, nodes: Nodes) -> Rollout:
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


def _is_selected(pod: Resource, selector: RolloutPods) -> bool:
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
