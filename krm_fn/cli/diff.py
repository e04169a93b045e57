"""`krm-fn diff`: what a change does to objects, pods and GPUs. The comparison is in `krm_fn.review.diff`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from krm_fn import report
from krm_fn.cli import _build, _live, _nodes, _options, _output, _sides
from krm_fn.files import reading
from krm_fn.review.diff import compared, failing, formats
from krm_fn.review.diff.report import Report

if TYPE_CHECKING:
    from krm_fn.cli._build import Build
    from krm_fn.cli._options import Inputs
    from krm_fn.cli._policy import Policy
    from krm_fn.cli._sides import Loaded
    from krm_fn.review.diff import Name

_PAINT = {
    "red": ("refused", "stuck", "deleted", "error", "-"),
    "yellow": ("restarts", "warning"),
    "green": ("created", "same", "+"),
    "cyan": ("updated", "info"),
}
_COLOURS = {word: colour for colour, words in _PAINT.items() for word in words}
_NAMED = 3
"""The exit code if something is so that --fail-on names."""


def _words(_ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    named = tuple(word for text in texts for word in text.replace(",", " ").split())
    for word in named:
        if word not in failing.WORDS:
            raise click.BadParameter(f"{word!r} is not one of {', '.join(failing.WORDS)}.")
    return named


@click.command()
@_options.inputs
@click.option("--old", metavar="OLD", help="The state before the change: a file, a folder or a git revision.")
@click.option(
    "--build", metavar="CMD", help="Compare what this command prints in a copy of each state, such as kustomize build overlays/prod."
)
@click.option(
    "--build-timeout",
    "seconds",
    metavar="SECONDS",
    type=click.IntRange(1),
    default=300,
    help="End the command after this time; default 300.",
)
@click.option("--live", metavar="FILE", type=_live.FILE, help="Compare with a cluster, exported by kubectl get -o json; - is stdin.")
@click.option(
    "--nodes",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="Nodes and pods of the cluster, from kubectl get -o json: finds rollouts that wait for GPUs for ever.",
)
@click.option(
    "--fail-on", "named", metavar="WHAT,...", multiple=True, callback=_words, help=f"Exit with 3 if one is so: {', '.join(failing.WORDS)}."
)
@click.option("-o", "--output", "--format", "style", type=click.Choice(formats.names()), default="text", help="Format; text by default.")
@_options.policy
@click.pass_context
def diff(  # noqa: PLR0913 - one for each option
    ctx: click.Context,
    *,
    given: Inputs,
    policy: Policy,
    old: str | None,
    build: str | None,
    seconds: int,
    live: str | None,
    nodes: str | None,
    named: tuple[str, ...],
    style: str,
) -> None:
    """Show what a change does to objects, pods and GPUs.

    PATH is a file, a folder or stdin (-), and OLD is the same before the change. Both states are rendered, each with its own
    configuration, and their objects are compared. Each change names the line that makes it.

    With --build, PATH is a folder. The command runs without a shell in a temporary copy of it, once with the files of OLD and once with
    those of the working tree. With --live in place of --old, the state before the change is that of a cluster.

    A forecast says which services restart, how many GPUs they take and interrupt, and what the cluster refuses. With --nodes, it says if
    the rollouts can end.

    The exit code is 0 without errors, 1 with errors, 2 for wrong usage, and 3 if something is so that --fail-on names. Errors of the new
    state count first, then --fail-on, then refused changes.

    \b
      krm-fn diff --old main graphs/
      kubectl get nodes,pods --all-namespaces -o json | krm-fn diff --old main --nodes - --fail-on refused,stuck graphs/
      krm-fn diff --old main --build "kustomize build overlays/prod" .
      kubectl get deployments,services,dgdsa -n prod --show-managed-fields -o json | krm-fn diff --live - graphs/
      krm-fn diff --old main --format markdown graphs/ > comment.md
    """  # noqa: D301 - click reads the backspace
    if "stuck" in named and nodes is None:
        raise click.UsageError("--fail-on stuck needs --nodes")
    if [*given.paths, live, nodes].count(reading.STDIN) > 1:
        raise click.UsageError("only one of PATH, --live and --nodes can be stdin")
    if (old is None) == (live is None):
        raise click.UsageError("name the state before the change with --old, or a cluster with --live")
    try:
        now, before = _states(given, old, live, _build.read(build, seconds) if build is not None else None)
    except _sides.StoppedError as stopped:
        _output.write(stopped.messages + "".join(f"{report.entry(each)}\n" for each in stopped.results), err=True)
        ctx.exit(1)
    cluster = _nodes.read(nodes)
    found = compared.compare(before.side, now.side, cluster.nodes, cluster.pods)
    states: dict[Name, Loaded] = {"old": before, "new": now}
    spots = _sides.spots((each for every in found.origins.values() for each in every), states)
    about = policy.kept([*_sides.news(now, before), *before.results, *cluster.results, *found.findings], now.side.inputs)
    forecast = policy.kept(_sides.placed(found, spots), now.side.inputs)
    told = Report(found, before.name, spots, policy.shown([*about, *forecast]), _painted if _output.colours() else _plain)
    _output.write(formats.write(style, told))
    if policy.failing(about):
        ctx.exit(1)
    ctx.exit(_NAMED if failing.words(found, named) else int(bool(policy.failing(forecast))))


def _states(given: Inputs, old: str | None, live: str | None, build: Build | None) -> tuple[Loaded, Loaded]:
    """The state after the change, and the one before it. Raises StoppedError if one of them cannot be read."""
    now, before = _build.of_build(build, old, given) if build else (_sides.of_paths(given), None)
    if live is not None:
        before, now = _live.of_live(live, now)
    return now, before or _sides.of_old(f"{old}", given, now)


def _plain(text: str, _word: str) -> str:
    return text


def _painted(text: str, word: str) -> str:
    return click.style(text, fg=_COLOURS.get(word), bold=word in ("refused", "stuck", "restarts", "error"))


COMMAND = diff
