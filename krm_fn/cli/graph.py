"""`krm-fn graph`: a picture of graphs, or of a change. The model is `krm_fn.review.picture`."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import click

from krm_fn import config, expand, results
from krm_fn.cli import _formats, _options, _output
from krm_fn.files import locations, revisions
from krm_fn.review.picture import compared, formats, model, page

if TYPE_CHECKING:
    from krm_fn.cli._options import Inputs
    from krm_fn.cli._policy import Policy
    from krm_fn.config import Config
    from krm_fn.files.sources import Sources
    from krm_fn.kube.types import Resource
    from krm_fn.results import Result

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

    With --old, new, removed and restarting services have a colour and a word. A service restarts if its pod template differs.

    mermaid and dot are texts. svg and html need the program dot of graphviz. A graph with an error is left out, and the exit code is 1.

    \b
      krm-fn graph graphs/
      krm-fn graph --old main --format html graphs/ > change.html
    """  # noqa: D301 - click reads the backspace
    program = _program() if style in _DRAWN else ""
    loaded = given.load()
    before, about = _before(old, given, loaded) if old is not None else (None, [])
    about += [each for each in expand.expand(loaded.values, loaded.config).results if each.severity == "error"]
    now = (loaded.values, loaded.config)
    picture = compared.picture(before, now) if before else model.picture(*now)
    if not picture.nodes:
        about.append(results.warning("DYN550", "there is no graph to draw; name a file or folder with a graph"))
    kept = policy.kept(locations.of([*loaded.results, *about], loaded.resources), loaded.values)
    shown = _formats.Checked(loaded.resources, policy.shown(kept), loaded.stdin, colour=_output.colours(err=True))
    _output.write(_formats.write("text", shown), err=True)
    if style in _DRAWN:
        svg = _drawn(program, formats.write("dot", picture))
        _output.write(svg if style == "svg" else page.html(svg, compared=before is not None))
    else:
        _output.write(formats.write(style, picture))
    ctx.exit(int(bool(policy.failing(kept))))


def _before(old: str, given: Inputs, loaded: Sources) -> tuple[tuple[list[Resource], Config], list[Result]]:
    """The resources and the configuration of the old state, and warnings about it.

    The configuration is the one in the old files, else that of --config in the old state, else the one of now.
    """
    try:
        earlier = revisions.read(old, given.paths, given.exclude)
        configured = revisions.read(old, [given.config]) if given.config else revisions.Earlier([], [])
    except revisions.UnreadableError as problem:
        raise click.BadParameter(str(problem), param_hint="--old") from problem
    values = [source.value for source, _ in earlier.resources if isinstance(source.value, dict)]
    settings = [source.value for source, _ in (*configured.resources, *earlier.resources) if config.is_config(source.address)]
    then = config.read(settings[0])[0] if settings else loaded.config
    then = then._replace(namespace=given.namespace or then.namespace)
    plain = [value for value in values if not config.is_config(results.ref(value))]
    errors = [each for each in expand.expand(plain, then).results if each.severity == "error"]
    warnings = [each._replace(severity="warning", ref=None, path=(), file=old) for each in errors]
    return (plain, then), [*earlier.results, *warnings]


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
    return done.stdout.decode()


COMMAND = graph
