"""A diagram of graphs: services, what they need around them, and the connections that are known.

Each connection follows from a plan or from a field of an object. A connection that only the program in a pod knows is not drawn.
"""

from __future__ import annotations

from typing import Literal

from krm_fn.records import NamedTuple

Kind = Literal["service", "entrance", "pool", "adapter", "autoscaler", "claim", "model", "lora", "nats", "etcd"]
State = Literal["", "new", "removed", "restarts", "changed"]
Key = tuple[str, str, str]
"""The graph or the namespace of a node, its kind and its name. Nodes of two states with the same key are the same thing."""

WORDS: dict[State, str] = {"new": "NEW", "removed": "REMOVED", "restarts": "RESTARTS", "changed": "CHANGED, NO RESTART"}
COLOURS: dict[State, tuple[str, str]] = {
    "new": ("#d5f0d5", "#1a7f37"),
    "removed": ("#f9d7d5", "#b3261e"),
    "restarts": ("#ffe3bd", "#9a5b00"),
    "changed": ("#d6e6fb", "#0b57a4"),
}
"""The colours of the area and of the border. The words say the same, for readers who do not see the colours apart."""


class DiagramNode(NamedTuple):
    """One thing in the diagram. `group` is the title of its graph, empty for a thing outside of graphs."""

    key: Key
    kind: Kind
    title: str
    lines: tuple[str, ...] = ()
    group: str = ""
    state: State = ""

    @property
    def text(self) -> tuple[str, ...]:
        """All lines of its text. The first lines are the title and, after a change, the word of its state."""
        return (self.title, *([WORDS[self.state]] if self.state else ()), *self.lines)


class DiagramEdge(NamedTuple):
    """A connection from one node to another. `label` says what it is."""

    source: Key
    target: Key
    label: str
    state: State = ""

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
    def names(self) -> dict[Key, str]:
        """A short name for each node, which every format can write without quotes."""
        return {node.key: f"n{number}" for number, node in enumerate(self.nodes)}
