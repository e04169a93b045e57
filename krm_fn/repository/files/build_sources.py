"""Finds the lines of a build's output in the files that the build read.

kustomize and kpt can annotate each resource with its file. Without the annotation, the files are those that the command or its
kustomizations name, or otherwise all files in the folder. The line is that of a document of the same kind whose name is a part of the
name in the build, and that has the same value. A value that no file has, such as one of a Helm chart, has no line.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from krm_fn.base.results import Path as FieldPath
from krm_fn.kubernetes import paths
from krm_fn.render.krm import origin
from krm_fn.repository.files import patch_fields, reading, selection
from krm_fn.repository.files.reading import Source

_RESOURCES = ("resources", "bases", "components", "patches", "patchesStrategicMerge", "generators", "transformers")


class BuildSources(NamedTuple):
    """The documents of the files that a build read, with the names that findings show. `roots` are the folders that the command names.

    `is_certain` is false if the command names no file and no kustomization: the build may then read other files of the folder.
    """

    documents: list[Source]
    kustomizations: list[Source]
    roots: list[str]
    is_certain: bool

    def field(self, built: Source, path: FieldPath) -> tuple[Source, FieldPath] | None:
        """Returns the document that has a field of a built resource, and the path there; None if no document is known.

        A document that has another value, because the build changed it, counts only if no other document has the value.
        """
        value, annotated, alike = paths.at(built.value, path), self._annotated_sources(built), _alike(self.documents, built)
        written = [(source, paths.by_names(path, built.value, source.value)) for source in (*annotated, *alike)]
        equal = [(source, inner) for source, inner in written if path and value is not None and paths.at(source.value, inner) == value]
        present = [(source, _present(source, inner)) for source, inner in written[: len(annotated) or None]]
        others = sorted(present, key=lambda other: -len(other[1]))
        for fields in (equal, [*_of_image(self.kustomizations, value)], others):
            if fields:
                return fields[0] if self.is_certain or annotated or len(fields) == 1 else None
        return None

    def _annotated_sources(self, built: Source) -> list[Source]:
        path, number = origin.file(built.value)
        names = {_join_path(root, path) for root in self.roots} if path else set()
        documents = [source for source in self.documents if source.file in names and source.address.kind == built.address.kind]
        return sorted(documents, key=lambda source: (source.address.name not in built.address.name, source.document != number))[:1]


def read(folder: Path, top: Path, words: Sequence[str], name: Callable[[str], str]) -> BuildSources:
    """Reads the files of a build that ran in a folder. `words` are those of its command. Files outside of `top` are not read.

    `name` returns the name of a file in findings. Its argument is the path from `folder`.
    """
    named = [folder / word for word in words if not Path(word).is_absolute() and (folder / word).exists()]
    roots = [path for path in (*named, folder) if path.is_dir()]
    files = [*dict.fromkeys([*(path for path in named if path.is_file()), *(file for root in roots for file in _files(root, top))])]
    listed = [] if files else [Path(file.path) for file in selection.list_files([str(folder)]).files if not file.leads_out]
    existing = [file for file in (*files, *listed) if _is_below(file, top)]
    sources = [source for file in existing for source in reading.parse(_data(file), name(os.path.relpath(file, folder))).sources]
    documents = [source for source in sources if isinstance(source.value, dict)]
    kustomizations = [source for source in documents if Path(source.file).name in selection.KUSTOMIZATIONS]
    return BuildSources(documents, kustomizations, [name(os.path.relpath(root, folder)) for root in roots], bool(files))


def _join_path(folder: str, path: str) -> str:
    """Joins names of files, also of those in a revision, such as `main:apps`."""
    revision, colon, rest = folder.partition(":")
    return f"{revision}:{os.path.normpath(f'{rest}/{path}')}" if colon else os.path.normpath(f"{folder}/{path}")


def _files(root: Path, top: Path, depth: int = 0) -> Iterator[Path]:
    """Yields the files that the kustomization of a folder reads, from the nearest to the farthest."""
    kustomization = next((root / name for name in selection.KUSTOMIZATIONS if (root / name).is_file()), None)
    if kustomization is None or depth > 20 or not _is_below(kustomization, top):
        return
    yield kustomization
    below = []
    for source in reading.parse(_data(kustomization), "").sources:
        for entry in _entries(source.value):
            path = Path(os.path.normpath(root / entry))
            if path.is_dir():
                below.append(path)
            elif path.is_file():
                yield path
    for folder in below:
        yield from _files(folder, top, depth + 1)


def _entries(kustomization: Any) -> Iterator[str]:
    for field in _RESOURCES if isinstance(kustomization, dict) else ():
        for entry in kustomization.get(field) or ():
            path = entry.get("path") if isinstance(entry, dict) else entry
            if isinstance(path, str) and path and "\n" not in path and "://" not in path:
                yield path


def _data(file: Path) -> bytes:
    try:
        return reading.data(str(file))
    except reading.UnreadableError:
        return b""


def _is_below(file: Path, top: Path) -> bool:
    return file.resolve().is_relative_to(top.resolve())


def _alike(documents: Iterable[Source], built: Source) -> list[Source]:
    """Returns the documents of the kind of a built resource whose names are a part of its name: the longest names first."""
    address = built.address
    same_kind = [source for source in documents if source.address.kind == address.kind and source.address.name]
    alike = [source for source in same_kind if source.address.name in address.name]
    longest = max((len(source.address.name) for source in alike), default=0)
    return [source for source in alike if len(source.address.name) == longest]


def _present(source: Source, path: FieldPath) -> FieldPath:
    """Returns the part of a path that a document has."""
    return next((path[:length] for length in range(len(path), 0, -1) if paths.at(source.value, path[:length]) is not None), ())


def _of_image(kustomizations: Iterable[Source], value: Any) -> Iterator[tuple[Source, FieldPath]]:
    """Yields the line in `images` of a kustomization that gave an image its tag or digest."""
    for source in kustomizations:
        yield from ((source, path) for path in patch_fields.images(source.value, value))
