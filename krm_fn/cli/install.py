"""`krm-fn install`: copies the program and its Python into a folder, by `krm_fn.cli._bundle`. The copy runs on machines without Python."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import click

from krm_fn.cli import _bundle, _options

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("folder", metavar="DIR", type=_options.Folder())
@click.option("--sync", is_flag=True, help="Also copy the packages of `krm-fn sync`.")
def install(folder: Path, *, sync: bool) -> None:
    """Copy krm-fn and the Python it runs on into DIR.

    DIR is made if missing, and an earlier copy is replaced. The copy is the program krm-fn and its folder krm-fn.d. It runs on any Linux
    with the same processor and a shell, with or without Python, and can be moved. An init container can copy it into a volume for a
    container without Python, such as Argo CD's repo server.

    \b
      krm-fn install /custom-tools
      PATH=/custom-tools:$PATH kustomize build --enable-alpha-plugins --enable-exec .
    """  # noqa: D301 - click reads the backspace
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _bundle.write(folder, ["sync"] if sync else [])
    except OSError as problem:
        raise click.ClickException(f"cannot install into {folder}: {_reason(problem, folder)}") from problem
    except LookupError as problem:
        raise click.ClickException(str(problem)) from problem
    click.echo(f"krm-fn in {folder}", err=True)


def _reason(problem: OSError, folder: Path) -> str:
    """The file and the reason; for a folder, those of its first error."""
    if isinstance(problem, shutil.Error):
        _, target, reason = problem.args[0][0]
        return f"{target}: {reason}"
    return f"{problem.filename or folder}: {problem.strerror}"


COMMAND = install
