"""Console blocks in Markdown: the commands that a reader types, and the output that the page shows.

A block is fenced as `console`. `$ ` begins a command, and a backslash at the end of a line continues it. The lines up to the next
command are its output; `...` alone on a line stands for any lines. A block with a file name after its language
(```` ```yaml graph.yaml ````) is the content of that file.
"""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FENCE = re.compile(r"^( *)```(\w*) ?([^\n]*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
ANY_LINES = "..."


class Command(NamedTuple):
    """One command of a page. `line` counts from 1."""

    line: int
    typed: str
    output: str


class Answer(NamedTuple):
    """The output of a command: stdout and stderr mixed, as a terminal shows them."""

    code: int
    output: str


def fenced(text: str, language: str) -> list[tuple[int, str]]:
    """The blocks of one language, each with its first line number."""
    return [(text.count("\n", 0, block.start()) + 2, block[4]) for block in _FENCE.finditer(text) if block[2] == language]


def files(text: str) -> dict[str, str]:
    """The files that a page tells its reader to write."""
    return {block[3]: block[4] for block in _FENCE.finditer(text) if block[3]}


def consoles(text: str) -> list[list[Command]]:
    """The commands of a page, block by block."""
    return [list(_commands(line, block)) for line, block in fenced(text, "console")]


def _commands(first: int, block: str) -> Iterator[Command]:
    for part in re.finditer(r"^\$ ((?:[^\n]*\\\n)*[^\n]*)\n((?:(?!\$ )[^\n]*\n)*)", block, re.MULTILINE):
        yield Command(first + block.count("\n", 0, part.start()), part[1].replace("\\\n", " "), part[2])


def run(typed: str, folder: Path, environment: dict[str, str], before: int = 0) -> Answer:
    """Run a command with bash in a folder. `before` is the value of `$?`."""
    script = f"set -o pipefail; (exit {before}); {typed}"
    ran = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    return Answer(ran.returncode, ran.stdout)


def matches(said: str, actual: str) -> bool:
    """True if the output is the text of the page, apart from blanks at the ends of lines.

    >>> matches("a\\n...\\nd\\n", "a\\nb\\nc\\nd\\n"), matches("...\\nb\\n", "a\\nb\\nc\\n")
    (True, False)
    """
    pattern = "".join(r"(?:.*\n)*" if line.strip() == ANY_LINES else re.escape(line.rstrip()) + r"\n" for line in said.splitlines())
    return re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in actual.splitlines())) is not None
