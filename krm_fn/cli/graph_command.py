"""`krm-fn graph`: draws graphs, or a change of graphs, with `krm_fn.review.diagram`."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from typing import NamedTuple

import click

from krm_fn.base import escaping, results
from krm_fn.base.results import Result
from krm_fn.cli import command_options, command_output, finding_formats
from krm_fn.kubernetes import identity
from krm_fn.render import expand
from krm_fn.render.resolve import cluster
from krm_fn.repository.files import reading
from krm_fn.repository.files.reading import Source
from krm_fn.review import diagram as diagrams
from krm_fn.review import render_settings
from krm_fn.review.diagram import Diagram, graph_diagram, graphviz_diagram, mermaid_diagram
from krm_fn.review.diff import comparison
from krm_fn.review.diff.rendered_state import RenderedState
from krm_fn.review.inputs import Inputs, Policy, compared_roots, path_inputs

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
@click.option(
    "-o",
    "--output",
    "--format",
    "style",
    type=click.Choice((*_WRITERS, *_DRAWN)),
    default="mermaid",
    help="The format. The default is mermaid.",
)
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
    drawn = _change(given, old) if old is not None else _graphs(given)
    diagram, about = diagrams.joined(drawn.diagrams), drawn.results
    if not diagram.nodes:
        about.append(results.warning("DYN550", "there is no graph to draw; name a file or folder with a graph"))
    findings = policy.without_ignored(about, [source.value for source in drawn.resources])
    finding_formats.print_text(drawn.resources, policy.shown(findings), drawn.stdin)
    command_output.write(escaping.joined([] if policy.quiet else drawn.lines), err=True)
    if style in _DRAWN:
        svg = _drawn(program, graphviz_diagram.write(diagram))
        command_output.write(svg if style == "svg" else graphviz_diagram.page(svg, compared=old is not None), style)
    else:
        command_output.write(_WRITERS[style](diagram), style)
    ctx.exit(int(bool(policy.failing(findings))))


class _Drawn(NamedTuple):
    """The diagrams with the names of their roots, the findings, and the resources in which these are located."""

    diagrams: list[tuple[str, Diagram]]
    results: list[Result]
    resources: list[Source]
    lines: list[str]
    stdin: str


def _graphs(given: Inputs) -> _Drawn:
    """Draws the graphs of each root."""
    loaded = path_inputs.load(given).with_dynamo()
    drawn, about = [], [*loaded.results, *path_inputs.without_graphs(loaded)]
    for root in loaded.roots:
        for render in root.renders():
            drawn.append((root.name, graph_diagram.diagram(render.sources.values, render.sources.config)))
            expansion = expand.expand(render.sources.values, render.sources.config)
            about += reading.locate(expansion.results, render.sources.resources)
        about += root.sources.located(())
    return _Drawn(drawn, results.errors_of(about), loaded.resources, loaded.lines, loaded.stdin)


def _change(given: Inputs, old: str) -> _Drawn:
    """Draws both states of each root."""
    with contextlib.ExitStack() as stack:
        compared = compared_roots.load(given, old, stack, skips=False)
    drawn, about = [], [*compared.results]
    for pair in compared.pairs:
        before, after = _as_rendered(pair.old.rendered), _as_rendered(pair.new.rendered)
        drawn.append((pair.root, graph_diagram.change_diagram(before, after)))
        about += results.errors_of(pair.new.results)
        about += [*pair.old.results, *comparison.not_compared(before, after)]
    sources = [source for pair in compared.pairs for source in pair.new.files.resources]
    stdin = next((pair.new.files.stdin for pair in compared.pairs if pair.new.files.stdin), "")
    return _Drawn(drawn, about, sources, compared.lines, stdin)


def _as_rendered(state: RenderedState) -> RenderedState:
    """Returns a state with the settings of its render: those of a finished build are on its graphs."""
    built = (resource for resource in state.sources if identity.key(resource, cluster.default_namespace(state.config)) in state.built)
    graph = next(built, None)
    settings = render_settings.of(graph, state.config) if graph else state.config
    return state._replace(config=settings._replace(namespace=state.config.namespace))


def _program() -> str:
    """The path of graphviz's dot. Raises click.ClickException if it is missing."""
    program = shutil.which("dot")
    if not program:
        how = "install the package graphviz, for example with `apt-get install graphviz` or `brew install graphviz`"
        raise click.ClickException(
            f"svg and html are drawn by graphviz, and its program dot is not on the PATH; {how}, or use --format mermaid"
        )
    return program


def _drawn(program: str, text: str) -> str:
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


COMMAND = graph
