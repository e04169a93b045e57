"""Finds and reads the project file of a repository, and a configuration above a folder.

The project file is `.krm-fn.yaml` in the folder of a path or in a folder above it, up to the top of the repository. The author of a
repository may be unknown, so the files that it names must be in the repository, and it names no programs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from krm_fn.base import codes, results
from krm_fn.base.results import Result
from krm_fn.render import function_config
from krm_fn.render.schema import schema_check
from krm_fn.repository.files import enclosing_folders, reading, selection
from krm_fn.repository.files.reading import Source

NAME = ".krm-fn.yaml"
KIND = "DynamoProject"
_NO_PROJECT = "write one DynamoProject of dynamo.krm-fn.io/v1alpha1"


class RootSetting(NamedTuple):
    """A folder that the project file names as a root, with the namespace of resources without one."""

    folder: Path
    namespace: str = ""


class Project(NamedTuple):
    """The settings of a project file. Without a file, `path` is None and all settings are empty. `results` are errors in it."""

    path: Path | None = None
    config: str | None = None
    namespace: str | None = None
    exclude: tuple[str, ...] = ()
    nodes: str | None = None
    budget: str | None = None
    roots: tuple[RootSetting, ...] = ()
    results: tuple[Result, ...] = ()


def of_paths(paths: Sequence[str]) -> Project:
    """Returns the settings for the paths of a command: those of the first path. For stdin, those of the current folder."""
    first = Path(paths[0] if paths and paths[0] != reading.STDIN else ".")
    for folder in _upwards(first if first.is_dir() else first.parent):
        if os.path.lexists(folder / NAME):
            return _read(folder / NAME)
    return Project()


def _upwards(start: Path) -> Iterator[Path]:
    """Yields a folder and those above it, up to the top of the repository."""
    for folder in enclosing_folders.upwards(start.resolve()):
        yield folder
        if os.path.lexists(folder / ".git"):
            return


def top(folder: Path) -> Path:
    """Returns the top of the repository around a folder; the folder itself without a repository."""
    *_, last = _upwards(folder)
    return last if os.path.lexists(last / ".git") else folder.resolve()


def _read(path: Path) -> Project:
    shown = os.path.relpath(path)
    if path.is_symlink():
        return Project(path, results=(results.error(codes.UNUSABLE_PROJECT_FILE, "the project file is a link; write a file", file=shown),))
    file = reading.read(str(path))
    findings = [finding._replace(file=shown) for finding in file.results]
    if findings or len(file.sources) != 1 or not isinstance(file.sources[0].value, dict):
        findings = findings or [
            results.error(codes.UNUSABLE_PROJECT_FILE, f"the project file has {len(file.sources)} documents; {_NO_PROJECT}", file=shown)
        ]
        return Project(path, results=tuple(findings))
    source = file.sources[0]._replace(file=shown)
    if source.address.kind != KIND:
        message = f"the project file has the kind {source.address.kind or 'without a name'}; {_NO_PROJECT}"
        return Project(path, results=(results.error(codes.UNUSABLE_PROJECT_FILE, message, **source.location()),))
    if wrong := reading.locate_findings([(source, finding) for finding in schema_check.resource(source.value)]):
        return Project(path, results=tuple(wrong))
    return _project(path, source, source.value.get("spec") or {})


def _project(path: Path, source: Source, spec: dict[str, Any]) -> Project:
    roots = tuple(RootSetting(path.parent / root["path"], root.get("namespace") or "") for root in spec.get("roots") or ())
    files = {name: str(path.parent / spec[name]) if spec.get(name) else None for name in ("config", "nodes", "budget")}
    named = [(("spec", name), Path(value)) for name, value in files.items() if value]
    named += [(("spec", "roots", number, "path"), root.folder) for number, root in enumerate(roots)]  # type: ignore[misc]
    findings = [finding for field, target in named for finding in _check(source, field, target, path.parent)]
    others = (spec.get("namespace") or None, tuple(spec.get("exclude") or ()))
    return Project(path, files["config"], *others, files["nodes"], files["budget"], roots, tuple(findings))


def _check(source: Source, field: results.Path, target: Path, folder: Path) -> Iterator[Result]:
    """Yields an error about a path that is missing or outside of the repository."""
    inside = target.resolve().is_relative_to(top(folder))
    if not inside or not target.exists():
        problem = "does not exist" if inside else "is outside of the repository"
        message = f"{os.path.relpath(target)} {problem}; name a path in the repository, relative to the project file"
        yield results.error(codes.UNUSABLE_PROJECT_FILE, message, source.address, field, **source.location(field))


def configuration_above(path: str) -> str | None:
    """Returns the file of the only DynamoRender in the nearest folder above a folder that has one; None without one.

    A folder with a configuration of its own, and a file, have none. Only folders of the same repository count.
    """
    folder = Path(path)
    if path == reading.STDIN or not folder.is_dir() or not os.path.lexists(top(folder) / ".git"):
        return None
    file = _configuration(list(_upwards(folder))[1:])
    return file and os.path.relpath(file)


def configuration_beside(file: str) -> str | None:
    """Returns the absolute path of the only DynamoRender in the folder of a file, or in the nearest folder above it that has one.

    None without one. Folders above count only in the same repository.
    """
    folder = Path(file).absolute().parent
    is_in_repository = os.path.lexists(top(folder) / ".git")
    return _configuration(list(_upwards(folder)) if is_in_repository else [folder])


def _configuration(folders: Sequence[Path]) -> str | None:
    """Returns the file of the only DynamoRender in the first folder that has one; None without one, and if it has several."""
    for folder in filter(Path.is_dir, folders):
        files = [file for file in sorted(folder.iterdir()) if selection.is_read(file.name) and file.is_file() and not file.is_symlink()]
        configured = [file for file in files if _has_configuration(file)]
        if configured:
            return str(configured[0]) if len(configured) == 1 else None
    return None


def _has_configuration(file: Path) -> bool:
    try:
        data = reading.data(str(file))
    except reading.UnreadableError:
        return False
    if function_config.KIND.encode() not in data:
        return False
    return any(function_config.is_config(source.address) for source in reading.parse(data, str(file)).sources)
