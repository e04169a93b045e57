"""Draws a change: new and removed nodes, and the services that restart according to the forecast."""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.kube import identity
from krm_fn.kube.identity import ObjectKey
from krm_fn.review import forecast
from krm_fn.review.diagram import Diagram, DiagramNode, NodeState, graph_diagram
from krm_fn.review.diff import comparison, rendered_state
from krm_fn.review.diff.rendered_state import RenderedState


def diagram(old: RenderedState, new: RenderedState) -> Diagram:
    """Draws both states together. Nodes that are only in the old state come last.

    A Dynamo resource that does not render in one of the states is left out, because the change of its services is not known.
    """
    old_diagram, new_diagram = (_state_diagram(state, old.failed | new.failed) for state in (old, new))
    restarting = set(_restarting(old, new))
    old_nodes, old_edges = {node.key: node for node in old_diagram.nodes}, {edge[:3] for edge in old_diagram.edges}
    new_keys, new_edges = {node.key for node in new_diagram.nodes}, {edge[:3] for edge in new_diagram.edges}
    nodes = [node._replace(state=_state(node, old_nodes.get(node.key), restarting)) for node in new_diagram.nodes]
    nodes += [node._replace(state="removed") for node in old_diagram.nodes if node.key not in new_keys]
    edges = [edge._replace(state="" if edge[:3] in old_edges else "new") for edge in new_diagram.edges]
    edges += [edge._replace(state="removed") for edge in old_diagram.edges if edge[:3] not in new_edges]
    return Diagram(tuple(nodes), tuple(edges))


def _state_diagram(state: RenderedState, failed: frozenset[ObjectKey]) -> Diagram:
    namespace = rendered_state.default_namespace(state.config)
    return graph_diagram.diagram([resource for resource in state.inputs if identity.key(resource, namespace) not in failed], state.config)


def _state(node: DiagramNode, old: DiagramNode | None, restarting: set[tuple[str, str]]) -> NodeState:
    if old is None:
        return "new"
    if node.kind == "service" and not restarting.isdisjoint({(node.group, node.title), (node.group, "")}):
        return "restarts"
    return "" if node.lines == old.lines else "changed"


def _restarting(old: RenderedState, new: RenderedState) -> Iterator[tuple[str, str]]:
    """The group and the title of each service whose pods are replaced. The title of a component without a graph is empty."""
    changes = comparison.compare_objects(old, new)
    result = forecast.forecast(changes)
    for change, outcome in zip(changes, result.outcomes, strict=True):
        for owner in rendered_state.owner_keys(change.new or change.old or {}, change.key.namespace):
            group = graph_diagram.group(owner.kind, owner.namespace, owner.name)
            for service in outcome.services:
                if service in result.restarting:
                    yield group, "" if owner.kind == identity.COMPONENT else service.name
