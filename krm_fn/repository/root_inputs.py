"""Digests of all that decides what a root applies. A root whose digest is the same in two states applies the same objects in both.

A build reads more files than krm-fn follows, such as those that a generator names. kustomize reads no file outside of the folders of the
Kustomizations (`LoadRestrictionsRootOnly`), and kpt none outside of a package. So all files in these folders count, with their bytes as
the build reads them: what git stores can differ. The programs, their environment and the path of the copy are the same for both states.

A root has no digest if krm-fn cannot prove this. It is then built in both states.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import stat
from collections.abc import Iterable, Sequence

from krm_fn.repository.files import reading
from krm_fn.repository.roots import Root, TreeRoots
from krm_fn.repository.tree import Tree

_CHUNK = 1024 * 1024
_OF_PIPELINES = ("namePrefix", "nameSuffix", "namespace")
"""The settings of a pipeline that name no files."""


class UnprovenError(Exception):
    """A digest cannot be known: the input has a link, a special file, or a file that cannot be read."""


def digests(tree: Tree, listing: TreeRoots, roots: Iterable[Root], settings: Sequence[str]) -> dict[str, str]:
    """Returns the digests of roots by their folders, relative to the folder that the command names.

    `settings` are the files on disk with configurations that the command names. Roots without a digest are left out, and so are several
    roots in one folder.
    """
    files = _Files(tree)
    try:
        config = [_file(file) for file in settings]
    except UnprovenError:
        return {}
    known: dict[str, list[str]] = {}
    for root in roots:
        try:
            inputs = _inputs(root, listing, files)
            text = hashlib.sha256(repr((root, inputs, config)).encode(errors="surrogateescape")).hexdigest()
        except UnprovenError:
            text = ""
        known.setdefault(posixpath.relpath(root.folder, tree.at), []).append(text)
    return {folder: of_folder[0] for folder, of_folder in known.items() if len(of_folder) == 1 and of_folder[0]}


def same(old: dict[str, str], new: dict[str, str]) -> frozenset[str]:
    """Returns the folders of the roots with the same digest in both states."""
    return frozenset(folder for folder, digest in new.items() if old.get(folder) == digest)


def _inputs(root: Root, listing: TreeRoots, files: _Files) -> list[tuple[str, str]]:
    """Returns the folders and files that a root is made of, with their digests. Raises UnprovenError."""
    if root.kind == "folder":
        return [(name, files.file(name)) for name in sorted(root.files)]
    if root.kind == "kpt":
        return [(root.folder, files.folder(root.folder))]
    closure = listing.closures[root.folder]
    if closure.problems or any(name not in _OF_PIPELINES for name in root.settings):
        raise UnprovenError
    folders = [(name, files.folder(name)) for name in sorted(closure.folders)]
    return [*folders, *((name, files.file(name)) for name in sorted(closure.files))]


class _Files:
    """The digests of files and folders of a tree, each made once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._folders: dict[str, str] = {}
        self._files: dict[str, str] = {}

    def file(self, name: str) -> str:
        """Returns the digest of a file. Raises UnprovenError for a link, and for a path with a link."""
        self._check(name)
        return self._read_once(str(self._tree.path(name)))

    def folder(self, name: str) -> str:
        """Returns the digest of all files below a folder, with their names. Raises UnprovenError if one of them is a link."""
        self._check(name)
        return self._below(str(self._tree.path(name)))

    def _check(self, name: str) -> None:
        path = self._tree.path(name)
        if os.path.realpath(path) != str(path):
            raise UnprovenError

    def _read_once(self, path: str) -> str:
        if path not in self._files:
            self._files[path] = _file(path)
        return self._files[path]

    def _below(self, path: str) -> str:
        if path not in self._folders:
            inner = [(entry.name, self._entry(entry)) for entry in _entries(path)]
            self._folders[path] = hashlib.sha256(repr(inner).encode(errors="surrogateescape")).hexdigest()
        return self._folders[path]

    def _entry(self, entry: os.DirEntry[str]) -> str:
        return self._below(entry.path) if entry.is_dir(follow_symlinks=False) else self._read_once(entry.path)


def _entries(path: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as problem:
        raise UnprovenError from problem


def _file(path: str) -> str:
    """Returns the digest of a regular file: its bytes, and whether it is a program. Raises UnprovenError for any other file."""
    digest = hashlib.sha256()
    try:
        with open(path, "rb", opener=_opener) as file:
            mode = os.fstat(file.fileno()).st_mode
            while data := file.read(_CHUNK):
                digest.update(data)
    except (OSError, reading.UnreadableError) as problem:
        raise UnprovenError from problem
    return f"{'x' if mode & stat.S_IXUSR else '-'}{digest.hexdigest()}"


def _opener(path: str, flags: int) -> int:
    return reading.regular(path, flags | os.O_NOFOLLOW)
