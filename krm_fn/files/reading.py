"""Files, folders and stdin become values that remember where they stand.

Not its business: what the values are, save that the members of a ResourceList or List stand for themselves.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn import results
from krm_fn.krm import envelope
from krm_fn.yamlio import positions, reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krm_fn.results import Result

STDIN = "-"
STDIN_NAME = "<stdin>"
_ENDINGS = (".yaml", ".yml", ".json")


class Source(NamedTuple):
    """A value and where it stands: at a path in a document of a file. `line` is the document's first, `text` its text."""

    value: Any
    file: str
    document: int
    line: int
    text: str
    at: results.Path = ()

    def place(self, path: results.Path = ()) -> dict[str, Any]:
        """File, document, line and column of a field, as fields of a Result."""
        (found,) = places([(self, path)])
        return found

    @property
    def address(self) -> results.Ref:
        """The value's address, with empty parts where it is no resource."""
        return results.ref(self.value if isinstance(self.value, dict) else {})


def places(asked: Iterable[tuple[Source, results.Path]]) -> list[dict[str, Any]]:
    """The places of several fields, in the order asked for; each text is read again once."""
    fields = [(source, (*source.at, *path)) for source, path in asked]
    wanted: dict[int, tuple[str, list[results.Path]]] = {}
    for source, path in fields:
        wanted.setdefault(id(source.text), (source.text, []))[1].append(path)
    found = {key: positions.positions(text, paths) for key, (text, paths) in wanted.items()}
    return [_place(source, *found[id(source.text)][path]) for source, path in fields]


def _place(source: Source, line: int, column: int) -> dict[str, Any]:
    return {"file": source.file, "document": source.document, "line": source.line + line - 1, "column": column}


class File(NamedTuple):
    """What a file holds, and what is wrong with it."""

    text: str
    sources: list[Source]
    results: list[Result]


def listed(paths: Iterable[str], without: Path | None = None) -> Iterator[tuple[str, bool]]:
    """Every file that is named or in a folder that is named, once, and whether it was found in a folder.

    Of folders: `*.yaml`, `*.yml` and `*.json` at any depth, sorted, but nothing hidden and nothing in the folder `without`.
    """
    seen = set()
    for path in paths:
        is_folder = path != STDIN and Path(path).is_dir()
        for file in _below(Path(path), without and without.resolve()) if is_folder else [path]:
            identity = file if file == STDIN else str(Path(file).resolve())
            if identity not in seen:
                seen.add(identity)
                yield file, is_folder


def _below(folder: Path, without: Path | None) -> list[str]:
    found: list[Path] = []
    for place, folders, files in os.walk(folder):
        here = Path(place)
        folders[:] = [each for each in folders if is_read(each, folder=True) and (here / each).resolve() != without]
        found.extend(here / each for each in files if is_read(each))
    return [str(path) for path in sorted(found)]


def is_read(name: str, *, folder: bool = False) -> bool:
    """Whether what lies in a folder under this name is read with it."""
    return not name.startswith(".") and (folder or name.endswith(_ENDINGS))


def name(path: str) -> str:
    """What findings call a file."""
    return STDIN_NAME if path == STDIN else path


def read(path: str) -> File:
    """The values of a file or of stdin (`-`). Never raises: what cannot be read is a finding."""
    file = name(path)
    try:
        data = sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
    except OSError as problem:
        return File("", [], [results.error("DYN011", f"cannot be read: {problem.strerror}", file=file)])
    return parse(data, file)


def parse(data: bytes, file: str) -> File:
    """The values of the bytes of a file, whose name findings carry. Never raises."""
    text, undecodable = reader.decode(data, file)
    documents, broken = reader.read(text, file)
    wholes = [Source(each.value, file, each.number, each.line, text[each.start : each.end]) for each in documents]
    return File(text, [source for whole in wholes for source in _members(whole)], [*undecodable, *broken])


def _members(whole: Source) -> Iterator[Source]:
    if whole.address.kind not in (envelope.KIND, "List") or not isinstance(whole.value.get("items"), list):
        yield whole
        return
    if whole.value.get("functionConfig") is not None:
        yield whole._replace(value=whole.value["functionConfig"], at=("functionConfig",))
    for number, item in enumerate(whole.value["items"]):
        yield whole._replace(value=item, at=("items", number))
