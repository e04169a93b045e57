"""Findings for people and for programs that check for people: text with the source line and a caret, or JSON.

Not its business: the short form that orchestrators of functions show (`krm_fn.report`).
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krm_fn import report, results
from krm_fn.wire import files

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.results import Result

_BEFORE, _WIDTH = 60, 120  # columns of a source line that are shown; JSON may be one line of megabytes


def text(found: Iterable[Result], stdin: str) -> str:
    """`file:line:column: error DYN014 field: message`, and below it the line, where it is known. `stdin` is what was read there."""
    return "".join(f"{_printable(report.entry(result))}\n{_excerpt(result, stdin)}" for result in found)


def _excerpt(result: Result, stdin: str) -> str:
    lines = (stdin.split("\n") if result.file == files.STDIN_NAME else _lines(result.file)) if result.line else []
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
    except OSError:
        return []


def _printable(text: str) -> str:
    """One line, in which nothing moves the cursor."""
    return "".join(character if character.isprintable() else " " for character in text)


def as_json(found: Iterable[Result]) -> str:
    """One object with all findings; what is not known is null."""
    return json.dumps({"findings": [_entry(result) for result in found]}, indent=2, ensure_ascii=False) + "\n"


def _entry(result: Result) -> dict[str, Any]:
    address = result.ref
    resource = address and {"apiVersion": address.api_version, "kind": address.kind, "namespace": address.namespace, "name": address.name}
    return {
        "severity": result.severity,
        "code": result.code,
        "message": result.message,
        "field": results.field(result.path) or None,
        "file": result.file or None,
        "line": result.line or None,
        "column": result.column or None,
        "resource": resource,
    }
