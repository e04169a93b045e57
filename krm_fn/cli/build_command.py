"""`krm-fn build`: builds a Kustomization as kustomize does, and runs no program of it but krm-fn."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path

import click

from krm_fn.base import report, results
from krm_fn.cli import command_output, finding_formats
from krm_fn.repository import builds, private_programs
from krm_fn.repository.builds import RootBuild
from krm_fn.repository.files import checkouts
from krm_fn.repository.files.repository import RepositoryError
from krm_fn.repository.tree import Tree
from krm_fn.review.inputs import repository_states

_SECONDS = 600
"""The time limit of each program."""
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.argument("folder", metavar="[FOLDER]", type=_FOLDER, default=".")
@click.option("--top", metavar="DIR", type=_FOLDER, help="The folder with all files of the build. The default is the git repository.")
@click.option("--fetch", is_flag=True, help="Fetch remote bases. The default is to refuse them.")
@click.option("-o", "--output", "style", type=click.Choice(command_output.FORMATS), default="yaml", help="The format. The default is yaml.")
def build(*, folder: Path, top: Path | None, fetch: bool, style: str) -> None:
    """Build a Kustomization whose author you do not trust.

    FOLDER has a kustomization.yaml; the default is the current folder. The output is that of kustomize build with the function krm-fn.
    krm-fn builds in a private copy and runs no other program: no exec function, no container, no Starlark, no plugin and no Helm chart. It
    refuses them before the build, also in remote bases, and reads no file outside of the repository.

    Exit codes: 0 the objects are printed; 1 errors, and no object is printed; 2 wrong usage.

    \b
      krm-fn build overlays/prod | kubectl apply --server-side -f -
      krm-fn build --fetch --top checkout checkout/overlays/prod
    """  # noqa: D301 - click reads the backspace
    whole = (top or repository_states.anchor(folder)).resolve()
    if not folder.resolve().is_relative_to(whole):
        raise click.BadParameter(f"{folder} is not in {whole}.", param_hint="--top")
    try:
        built = _build_folder(folder, whole, fetches=fetch)
    except RepositoryError as problem:
        raise click.ClickException(str(problem)) from problem
    finding_formats.print_text(built.sources, built.results)
    if results.has_errors(built.results):
        command_output.print_line(f"nothing is built: {report.count(built.results)}", err=True)
        click.get_current_context().exit(1)
    command_output.write(command_output.resources((source.value for source in built.sources), style), style)


def _build_folder(folder: Path, top: Path, *, fetches: bool) -> RootBuild:
    """Builds a folder in a private copy. Raises RepositoryError if the files cannot be copied."""
    with checkouts.open_checkouts(None, top) as copies, copies.working_tree() as copy:
        at = copy.relative_to(copies.top) / folder.resolve().relative_to(top)
        tree = Tree(copies.top, at.as_posix(), lambda name: os.path.normpath(folder / posixpath.relpath(name, at.as_posix())))
        return builds.fetch_and_build(tree, private_programs.create(copies.temporary / "programs", _SECONDS), fetches=fetches)


TOPIC = "review"
COMMAND = build
