"""The diagram of a change: what comes, what goes, and which services restart. The forecast decides what restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import identity
from krm_fn.review import forecast
from krm_fn.review.diagram import Diagram, graph_diagram
from krm_fn.review.diff import compared, sides

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.review.diagram import DiagramNode, State
    from krm_fn.review.diff import Side


def diagram(old: Side, new: Side) -> Diagram:
    """The diagram of both states together. What is only in the old state comes last.

    A Dynamo resource that does not render in one of the states is left out, because the change of its services is not known.
    """
    before, after = (_side_diagram(side, old.failed | new.failed) for side in (old, new))
    restarting = set(_restarting(old, new))
    old_nodes, old_edges = {node.key: node for node in before.nodes}, {edge[:3] for edge in before.edges}
    new_keys, new_edges = {node.key for node in after.nodes}, {edge[:3] for edge in after.edges}
    nodes = [node._replace(state=_state(node, old_nodes.get(node.key), restarting)) for node in after.nodes]
    nodes += [node._replace(state="removed") for node in before.nodes if node.key not in new_keys]
    edges = [edge._replace(state="" if edge[:3] in old_edges else "new") for edge in after.edges]
    edges += [edge._replace(state="removed") for edge in before.edges if edge[:3] not in new_edges]
    return Diagram(tuple(nodes), tuple(edges))


def _side_diagram(side: Side, failed: frozenset[ObjectKey]) -> Diagram:
    default_namespace = sides.home(side.config)
    return graph_diagram.diagram(
        [resource for resource in side.inputs if identity.key(resource, default_namespace) not in failed], side.config
    )


def _state(node: DiagramNode, old: DiagramNode | None, restarting: set[tuple[str, str]]) -> State:
    if old is None:
        return "new"
    if node.kind == "service" and not restarting.isdisjoint({(node.group, node.title), (node.group, "")}):
        return "restarts"
    return "" if node.lines == old.lines else "changed"


def _restarting(old: Side, new: Side) -> Iterator[tuple[str, str]]:
    """The group and the title of each service whose pods are replaced. The title of a component without a graph is empty."""
    changes = compared.between(old, new)
    result = forecast.forecast(changes)
    for change, outcome in zip(changes, result.outcomes, strict=True):
        for owner in sides.owner_keys(change.new or change.old or {}, change.key.namespace):
            group = graph_diagram.group(owner.kind, owner.namespace, owner.name)
            for service in outcome.services:
                if service in result.restarting:
                    yield group, "" if owner.kind == identity.COMPONENT else service.name
