"""`krm-fn adopt`: writes the files of a namespace that an operator manages, and verifies that they restart no pod."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from krm_fn import results
from krm_fn.cli import command_options, command_output, compared_states
from krm_fn.cli.finding_formats import text_findings
from krm_fn.files import writing
from krm_fn.results import Result
from krm_fn.review import adopt as adoption
from krm_fn.review.adopt import migration_files
from krm_fn.yamlio import emitter


@click.command()
@click.option(
    "--live",
    metavar="FILE",
    type=compared_states.EXPORT,
    default="-",
    help="The export. By default, it is read from stdin.",
)
@click.option(
    "--output-dir",
    "folder",
    metavar="DIR",
    type=command_options.Folder(),
    required=True,
    help="The folder for the files. It must be empty or missing.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print only errors and the last line.")
@click.pass_context
def adopt(ctx: click.Context, *, live: str, folder: Path, quiet: bool) -> None:
    """Write files for a namespace that a Dynamo operator manages.

    The input is an export of one namespace, from `kubectl get -o yaml` or `-o json`. It needs the graphs, the workloads (deployments,
    leaderworkersets, podcliquesets), Ingresses, VirtualServices, DestinationRules, RoleBindings and ServiceAccounts. The command does not
    change the cluster. It needs no Secrets and writes none.

    The command writes four kinds of files into DIR: the graphs without fields that the cluster added, a DynamoRender with the settings of
    the operator, a Kustomization, and MIGRATION.md with the other steps of the migration.

    Then the command renders the files and compares the result with the export. The last line shows how many pod templates are equal.
    Each difference that would restart a pod is an error with a fix, and the files are still written. If the export cannot be used, no file
    is written.

    Exit codes: 0 no pod would restart; 1 errors; 2 wrong usage.

    \b
      kubectl get dgd,dcd,deployments,ingresses,rolebindings,serviceaccounts \\
        --namespace inference --output yaml | krm-fn adopt --output-dir chat
      krm-fn adopt --live export.yaml --output-dir chat
    """  # noqa: D301 - click reads the backspace
    with _writing(folder):
        if not writing.is_empty(folder):
            raise click.ClickException(f"{folder} has files; name an empty folder, because adopt overwrites no files")
    values, broken = compared_states.read_export(live)
    adopted = adoption.adopt(values) if not broken else None
    findings = [*broken, *(adopted.results if adopted else [])]
    _print([finding for finding in findings if not quiet or finding.severity == "error"])
    if adopted is None or adopted.verification is None:
        click.echo("nothing is adopted", err=True)
        ctx.exit(1)
    with _writing(folder):
        writing.write_texts(
            folder,
            {name: emitter.text(content) for name, content in adopted.files.items()} | {migration_files.STEPS: adopted.steps},
        )
    click.echo(f"{len(adopted.files) + 1} files in {folder}")
    click.echo(adoption.summary(adopted.verification))
    ctx.exit(1 if results.failed(findings) else 0)


def _print(findings: Iterable[Result]) -> None:
    """Prints the findings without the lines of the export that they are about: these may belong to a Secret."""
    colour = command_output.colours(err=True)
    command_output.write(
        "".join(f"{text_findings.head(finding, colour=colour)}\n" for finding in sorted(findings, key=results.order)), err=True
    )


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Raises click.ClickException for a folder that cannot be read or written."""
    try:
        yield
    except OSError as problem:
        raise click.ClickException(f"cannot write to {folder}: {problem.strerror}") from problem


COMMAND = adopt
