"""How findings are printed: a file here is a format, its `write` makes the text.

Not its business: the short form that orchestrators of functions show (`krm_fn.report`).
"""

from __future__ import annotations

import sys
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from krm_fn import registry
from krm_fn.files import reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.files.reading import Source
    from krm_fn.results import Result


class Checked(NamedTuple):
    """What was read, and what there is to say about it, in the order in which it is shown. `stdin` is what was read there."""

    resources: Sequence[Source]
    results: Sequence[Result]
    stdin: str = ""


def names() -> tuple[str, ...]:
    """All formats."""
    return registry.entries(sys.modules[__name__])


def write(style: str, checked: Checked) -> str:
    """Findings in a format. Raises KeyError for one that there is not."""
    text: str = registry.get(sys.modules[__name__], style).write(checked)
    return text


def place(result: Result) -> tuple[str, int, int]:
    """File, line and column for programs: the file as seen from the working directory, empty for stdin; 0 for what is not known."""
    if not result.file or result.file == reading.STDIN_NAME:
        return "", 0, 0
    path, here = Path(normpath(result.file)), Path.cwd()
    file = path.relative_to(here) if path.is_relative_to(here) else path
    return result.file if "://" in result.file else file.as_posix(), result.line, result.column
