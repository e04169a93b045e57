"""Writes the help text of each command into docs/commands.md, and the summaries of all commands into the package.

`python tools/help_texts.py` prints the help of the command in each block `$ krm-fn ... --help`.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import click
from click.testing import CliRunner

PAGE = Path(__file__).resolve().parent.parent / "docs" / "commands.md"
sys.path.insert(0, str(PAGE.parent.parent))

from krm_fn import cli  # noqa: E402 - the folder above

_BLOCK = re.compile(r"(?<=^\$ krm-fn )(?P<words>[^\n]*--help)\n.*?(?=^```$)", re.MULTILINE | re.DOTALL)


def text(page: str) -> str:
    """Returns a page with the present help texts."""
    return _BLOCK.sub(lambda block: f"{block['words']}\n{_help(block['words'])}", page)


def _help(words: str) -> str:
    return CliRunner().invoke(cli.group, shlex.split(words), prog_name=cli.PROGRAM, catch_exceptions=False, terminal_width=78).stdout


def summaries() -> str:
    """Returns the file with the summaries of all commands."""
    written = {name: cli.import_summary(name) for name in cli.group.list_commands(click.Context(cli.group))}
    return json.dumps(written, indent=1) + "\n"


if __name__ == "__main__":
    (PAGE.parent.parent / "krm_fn" / cli.SUMMARIES).write_text(summaries())
    PAGE.write_text(text(PAGE.read_text()))
