"""Formats of findings for people and programs. `write` of `<format>_findings.py` returns the text.

The short form that kustomize and kpt show is in `krm_fn.base.report`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from os.path import normpath
from pathlib import Path
from typing import NamedTuple

from krm_fn.base import escaping, registry, results
from krm_fn.base.results import Result
from krm_fn.cli import command_output
from krm_fn.repository.files import reading
from krm_fn.repository.files.reading import Source

_SUFFIX = "_findings"


class Checked(NamedTuple):
    """The resources of the input, and the findings in the order of the output.

    `stdin` is the text that was read there; `colour` says that the text may have colours. `width` is the number of columns of the terminal
    that shows it, and 0 without one. `texts` are new texts of files, which may not be written yet.
    """

    resources: Sequence[Source]
    results: Sequence[Result]
    stdin: str = ""
    colour: bool = False
    width: int = 0
    texts: Mapping[str, str] = {}


def names() -> tuple[str, ...]:
    """Returns the names of all formats."""
    return tuple(name.removesuffix(_SUFFIX) for name in registry.entries(sys.modules[__name__]))


def write(style: str, checked: Checked) -> str:
    """Returns the findings in a format. Raises KeyError if the format does not exist."""
    text: str = registry.get(sys.modules[__name__], style + _SUFFIX).write(checked)
    return text


def print_text(resources: Sequence[Source], findings: Sequence[Result], stdin: str = "") -> None:
    """Prints findings to stderr in the format text. Raises OSError if the stream cannot be written."""
    checked = Checked(resources, findings, stdin, colour=command_output.colours(err=True), width=command_output.columns(err=True))
    command_output.write(write("text", checked), err=True)


def print_heads(findings: Iterable[Result]) -> None:
    """Prints findings about an export to stderr, without lines of the export, which may belong to a Secret. Raises OSError."""
    text_findings = registry.get(sys.modules[__name__], f"text{_SUFFIX}")
    colour, width = command_output.colours(err=True), command_output.columns(err=True)
    heads = [text_findings.head(finding, colour=colour, width=width) for finding in sorted(findings, key=results.order)]
    command_output.write(escaping.join_lines((line for head in heads for line in head), colours=colour), err=True)


def location(result: Result) -> tuple[str, int, int]:
    """Returns file, line and column. The file is relative to the working directory, and empty for stdin. Unknown numbers are 0."""
    if not result.file or result.file == reading.STDIN_NAME:
        return "", 0, 0
    path, here = Path(normpath(result.file)), Path.cwd()
    file = path.relative_to(here) if path.is_relative_to(here) else path
    return result.file if "://" in result.file else file.as_posix(), result.line, result.column
