"""Writes diagrams in DOT, the language of graphviz, and the page for a diagram that graphviz drew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from krm_fn.base import report
from krm_fn.review.diagram import COLOURS, WORDS, Diagram, DiagramEdge, DiagramNode, NodeKind

_SHAPES: dict[NodeKind, str] = {
    "entry point": "oval",
    "pool": "hexagon",
    "adapter": "parallelogram",
    "autoscaler": "parallelogram",
    "claim": "cylinder",
    "nats": "cylinder",
    "etcd": "cylinder",
    "model": "note",
    "lora": "note",
}
_FONT = 'fontname="Helvetica,Arial,sans-serif"'
_HEAD = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Dynamo graphs</title>
<style>
body { margin: 1rem; font-family: Helvetica, Arial, sans-serif }
svg { max-width: 100%; height: auto }
span { padding: .2rem .5rem; margin-right: .5rem; border: 2px solid }
</style>
</head>
<body>
"""


def write(diagram: Diagram) -> str:
    """Writes a diagram as a directed graph."""
    return "".join(f"{line}\n" for line in _lines(diagram))


def _lines(diagram: Diagram) -> Iterator[str]:
    names = diagram.names
    yield "digraph {"
    yield f"  graph [rankdir=LR, {_FONT}]"
    yield f'  node [shape=box, style=filled, fillcolor="#ffffff", {_FONT}]'
    yield f"  edge [{_FONT}, fontsize=11]"
    for number, (group, nodes) in enumerate(diagram.groups.items()):
        if group:
            yield f"  subgraph cluster_{number} {{"
            yield f"    label={_text([group])}"
        for node in nodes:
            yield f"  {'  ' if group else ''}{names[node.key]} [{', '.join(_node(node))}]"
        if group:
            yield "  }"
    for edge in diagram.edges:
        yield f"  {names[edge.source]} -> {names[edge.target]} [{', '.join(_edge(edge))}]"
    yield "}"


def _node(node: DiagramNode) -> Iterator[str]:
    yield f"label={_text(node.text)}"
    if node.kind in _SHAPES:
        yield f"shape={_SHAPES[node.kind]}"
    if node.state:
        area, border = COLOURS[node.state]
        yield f'fillcolor="{area}", color="{border}", penwidth=2'
    if node.state == "removed":
        yield 'style="filled,dashed"'


def _edge(edge: DiagramEdge) -> Iterator[str]:
    yield f"label={_text([edge.text])}"
    if edge.state:
        border = COLOURS[edge.state][1]
        yield f'color="{border}", fontcolor="{border}"'
    if edge.state == "removed":
        yield "style=dashed"


def _text(lines: Iterable[str]) -> str:
    """The lines in quotes. graphviz reads escapes and HTML entities in a quoted text."""
    escaped = (report.printable(line).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for line in lines)
    return '"' + "\\n".join(escaped) + '"'


def page(svg: str, *, compared: bool) -> str:
    """Writes a page in one file with a diagram that graphviz drew. It loads nothing and runs no script. `compared` adds a legend."""
    legend = "".join(
        f'<span style="background: {area}; border-color: {border}">{WORDS[state].lower()}</span>'
        for state, (area, border) in COLOURS.items()
    )
    return f"{_HEAD}{f'<p>{legend}</p>' if compared else ''}\n{svg[svg.index('<svg') :].rstrip()}\n</body>\n</html>\n"
