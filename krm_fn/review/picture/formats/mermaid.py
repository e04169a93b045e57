"""Mermaid, which GitHub and GitLab draw in Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from krm_fn import report
from krm_fn.review.picture import COLOURS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krm_fn.review.picture import Edge, Kind, Node, Picture

_SHAPES: dict[Kind, tuple[str, str]] = {
    "entrance": ("([", "])"),
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


def write(picture: Picture) -> str:
    """The picture as a flowchart."""
    return "".join(f"{line}\n" for line in _lines(picture))


def _lines(picture: Picture) -> Iterator[str]:
    names = picture.names
    yield "flowchart LR"
    for number, (group, nodes) in enumerate(picture.groups.items()):
        if group:
            yield f'  subgraph g{number}["{_text([group])}"]'
            yield "    direction LR"
        for node in nodes:
            yield f"  {'  ' if group else ''}{_node(names[node.key], node)}"
        if group:
            yield "  end"
    for edge in picture.edges:
        yield f"  {names[edge.source]} {_arrow(edge)} {names[edge.target]}"
    yield from _states(picture)


def _node(name: str, node: Node) -> str:
    begin, end = _SHAPES.get(node.kind, ("[", "]"))
    return f'{name}{begin}"{_text(node.text)}"{end}'


def _arrow(edge: Edge) -> str:
    return f'{"-.->" if edge.state == "removed" else "-->"}|"{_text([edge.text])}"|'


def _states(picture: Picture) -> Iterator[str]:
    """The colours of nodes and edges that differ between two states."""
    names = picture.names
    for state, (area, border) in COLOURS.items():
        nodes = [names[node.key] for node in picture.nodes if node.state == state]
        edges = [f"{number}" for number, edge in enumerate(picture.edges) if edge.state == state]
        if nodes:
            yield f"  classDef {state} fill:{area},stroke:{border},color:#000"
            yield f"  class {','.join(nodes)} {state}"
        if edges:
            yield f"  linkStyle {','.join(edges)} stroke:{border}"


def _text(lines: Iterable[str]) -> str:
    return "<br/>".join(_line(report.printable(line)) for line in lines)


def _line(line: str) -> str:
    """The line with every character as a number that Mermaid, Markdown or HTML could read as syntax."""
    safe = _UNSAFE.sub(lambda found: f"#{ord(found[0])};", line.replace("\\n", _NO_BREAK))
    return _LIST.sub(lambda found: f"{found[0][:-1]}#{ord(found[0][-1])};", safe)
