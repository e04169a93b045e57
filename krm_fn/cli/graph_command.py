"""`krm-fn graph`: draws graphs, or a change of graphs, with `krm_fn.review.diagram`."""

from __future__ import annotations

import shutil
import subprocess

import click

from krm_fn.base import codes, escaping, results
from krm_fn.cli import command_options, command_output, finding_formats
from krm_fn.review import diagram as diagrams
from krm_fn.review.diagram import graphviz_diagram, mermaid_diagram
from krm_fn.review.inputs import Inputs, Policy, drawn_graphs

_WRITERS = {"dot": graphviz_diagram.write, "mermaid": mermaid_diagram.write}
"""The text formats."""

_DRAWN = ("svg", "html")
"""The formats that graphviz draws."""

_SECONDS = 120


@click.command()
@command_options.inputs
@click.option(
    "--old",
    metavar="OLD",
    help="The state before the change: a file, a folder or a git revision. Marks new, removed and restarting services.",
)
@command_options.report_format((*_WRITERS, *_DRAWN), default="mermaid")
@command_options.policy
@click.pass_context
def graph(ctx: click.Context, *, given: Inputs, policy: Policy, old: str | None, style: str) -> None:
    """Draw diagrams of graphs with their services and connections.

    {paths}

    Each service shows its type, engine, replicas, nodes, GPUs and ports. Arrows show ingresses, discovery, the KV cache from prefill to
    decode, scaling, NATS, etcd, PersistentVolumeClaims, models and endpoint pickers. If there are several roots, each graph has the name of
    its root.

    With --old, the diagram marks new, removed and restarting services with a colour and a label. The services that restart are those that
    krm-fn diff forecasts.

    If a graph has an error, krm-fn draws only the other graphs. With --old, an error in either state counts.

    The formats mermaid and dot are text. The formats svg and html need the program dot of graphviz.

    Exit codes: 0 no errors; 1 errors; 2 wrong usage.

    \b
      krm-fn graph graphs/
      krm-fn graph --old main --format html graphs/ > change.html
    """  # noqa: D301 - click reads the backspace
    program = _program() if style in _DRAWN else ""
    drawn = drawn_graphs.draw_change(given, old) if old is not None else drawn_graphs.draw(given)
    diagram, about = diagrams.join_diagrams(drawn.diagrams), drawn.results
    if not diagram.nodes:
        about.append(results.warning(codes.NOTHING_TO_DRAW, "there is no graph to draw; name a file or folder with a graph"))
    findings = policy.without_ignored(about, [source.value for source in drawn.resources])
    finding_formats.print_text(drawn.resources, policy.visible_findings(findings), drawn.stdin)
    command_output.write(escaping.join_lines([] if policy.quiet else drawn.lines), err=True)
    if style in _DRAWN:
        svg = _draw_svg(program, graphviz_diagram.write(diagram))
        command_output.write(svg if style == "svg" else graphviz_diagram.page(svg, compared=old is not None), style)
    else:
        command_output.write(_WRITERS[style](diagram), style)
    ctx.exit(int(bool(policy.failing(findings))))


def _program() -> str:
    """The path of graphviz's dot. Raises click.ClickException if it is missing."""
    program = shutil.which("dot")
    if not program:
        how = "install the package graphviz, for example with `apt-get install graphviz` or `brew install graphviz`"
        raise click.ClickException(
            f"svg and html are drawn by graphviz, and its program dot is not on the PATH; {how}, or use --format mermaid"
        )
    return program


def _draw_svg(program: str, text: str) -> str:
    """Draws DOT text as SVG. Raises click.ClickException if the program fails."""
    try:
        done = subprocess.run([program, "-Tsvg"], input=text.encode(), capture_output=True, check=True, timeout=_SECONDS)
    except (OSError, subprocess.SubprocessError) as problem:
        stderr = getattr(problem, "stderr", None)
        raise click.ClickException(
            f"dot cannot draw the diagram: {(stderr or b'').decode(errors='replace').strip() or problem}"
        ) from problem
    svg = done.stdout.decode(errors="replace")
    if "<svg" not in svg:
        raise click.ClickException(f"{program} printed no SVG, so it is not the dot of graphviz; put graphviz first on the PATH")
    return svg


TOPIC = "author"
COMMAND = graph
