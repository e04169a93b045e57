"""Describes a release: its version, commit, time and names. All artifacts take these facts from here."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from release import names

PACKAGE = Path("krm_fn", "__init__.py")


class ReleaseError(Exception):
    """A release cannot be built. The message has the reason and the remedy."""


class Release(NamedTuple):
    """The facts of a release. `epoch` is the time of its commit, the only time that artifacts contain (SOURCE_DATE_EPOCH)."""

    root: Path
    version: str
    revision: str
    epoch: int
    names: names.ProjectNames

    @property
    def repository(self) -> str:
        """The URL of the repository."""
        return f"https://{self.names.repository}"

    @property
    def tag(self) -> str:
        """The git tag."""
        return f"v{self.version}"

    def address(self, file: str) -> str:
        """The URL of a release file on GitHub."""
        return f"{self.repository}/releases/download/{self.tag}/{file}"


def describe(root: Path = names.ROOT, version: str = "") -> Release:
    """Reads the facts of a clone. Raises ReleaseError if `version` is not empty and not the version of the clone, or outside a clone."""
    current = current_version(root)
    if version and version != current:
        raise ReleaseError(f"VERSION is {version}, and {PACKAGE} has {current}; change one of them")
    revision, epoch = git(root, "show", "--no-patch", "--format=%H %ct", "HEAD").split()
    return Release(root, current, revision, int(epoch), names.read((root / names.FILE).read_text()))


def current_version(root: Path) -> str:
    """Returns the version of a clone. Raises ReleaseError if its package names none."""
    match = re.search(r'^__version__ = "(.+)"$', (root / PACKAGE).read_text("utf-8"), re.MULTILINE)
    if not match:
        raise ReleaseError(f"{PACKAGE} has no line __version__")
    return match[1]


def require_commit(root: Path) -> None:
    """Raises ReleaseError with the tracked files of a clone that differ from its commit, because a release names its commit."""
    changed = [line[3:] for line in git(root, "status", "--porcelain", "--untracked-files=no").splitlines()]
    if changed:
        raise ReleaseError(f"commit these files first, because a release names its commit: {', '.join(changed)}")


def git(root: Path, *arguments: str) -> str:
    """Runs git in a clone. Raises ReleaseError with git's message."""
    answer = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    if answer.returncode:
        raise ReleaseError(f"git {arguments[0]}: {answer.stderr.strip()}")
    return answer.stdout
