"""`krm-fn diff`: what a change does to objects, pods and GPUs. The comparison is in `krm_fn.review.diff`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from krm_fn import report
from krm_fn.cli import build_option, command_options, command_output, compared_states
from krm_fn.files import reading
from krm_fn.review.diff import compared, failing, formats
from krm_fn.review.diff.diff_report import Report

if TYPE_CHECKING:
    from krm_fn.cli.build_option import BuildCommand
    from krm_fn.cli.command_options import Inputs, Policy
    from krm_fn.cli.compared_states import State
    from krm_fn.review.diff import Name

_PAINT = {
    "red": ("refused", "stuck", "deleted", "error", "-"),
    "yellow": ("restarts", "warning"),
    "green": ("created", "same", "+"),
    "cyan": ("updated", "info"),
}
_COLOURS = {word: colour for colour, words in _PAINT.items() for word in words}
_NAMED = 3
"""The exit code if a condition of --fail-on holds."""


def _words(_ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    named = tuple(word for text in texts for word in text.replace(",", " ").split())
    for word in named:
        if word not in failing.WORDS:
            raise click.BadParameter(f"{word!r} is not one of {', '.join(failing.WORDS)}.")
    return named


@click.command()
@command_options.inputs
@click.option("--old", metavar="OLD", help="The state before the change: a file, a folder or a git revision.")
@click.option(
    "--build", metavar="CMD", help="Compare the output of this command for both states, for example 'kustomize build overlays/prod'."
)
@click.option(
    "--build-timeout",
    "seconds",
    metavar="SECONDS",
    type=click.IntRange(1),
    default=300,
    help="The time limit of the command. The default is 300.",
)
@click.option(
    "--live",
    metavar="FILE",
    type=compared_states.EXPORT,
    help="Compare with the objects of a cluster, exported with kubectl get -o json. For stdin, write -.",
)
@click.option(
    "--nodes",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="The nodes and pods of the cluster, exported with kubectl get -o json. Reports rollouts that would wait for GPUs for ever.",
)
@click.option(
    "--fail-on",
    "named",
    metavar="CONDITION,...",
    multiple=True,
    callback=_words,
    help=f"Exit with code 3 if one of these conditions holds: {', '.join(failing.WORDS)}.",
)
@click.option(
    "-o", "--output", "--format", "style", type=click.Choice(formats.names()), default="text", help="The format. The default is text."
)
@command_options.policy
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

    PATH is a file, a folder or stdin (-). OLD is the state of PATH before the change. krm-fn renders both states, each with its own
    configuration, and compares the objects. For each change, it prints the line that makes the change.

    With --build, PATH is a folder. krm-fn runs the command without a shell in a temporary copy of the folder: once with the files of OLD,
    and once with the files of the working tree. With --live instead of --old, krm-fn compares with the objects of a cluster.

    The forecast lists the services that restart, the GPUs that they use and interrupt, and the changes that the cluster rejects. With
    --nodes, it also says if the rollouts can finish.

    Exit codes: 0 no errors; 1 errors, or a change that the cluster rejects; 2 wrong usage; 3 a condition of --fail-on holds. If there are
    errors, the code is 1. Otherwise, a condition of --fail-on gives 3, also if the cluster rejects a change.

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
        now, before = _states(given, old, live, build_option.read(build, seconds) if build is not None else None)
    except compared_states.StoppedError as stopped:
        command_output.write(stopped.messages + "".join(f"{report.entry(each)}\n" for each in stopped.results), err=True)
        ctx.exit(1)
    cluster = compared_states.read_nodes(nodes)
    comparison = compared.compare(before.side, now.side, cluster.nodes, cluster.pods)
    states: dict[Name, State] = {"old": before, "new": now}
    locations = compared_states.origin_locations((each for every in comparison.origins.values() for each in every), states)
    about = policy.without_ignored(
        [*compared_states.new_findings(now, before), *before.results, *cluster.results, *comparison.findings], now.side.inputs
    )
    forecast = policy.without_ignored(compared_states.located_forecast(comparison, locations), now.side.inputs)
    report_ = Report(
        comparison, before.name, locations, policy.shown([*about, *forecast]), _painted if command_output.colours() else _plain
    )
    command_output.write(formats.write(style, report_))
    if policy.failing(about):
        ctx.exit(1)
    ctx.exit(_NAMED if failing.words(comparison, named) else int(bool(policy.failing(forecast))))


def _states(given: Inputs, old: str | None, live: str | None, build: BuildCommand | None) -> tuple[State, State]:
    """The state after the change, and the one before it. Raises StoppedError if one of them cannot be read."""
    now, before = build_option.build_states(build, old, given) if build else (compared_states.load_paths(given), None)
    if live is not None:
        before, now = compared_states.with_live(live, now)
    return now, before or compared_states.load_old(f"{old}", given, now)


def _plain(text: str, _word: str) -> str:
    return text


def _painted(text: str, word: str) -> str:
    return click.style(text, fg=_COLOURS.get(word), bold=word in ("refused", "stuck", "restarts", "error"))


COMMAND = diff
