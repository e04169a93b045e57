"""Reads files and stdin into values with their locations: file, document, line and column.

`krm_fn.files.selection` selects the files that a command reads.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn import results
from krm_fn.krm import envelope
from krm_fn.yamlio import positions, reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krm_fn.results import Result

STDIN = "-"
STDIN_NAME = "<stdin>"
LIMIT = 32 * 1024 * 1024
"""The largest file that is read, in bytes. The parser needs a multiple of this as memory, and no cluster accepts an object of this size."""

_DESCRIPTORS = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
"""Paths of open files: a shell passes the output of `<(command)` by such a path."""
_DYNAMO = re.compile(rb"\bkind[\"']?\s*:\s*[\"']?Dynamo|\bdynamo\.krm-fn\.io/")
_TYPES = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a named pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


class Source(NamedTuple):
    """A value and its location: a path in a document of a file.

    `line` is the first line of the document, `text` the text of the document, and `start` the offset of that text in the file.
    """

    value: Any
    file: str
    document: int
    line: int
    text: str
    at: results.Path = ()
    start: int = 0

    def location(self, path: results.Path = ()) -> dict[str, Any]:
        """File, document, line and column of a field, as fields of a Result."""
        (location,) = field_locations([(self, path)])
        return location

    @property
    def address(self) -> results.Ref:
        """The address of the value; empty if the value is not a resource."""
        return results.ref(self.value if isinstance(self.value, dict) else {})


def field_locations(asked: Iterable[tuple[Source, results.Path]]) -> list[dict[str, Any]]:
    """The locations of several fields, in the order of the arguments. Each text is read once."""
    fields = [(source, (*source.at, *path)) for source, path in asked]
    wanted: dict[int, tuple[str, list[results.Path]]] = {}
    for source, path in fields:
        wanted.setdefault(id(source.text), (source.text, []))[1].append(path)
    positions_by_text = {key: positions.positions(text, paths) for key, (text, paths) in wanted.items()}
    return [_location(source, *positions_by_text[id(source.text)][path]) for source, path in fields]


def _location(source: Source, line: int, column: int) -> dict[str, Any]:
    return {"file": source.file, "document": source.document, "line": source.line + line - 1, "column": column}


class File(NamedTuple):
    """The values of a file, and findings about the file. `names_dynamo`: the text names a Dynamo kind or one of our annotations."""

    text: str
    sources: list[Source]
    results: list[Result]
    names_dynamo: bool = True


class UnreadableError(Exception):
    """A file that is not read. `code` is the code of the finding, the message its text."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def name(path: str) -> str:
    """The name of a file in findings."""
    return STDIN_NAME if path == STDIN else path


def read(path: str) -> File:
    """The values of a file or of stdin (`-`). Never raises: a file that cannot be read is a finding."""
    file = name(path)
    try:
        return parse(data(path), file)
    except UnreadableError as problem:
        return File("", [], [results.error(problem.code, str(problem), file=file)])


def data(path: str, limit: int = LIMIT) -> bytes:
    """The bytes of a regular file, of an open descriptor, or of stdin (`-`). Raises UnreadableError.

    Named pipes and devices are not read: opening a pipe would wait for a writer, and a device has no end.
    """
    try:
        if path == STDIN:
            content = sys.stdin.buffer.read(limit + 1) if sys.stdin else b""
        else:
            with open(path, "rb", opener=None if path.startswith(_DESCRIPTORS) else regular) as file:
                content = file.read(limit + 1)
    except (OSError, ValueError) as problem:  # ValueError: a zero byte in the path
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise UnreadableError("DYN011", f"the file cannot be read: {reason}; name a file that can be read") from problem
    if len(content) > limit:
        raise too_large(limit)
    return content


def too_large(limit: int = LIMIT) -> UnreadableError:
    """The error of a file above the limit."""
    size = f"{limit // 1024**2} MiB" if limit >= 1024**2 else f"{limit} bytes"
    return UnreadableError("DYN075", f"the file is larger than {size} and is not read; split it, or leave it out with --exclude")


def regular(path: str, flags: int) -> int:
    """An opener for `open` that accepts only regular files and does not block. Raises UnreadableError for any other file."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
    kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
    if kind == stat.S_IFREG:
        return descriptor
    os.close(descriptor)
    message = f"the path is {_TYPES.get(kind, 'a special file')}, not a regular file; name a regular file, or pipe into `-`"
    raise UnreadableError("DYN011", message)


def parse(data: bytes, file: str) -> File:
    """The values of the bytes of a file. `file` is the name in findings. Never raises."""
    text, undecodable = reader.decode(data, file)
    documents, broken = reader.read(text, file)
    wholes = [
        Source(document.value, file, document.number, document.line, text[document.start : document.end], start=document.start)
        for document in documents
    ]
    names_dynamo = bool(_DYNAMO.search(data.replace(b"\0", b"")))  # UTF-16 has zero bytes
    return File(text, [source for whole in wholes for source in _members(whole)], [*undecodable, *broken], names_dynamo)


def _members(whole: Source) -> Iterator[Source]:
    """The items of a ResourceList or List as separate sources; any other value unchanged."""
    if whole.address.kind not in (envelope.KIND, "List") or not isinstance(whole.value.get("items"), list):
        yield whole
        return
    if whole.value.get("functionConfig") is not None:
        yield whole._replace(value=whole.value["functionConfig"], at=("functionConfig",))
    for number, item in enumerate(whole.value["items"]):
        yield whole._replace(value=item, at=("items", number))
