"""Temporary copies of the old state and of the working tree, in which a build can run.

A copy of a revision has the files of the commit, and no git folder. No hook, filter or submodule of the repository runs or is fetched:
see `krm_fn.repository.files.repository`. Filters include those of Git LFS, whose files are pointers in the copy.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Literal, NamedTuple

from krm_fn.repository.files import repository
from krm_fn.repository.files.repository import GitRepository, RepositoryError

_SECONDS = 600
"""The time limit for git to write all files of a commit, in seconds."""

_NAME = "checkout"
"""The name of the folder of a copy while it is used."""
State = Literal["old", "new"]
"""The state of which a copy has the files."""
_OLD: State = "old"
_NEW: State = "new"
"""The names of the folders of the copies while they are not used."""

_LARGEST = 4 * 1024 * 1024
"""The largest file that is compared line by line, in bytes."""

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Checkouts(NamedTuple):
    """Makes copies in a temporary folder. All copies get the same path, so that a build cannot differ because of its path.

    `old` is a folder or a git revision; None if only the working tree is copied. `folder` is that of the build in the working tree.
    """

    temporary: Path
    old: str | None
    folder: Path

    @contextlib.contextmanager
    def old_state(self, *, create: bool = False) -> Iterator[Path]:
        """A copy of the old state; yields the folder of the build in it. Raises RepositoryError without one.

        With `create`, a revision without the folder has an empty one.
        """
        old = self.old or "HEAD"
        if self._is_folder():
            top = Path(old).resolve()  # `_copy_file` compares with the path without links
            with self._copy(top, _walk_folder(top), _OLD) as copy:
                yield copy
            return
        try:
            with repository.open_repository(self.folder) as source, self._empty(_OLD) as copy:
                _write(source, source.commit(old), copy)
                if create and not os.path.lexists(copy / self.folder.relative_to(source.top)):
                    (copy / self.folder.relative_to(source.top)).mkdir(parents=True)
                yield _below(copy, self.folder.relative_to(source.top))
        except RepositoryError as problem:
            raise RepositoryError(f"{old} is not a folder, and git cannot read that revision: {problem}") from problem

    @contextlib.contextmanager
    def again(self, state: State) -> Iterator[None]:
        """The copy of a state at its path again, after it was used."""
        (self.temporary / state).rename(self.top)
        try:
            yield
        finally:
            self.top.rename(self.temporary / state)

    @contextlib.contextmanager
    def with_texts(self, texts: Mapping[str, str | None]) -> Iterator[None]:
        """The copy of the working tree at its path again, with other texts of some files until the end. None removes a file."""
        with self.again(_NEW):
            paths = {name: self.top / name for name in texts}
            previous = {name: path.read_bytes() if path.is_file() else None for name, path in paths.items()}
            try:
                for name, text in texts.items():
                    _replace(paths[name], None if text is None else text.encode("utf-8", "surrogateescape"))
                yield
            finally:
                for name, data in previous.items():
                    _replace(paths[name], data)

    def texts(self, state: State) -> dict[str, str]:
        """Returns the texts of the files of a copy, by their paths. Links, large files and files with zero bytes are left out."""
        read = {}
        for name in _walk_folder(self.temporary / state):
            path = self.temporary / state / name
            if path.is_file() and not path.is_symlink() and path.stat().st_size <= _LARGEST:
                data = path.read_bytes()
                if b"\0" not in data:
                    read[name] = data.decode("utf-8", "surrogateescape")
        return read

    @contextlib.contextmanager
    def working_tree(self) -> Iterator[Path]:
        """A copy of the working tree, without ignored files; yields the folder of the build in it. Raises RepositoryError.

        Without a repository, or if the old state is a folder, the copy has the whole folder of the build.
        """
        top, names = self.folder, None
        if not self._is_folder():
            with (
                contextlib.suppress(RepositoryError) if self.old is None else contextlib.nullcontext(),
                repository.open_repository(top) as source,
            ):
                top, names = source.top, _present(source)
        with self._copy(top, _walk_folder(top) if names is None else names, _NEW) as copy:
            yield _below(copy, self.folder.relative_to(top))

    @property
    def top(self) -> Path:
        """The folder of each copy. It exists while the copy is used."""
        return self.temporary / _NAME

    def old_names(self) -> Callable[[str], str]:
        """Returns a function from the path of a file, from the folder of the build, to its name in texts: `main:apps/graph.yaml`."""
        old = self.old or "HEAD"
        if self._is_folder():
            return lambda name: os.path.normpath(f"{old}/{name}")
        with repository.open_repository(self.folder) as source:
            below = self.folder.relative_to(source.top)
        return lambda name: f"{old}:{os.path.normpath(below / name)}"

    def _is_folder(self) -> bool:
        return self.old is not None and Path(self.old).is_dir()

    @contextlib.contextmanager
    def _copy(self, top: Path, names: Iterable[str], state: State) -> Iterator[Path]:
        with self._empty(state) as copy:
            try:
                for name in names:
                    _copy_file(top, name, copy)
            except OSError as problem:
                raise RepositoryError(f"{problem.filename} cannot be copied: {problem.strerror}") from problem
            yield copy

    @contextlib.contextmanager
    def _empty(self, state: State) -> Iterator[Path]:
        """An empty folder, which gives its path to the next copy at the end, and is then the folder `state`."""
        copy = self.top
        copy.mkdir()
        try:
            yield copy
        finally:
            copy.rename(self.temporary / state)


@contextlib.contextmanager
def open_checkouts(old: str | None, folder: Path) -> Iterator[Checkouts]:
    """A temporary folder for copies. It is removed at the end, also after SIGINT, SIGTERM or SIGHUP."""
    with _ending(), tempfile.TemporaryDirectory(prefix="krm-fn-build-") as folder_name:
        yield Checkouts(Path(folder_name).resolve(), old, folder.resolve())


@contextlib.contextmanager
def _ending() -> Iterator[None]:
    """Makes signals raise an exception once, so that clean-up runs. Further signals do not interrupt the clean-up."""

    def end(number: int, _frame: FrameType | None) -> None:
        for ending in _ENDING:
            signal.signal(ending, signal.SIG_IGN)
        raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)

    handlers = {number: signal.signal(number, end) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _write(source: GitRepository, commit: str, copy: Path) -> None:
    """Writes the files of a commit. git refuses names that lead out of the folder, and writes nothing through a link."""
    with tempfile.TemporaryDirectory(prefix="krm-fn-index-") as folder:
        index = {"GIT_INDEX_FILE": f"{folder}/index", "GIT_WORK_TREE": str(copy)}
        source.git("read-tree", commit, seconds=_SECONDS, **index)
        source.git("checkout-index", "--all", "--quiet", seconds=_SECONDS, **index)


def _present(source: GitRepository) -> list[str]:
    """Returns the names of the files of the working tree: those of the last commit, and new ones that git does not ignore."""
    with tempfile.TemporaryDirectory(prefix="krm-fn-index-") as folder:
        index = {"GIT_INDEX_FILE": f"{folder}/index", "GIT_WORK_TREE": str(source.top)}
        with contextlib.suppress(RepositoryError):  # before the first commit
            source.git("read-tree", source.commit("HEAD"), seconds=_SECONDS, **index)
        listed = source.git("ls-files", "-z", "--full-name", "--cached", "--others", "--exclude-standard", seconds=_SECONDS, **index)
    return list(dict.fromkeys(os.fsdecode(listed).split("\0")))


def _walk_folder(top: Path) -> Iterator[str]:
    for folder, names, files in os.walk(top):
        names[:] = [name for name in names if name != ".git"]
        links = [name for name in names if Path(folder, name).is_symlink()]
        yield from (os.path.relpath(Path(folder, name), top) for name in (*files, *links))


def _replace(path: Path, data: bytes | None) -> None:
    """Writes a file of a copy, or removes it. A link is replaced, not its target."""
    path.unlink(missing_ok=True)
    if data is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _copy_file(top: Path, name: str, copy: Path) -> None:
    """Copies a regular file or a link. Leaves out files that are gone, special files, submodules, and files in linked folders."""
    source, target = top / name, copy / name
    if not name or source.parent.resolve() != source.parent:
        return
    try:
        mode = source.lstat().st_mode
    except OSError:
        return
    if stat.S_ISREG(mode) or stat.S_ISLNK(mode):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)


def _below(copy: Path, relative: Path) -> Path:
    """Returns a folder of a copy. Raises RepositoryError if the copy does not have it, or if it is outside of the copy."""
    folder = copy / relative
    if not folder.is_dir():
        raise RepositoryError(f"it has no folder {relative}")
    if not folder.resolve().is_relative_to(copy):
        raise RepositoryError(f"its folder {relative} is a link that leads out of the repository")
    return folder
