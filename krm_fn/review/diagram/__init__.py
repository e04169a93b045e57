"""Diagrams of graphs: services, the objects and programs that they use, and their connections.

Each connection follows from a plan or from a field of an object. Connections that only the program in a pod knows are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from krm_fn.base.records import NamedTuple

NodeKind = Literal["service", "entry point", "pool", "adapter", "autoscaler", "claim", "model", "lora", "nats", "etcd"]
NodeState = Literal["", "new", "removed", "restarts", "changed"]
NodeKey = tuple[str, str, str]
"""The graph or the namespace of a node, its kind and its name. Nodes of two states with the same key are the same node."""

WORDS: dict[NodeState, str] = {"new": "NEW", "removed": "REMOVED", "restarts": "RESTARTS", "changed": "CHANGED, NO RESTART"}
COLOURS: dict[NodeState, tuple[str, str]] = {
    "new": ("#d5f0d5", "#1a7f37"),
    "removed": ("#f9d7d5", "#b3261e"),
    "restarts": ("#ffe3bd", "#9a5b00"),
    "changed": ("#d6e6fb", "#0b57a4"),
}
"""The colours of the area and of the border. The words have the same meaning, for readers who do not see the colours apart."""


class DiagramNode(NamedTuple):
    """One node, such as a service or a claim. `group` is the title of its graph, empty for a node outside of graphs."""

    key: NodeKey
    kind: NodeKind
    title: str
    lines: tuple[str, ...] = ()
    group: str = ""
    state: NodeState = ""

    @property
    def text(self) -> tuple[str, ...]:
        """All lines of its text. The first lines are the title and, after a change, the word of its state."""
        return (self.title, *([WORDS[self.state]] if self.state else ()), *self.lines)


class DiagramEdge(NamedTuple):
    """A connection from one node to another. `label` describes it."""

    source: NodeKey
    target: NodeKey
    label: str
    state: NodeState = ""

    @property
    def text(self) -> str:
        """Its label and, after a change, the word of its state."""
        return f"{self.label} ({WORDS[self.state]})" if self.state else self.label


class Diagram(NamedTuple):
    """The nodes in the order of the input, and the edges between them."""

    nodes: tuple[DiagramNode, ...]
    edges: tuple[DiagramEdge, ...]

    @property
    def groups(self) -> dict[str, list[DiagramNode]]:
        """The nodes by the title of their graph, in the order of the diagram. The nodes outside of graphs are under the empty text."""
        nodes_by_group: dict[str, list[DiagramNode]] = {}
        for node in self.nodes:
            nodes_by_group.setdefault(node.group, []).append(node)
        return nodes_by_group

    @property
    def names(self) -> dict[NodeKey, str]:
        """A short name for each node, which every format can write without quotes."""
        return {node.key: f"n{number}" for number, node in enumerate(self.nodes)}


def join_diagrams(diagrams: Sequence[tuple[str, Diagram]]) -> Diagram:
    """Joins the diagrams of several roots, each with the name of its root before its graphs. Roots with the same name are one diagram."""
    if len({name for name, _ in diagrams}) < 2:
        parts = [diagram for _, diagram in diagrams]
    else:
        parts = [_of_root(name, diagram) for name, diagram in diagrams]
    nodes = {node.key: node for part in reversed(parts) for node in reversed(part.nodes)}
    order = dict.fromkeys(node.key for part in parts for node in part.nodes)
    return Diagram(tuple(nodes[key] for key in order), tuple(dict.fromkeys(edge for part in parts for edge in part.edges)))


def _of_root(name: str, diagram: Diagram) -> Diagram:
    def move_key(key: NodeKey) -> NodeKey:
        return f"{name}: {key[0]}", *key[1:]

    nodes = tuple(node._replace(key=move_key(node.key), group=node.group and f"{name}: {node.group}") for node in diagram.nodes)
    return Diagram(nodes, tuple(edge._replace(source=move_key(edge.source), target=move_key(edge.target)) for edge in diagram.edges))
