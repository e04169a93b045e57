"""`krm-fn lsp`: the language server for graphs in editors. The server is `krm_fn.cli.language_server.server`."""

from __future__ import annotations

import sys

import click

import krm_fn
from krm_fn.cli import command_output


@click.command()
@click.option("--stdio", is_flag=True, help="The only transport, and the default. Some editors add this option.")
def lsp(stdio: bool) -> None:  # noqa: ARG001 - editors add the option
    """Show findings, fixes and help while you write, in an editor.

    krm-fn speaks the Language Server Protocol on stdin and stdout. Findings are those of krm-fn check, for graphs, patches of kustomize and
    configurations, also before you save. The editor starts this command; docs/editors.md says how.

    Exit codes: 0 the editor ended the server, or stdin ended; 2 wrong usage, or the packages are missing.

    \b
      krm-fn lsp
    """  # noqa: D301 - click reads the backspace
    try:
        from krm_fn.cli.language_server import server  # noqa: PLC0415 - the packages of an extra
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] not in ("attrs", "cattrs", "lsprotocol", "pygls"):
            raise
        command_output.print_line(f"error: krm-fn lsp needs more packages; run: pip install '{krm_fn.PACKAGE}[lsp]'", err=True)
        sys.exit(2)
    server.serve()


COMMAND = lsp
TOPIC = "author"
