"""`krm-fn adopt`: the files of a namespace that an operator runs, from an export, and a proof that they restart no pod."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

from krm_fn import results
from krm_fn.cli import _live, _options, _output
from krm_fn.cli._formats import text
from krm_fn.files import output
from krm_fn.review import adopt as adoption
from krm_fn.review.adopt import documents
from krm_fn.yamlio import emitter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from krm_fn.results import Result


@click.command()
@click.option(
    "--live",
    metavar="FILE",
    type=_live.FILE,
    default="-",
    help="The export; stdin without it.",
)
@click.option("--output-dir", "folder", metavar="DIR", type=_options.Folder(), required=True, help="An empty folder; makes a missing DIR.")
@click.option("-q", "--quiet", is_flag=True, help="Print only errors and the last line.")
@click.pass_context
def adopt(ctx: click.Context, *, live: str, folder: Path, quiet: bool) -> None:
    """Write the files of a namespace that an operator runs.

    The export is what `kubectl get -o yaml` or `-o json` prints of one namespace: graphs, workloads (deployments, leaderworkersets,
    podcliquesets), Ingresses, VirtualServices, DestinationRules, RoleBindings and ServiceAccounts. Nothing is changed in the cluster.
    Secrets are neither needed nor written.

    DIR gets the graphs without what the cluster added, a DynamoRender with the settings of the operator, a Kustomization, and MIGRATION.md
    with the other steps of the migration.

    The files are rendered and compared with what runs: the last line says how many pod templates are the same. If a pod would restart,
    each difference is an error that says what would close it, and the exit code is 1; the files are written anyway. If the export cannot
    be used, nothing is written.

    \b
      kubectl get dgd,dcd,deployments,ingresses,rolebindings,serviceaccounts \\
        --namespace inference --output yaml | krm-fn adopt --output-dir chat
      krm-fn adopt --live export.yaml --output-dir chat
    """  # noqa: D301 - click reads the backspace
    with _writing(folder):
        if not output.is_empty(folder):
            raise click.ClickException(f"{folder} has files; name an empty folder, so that files of yours stay as they are")
    values, broken = _live.read(live)
    made = adoption.adopt(values) if not broken else None
    found = [*broken, *(made.results if made else [])]
    _print([each for each in found if not quiet or each.severity == "error"])
    if made is None or made.proof is None:
        click.echo("nothing is adopted", err=True)
        ctx.exit(1)
    with _writing(folder):
        output.write_texts(folder, {name: emitter.text(each) for name, each in made.files.items()} | {documents.STEPS: made.steps})
    click.echo(f"{len(made.files) + 1} files in {folder}")
    click.echo(adoption.summary(made.proof))
    ctx.exit(1 if results.failed(found) else 0)


def _print(found: Iterable[Result]) -> None:
    """Prints the findings without the lines of the export that they are about: these may belong to a Secret."""
    colour = _output.colours(err=True)
    _output.write("".join(f"{text.head(each, colour=colour)}\n" for each in sorted(found, key=results.order)), err=True)


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Raises click.ClickException for a folder that cannot be read or written."""
    try:
        yield
    except OSError as problem:
        raise click.ClickException(f"cannot write to {folder}: {problem.strerror}") from problem


COMMAND = adopt
