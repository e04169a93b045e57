"""Reads the old state of a change: files and folders, or the same paths at a git revision.

The rules about changes are in `krm_fn.render.rules.updates`.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from krm_fn.base import codes, results
from krm_fn.base.results import Result
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.types import Resource
from krm_fn.render.dynamo_api import GROUP
from krm_fn.repository.files import reading, repository, selection
from krm_fn.repository.files.reading import File, Source
from krm_fn.repository.files.repository import GitFile, GitRepository, RepositoryError

__all__ = ["OldFiles", "RepositoryError", "ResourceChange", "files", "pairs", "read"]


class OldFiles(NamedTuple):
    """The resources of the old state, each with the paths that its file can have in the new state, and warnings about the old files."""

    resources: list[tuple[Source, frozenset[str]]]
    results: list[Result]


class ResourceChange(NamedTuple):
    """Both states of a Dynamo resource."""

    old: Resource
    new: Source


def read(old: str, paths: Sequence[str], exclude: Sequence[str] = ()) -> OldFiles:
    """Returns the resources of a file or folder, or, if `old` is neither, of the `paths` at that git revision.

    `exclude` holds the globs of `krm_fn.repository.files.selection`. Raises RepositoryError if git does not know the revision, or lacks a
    file of it.
    """
    old_files = files(old, paths, exclude)
    findings = list(_unread(file for file, _ in old_files))
    resources = [(source, new_paths) for file, new_paths in old_files for source in file.sources if source.address.name]
    if is_path(old) and not resources and not findings:
        findings.append(empty(old))
    return OldFiles(resources, findings)


def empty(old: str) -> Result:
    """Returns the finding about an old file or folder without a resource."""
    message = "the old state holds no resource, so nothing is compared with it; name the state before the change"
    return results.warning(codes.OLD_STATE_NOT_COMPARED, message, file=old)


def files(old: str, paths: Sequence[str], exclude: Sequence[str] = ()) -> list[tuple[File, frozenset[str]]]:
    """Returns the files of `read`, each with the paths that it can have in the new state. Raises RepositoryError as `read` does."""
    return list(_files(old, paths, exclude) if is_path(old) else _revision(old, paths, exclude))


def is_path(old: str) -> bool:
    """True for a file or a folder, False for a revision."""
    return bool(old) and os.path.exists(old)  # noqa: PTH110 - it is false for a text that no path can have, such as one of 5,000 letters


def pairs(old: OldFiles, new: Iterable[Source], namespace: str) -> list[ResourceChange]:
    """Returns the Dynamo resources that are in both states.

    A resource in the same file is preferred to one with the same identity in another file.

    `namespace` is that of resources without one.
    """
    old_by_key: dict[identity.ObjectKey, list[tuple[Source, frozenset[str]]]] = {}
    for source, paths in old.resources:
        old_by_key.setdefault(identity.key(source.value, namespace), []).append((source, paths))
    matches: list[ResourceChange] = []
    unmatched: list[tuple[list[tuple[Source, frozenset[str]]], Source]] = []
    for source in new:
        candidates = old_by_key.get(identity.key(source.value, namespace), [])
        same_file = next((candidate for candidate in candidates if _real(source.file) in candidate[1]), None)
        if same_file:
            candidates[:] = [candidate for candidate in candidates if candidate is not same_file]
            matches.append(ResourceChange(same_file[0].value, source))
        else:
            unmatched.append((candidates, source))
    matches.extend(ResourceChange(candidates.pop(0)[0].value, source) for candidates, source in unmatched if candidates)
    return [pair for pair in matches if identity.key(pair.old).group == GROUP]


def _real(path: str) -> str:
    return str(Path(path).resolve())


def _unread(files: Iterable[File]) -> Iterator[Result]:
    """Findings about old files as warnings: a change may repair a broken file. In folders, only if the file names a Dynamo kind."""
    for file in files:
        for result in file.results if file.names_dynamo else ():
            message = f"the old file is not compared, because of {result.code}: {result.message}"
            yield result._replace(severity="warning", code=codes.OLD_STATE_NOT_COMPARED, message=message)


def _files(old: str, paths: Sequence[str], exclude: Sequence[str]) -> Iterator[tuple[File, frozenset[str]]]:
    """Yields the files of the old path.

    They are compared with the files of the same relative path in the named folders of the new state.
    """
    files = [Path(path) for path in paths if path != reading.STDIN and not Path(path).is_dir()]
    folders = [Path(path) for path in paths if Path(path).is_dir()]
    for listed in selection.list_files([old], exclude=exclude).files:
        if listed.leads_out:
            continue
        relative = Path(listed.path).relative_to(old) if listed.in_folder else Path(Path(old).name)
        same = [folder / relative for folder in folders] + [file for file in files if not listed.in_folder or file.name == relative.name]
        file = reading.read(listed.path)
        yield file if listed.in_folder else file._replace(names_dynamo=True), frozenset(_real(str(path)) for path in same)


def _revision(revision: str, paths: Sequence[str], exclude: Sequence[str]) -> Iterator[tuple[File, frozenset[str]]]:
    for path in paths:
        if path == reading.STDIN:
            raise RepositoryError(f"{revision} is not a file or folder, and stdin has no revisions; name a file or folder")
        target = Path(path).resolve()
        try:
            with repository.open_repository(target if target.is_dir() else target.parent) as source:
                for name, file in _committed_files(source, revision, target, exclude):
                    yield file, frozenset([_real(str(source.top / name))])
        except RepositoryError as problem:
            raise RepositoryError(f"{revision} is not a file or folder, and git cannot read that revision: {problem}") from problem


def _committed_files(source: GitRepository, revision: str, target: Path, exclude: Sequence[str]) -> Iterator[tuple[str, File]]:
    """Yields the files of a commit at a path, by their paths from the top of the repository.

    In a folder, the same files are read as on disk.
    """
    commit, at = source.commit(revision), target.relative_to(source.top).as_posix()
    entries = [entry for entry in source.entries(commit, at) if entry.name == at or _is_read(posixpath.relpath(entry.name, at))]
    files = {name: _parse_file(f"{revision}:{name}", data) for name, data in source.contents(commit, _needed_entries(entries, at, exclude))}
    below = {posixpath.relpath(name, at): name for name in files if name != at}
    selected = selection.select(list(below), lambda name: files[below[name]], exclude).names
    yield from ((name, file._replace(names_dynamo=True)) for name, file in files.items() if name == at)
    yield from ((below[name], files[below[name]]) for name in selected)


def _needed_entries(entries: Iterable[GitFile], at: str, exclude: Sequence[str]) -> list[GitFile]:
    """Returns the entries without excluded files, whose contents may be missing."""
    return [entry for entry in entries if entry.name == at or not selection.is_excluded(posixpath.relpath(entry.name, at), exclude)]


def _is_read(name: str) -> bool:
    *folders, file = name.split("/")
    return selection.is_read(file) and all(selection.is_read(folder, folder=True) for folder in folders)


def _parse_file(name: str, data: bytes | None) -> File:
    if data is not None:
        return reading.parse(data, name)
    problem = reading.too_large()
    return reading.File("", [], [results.error(problem.code, str(problem), file=name)])
