"""Reads folders as repositories, for commands that judge what reaches a cluster: both states, each root built once.

A folder is read as a repository if it has a Kustomization, a kpt package, a committed render, or a resource of Argo CD or Flux that names
folders. Any other folder has plain files only.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from krm_fn.base import progress_line
from krm_fn.base.results import Result
from krm_fn.repository import private_programs, root_inputs, states
from krm_fn.repository.files import checkouts, project_file, reading, repository, revisions, selection
from krm_fn.repository.files.checkouts import Checkouts
from krm_fn.repository.files.repository import RepositoryError
from krm_fn.repository.states import RepositoryFiles, RootListing, RootOptions
from krm_fn.repository.tree import KPTFILE, ParsedFiles, Tree
from krm_fn.review.changed_lines.rebuilds import Rebuilds
from krm_fn.review.inputs import InputError, Inputs

_MARKS = re.compile(
    rb"dynamo\.krm-fn\.io/(owner|workloads)|^apiVersion:\s*[\"']?(argoproj\.io|kustomize\.toolkit\.fluxcd\.io)/|^# Rendered by krm-fn;",
    re.MULTILINE,
)
_SPECIAL = (*selection.KUSTOMIZATIONS, KPTFILE)
_SECONDS = 300
"""The time limit of the build of one root, in seconds."""


Unchanged = Literal["build", "share", "skip"]
"""The treatment of roots whose inputs are the same in both states: both are read from one build, the new one is used for both, or none is
built."""


class RepositoryChange(NamedTuple):
    """The new state of a folder, and its old state if one is named, with `rebuilds` of their roots."""

    new: RepositoryFiles
    old: RepositoryFiles | None
    rebuilds: Rebuilds | None = None


def _special_files(path: str, exclude: tuple[str, ...]) -> list[Result]:
    """Returns the findings about named pipes and devices in a folder. A copy does not have them."""
    tree = Tree(Path(path))
    files = (Path(path) / name for name in tree.names(exclude))
    return [finding for file in files if not file.is_symlink() and not file.is_file() for finding in reading.read(str(file)).results]


def is_repository(path: str, old: str | None = None, exclude: tuple[str, ...] = (), *, named_roots: bool = False) -> bool:
    """True for a folder that must not be read as plain files only, in one of its states.

    `named_roots`: the project file names roots.

    An old state in a file has no folders, so it is compared with files.
    """
    if path == reading.STDIN or not Path(path).is_dir() or (old is not None and Path(old).is_file()):
        return False
    if named_roots:
        return True
    tree = Tree(Path(path))
    names = tree.names(exclude)
    if any(map(_is_special, names)):
        return True
    return any(_is_marked(tree.path(name)) for name in names) or (old is not None and _was_repository(path, old))


def folders(given: Inputs, old: str | None = None) -> list[str]:
    """Returns the paths of a command that are read as repositories. `old` is the old state."""
    if not given.is_built:
        return []
    named = bool(given.project.roots)
    return [path for path in given.paths if is_repository(path, old, given.exclude, named_roots=named)]


def _is_special(name: str) -> bool:
    return posixpath.basename(name) in _SPECIAL


def _is_marked(path: Path) -> bool:
    try:
        return bool(_MARKS.search(reading.data(str(path))))
    except reading.UnreadableError:
        return False


def _was_repository(path: str, old: str) -> bool:
    if revisions.is_path(old):
        return Path(old).is_dir() and is_repository(old)
    folder = Path(path).resolve()
    try:
        with repository.open_repository(folder) as source:
            at = folder.relative_to(source.top).as_posix()
            commit = source.commit(old)
            entries = [
                entry
                for entry in source.entries(commit, at)
                if _is_special(entry.name) or selection.is_read(posixpath.basename(entry.name))
            ]
            contents = (data for _, data in source.contents(commit, entries))
            return any(_is_special(entry.name) for entry in entries) or any(bool(data and _MARKS.search(data)) for data in contents)
    except RepositoryError:
        return False  # the command reports it


def read(
    path: str, given: Inputs, old: str | None, changes: Mapping[str, str] | None = None, unchanged: Unchanged = "build"
) -> RepositoryChange:
    """Reads a folder as `open_states` does, and removes the copies."""
    with open_states(path, given, old, changes, unchanged) as read_states:
        return read_states


@contextlib.contextmanager
def open_states(
    path: str, given: Inputs, old: str | None, changes: Mapping[str, str] | None = None, unchanged: Unchanged = "build"
) -> Iterator[RepositoryChange]:
    """Reads a folder, and its old state if it is named. `changes` are new texts of its files. Roots can be built again before the end.

    The roots of both states are found before any root is built. Raises InputError if the old state cannot be read.
    """
    with contextlib.ExitStack() as stack:
        try:
            copies = stack.enter_context(checkouts.open_checkouts(old, Path(path)))
            with progress_line.show_progress("reading") as progress:
                read_states = _read(path, _Setup(given, copies, progress, changes or given.texts), unchanged)
        except RepositoryError as problem:
            raise InputError(str(problem), "--old") from problem
        yield read_states


class _Setup(NamedTuple):
    """What decides how the copies of a folder are read. `changes` are new texts of files."""

    given: Inputs
    copies: Checkouts
    progress: Callable[[str], None]
    changes: Mapping[str, str]

    def find(self, folder: Path, shown: Callable[[str], str], parsed: ParsedFiles) -> RootListing:
        """Finds the roots of the copy that is at its path."""
        tree = Tree(self.copies.top, folder.relative_to(self.copies.top).as_posix(), shown, parsed)
        return states.find(tree, _options(self.given, self.copies, self.progress))


def _read(path: str, setup: _Setup, unchanged: Unchanged) -> RepositoryChange:
    """Reads both states in their copies. Raises RepositoryError if the old state cannot be read."""
    given, copies, parsed = setup.given, setup.copies, ParsedFiles()
    programs = private_programs.create(copies.temporary / "programs", _SECONDS)
    old_roots = None
    if copies.old is not None:
        with copies.old_state(create=True) as folder:
            old_roots = setup.find(folder, _old_names(copies.old), parsed)
    with copies.working_tree() as folder:
        at = folder.relative_to(copies.top).as_posix()
        _write(setup.changes, copies)
        new_roots = setup.find(folder, lambda name: os.path.normpath(Path(path) / posixpath.relpath(name, at)), parsed)
        if old_roots is not None:
            old_roots, new_roots = states.with_other_state(old_roots, new_roots), states.with_other_state(new_roots, old_roots)
        same = root_inputs.same(old_roots.inputs, new_roots.inputs) if old_roots and unchanged != "build" else frozenset[str]()
        if old_roots and unchanged == "build":
            new_roots, old_roots = states.with_shared_builds(new_roots, old_roots)
        new = states.read(new_roots, programs, same if unchanged == "skip" else ())
    new = new._replace(results=[*new.results, *_special_files(path, given.exclude)])
    if old_roots is None:
        return RepositoryChange(new, None)
    with copies.again("old"):
        old_state = _share_roots(new, states.read(old_roots, programs, same))
    return RepositoryChange(new, old_state, Rebuilds(old_roots, new_roots, programs, copies))


def read_revision(revision: str, name: str, given: Inputs) -> RepositoryFiles:
    """Reads a folder or a file of a git revision. `name` is its path from the top of the repository around the current folder.

    Raises InputError if git cannot read the revision, or if the revision does not have the path.
    """
    path = f"{revision}:{name}"
    try:
        with progress_line.show_progress("reading") as progress, checkouts.open_checkouts(revision, project_file.top(Path())) as copies:
            programs = private_programs.create(copies.temporary / "programs", _SECONDS)
            with copies.old_state():
                tree = Tree(copies.top, name, lambda inner: f"{revision}:{inner}")
                if not tree.is_folder(name) and not tree.is_file(name):
                    raise InputError(f"path {path!r} does not exist, and the revision {revision} has no such path.")
                options = _options(given, copies, progress)
                return states.read_file(tree, name, options) if tree.is_file(name) else states.read(states.find(tree, options), programs)
    except RepositoryError as problem:
        raise InputError(f"path {path!r} does not exist, and it is no path of a revision: {problem}") from problem


def _share_roots(new: RepositoryFiles, old: RepositoryFiles) -> RepositoryFiles:
    """Returns the old state with the roots of the new one in place of those that are not read because they are unchanged."""
    new_roots = {root.path: root for root in new.roots}
    return old._replace(roots=[new_roots.get(root.path, root) if root.is_unchanged else root for root in old.roots])


def read_several(given: Inputs) -> dict[str, RepositoryFiles]:
    """Reads those paths of a command that are read as repositories, by their paths. One repository is copied once for all of them.

    Outside of a git repository, the copy has the current folder, if the paths are in it, or the folder that has all paths.
    """
    by_top: dict[Path, list[str]] = {}
    for path in folders(given):
        by_top.setdefault(anchor(Path(path)), []).append(path)
    read_states = {}
    for top, paths in by_top.items():
        with progress_line.show_progress("reading") as progress, checkouts.open_checkouts(None, top) as copies:
            programs = private_programs.create(copies.temporary / "programs", _SECONDS)
            with copies.working_tree():
                tree = Tree(copies.top, shown=lambda name: os.path.relpath(top / name))  # noqa: B023 - called before the next turn
                for path in paths:
                    at = Path(path).resolve().relative_to(top).as_posix()
                    options = _options(given.of_path(path), copies, progress)
                    below = tuple(root for root in options.roots if at == "." or f"{root[0]}/".startswith(f"{at}/"))
                    listing = states.find(tree.seen_from(at), options._replace(roots=below))
                    state = states.read(listing, programs)
                    read_states[path] = state._replace(results=[*state.results, *_special_files(path, given.exclude)])
    return read_states


def anchor(path: Path) -> Path:
    """Returns the folder that is copied to read a path: the top of its repository, the current folder, or the folder above the path."""
    top, current = project_file.top(path), Path.cwd().resolve()
    if os.path.lexists(top / ".git"):
        return top
    return current if top.is_relative_to(current) else top.parent


def _options(given: Inputs, copies: Checkouts, progress: Callable[[str], None]) -> RootOptions:
    config, default = (_in_copy(file, copies) for file in (given.config, given.default_config))
    listed = tuple((_inside(root.folder, copies), root.namespace) for root in given.project.roots)
    return RootOptions(config, default, given.namespace or "", given.exclude, listed, progress, given.cache)


def _old_names(old: str) -> Callable[[str], str]:
    if revisions.is_path(old):
        return lambda name: os.path.normpath(Path(old) / name)
    return lambda name: f"{old}:{name}"


def _in_copy(file: str | None, copies: Checkouts) -> str | None:
    """Returns a file of the user: its version of the state, if the file is in the copy."""
    if file is None:
        return None
    top, copy = _top(copies), copies.top
    path = Path(file).resolve()
    inside = copy / path.relative_to(top) if path.is_relative_to(top) else copy
    return str(inside) if inside.is_file() and inside.resolve().is_relative_to(copy) else file


def _write(changes: Mapping[str, str], copies: Checkouts) -> None:
    """Writes new texts into the files of a copy. Links are followed inside of the copy only."""
    copy = copies.top
    for file, text in changes.items():
        path = Path(file).resolve()
        inside = copy / path.relative_to(_top(copies)) if path.is_relative_to(_top(copies)) else copy
        if inside.is_file() and inside.resolve().is_relative_to(copy):
            inside.write_text(text, encoding="utf-8", newline="")


def _inside(folder: Path, copies: Checkouts) -> str:
    """Returns the path of a folder of the repository in a copy."""
    return os.path.relpath(folder.resolve(), _top(copies))


def _top(copies: Checkouts) -> Path:
    """Returns the folder of the working tree that a copy has. If the old state is a folder, the copy has the folder of the command only."""
    is_folder = copies.old is not None and revisions.is_path(copies.old)
    return copies.folder if is_folder else project_file.top(copies.folder)
