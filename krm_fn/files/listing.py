"""Lists the files that a command reads: named files, and the files of named folders.

A link in a folder is read only if its target is below a named path: the author of a folder must not decide what else is read.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from krm_fn.files import reading, selection
from krm_fn.files.reading import File

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Listed(NamedTuple):
    """A file to read. `scope` is the folder in which each object may be once. `leads_out`: a link with a target outside the named paths."""

    path: str
    scope: str
    in_folder: bool = False
    leads_out: bool = False


class Listing(NamedTuple):
    """The files to read, each once, and the number of skipped files by reason."""

    files: list[Listed]
    skipped: Counter[str]


def listed(paths: Sequence[str], without: Path | None = None, exclude: Sequence[str] = ()) -> Listing:
    """Every named file and every file of a named folder, each once.

    In folders: `*.yaml`, `*.yml`, `*.json` and Kustomizations at any depth, sorted, except hidden ones, those in the folder `without`,
    and those that `krm_fn.files.selection` skips.
    """
    named = [Path(path).resolve() for path in paths if path != reading.STDIN]
    listing = Listing([], Counter())
    seen = set()
    for path in paths:
        is_folder = path != reading.STDIN and Path(path).is_dir()
        for file in _below(Path(path), without, exclude, named, listing.skipped) if is_folder else [_named(path)]:
            real = file.path if file.path == reading.STDIN else str(Path(file.path).resolve())
            if real not in seen:
                seen.add(real)
                listing.files.append(file)
    return listing


def _named(path: str) -> Listed:
    return Listed(path, path if path == reading.STDIN else str(Path(path).resolve().parent))


def _below(folder: Path, without: Path | None, exclude: Sequence[str], named: Sequence[Path], skipped: Counter[str]) -> Iterator[Listed]:
    def read(name: str) -> File:
        return File("", [], []) if _leads_out(folder / name, named) else reading.read(str(folder / name))

    names = [path.as_posix() for path in _walk(folder, without and without.resolve())]
    selected = selection.select(names, read, exclude)
    skipped.update(selected.skipped)
    for name in selected.kept:
        scope = str(folder.resolve() / selection.scope(name, selected.roots))
        yield Listed(str(folder / name), scope, in_folder=True, leads_out=_leads_out(folder / name, named))


def _leads_out(path: Path, named: Sequence[Path]) -> bool:
    real = path.resolve()
    return not any(real.is_relative_to(each) for each in named)


def _walk(folder: Path, without: Path | None) -> list[Path]:
    found: list[Path] = []
    for place, folders, files in os.walk(folder):
        here = Path(place)
        folders[:] = [each for each in folders if selection.is_read(each, folder=True) and (here / each).resolve() != without]
        found.extend((here / each).relative_to(folder) for each in files if selection.is_read(each))
    return sorted(found)
