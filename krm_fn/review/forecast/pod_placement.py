"""Places the old pods of rollouts on the nodes where they run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import identity, values
from krm_fn.review.forecast import capacity, kind_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.review.forecast.capacity import Demand, Nodes
    from krm_fn.review.forecast.rollout import Placement, Rollout, Selector


def place(rollouts: Sequence[Rollout], nodes: Sequence[Resource], pods: Sequence[Resource]) -> tuple[Nodes, list[Rollout]]:
    """The nodes without the GPUs of all pods that run, and the rollouts with the nodes of their old units.

    Old units whose pods are not among `pods` are placed where they fit.
    """
    room = capacity.nodes(nodes, pods)
    located = [entry._replace(placed=tuple(_placed(entry, pods))[: entry.before]) for entry in rollouts]
    return room, [_completed(entry, room) for entry in located]


def _completed(rollout: Rollout, room: Nodes) -> Rollout:
    missing = rollout.before - len(rollout.placed)
    more = (room.take(rollout.old, unbounded=True) or () for _ in range(missing))
    return rollout._replace(placed=(*rollout.placed, *more))


def _placed(rollout: Rollout, pods: Sequence[Resource]) -> Iterator[Placement]:
    """The nodes of each complete old unit. A unit without all its pods is left out: its pods do not move."""
    selector = rollout.selector
    if selector is None:
        return
    units: dict[str, list[Resource]] = {}
    for index, pod in enumerate(pods):
        if capacity.runs(pod) and _belongs(pod, selector):
            units.setdefault(_marks(pod).get(selector.unit) or f"pod {index}", []).append(pod)
    for unit in units.values():
        matched = _matched(rollout.old, unit)
        if matched is not None:
            yield matched


def _belongs(pod: Resource, selector: Selector) -> bool:
    marks = _marks(pod)
    return (
        bool(selector.labels) and identity.key(pod).namespace == selector.namespace and all(marks.get(k) == v for k, v in selector.labels)
    )


def _marks(pod: Resource) -> dict[str, Any]:
    return values.mapping(pod.get("metadata"), "labels")


def _matched(size: tuple[Demand, ...], pods: list[Resource]) -> Placement | None:
    """The node of each pod of a unit in the order of its demands; None if the pods do not have these demands."""
    left = [(capacity.demand(pod.get("spec")).amounts, f"{kind_rules.spec(pod).get('nodeName')}") for pod in pods]
    nodes = []
    for wanted in size:
        match = next((entry for entry in left if entry[0] == wanted.amounts), None)
        if match is None:
            return None
        left.remove(match)
        nodes.append(match[1])
    return tuple(nodes)
