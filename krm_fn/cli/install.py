"""`krm-fn install`: the program and all it runs on, copied into a folder from which it runs where there is no Python.

Not its business: what has to be copied (`krm_fn.cli._bundle`).
"""

from __future__ import annotations

from pathlib import Path

import click

from krm_fn.cli import _bundle


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
def install(folder: Path) -> None:
    """Copy krm-fn, with the Python it runs on, into DIR; made if missing.

    What is written, the program krm-fn and its folder krm-fn.d, runs on any Linux of the same processor that has a shell, Python or
    not, and may be moved. An init container copies it into a volume for a container that lacks it, such as Argo CD's repo server;
    an earlier copy is replaced.

    \b
      krm-fn install /custom-tools
      PATH=/custom-tools:$PATH kustomize build --enable-alpha-plugins --enable-exec .
    """  # noqa: D301 - click reads the backspace
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _bundle.write(folder)
    except OSError as problem:
        raise click.ClickException(f"cannot install into {folder}: {problem.filename or folder}: {problem.strerror}") from problem
    except LookupError as problem:
        raise click.ClickException(str(problem)) from problem
    click.echo(f"krm-fn in {folder}", err=True)


COMMAND = install
