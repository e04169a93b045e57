"""The paths that an agent may name: files and folders below the root of the server."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from krm_fn.base import report

_REVISION = re.compile(r"[A-Za-z0-9@](?:[A-Za-z0-9_/@{}~^+-]|\.(?!\.)){0,254}")
"""A git revision, such as main, HEAD~1 or v1.2.0. A range, an option and a path in a revision are none."""
_TYPES = {stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


class ToolError(Exception):
    """A call that cannot be answered. The message is for the agent."""


class AllowedRoot(NamedTuple):
    """The folder of the server, without links in its path."""

    folder: Path

    def relative_path(self, text: str) -> str:
        """Returns a path relative to the root, with `./` in front. Raises ToolError if the path, with its links followed, leaves the root.

        The `./` keeps a path from being an option, a revision, a code or stdin.
        """
        shown = report.visible(text)
        if not text:
            raise ToolError("a path is empty; name a file or a folder below the root")
        if "\0" in text:
            raise ToolError(f"the path {shown} contains a NUL byte; name a file or a folder below the root")
        try:
            target = Path(os.path.realpath(self.folder / text))
            if not target.is_relative_to(self.folder):
                raise ToolError(f"{shown} leads out of the root {report.visible(str(self.folder))}; name a file or a folder below it")
            kind = stat.S_IFMT(target.stat().st_mode)
        except OSError as problem:
            raise ToolError(f"{shown} cannot be read: {problem.strerror}; name a file or a folder below the root") from problem
        if kind in _TYPES:
            raise ToolError(f"{shown} is {_TYPES[kind]}; name a regular file or a folder")
        path = Path(os.path.normpath(self.folder / text))
        return f"./{os.path.relpath(path if path.is_relative_to(self.folder) else target, self.folder)}"

    def state(self, text: str) -> str:
        """Returns the path or the git revision of an old state. Raises ToolError for a path outside of the root, and for other texts."""
        is_path = os.path.isabs(text) or os.path.lexists(self.folder / text.replace("\0", "")) or ".." in text.split("/")  # noqa: PTH117
        if is_path or not text or "\0" in text:
            return self.relative_path(text)
        if not _REVISION.fullmatch(text):
            raise ToolError(f"{report.visible(text)} is not a path below the root and not a git revision, such as main or HEAD~1")
        return text
