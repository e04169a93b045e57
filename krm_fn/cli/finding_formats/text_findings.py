"""Findings for people: `file:line:column: error DYN014 field: message`, and below it the line with a caret, if it is known."""

from __future__ import annotations

import contextlib
from functools import cache

import click

from krm_fn import report
from krm_fn.cli.finding_formats import Checked
from krm_fn.files import reading
from krm_fn.results import Result

_COLOURS = {"error": "red", "warning": "yellow", "info": "cyan"}
_OLD_STATE = "DYN073"  # its files are named `REVISION:PATH`, and a file of that name on disk is another one
_BEFORE, _WIDTH = 60, 120  # columns of a source line that are shown; JSON may be one line of megabytes


def write(checked: Checked) -> str:
    """Returns each finding with its source line."""
    stdin = checked.stdin.split("\n")
    return "".join(f"{head(result, colour=checked.colour)}\n{_excerpt(result, stdin, checked.colour)}" for result in checked.results)


def head(result: Result, *, colour: bool) -> str:
    """Returns a finding in one line."""
    if not colour:
        return report.entry(result)
    location = [click.style(report.location(result), bold=True)] if report.location(result) else []
    return " ".join([*location, click.style(report.noun(result), fg=_COLOURS[result.severity], bold=True), report.what(result)])


def _excerpt(result: Result, stdin: list[str], colour: bool) -> str:
    known = result.line and result.code != _OLD_STATE
    lines = (stdin if result.file == reading.STDIN_NAME else _lines(result.file)) if known else []
    if result.line > len(lines) or not lines:
        return ""
    line = lines[result.line - 1]
    start = max(0, result.column - _BEFORE) if len(line) > _WIDTH else 0
    shown = f"    {_printable(line[start : start + _WIDTH])}".rstrip()
    if not result.column:
        return f"{shown}\n"
    caret = click.style("^", fg=_COLOURS[result.severity], bold=True) if colour else "^"
    return f"{shown}\n    {' ' * (result.column - 1 - start)}{caret}\n"


@cache
def _lines(file: str) -> list[str]:
    """The lines of a file; empty if it does not exist, since orchestrators name files relative to other folders."""
    with contextlib.suppress(reading.UnreadableError):
        return reading.data(file).decode(errors="replace").split("\n")
    return []


def _printable(text: str) -> str:
    """The line with blanks for characters that move the cursor, so that columns stay."""
    return "".join(character if character.isprintable() else " " for character in text)
