"""The option `--live`: an export of a cluster, from a file or stdin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from krm_fn.files import reading

if TYPE_CHECKING:
    from krm_fn.results import Result

FILE = click.Path(exists=True, dir_okay=False, allow_dash=True)


def read(path: str) -> tuple[list[Any], list[Result]]:
    """The values of an export, and the errors about the file. A finding never shows a line of an export: it may belong to a Secret."""
    file = reading.read(path)
    return [source.value for source in file.sources], [each for each in file.results if each.severity == "error"]
