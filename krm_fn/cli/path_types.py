"""The types of the argument PATH: paths on disk, and paths in git revisions."""

from __future__ import annotations

import os
from typing import Any

import click

from krm_fn.repository.files import selection
from krm_fn.repository.tree import KPTFILE


class InputPath(click.Path):
    """A file, a folder, `-`, or a path in a git revision, such as `main:apps/prod`, which is read when the command runs."""

    def __init__(self) -> None:
        super().__init__(exists=True, allow_dash=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Returns the path as written. Raises click.BadParameter for a missing path that names no revision."""
        return value if revision_path(str(value)) else super().convert(value, param, ctx)


def revision_path(path: str) -> tuple[str, str] | None:
    """Returns the revision and the path in it, from the top of the repository; None for a path on disk.

    >>> revision_path("main:apps/prod"), revision_path("main:"), revision_path("apps/prod")
    (('main', 'apps/prod'), ('main', '.'), None)
    """
    revision, colon, name = path.partition(":")
    if not revision or not colon or os.path.lexists(path):
        return None
    return revision, os.path.normpath(name or ".")


def folder_of_root(path: str) -> str:
    """Returns the folder of a file that makes it a root, such as `prod/kustomization.yaml`; any other path as it is."""
    is_root = os.path.basename(path) in (*selection.KUSTOMIZATIONS, KPTFILE) and os.path.isfile(path)  # noqa: PTH113, PTH119
    return os.path.dirname(path) or "." if is_root else path  # noqa: PTH120
