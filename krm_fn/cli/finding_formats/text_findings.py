"""Findings for people: `file:line:column: error DYN014 field: message`, and below it the line with a caret, if it is known.

A terminal gets three parts, each on lines of its own: where the finding is, what it is, and how to fix it.
"""

from __future__ import annotations

import contextlib
import textwrap
from collections.abc import Collection, Sequence

from krm_fn.base import codes, escaping, report
from krm_fn.base.results import Ref, Result
from krm_fn.cli.finding_formats import Checked
from krm_fn.kubernetes.secret_values import HIDDEN
from krm_fn.repository.files import reading, secret_lines

_Lines = tuple[list[str], Collection[int]]
_COLOURS = {"error": escaping.RED, "warning": escaping.YELLOW, "info": escaping.CYAN}
_OLD_STATE = codes.OLD_STATE_NOT_COMPARED  # its files are named `REVISION:PATH`, and a file of that name on disk is another one
_BEFORE, _WIDTH = 60, 120  # columns of a source line that are shown; JSON may be one line of megabytes


def write(checked: Checked) -> str:
    """Returns each finding with its source line. Each file is read once."""
    files = {reading.STDIN_NAME: _lines(checked.stdin)}
    for result in checked.results:
        if _has_excerpt(result) and result.file not in files:
            files[result.file] = _lines(checked.texts[result.file] if result.file in checked.texts else _text(result.file))
    texts = []
    for result, others in _distinct(checked.results):
        lines = head(result, others, colour=checked.colour, width=checked.width)
        texts += [f"{line}\n" for line in lines[:1]] if checked.width else [f"{lines[0]}\n"]
        texts += [_excerpt(result, files, checked.colour), *(f"{line}\n" for line in lines[1:])]
    return "".join(texts)


def _distinct(findings: Sequence[Result]) -> list[tuple[Result, list[Ref]]]:
    """Returns the findings, each with the other resources that have it at the same location: graphs of several overlays share a base."""
    distinct: dict[object, tuple[Result, list[Ref]]] = {}
    for number, result in enumerate(findings):
        key = (
            (result.severity, result.code, result.message, result.file, result.line, result.column)
            if result.line and result.ref
            else number
        )
        _, refs = distinct.setdefault(key, (result, []))
        if result.ref and result.ref not in refs:
            refs.append(result.ref)
    return [(result, refs[1:]) for result, refs in distinct.values()]


def head(result: Result, others: Sequence[Ref] = (), *, colour: bool, width: int = 0) -> list[str]:
    """Returns a finding in one line, or in several for a terminal with `width` columns. `others` are further resources that have it."""
    location = report.location(result)
    noun = report.noun(result)
    if colour:
        location = escaping.paint(location, escaping.BOLD) if location else ""
        noun = escaping.paint(noun, _COLOURS[result.severity], escaping.BOLD)
    if not width:
        return [" ".join(filter(None, (location, noun, report.what(result, others))))]
    problem, _, fix = report.printable(result.message).rpartition("; ")
    first = " ".join(filter(None, (location, noun, report.where(result, others))))
    return [first, *_wrap_text(problem or fix, width), *(_wrap_text(f"fix: {fix}", width) if problem else ())]


def _wrap_text(text: str, width: int) -> list[str]:
    """Returns a text in lines of a terminal. Words stay whole, so that values and paths can be copied."""
    return textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


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
    caret = escaping.paint("^", _COLOURS[result.severity], escaping.BOLD) if colour else "^"
    return f"{shown}\n    {' ' * len(report.visible(line[start : result.column - 1]))}{caret}\n"


def _text(file: str) -> str:
    """The text of a file; empty if it does not exist, since orchestrators name files relative to other folders."""
    with contextlib.suppress(reading.UnreadableError):
        return reading.data(file).decode(errors="replace")
    return ""


def _lines(text: str) -> _Lines:
    """Returns the lines of a text, and the numbers of those that have a secret value."""
    return (text.split("\n"), secret_lines.of(text)) if text else ([], ())
