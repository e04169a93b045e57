"""`krm-fn install`: copies the program with its runtime into a folder. The copy is made by `krm_fn.repository.program_copy`."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from krm_fn.base import progress_line
from krm_fn.cli import command_options, command_output
from krm_fn.repository import program_copy


@click.command()
@click.argument("folder", metavar="DIR", type=command_options.Folder())
@click.option("--sync", is_flag=True, help="Also copy the packages that krm-fn sync needs.")
def install(folder: Path, *, sync: bool) -> None:
    """Copy krm-fn with its Python into DIR.

    The command creates DIR if it is missing, and replaces an earlier copy. The copy is the program krm-fn and the folder krm-fn.d. It runs
    on any Linux with the same processor and a shell, needs no installed Python, and can be moved. For example, an init container can copy
    it into a volume for the repo server of Argo CD.

    \b
      krm-fn install /custom-tools
      PATH=/custom-tools:$PATH kustomize build --enable-alpha-plugins --enable-exec .
    """  # noqa: D301 - click reads the backspace
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with progress_line.show_progress("install"):
            program_copy.write(folder, ["sync"] if sync else [])
    except OSError as problem:
        raise click.ClickException(f"cannot install into {folder}: {_reason(problem, folder)}") from problem
    except LookupError as problem:
        raise click.ClickException(str(problem)) from problem
    command_output.print_line(f"krm-fn in {folder}", err=True)


def _reason(problem: OSError, folder: Path) -> str:
    """Returns the file and the reason of an error; for a folder, those of its first error."""
    if isinstance(problem, shutil.Error):
        _, target, reason = problem.args[0][0]
        return f"{target}: {reason}"
    return f"{problem.filename or folder}: {problem.strerror}"


TOPIC = "program"
COMMAND = install
