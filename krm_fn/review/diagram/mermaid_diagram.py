"""Writes diagrams in Mermaid, which GitHub and GitLab draw in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from krm_fn.base import report
from krm_fn.review.diagram import COLOURS, Diagram, DiagramEdge, DiagramNode, NodeKind

_SHAPES: dict[NodeKind, tuple[str, str]] = {
    "entry point": ("([", "])"),
    "pool": ("{{", "}}"),
    "adapter": ("[/", "/]"),
    "autoscaler": ("[/", "/]"),
    "claim": ("[(", ")]"),
    "nats": ("[(", ")]"),
    "etcd": ("[(", ")]"),
    "model": (">", "]"),
    "lora": (">", "]"),
}
_UNSAFE = re.compile(r"[^A-Za-z0-9 /:,.()-]")
_LIST = re.compile(r"^(?:[-+]|[0-9]+[.)])(?= )")  # Mermaid refuses labels that look like a list of Markdown
_NO_BREAK = "\\\u200bn"
"""A backslash and an n with nothing visible between them: Mermaid breaks a line at the two characters, also if they are numbers."""


def write(diagram: Diagram) -> str:
    """Writes a diagram as a flowchart."""
    return "".join(f"{line}\n" for line in _lines(diagram))


def _lines(diagram: Diagram) -> Iterator[str]:
    names = diagram.names
    yield "flowchart LR"
    for number, (group, nodes) in enumerate(diagram.groups.items()):
        if group:
            yield f'  subgraph g{number}["{_text([group])}"]'
            yield "    direction LR"
        for node in nodes:
            yield f"  {'  ' if group else ''}{_node(names[node.key], node)}"
        if group:
            yield "  end"
    for edge in diagram.edges:
        yield f"  {names[edge.source]} {_arrow(edge)} {names[edge.target]}"
    yield from _states(diagram)


def _node(name: str, node: DiagramNode) -> str:
    begin, end = _SHAPES.get(node.kind, ("[", "]"))
    return f'{name}{begin}"{_text(node.text)}"{end}'


def _arrow(edge: DiagramEdge) -> str:
    return f'{"-.->" if edge.state == "removed" else "-->"}|"{_text([edge.text])}"|'


def _states(diagram: Diagram) -> Iterator[str]:
    """The colours of nodes and edges that differ between two states."""
    names = diagram.names
    for state, (area, border) in COLOURS.items():
        nodes = [names[node.key] for node in diagram.nodes if node.state == state]
        edges = [f"{number}" for number, edge in enumerate(diagram.edges) if edge.state == state]
        if nodes:
            yield f"  classDef {state} fill:{area},stroke:{border},color:#000"
            yield f"  class {','.join(nodes)} {state}"
        if edges:
            yield f"  linkStyle {','.join(edges)} stroke:{border}"


def _text(lines: Iterable[str]) -> str:
    return "<br/>".join(_line(report.printable(line)) for line in lines)


def _line(line: str) -> str:
    """Replaces each character that Mermaid, Markdown or HTML could read as syntax by its number."""
    safe = _UNSAFE.sub(lambda match: f"#{ord(match[0])};", line.replace("\\n", _NO_BREAK))
    return _LIST.sub(lambda match: f"{match[0][:-1]}#{ord(match[0][-1])};", safe)
