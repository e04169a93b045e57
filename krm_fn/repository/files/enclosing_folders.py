"""The folders around a path, in which the project file and the repository are searched. A ceiling ends these searches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_ceilings: list[Path] = []
"""The folder at which searches end; empty without one."""


def set_ceiling(folder: Path) -> None:
    """Ends all later searches of this process at a folder, as GIT_CEILING_DIRECTORIES does for git."""
    _ceilings[:] = [folder.resolve()]


def upwards(folder: Path) -> Iterator[Path]:
    """Yields a folder and those above it. The ceiling is the last one.

    >>> [str(above) for above in upwards(Path("/srv/git"))]
    ['/srv/git', '/srv', '/']
    """
    for above in (folder, *folder.parents):
        yield above
        if above in _ceilings:
            return


def is_below_ceiling(path: Path) -> bool:
    """Returns true for a path that is, with its links followed, below the ceiling. Without a ceiling, each path is."""
    return all(path.resolve().is_relative_to(ceiling) for ceiling in _ceilings)
