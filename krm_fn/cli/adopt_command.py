"""`krm-fn adopt`: writes the files of a namespace that an operator manages, and verifies that they restart no pod."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import click
from click.core import ParameterSource

from krm_fn.base import report, results
from krm_fn.base.results import Result
from krm_fn.base.yaml import emitter
from krm_fn.cli import adopt_steps, command_options, command_output, finding_formats
from krm_fn.migration import adopt as adoption
from krm_fn.migration.adopt import Adoption, all_namespaces, migration_files
from krm_fn.migration.adopt.all_namespaces import ClusterAdoption
from krm_fn.repository.files import cluster_reading, writing
from krm_fn.repository.files.kubectl import KubectlError
from krm_fn.review.inputs import compared_states

_PAUSE = 5
_Adopted = TypeVar("_Adopted", Adoption, ClusterAdoption)


@click.group(invoke_without_command=True)
@command_options.live("The export. By default, it is read from stdin.", default="-")
@click.option(
    "--output-dir",
    "folder",
    metavar="DIR",
    type=command_options.Folder(),
    help="The folder for the files. It must be empty or missing. Required without a command.",
)
@click.option("-n", "--namespace", metavar="NAME", callback=command_options.namespace, help="Read this namespace with kubectl.")
@click.option("-A", "--all-namespaces", "everywhere", is_flag=True, help="Adopt every namespace: a folder for each, and one MIGRATION.md.")
@click.option(
    "--wait",
    "limit",
    metavar="DURATION",
    callback=command_options.seconds,
    help="Read the cluster with kubectl, again and again until no update is in progress, for at most this time. Needs -n or -A.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print only errors and the last line.")
def adopt(  # noqa: PLR0913 - one for each option
    *, live: str, folder: Path | None, namespace: str | None, everywhere: bool, limit: float | None, quiet: bool
) -> None:
    """Write files for a namespace that a Dynamo operator manages.

    The input is an export of one namespace, from `kubectl get -o yaml` or `-o json`. It needs the graphs, the workloads (deployments,
    leaderworkersets, podcliquesets), Ingresses, VirtualServices, DestinationRules, RoleBindings and ServiceAccounts. The command does not
    change the cluster. It needs no Secrets and writes none. With --namespace, the command reads the namespace itself, with kubectl, and the
    settings of the operator that no object of a graph shows.

    The command writes four kinds of files into DIR: the graphs without fields that the cluster added, a DynamoRender with the settings of
    the operator, a Kustomization, and MIGRATION.md with the other steps of the migration.

    Then the command renders the files and compares the result with the export. The last line shows how many pod templates are equal.
    Each difference that would restart a pod is an error with a fix, and the files are still written. If the export cannot be used, no file
    is written.

    With --all-namespaces, the input is an export of all namespaces. DIR gets a folder for each namespace that has graphs, a MIGRATION.md
    with the steps for all of them and with the objects that nothing needs afterwards, and a VERIFICATION.md with all results. With --wait,
    the command reads the cluster itself, and waits until the operator has finished its updates.

    The commands below do the other steps: they change the cluster, with kubectl, except for compare and can-start.

    Exit codes: 0 no pod would restart; 1 errors; 2 wrong usage.

    \b
      krm-fn adopt --namespace inference --output-dir chat
      kubectl get dgd,dcd,deployments,ingresses,rolebindings,serviceaccounts \\
        --namespace inference --output yaml | krm-fn adopt --output-dir chat
      krm-fn adopt --live export.yaml --output-dir chat
      krm-fn adopt --all-namespaces --wait 10m --output-dir cluster
    """  # noqa: D301 - click reads the backspace
    ctx = click.get_current_context()
    if ctx.invoked_subcommand:
        if any(ctx.get_parameter_source(name) == ParameterSource.COMMANDLINE for name in ctx.params):
            raise click.UsageError(f"{ctx.invoked_subcommand} takes no option of adopt")
        return
    if folder is None:
        raise click.UsageError("Missing option '--output-dir'.")
    _check_usage(live, namespace, limit, everywhere=everywhere)
    with _writing(folder):
        if not writing.is_empty(folder):
            raise click.ClickException(f"{folder} has files; name an empty folder, because adopt overwrites no files")
    if everywhere:
        ctx.exit(_adopt_all(live, folder, limit, quiet=quiet))
    broken: list[Result] = []
    adopted: Adoption | None = None
    if namespace:
        adopted = _steady(lambda: adoption.adopt(cluster_reading.read(namespace=namespace)), limit or 0)
    else:
        values, broken = compared_states.read_export(live)
        adopted = adoption.adopt(values) if not broken else None
    findings = [*broken, *(adopted.results if adopted else [])]
    finding_formats.print_heads(finding for finding in findings if not quiet or finding.severity == "error")
    if adopted is None or adopted.verification is None:
        command_output.print_line("nothing is adopted", err=True)
        ctx.exit(1)
    with _writing(folder):
        writing.write_texts(
            folder,
            {name: emitter.text(content) for name, content in adopted.files.items()} | {migration_files.STEPS: adopted.steps},
        )
    command_output.print_line(f"{report.pluralize(len(adopted.files) + 1, 'file')} in {folder}")
    command_output.print_line(adoption.summary(adopted.verification))
    ctx.exit(1 if results.has_errors(findings) or not _has_ended(adopted, limit) else 0)


def _check_usage(live: str, namespace: str | None, limit: float | None, *, everywhere: bool) -> None:
    """Raises click.UsageError for options that do not go together."""
    if limit is not None and not everywhere and not namespace:
        raise click.UsageError("--wait needs --namespace or --all-namespaces")
    if namespace and everywhere:
        raise click.UsageError("name either --namespace or --all-namespaces")
    if limit is not None and live != "-":
        raise click.UsageError("--wait reads the cluster, and --live a file; use one of them")
    if namespace and live != "-":
        raise click.UsageError("--namespace reads the cluster, and --live a file; use one of them")


def _adopt_all(live: str, folder: Path, limit: float | None, *, quiet: bool) -> int:
    """Adopts all namespaces. Returns the exit code."""
    broken: list[Result] = []
    if limit is None:
        values, broken = compared_states.read_export(live)
        cluster = all_namespaces.adopt_all(values) if not broken else None
    else:
        cluster = _steady(lambda: all_namespaces.adopt_all(cluster_reading.read()), limit)
    findings = [*broken, *(cluster.findings if cluster else [])]
    finding_formats.print_heads(finding for finding in findings if not quiet or finding.severity == "error")
    if cluster is None or not cluster.pages:
        command_output.print_line("nothing is adopted", err=True)
        return 1
    with _writing(folder):
        for name, adoption in cluster.namespaces.items():
            if adoption.files:
                writing.write_texts(folder / name, {file: emitter.text(content) for file, content in adoption.files.items()})
        writing.write_texts(folder, cluster.pages)
    files = sum(len(adoption.files) for adoption in cluster.namespaces.values()) + len(cluster.pages)
    command_output.print_line(f"{report.pluralize(files, 'file')} in {folder}")
    command_output.print_line(all_namespaces.summary(cluster.namespaces))
    return 1 if results.has_errors(findings) or not _has_ended(cluster, limit) else 0


def _has_ended(adopted: Adoption | ClusterAdoption, limit: float | None) -> bool:
    """Returns false if --wait has waited in vain, and says so."""
    if limit is None or adopted.is_steady:
        return True
    command_output.print_line("an update is still in progress; run the command again when it is done", err=True)
    return False


def _steady(adopted: Callable[[], _Adopted], limit: float) -> _Adopted:
    """Reads and adopts the cluster until no update is in progress, or until the time is over. Raises click.ClickException."""
    end = time.monotonic() + limit
    while True:
        try:
            current = adopted()
        except KubectlError as problem:
            raise click.ClickException(str(problem)) from problem
        left = end - time.monotonic()
        if current.is_steady or left <= 0:
            return current
        command_output.print_line(f"an update is in progress; reading again, for at most {left:.0f} s", err=True)
        time.sleep(min(_PAUSE, left))


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Raises click.ClickException for a folder that cannot be read or written."""
    try:
        yield
    except OSError as problem:
        raise click.ClickException(f"cannot write to {folder}: {problem.strerror}") from problem


adopt_steps.add_to(adopt)

TOPIC = "migrate"
COMMAND = adopt
