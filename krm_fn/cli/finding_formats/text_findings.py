"""Findings for people: `file:line:column: error DYN014 field: message`, and below it the line with a caret, if it is known."""

from __future__ import annotations

import contextlib
from collections.abc import Collection

from krm_fn.base import escaping, report
from krm_fn.base.results import Result
from krm_fn.cli.finding_formats import Checked
from krm_fn.kubernetes.secret_values import HIDDEN
from krm_fn.repository.files import reading, secret_lines

_Lines = tuple[list[str], Collection[int]]
_COLOURS = {"error": escaping.RED, "warning": escaping.YELLOW, "info": escaping.CYAN}
_OLD_STATE = "DYN073"  # its files are named `REVISION:PATH`, and a file of that name on disk is another one
_BEFORE, _WIDTH = 60, 120  # columns of a source line that are shown; JSON may be one line of megabytes


def write(checked: Checked) -> str:
    """Returns each finding with its source line. Each file is read once."""
    files = {reading.STDIN_NAME: _lines(checked.stdin)}
    for result in checked.results:
        if _has_excerpt(result) and result.file not in files:
            files[result.file] = _lines(_text(result.file))
    return "".join(f"{head(result, colour=checked.colour)}\n{_excerpt(result, files, checked.colour)}" for result in checked.results)


def head(result: Result, *, colour: bool) -> str:
    """Returns a finding in one line."""
    if not colour:
        return report.entry(result)
    location = [escaping.painted(report.location(result), escaping.BOLD)] if report.location(result) else []
    return " ".join([*location, escaping.painted(report.noun(result), _COLOURS[result.severity], escaping.BOLD), report.what(result)])


def _has_excerpt(result: Result) -> bool:
    return bool(result.line) and result.code != _OLD_STATE


def _excerpt(result: Result, files: dict[str, _Lines], colour: bool) -> str:
    """Returns the line of a finding. `files` have the lines of each file."""
    if not _has_excerpt(result):
        return ""
    lines, secret = files[result.file]
    if result.line > len(lines):
        return ""
    if result.line in secret:
        return f"    {HIDDEN}\n"
    line = lines[result.line - 1]
    start = max(0, result.column - _BEFORE) if len(line) > _WIDTH else 0
    shown = f"    {report.visible(line[start : start + _WIDTH])}".rstrip()
    if not result.column:
        return f"{shown}\n"
    caret = escaping.painted("^", _COLOURS[result.severity], escaping.BOLD) if colour else "^"
    return f"{shown}\n    {' ' * len(report.visible(line[start : result.column - 1]))}{caret}\n"


def _text(file: str) -> str:
    """The text of a file; empty if it does not exist, since orchestrators name files relative to other folders."""
    with contextlib.suppress(reading.UnreadableError):
        return reading.data(file).decode(errors="replace")
    return ""


def _lines(text: str) -> _Lines:
    """Returns the lines of a text, and the numbers of those that have a secret value."""
    return (text.split("\n"), secret_lines.of(text)) if text else ([], ())
