"""The files of one state of a repository: a folder on disk, in which each file is read once.

Paths are relative to the top of the tree, with `/` between their parts. No path leads out of the tree: the author of a repository must
not decide which other files are read.
"""

from __future__ import annotations

import os
import posixpath
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from krm_fn.repository.files import reading, selection
from krm_fn.repository.files.reading import File, Source

KPTFILE = "Kptfile"
ParsedFiles = dict[tuple[str, bytes], File]
"""Files by their names and bytes. A schema, of which each Kustomization has a copy, is parsed once: its name is empty."""


class Tree:
    """A folder on disk. `at` is the folder in it that a command names. `shown` returns the name of a file in findings.

    `parsed` has the files that another state of the tree read: a file with the same name and the same bytes is parsed once.
    """

    def __init__(self, top: Path, at: str = ".", shown: Callable[[str], str] = str, parsed: ParsedFiles | None = None) -> None:
        self.top, self.at, self.shown = top.resolve(), at, shown
        self._files: dict[str, File] = {}
        self._contained: dict[str, bool] = {}
        self._parsed: ParsedFiles = {} if parsed is None else parsed

    def again(self) -> Tree:
        """Returns the same tree, which reads its files again."""
        return Tree(self.top, self.at, self.shown, self._parsed)

    def seen_from(self, folder: str) -> Tree:
        """Returns the same tree with another folder that a command names. Both read each file once."""
        tree = Tree(self.top, folder, self.shown, self._parsed)
        tree._files = self._files
        return tree

    def below(self, folder: str) -> list[str]:
        """Returns the files of `names` below another folder."""
        return Tree(self.top, folder).names()

    def path(self, name: str) -> Path:
        """Returns the path of a file on disk."""
        return self.top / name

    def name_of(self, path: str) -> str:
        """Returns the name of a file on disk, with links followed; empty for a file outside of the tree."""
        real = os.path.realpath(path)
        return os.path.relpath(real, self.top) if real.startswith(f"{self.top}{os.sep}") else ""

    def read_path(self, path: str) -> File:
        """Reads a file on disk, which is in the tree or elsewhere."""
        name = self.name_of(path)
        return self.read(name) if name else reading.read(path)

    def contains(self, name: str) -> bool:
        """True if a path, with its links followed, is inside of the tree. A loop of links and a zero byte lead nowhere.

        The links of a path are followed once: builds write files, and no links that lead out of the tree.
        """
        if name not in self._contained:
            self._contained[name] = self._is_inside(name)
        return self._contained[name]

    def _is_inside(self, name: str) -> bool:
        try:
            return self.path(name).resolve().is_relative_to(self.top)
        except (OSError, ValueError, RuntimeError):
            return False

    def is_folder(self, name: str) -> bool:
        """True for a folder of the tree."""
        return self.contains(name) and self.path(name).is_dir()

    def is_file(self, name: str) -> bool:
        """True for a file of the tree."""
        return self.contains(name) and self.path(name).is_file()

    def read(self, name: str) -> File:
        """Returns a file as it was when it was first read; an empty one for a link that leads out of the tree."""
        if name not in self._files:
            self._files[name] = self._rename_file(name) if self.contains(name) else File("", [], [], names_dynamo=False)
        return self._files[name]

    def _rename_file(self, name: str) -> File:
        shown, file = self.shown(name), self._parse(name)
        findings = [result._replace(file=shown) for result in file.results]
        return file._replace(sources=[source._replace(file=shown) for source in file.sources], results=findings)

    def _parse(self, name: str) -> File:
        path = str(self.path(name))
        try:
            data = reading.data(path)
        except reading.UnreadableError as problem:
            return reading.unreadable(problem, path)
        if ("", data) in self._parsed:
            return self._parsed["", data]
        if (name, data) not in self._parsed:
            file = reading.parse(data, path)
            is_schema = file.sources and all(reading.is_tool_schema(source.value) for source in file.sources)
            self._parsed["" if is_schema and not file.results else name, data] = file
            return file
        return self._parsed[name, data]

    def names(self, exclude: Sequence[str] = (), skipped: Counter[str] | None = None) -> list[str]:
        """Returns the files below `at` that can hold resources, with the files that configure kustomize, kpt and Helm.

        `skipped` counts the files that are left out, by reason.
        """
        top = self.path(self.at)
        below = [] if not self.contains(self.at) else sorted(_walk(top))
        charts = {posixpath.dirname(name) for name in below if posixpath.basename(name) == selection.CHART}
        reasons = {name: _reason(name, exclude, charts) for name in below}
        if skipped is not None:
            skipped.update(reason for reason in reasons.values() if reason)
        return [posixpath.normpath(posixpath.join(self.at, name)) for name, reason in reasons.items() if not reason]

    def kustomization(self, folder: str) -> Source | None:
        """Returns the Kustomization of a folder; None without one, and for a file that is not one mapping."""
        path = self.kustomization_file(folder)
        sources = self.read(path).sources if path and self.is_file(path) else []
        return sources[0] if len(sources) == 1 and isinstance(sources[0].value, dict) else None

    def kustomization_file(self, folder: str) -> str:
        """Returns the file of the Kustomization of a folder; empty without one."""
        paths = (posixpath.normpath(posixpath.join(folder, name)) for name in selection.KUSTOMIZATIONS)
        return next((path for path in paths if os.path.lexists(self.path(path))), "")


def _walk(top: Path) -> Iterator[str]:
    for parent, folders, files in os.walk(top):
        folders[:] = [name for name in folders if selection.is_read(name, folder=True)]
        for name in files:
            if selection.is_read(name) or name == KPTFILE:
                yield (Path(parent) / name).relative_to(top).as_posix()


def _reason(name: str, exclude: Sequence[str], charts: set[str]) -> str:
    """Returns why a file is not read; empty if it is."""
    if selection.is_excluded(name, exclude):
        return selection.EXCLUDED
    folder = posixpath.dirname(name)
    is_in_chart = any(not chart or folder == chart or folder.startswith(f"{chart}/") for chart in charts)
    return selection.IN_CHARTS if is_in_chart else ""


def field(value: Any, *steps: str) -> Any:
    """Returns a field of nested mappings; None where a step is missing or is not a mapping."""
    for step in steps:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def text_of(value: Any, *steps: str) -> str:
    """Returns a text in nested mappings; empty if it is missing or is not a text."""
    text = field(value, *steps)
    return text if isinstance(text, str) else ""


def entries(value: Any, *steps: str) -> list[Any]:
    """Returns a list in nested mappings; empty if it is missing or is not a list."""
    listed = field(value, *steps)
    return listed if isinstance(listed, list) else []
