"""`krm-fn mcp`: serves commands as tools for agents. The server is `krm_fn.cli.mcp_tools.server`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

import krm_fn
from krm_fn.cli import command_output


@click.command()
@click.option(
    "--root",
    "folder",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="The folder that tools can read. The default is the current folder.",
)
def mcp(folder: Path) -> None:
    """Serve the commands that only read as tools for agents.

    krm-fn speaks the Model Context Protocol on stdin and stdout. The tools are check, render, diff, explain, upgrade, needs, codes and
    examples. They read files below DIR only, write nothing, and use no network. The program of the agent starts this command;
    docs/agents.md says how.

    Exit codes: 0 stdin ended; 2 wrong usage, or the packages are missing.

    \b
      krm-fn mcp --root ~/deployments
    """  # noqa: D301 - click reads the backspace
    try:
        from krm_fn.cli.mcp_tools import server  # noqa: PLC0415 - the packages of an extra
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] not in ("anyio", "jsonschema", "mcp", "mcp_types"):
            raise
        command_output.print_line(f"error: krm-fn mcp needs more packages; run: pip install '{krm_fn.PACKAGE}[mcp]'", err=True)
        sys.exit(2)
    server.serve(folder)


COMMAND = mcp
TOPIC = "author"
