"""The picture of a change: what comes, what goes, and which services restart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import expand, results
from krm_fn.plan import GraphPlan
from krm_fn.review import pods
from krm_fn.review.picture import Picture, model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.config import Config
    from krm_fn.kube.types import Resource
    from krm_fn.results import Path
    from krm_fn.review.picture import Key, Node, State

Templates = dict[tuple[str, str, "Path"], Any]
"""The pod templates of one service by kind and name of their object, and their place there."""


def picture(old: tuple[Sequence[Resource], Config], new: tuple[Sequence[Resource], Config]) -> Picture:
    """The picture of both states together. What is only in the old state comes last."""
    before, after = model.picture(*old), model.picture(*new)
    restarting = restarts(templates(*old), templates(*new))
    old_nodes, old_edges = {node.key: node for node in before.nodes}, {edge[:3] for edge in before.edges}
    new_keys, new_edges = {node.key for node in after.nodes}, {edge[:3] for edge in after.edges}
    nodes = [node._replace(state=_state(node, old_nodes.get(node.key), restarting)) for node in after.nodes]
    nodes += [node._replace(state="removed") for node in before.nodes if node.key not in new_keys]
    edges = [edge._replace(state="" if edge[:3] in old_edges else "new") for edge in after.edges]
    edges += [edge._replace(state="removed") for edge in before.edges if edge[:3] not in new_edges]
    return Picture(tuple(nodes), tuple(edges))


def _state(node: Node, old: Node | None, restarting: set[Key]) -> State:
    if old is None:
        return "new"
    if node.key in restarting:
        return "restarts"
    return "" if node.lines == old.lines else "changed"


def restarts(old: dict[Key, Templates], new: dict[Key, Templates]) -> set[Key]:
    """The services of both states whose pods are replaced.

    A pod template that differs counts as replaced. A forecast of the rollout knows more: an API server stores defaults, for example.
    """
    found: set[Key] = set()
    for key in old.keys() & new.keys():
        same = old[key].keys() & new[key].keys()
        if any(old[key][each] != new[key][each] for each in same) or (not same and old[key] and new[key]):
            found.add(key)
    return found


def templates(resources: Sequence[Resource], config: Config) -> dict[Key, Templates]:
    """The pod templates of each service."""
    found: dict[Key, Templates] = {}
    for planned in expand.plans(resources, config):
        for resource in planned.objects if isinstance(planned.plan, GraphPlan) else ():
            address = results.ref(resource)
            for template in pods.of(resource):
                if made := pods.made(template, planned.made):
                    of_service = found.setdefault(model.key(made[0].plan), {})
                    of_service[address.kind, address.name, _named(resource, template.path)] = (
                        template.labels,
                        template.annotations,
                        template.spec,
                    )
    return found


def _named(value: Any, path: Path) -> Path:
    """The path with the name of each entry of a list in place of its index: a new clique moves the others."""
    steps: list[str | int] = []
    for step in path:
        value = value[step]
        steps.append(value["name"] if isinstance(step, int) else step)
    return tuple(steps)
