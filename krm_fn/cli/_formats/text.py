"""Findings for people: `file:line:column: error DYN014 field: message`, and below it the line with a caret, where it is known."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from krm_fn import report
from krm_fn.files import reading

if TYPE_CHECKING:
    from krm_fn.cli._formats import Checked
    from krm_fn.results import Result

_BEFORE, _WIDTH = 60, 120  # columns of a source line that are shown; JSON may be one line of megabytes


def write(checked: Checked) -> str:
    """Each finding with its line."""
    stdin = checked.stdin.split("\n")
    return "".join(f"{_printable(report.entry(result))}\n{_excerpt(result, stdin)}" for result in checked.results)


def _excerpt(result: Result, stdin: list[str]) -> str:
    lines = (stdin if result.file == reading.STDIN_NAME else _lines(result.file)) if result.line else []
    if result.line > len(lines) or not lines:
        return ""
    line = lines[result.line - 1]
    start = max(0, result.column - _BEFORE) if len(line) > _WIDTH else 0
    caret = " " * (result.column - 1 - start) + "^" if result.column else ""
    return f"    {_printable(line[start : start + _WIDTH])}\n    {caret}".rstrip() + "\n"


@cache
def _lines(file: str) -> list[str]:
    """The lines of a file, none where it is not there (orchestrators name files relative to what they know)."""
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace").split("\n")
    except (OSError, ValueError):
        return []


def _printable(text: str) -> str:
    """One line, in which nothing moves the cursor."""
    return "".join(character if character.isprintable() else " " for character in text)
