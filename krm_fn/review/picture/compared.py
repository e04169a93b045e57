"""The picture of a change: what comes, what goes, and which services restart. The forecast decides what restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import identity
from krm_fn.review import forecast
from krm_fn.review.diff import compared, sides
from krm_fn.review.picture import Picture, model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.review.diff import Side
    from krm_fn.review.picture import Node, State


def picture(old: Side, new: Side) -> Picture:
    """The picture of both states together. What is only in the old state comes last.

    A Dynamo resource that does not render in one of the states is left out, because the change of its services is not known.
    """
    before, after = (_picture(side, old.failed | new.failed) for side in (old, new))
    restarting = set(_restarting(old, new))
    old_nodes, old_edges = {node.key: node for node in before.nodes}, {edge[:3] for edge in before.edges}
    new_keys, new_edges = {node.key for node in after.nodes}, {edge[:3] for edge in after.edges}
    nodes = [node._replace(state=_state(node, old_nodes.get(node.key), restarting)) for node in after.nodes]
    nodes += [node._replace(state="removed") for node in before.nodes if node.key not in new_keys]
    edges = [edge._replace(state="" if edge[:3] in old_edges else "new") for edge in after.edges]
    edges += [edge._replace(state="removed") for edge in before.edges if edge[:3] not in new_edges]
    return Picture(tuple(nodes), tuple(edges))


def _picture(side: Side, failed: frozenset[ObjectKey]) -> Picture:
    home = sides.home(side.config)
    return model.picture([each for each in side.inputs if identity.key(each, home) not in failed], side.config)


def _state(node: Node, old: Node | None, restarting: set[tuple[str, str]]) -> State:
    if old is None:
        return "new"
    if node.kind == "service" and not restarting.isdisjoint({(node.group, node.title), (node.group, "")}):
        return "restarts"
    return "" if node.lines == old.lines else "changed"


def _restarting(old: Side, new: Side) -> Iterator[tuple[str, str]]:
    """The group and the title of each service whose pods are replaced. The title of a component without a graph is empty."""
    changes = compared.between(old, new)
    found = forecast.forecast(changes)
    for change, outcome in zip(changes, found.outcomes, strict=True):
        for owner in sides.owner_keys(change.new or change.old or {}, change.key.namespace):
            group = model.group(owner.kind, owner.namespace, owner.name)
            for service in outcome.services:
                if service in found.restarting:
                    yield group, "" if owner.kind == identity.COMPONENT else service.name
