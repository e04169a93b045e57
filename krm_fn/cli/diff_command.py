"""`krm-fn diff`: what a change does to objects, pods and GPUs. The comparison is in `krm_fn.review.diff`."""

from __future__ import annotations

import contextlib
import functools

import click

from krm_fn.base import escaping, progress_line, report
from krm_fn.cli import budget_option, command_options, command_output
from krm_fn.repository.files import reading
from krm_fn.review.diff import comparison, json_diff, markdown_diff, text_diff
from krm_fn.review.fleets import matrix_formats
from krm_fn.review.inputs import Inputs, Policy, compared_clusters, compared_roots, compared_states, repository_diffs
from krm_fn.review.inputs.compared_states import BuildCommand
from krm_fn.review.inputs.repository_diffs import RootChange, RootChanges

FORMATS = {"json": json_diff.write, "markdown": markdown_diff.write, "text": text_diff.write}
"""The functions that write a report, by the name of the format."""

MATRIX_FORMATS = {"json": matrix_formats.json_text, "markdown": matrix_formats.markdown, "text": matrix_formats.text}
"""The functions that write a matrix of clusters with findings, by the name of the format."""

_CONDITION_HOLDS = 3
"""The exit code if a condition of --fail-on holds."""


def _conditions(_ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    names = tuple(name for text in texts for name in text.replace(",", " ").split())
    for name in names:
        if name not in comparison.CONDITIONS:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(comparison.CONDITIONS)}.")
    return names


@click.command()
@functools.partial(command_options.inputs, revisions=False)
@command_options.cached_builds
@click.option("--across", is_flag=True, help="Compare the clusters of a fleet with each other: each PATH is a cluster.")
@click.option("--objects", is_flag=True, help="With --across, show all fields of generated objects that differ.")
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
@command_options.live("Compare with the objects of a cluster, exported with kubectl get -o json. For stdin, write -.")
@click.option(
    "--nodes",
    metavar="FILE",
    type=command_options.EXPORT,
    help="The nodes and pods of the cluster, exported with kubectl get -o json. Reports rollouts that cannot finish for lack of GPUs.",
)
@click.option(
    "--fail-on",
    "conditions",
    metavar="CONDITION,...",
    multiple=True,
    callback=_conditions,
    help=f"Exit with code 3 if one of these conditions holds: {', '.join(comparison.CONDITIONS)}.",
)
@command_options.report_format(FORMATS)
@click.option("--all", "is_all", is_flag=True, help="Also render the roots of a folder whose inputs are the same in both states.")
@budget_option.option
@command_options.policy
@click.pass_context
def diff(  # noqa: PLR0913 - one for each option
    ctx: click.Context,
    *,
    given: Inputs,
    policy: Policy,
    across: bool,
    objects: bool,
    old: str | None,
    build: str | None,
    seconds: int,
    live: str | None,
    nodes: str | None,
    budget: str | None,
    conditions: tuple[str, ...],
    style: str,
    is_all: bool,
) -> None:
    """Show the effects of a change on objects, pods and GPUs.

    {paths} OLD is the state of PATH before the change. krm-fn renders both states, each with its own configuration, and compares the
    objects of each root. For each changed field, it prints the line that causes the change. A root whose inputs are all the same in both
    states is not built, except with --all, --nodes, --budget and --fail-on unknown.

    With --build, PATH is a folder. krm-fn runs the command without a shell in a temporary copy of the folder: once with the files of OLD,
    and once with the files of the working tree. With --live instead of --old, krm-fn compares with the objects of a cluster.

    With --across, each PATH is a cluster: a folder, or a file with its rendered objects. krm-fn prints a matrix of the settings, fields and
    objects that differ between the clusters. It leaves out fields of generated objects that settings or fields of their graph explain.

    The forecast lists the services that restart, the GPUs that they use and interrupt, and the changes that the cluster rejects. With
    --nodes, it also shows if the rollouts can finish.

    Exit codes: 0 no errors; 1 errors, or a change that the cluster rejects; 2 wrong usage; 3 a condition of --fail-on holds. If there are
    errors, the code is 1. Otherwise, a condition of --fail-on gives 3, also if the cluster rejects a change.

    \b
      krm-fn diff --old main
      krm-fn diff --old main graphs/
      kubectl get nodes,pods --all-namespaces -o json | krm-fn diff --old main --nodes - --fail-on refused,stuck graphs/
      krm-fn diff --old main --build "kustomize build overlays/prod" .
      kubectl get deployments,services,dgdsa -n prod --show-managed-fields -o json | krm-fn diff --live - graphs/
      krm-fn diff --old main --format markdown graphs/ > comment.md
      krm-fn diff --across clusters/*
    """  # noqa: D301 - click reads the backspace
    if across or objects:
        _require_no_state(across=across, old=old, live=live, build=build, nodes=nodes, budget=budget)
        if set(conditions) - {"changes"}:
            raise click.UsageError("with --across, the only condition of --fail-on is changes")
        ctx.exit(_print_matrix(given, policy, style, with_objects=objects, fails_on_changes=bool(conditions)))
    nodes = nodes or given.project.nodes
    if "stuck" in conditions and nodes is None:
        raise click.UsageError("--fail-on stuck needs --nodes")
    if [*given.paths, live, nodes].count(reading.STDIN) > 1:
        raise click.UsageError("only one of PATH, --live and --nodes can be stdin")
    if (old is None) == (live is None):
        raise click.UsageError("name the state before the change with --old, a cluster with --live, or clusters with --across")
    cluster, limits = compared_states.read_nodes(nodes), budget_option.read(budget, given)
    skips = not (is_all or limits or nodes or "unknown" in conditions)
    with contextlib.ExitStack() as stack, progress_line.show_progress("diff") as step:
        command = compared_states.read_build(build, seconds) if build is not None else None
        try:
            compared = _load(given, old, live, command, stack, skips=skips)
        except compared_states.StoppedError as stopped:
            command_output.write(stopped.messages + "".join(f"{report.entry(result)}\n" for result in stopped.results), err=True)
            ctx.exit(1)
        reports = []
        for pair in compared.pairs:
            step(pair.root)
            reports.append(repository_diffs.compare(pair, cluster, policy, colours=command_output.colours()))
    used = limits.compare(map(repository_diffs.measured_objects, compared.pairs, reports)) if limits else None
    about = policy.without_ignored([*compared.results, *cluster.results, *(used.findings if used else ())], [])
    if style == "text" and not policy.quiet:
        command_output.write(escaping.join_lines(compared.lines), err=True)
    text = repository_diffs.write(FORMATS, style, reports, policy.visible_findings(about))
    command_output.write(used.added_to(style, text) if used else text, style)
    if policy.failing([*about, *(finding for root in reports for finding in root.findings)]):
        ctx.exit(1)
    holding = any(comparison.conditions(root.content.diff, conditions) for root in reports)
    failing = policy.failing([finding for root in reports for finding in root.forecast_findings])
    ctx.exit(_CONDITION_HOLDS if holding else int(bool(failing)))


