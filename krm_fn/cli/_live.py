"""The option `--live`: an export of a cluster, from a file or stdin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from krm_fn import results
from krm_fn.cli import _sides
from krm_fn.files import reading
from krm_fn.review.diff import live_side
from krm_fn.review.live import export

if TYPE_CHECKING:
    from krm_fn.cli._sides import Loaded
    from krm_fn.results import Result

FILE = click.Path(exists=True, dir_okay=False, allow_dash=True)


def read(path: str) -> tuple[list[Any], list[Result]]:
    """The values of an export, and the errors about the file. A finding never shows a line of an export: it may belong to a Secret."""
    file = reading.read(path)
    return [source.value for source in file.sources], [each for each in file.results if each.severity == "error"]


def of_live(path: str, now: Loaded) -> tuple[Loaded, Loaded]:
    """The state of the cluster, and the new state with the objects that can be compared with it.

    Raises StoppedError if the export cannot be used.
    """
    values, broken = read(path)
    exported = export.read(values)
    _stop([*broken, *exported.results], path)
    made = live_side.sides(exported, now.side)
    _stop(made.results, path)
    found = [each._replace(file=reading.name(path)) for each in made.results]
    if not values:
        message = "the export has no object, so all objects count as new; check the context and the namespace of `kubectl get`"
        found = [results.warning("DYN519", message, file=reading.name(path))]
    return _sides.Loaded("the cluster", made.old, [], None, found), now._replace(side=made.new)


def _stop(found: list[Result], path: str) -> None:
    """Raises StoppedError if one of the findings is an error."""
    if wrong := [each for each in found if each.severity == "error"]:
        raise _sides.StoppedError([each if each.file else each._replace(file=reading.name(path)) for each in wrong])
