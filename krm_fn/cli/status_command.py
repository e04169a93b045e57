"""`krm-fn status`: prints the computed status of Dynamo resources, as tables or as resources, once or until it changes."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import click

from krm_fn.base import report, report_text
from krm_fn.cli import command_options, command_output, finding_formats, status_summary, status_tables, status_wait
from krm_fn.repository.files import reading
from krm_fn.review.inputs import Inputs, Policy, cluster_objects, syncer_state
from krm_fn.review.inputs.cluster_objects import ClusterObjects, ClusterOptions, ClusterReadError, ClusterUnavailableError
from krm_fn.review.inputs.computed_status import ComputedStatus

_SEARCHES = (
    "note: the table has no requests of v1beta2, Runs and Candidates, because only Dynamo's operator runs a search; "
    "krm-fn request get shows how far it is"
)
_TABLE = "table"
_NOT_READY = 3
"""The exit code of --exit-code and --wait if something is not ready."""
_INTERVAL = 2.0
"""Seconds between two reads of a cluster."""


@click.command()
@partial(command_options.inputs, default=(), builds=False)
@click.option("-A", "--all-namespaces", is_flag=True, help="Read all namespaces of the cluster. Only without PATH.")
@click.option("--kubeconfig", metavar="FILE", type=click.Path(exists=True, dir_okay=False), help="The kubeconfig. Only without PATH.")
@click.option("--context", metavar="NAME", help="The context of the kubeconfig. Only without PATH.")
@click.option(
    "--syncer-namespace",
    metavar="NS",
    default=syncer_state.NAMESPACE,
    show_default=True,
    callback=command_options.namespace,
    help="The namespace of the syncer's Lease. Only without PATH.",
)
@click.option("--exit-code", is_flag=True, help="Exit with 3 if something is not ready.")
@click.option(
    "--wait",
    metavar="DURATION",
    callback=command_options.seconds,
    help="Wait until everything is ready, for example 30m. Only without PATH.",
)
@click.option("-w", "--watch", is_flag=True, help="Print the status again when it changes, until Ctrl-C. Only without PATH.")
@click.option(
    "-o",
    "--output",
    "style",
    type=click.Choice((*command_output.FORMATS, _TABLE)),
    default=_TABLE,
    help="The format. The default is table.",
)
@command_options.policy
@click.pass_context
def status(  # noqa: PLR0913 - one for each option
    ctx: click.Context,
    *,
    given: Inputs,
    all_namespaces: bool,
    kubeconfig: str | None,
    context: str | None,
    syncer_namespace: str,
    exit_code: bool,
    wait: float | None,
    watch: bool,
    policy: Policy,
    style: str,
) -> None:
    """Compute the status of graphs, requests and models.

    PATH is a file, a folder or stdin (-) with objects of a cluster. Without PATH, krm-fn reads the cluster of the kubeconfig: the namespace
    of -n, else that of the context. The table shows each workload, its ready replicas, the time since it is in this state, and the reason
    if it is not ready. As YAML or JSON, krm-fn prints the Dynamo resources with the status that krm-fn sync would write.

    The annotation dynamo.krm-fn.io/workloads lists the workloads of a graph. If a graph does not have it, for example because the Dynamo
    operator manages the graph, krm-fn computes the workloads with the configuration. If the input includes pods, the table shows the
    reasons of pods.

    Lines below the table say how many resources are ready, what somebody changed in the cluster, if the stored statuses say the same, and
    if a syncer runs, by its Lease and its last write. The last line is the next step.

    --wait ends when everything is ready, when something failed so that waiting does not help, or when the time is over. It shows on stderr
    what it waits for: in one line on a terminal, else in a line for each change and each minute.

    Exit codes: 0 the input can be read, even if graphs are not ready; 1 errors; 2 wrong usage; 3 something is not ready, with --exit-code
    or --wait.

    \b
      krm-fn status -n team-a
      krm-fn status -n team-a --wait 30m
      kubectl get dgd,dcd,deployments,pods -o json | krm-fn status --exit-code -
      kubectl get dgdr,dgd,jobs,configmaps,pods -o json | krm-fn status -
      kubectl get dm,dgd,endpointslices,pods -o json | krm-fn status -
      krm-fn status --config render.yaml -o yaml objects.json
    """  # noqa: D301 - click reads the backspace
    options = ClusterOptions(kubeconfig, context, given.namespace, all_namespaces, syncer_namespace)
    if given.paths and (options._replace(namespace=None) != ClusterOptions() or watch or wait is not None):
        only = "--all-namespaces, --kubeconfig, --context, --syncer-namespace, --wait and --watch"
        raise click.UsageError(f"{only} do not go together with PATH")
    if watch and wait is not None:
        raise click.UsageError("--wait and --watch do not go together")
    load = partial(_read_files, given) if given.paths else partial(_read_cluster, options, given.config)
    statuses = partial(_compute_status, ctx, load, policy)
    if watch:
        _watch(statuses, style)
    final = _first(statuses) if wait is None else _wait_for_status(statuses, wait)
    if not final.objects and not final.searches:
        command_output.print_line(status_summary.nothing(final), err=True)
    if final.searches:
        command_output.print_line(_SEARCHES, err=True)
    command_output.write(_text(final, style), style)
    if (exit_code or wait is not None) and not final.ready():
        ctx.exit(_NOT_READY)


def _read_files(given: Inputs) -> ClusterObjects:
    return ClusterObjects(given.load(), [], None)


def _read_cluster(options: ClusterOptions, config: str | None) -> ClusterObjects:
    """Reads the objects of a cluster, and prints a note for each kind that the account may not list. Raises ClusterUnavailableError."""
    try:
        with command_options.sync_extra("status without PATH"):
            loaded = cluster_objects.load(options, config)
    except ClusterReadError as problem:
        raise click.ClickException(str(problem)) from problem
    for message in loaded.problems:
        command_output.print_line(f"note: {message}", err=True)
    return loaded


def _compute_status(ctx: click.Context, load: Callable[[], ClusterObjects], policy: Policy) -> ComputedStatus:
    """Reads the objects and computes the statuses. Ends the program with the findings if the input has an error."""
    objects = load()
    loaded = objects.sources
    statuses = ComputedStatus(loaded, objects.context)
    findings = policy.without_ignored(reading.locate([*loaded.results, *statuses.results], loaded.resources), loaded.values)
    finding_formats.print_text(loaded.resources, policy.visible_findings(findings), loaded.stdin)
    if failing := policy.failing(findings):
        command_output.print_line(f"no status is computed: {report.count(failing)}", err=True)
        ctx.exit(1)
    return statuses


def _text(statuses: ComputedStatus, style: str) -> str:
    if style != _TABLE:
        return command_output.resources(statuses.resources(), style)
    return report_text.blocks([*status_tables.tables(statuses), status_summary.lines(statuses)], colours=command_output.colours())


def _first(statuses: Callable[[], ComputedStatus]) -> ComputedStatus:
    """Computes the statuses once. If a stored one is old, once more: a syncer may be about to write it."""
    try:
        current = statuses()
        if current.cluster.name and any(current.stale()):
            time.sleep(_INTERVAL)
            current = statuses()
        return current  # noqa: TRY300 - one attempt
    except ClusterUnavailableError as problem:
        raise click.ClickException(str(problem)) from problem


def _wait_for_status(statuses: Callable[[], ComputedStatus], seconds: float) -> ComputedStatus:
    """Waits until everything is ready, something failed, or the time is over. Returns the last statuses."""
    end = time.monotonic() + seconds
    with status_wait.show_wait() as show:
        while True:
            try:
                current = statuses()
                if current.ready() or any(resource.failed for resource in current.unready()) or time.monotonic() >= end:
                    return current
                show(status_summary.progress(current))
            except ClusterUnavailableError as problem:
                if time.monotonic() >= end:
                    raise click.ClickException(str(problem)) from problem
                show(str(problem))
            time.sleep(max(min(_INTERVAL, end - time.monotonic()), 0))


def _watch(statuses: Callable[[], ComputedStatus], style: str) -> NoReturn:
    """Prints the statuses, and prints them again after each change of a status, until Ctrl-C.

    A server that does not answer is asked again.
    """
    printed: list[Any] = []
    while True:
        try:
            current = statuses()
        except ClusterUnavailableError as problem:
            command_output.print_line(f"note: {problem}", err=True)
        else:
            state = [*current.resources(), *map(repr, current.unready())]
            if state != printed:
                command_output.write(("\n" if printed else "") + _text(current, style), style)
                printed = state
        time.sleep(_INTERVAL)


TOPIC = "operate"
COMMAND = status