def _require_no_state(*, across: bool, **others: str | None) -> None:
    """Raises click.UsageError if an option does not fit --across."""
    if not across:
        raise click.UsageError("--objects needs --across")
    for name, value in others.items():
        if value is not None:
            raise click.UsageError(f"--across compares clusters with each other, so it takes no --{name}")


def _print_matrix(given: Inputs, policy: Policy, style: str, *, with_objects: bool, fails_on_changes: bool) -> int:
    """Compares the clusters of a fleet, and prints what differs. Returns the exit code."""
    with progress_line.show_progress("diff"):
        compared = compared_clusters.compare(given, with_objects=with_objects)
    findings = policy.without_ignored(compared.results, [])
    if style == "text" and not policy.quiet:
        command_output.write(escaping.join_lines(compared.lines), err=True)
    command_output.write(MATRIX_FORMATS[style](compared.matrix, policy.visible_findings(findings)), style)
    if policy.failing(findings):
        return 1
    return _CONDITION_HOLDS if compared.matrix.differs and fails_on_changes else 0


def _load(  # noqa: PLR0913 - one for each way to name a state
    given: Inputs, old: str | None, live: str | None, build: BuildCommand | None, stack: contextlib.ExitStack, *, skips: bool
) -> RootChanges:
    """Returns the states after and before the change, of each root. Copies for builds exist until the end of `stack`.

    Raises StoppedError if one of the states cannot be read.
    """
    if build is None:
        return compared_roots.load(given, old, stack, skips=skips) if old is not None else compared_roots.load_live(given, f"{live}")
    new_state, old_state, find_origins = compared_states.build_states(build, old, given, stack)
    pairs = [(new_state, old_state)] if old_state else compared_states.load_live(f"{live}", [new_state])
    return RootChanges([RootChange("", *pair, find_origins=find_origins) for pair in pairs if pair], [], [])


TOPIC = "review"
COMMAND = diff
