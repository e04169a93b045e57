"""`krm-fn graph`: a picture of graphs, or of a change. The model is `krm_fn.review.picture`."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import click

from krm_fn import results
from krm_fn.cli import _formats, _options, _output, _sides
from krm_fn.review.diff.compared import not_compared
from krm_fn.review.picture import compared, formats, model, page

if TYPE_CHECKING:
    from krm_fn.cli._options import Inputs
    from krm_fn.cli._policy import Policy

_DRAWN = ("svg", "html")
_SECONDS = 120


@click.command()
@_options.inputs
@click.option("--old", metavar="OLD", help="Earlier state, as in check. Shows what comes, what goes, and what restarts.")
@click.option(
    "-o",
    "--output",
    "--format",
    "style",
    type=click.Choice((*formats.names(), *_DRAWN)),
    default="mermaid",
    help="Format; mermaid by default.",
)
@_options.policy
@click.pass_context
def graph(ctx: click.Context, *, given: Inputs, policy: Policy, old: str | None, style: str) -> None:
    """Draw graphs: their services, and the connections that are known.

    PATH is a file, a folder or stdin (-). A service has its type, engine, replicas, nodes, GPUs and ports. Connections are drawn for
    ingresses, discovery, prefill to decode, scaling, NATS, etcd, claims, models and endpoint pickers.

    With --old, new, removed and restarting services have a colour and a word. The forecast of krm-fn diff says which services restart. A
    graph with an error in one of the states is left out.

    mermaid and dot are texts. svg and html need the program dot of graphviz. With an error, the other graphs are drawn, and the exit code
    is 1.

    \b
      krm-fn graph graphs/
      krm-fn graph --old main --format html graphs/ > change.html
    """  # noqa: D301 - click reads the backspace
    program = _program() if style in _DRAWN else ""
    now = _sides.of_paths(given)
    about = [each for each in now.results if each.severity == "error"]
    if old is None:
        picture = model.picture(now.side.inputs, now.side.config)
    else:
        before = _sides.of_old(old, given, now)
        picture = compared.picture(before.side, now.side)
        about += [*before.results, *not_compared(before.side, now.side)]
    if not picture.nodes:
        about.append(results.warning("DYN550", "there is no graph to draw; name a file or folder with a graph"))
    kept = policy.kept(about, now.side.inputs)
    shown = _formats.Checked(now.sources, policy.shown(kept), now.stdin, colour=_output.colours(err=True))
    _output.write(_formats.write("text", shown), err=True)
    if style in _DRAWN:
        svg = _drawn(program, formats.write("dot", picture))
        _output.write(svg if style == "svg" else page.html(svg, compared=old is not None))
    else:
        _output.write(formats.write(style, picture))
    ctx.exit(int(bool(policy.failing(kept))))


def _program() -> str:
    """The program that draws. Raises click.ClickException if it is missing."""
    found = shutil.which("dot")
    if not found:
        how = "install the package graphviz, for example with `apt-get install graphviz` or `brew install graphviz`"
        raise click.ClickException(
            f"svg and html are drawn by graphviz, and its program dot is not on the PATH; {how}, or use --format mermaid"
        )
    return found


def _drawn(program: str, text: str) -> str:
    """The picture as SVG. Raises click.ClickException if the program fails."""
    try:
        done = subprocess.run([program, "-Tsvg"], input=text.encode(), capture_output=True, check=True, timeout=_SECONDS)
    except (OSError, subprocess.SubprocessError) as problem:
        said = getattr(problem, "stderr", None)
        raise click.ClickException(f"dot cannot draw the picture: {(said or b'').decode(errors='replace').strip() or problem}") from problem
    svg = done.stdout.decode(errors="replace")
    if "<svg" not in svg:
        raise click.ClickException(f"{program} printed no SVG, so it is not the dot of graphviz; put graphviz first on the PATH")
    return svg


COMMAND = graph
