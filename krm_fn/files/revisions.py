"""The state before a change: files and folders, or the same paths as of a git revision.

Not its business: what a change may not do (`krm_fn.validation.updates`). git is only asked; nothing is checked out.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from krm_fn import results
from krm_fn.files import reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from krm_fn.files.reading import File
    from krm_fn.kube.types import Resource
    from krm_fn.results import Result

_SET_BY_HOOKS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
"""What git tells its hooks, of the repository that runs them; the paths say themselves which one they are in."""


class UnreadableError(Exception):
    """Neither a path nor a revision; the message says why, for people."""


class Earlier(NamedTuple):
    """What there was, and warnings about what cannot be read of it."""

    resources: list[Resource]
    results: list[Result]


def read(old: str, paths: Sequence[str]) -> Earlier:
    """What a file or folder holds, or, where `old` is neither, what the `paths` held at that git revision.

    Raises UnreadableError where git knows no such revision, or cannot be asked.
    """
    by_path = bool(old) and Path(old).exists()
    there = [reading.read(path) for path, _ in reading.listed([old])] if by_path else list(_revision(old, paths))
    resources = [source.value for file in there for source in file.sources if source.address.name]
    found = list(_unread(there))
    if by_path and not resources and not found:
        message = "holds no resource, so that no change is found; name what was there before"
        found.append(results.warning("DYN073", message, file=old))
    return Earlier(resources, found)


def _unread(there: Iterable[File]) -> Iterator[Result]:
    """What was broken before need not stay so: it is no error now."""
    for file in there:
        for result in file.results:
            message = f"changes from here are not found, since it {result.code} {result.message}"
            yield result._replace(severity="warning", code="DYN073", message=message)


def _revision(revision: str, paths: Sequence[str]) -> Iterator[File]:
    for path in paths:
        if path == reading.STDIN:
            raise UnreadableError(f"{revision} is no file and no folder, and as a revision it has no stdin")
        place = Path(path).resolve()
        try:
            root = Path(os.fsdecode(_git(place if place.is_dir() else place.parent, "rev-parse", "--show-toplevel")).removesuffix("\n"))
            commit = _git(root, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}").decode().strip()
        except UnreadableError as problem:
            raise UnreadableError(f"{revision} is no file and no folder, and as a revision git refuses it: {problem}") from problem
        names = list(_listed(root, commit, place))
        for name, data in _contents(root, commit, names):
            yield reading.parse(data, f"{revision}:{name}")


def _listed(root: Path, commit: str, place: Path) -> Iterator[str]:
    """What was at a place of the repository, by its path from the root: of a folder the files that are read of folders today."""
    at = place.relative_to(root).as_posix()
    every = os.fsdecode(_git(root, "ls-tree", "-r", "-z", "--full-tree", commit, *([] if at == "." else ["--", at])))
    for entry in filter(None, every.split("\0")):
        kind, _, name = entry.partition("\t")
        *folders, file = Path(name).relative_to(at).parts or [""]
        if " commit " in kind:
            continue  # a submodule: its files are in another repository
        if name == at or (reading.is_read(file) and all(reading.is_read(folder, folder=True) for folder in folders)):
            yield name


def _contents(root: Path, commit: str, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The files of a commit; links are followed within it, and those that lead out of it are no files."""
    asked = [name for name in names if "\n" not in name]
    answer = _git(root, "cat-file", "--batch", "--follow-symlinks", given="".join(f"{commit}:{name}\n" for name in asked))
    start = 0
    for name in asked:
        end = answer.index(b"\n", start)
        *_, kind, size = answer[start:end].split(b" ")
        start = end + 1
        if size == b"missing":
            continue
        data = answer[start : start + int(size)]
        start += int(size) + 1
        if kind == b"blob":
            yield name, data


def _git(folder: Path, *arguments: str, given: str = "") -> bytes:
    """What git prints. Raises UnreadableError with what it says where it fails."""
    environment = {name: value for name, value in os.environ.items() if name not in _SET_BY_HOOKS}
    command = ["git", "--literal-pathspecs", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, input=os.fsencode(given), capture_output=True, env=environment, check=False)
    except OSError as problem:
        raise UnreadableError(f"git cannot be run: {problem.strerror}") from problem
    if done.returncode:
        raise UnreadableError(" ".join(done.stderr.decode(errors="replace").split()) or f"git {arguments[0]} failed")
    return done.stdout
