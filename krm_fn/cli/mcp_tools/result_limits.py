"""Limits of what a tool reads and returns."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from krm_fn.base import escaping, report
from krm_fn.cli.mcp_tools.allowed_paths import ToolError
from krm_fn.repository.files import selection

MOST_FILES = 5_000
"""The files with resources below the paths of one call."""

LONGEST_RESULT = 100_000
"""The characters of a result. A model reads them all, so more would fill its context."""

LONGEST_TEXT = 1_000_000
"""The characters of a graph that an agent sends as text."""

SECONDS = 120
"""The time limit of one call."""

LEFT_OUT = "leftOut"
"""The field of a shortened report with the number of entries that each list lacks."""


def require_few_files(paths: list[str]) -> None:
    """Raises ToolError if the folders among the paths have more than MOST_FILES files with resources. Follows no link."""
    count = 0
    for path in paths:
        for _folder, folders, files in os.walk(path):
            folders[:] = [name for name in folders if selection.is_read(name, folder=True)]
            count += sum(map(selection.is_read, files))
            if count > MOST_FILES:
                raise ToolError(f"{report.visible(Path(path).as_posix())} has more than {MOST_FILES} files; name a folder below it")


def shorten_report(content: dict[str, Any]) -> dict[str, Any]:
    """Returns a report with at most LONGEST_RESULT characters as JSON. Its longest lists lose their last entries; `leftOut` counts them.

    Raises ToolError if the report is too long without its lists, too.

    >>> shorten_report({"findings": [1, 2]})
    {'findings': [1, 2]}
    """
    excess = _length(content) - LONGEST_RESULT
    if excess <= 0:
        return content
    lists = sorted((name for name, value in content.items() if isinstance(value, list)), key=lambda name: -_length(content[name]))
    left_out: dict[str, int] = {}
    for name in lists:
        if excess > 0:
            entries = list(content[name])
            while entries and excess > 0:
                excess -= _length(entries.pop()) + 2
            left_out[name] = len(content[name]) - len(entries)
            content = {**content, name: entries}
    if excess > 0:
        raise ToolError(f"the report is longer than {LONGEST_RESULT} characters; name fewer paths, or one graph")
    return {LEFT_OUT: left_out, **content}


def _length(value: Any) -> int:
    return len(escaping.json_text(value))
