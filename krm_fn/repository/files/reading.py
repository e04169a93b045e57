"""Reads files and stdin into values with their locations, and locates findings: file, document, line and column.

`krm_fn.repository.files.selection` selects the files that a command reads.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from krm_fn.base import codes, results
from krm_fn.base.edits import Edit, Move
from krm_fn.base.results import Ref, Result
from krm_fn.base.yaml import positions, reader
from krm_fn.kubernetes import paths
from krm_fn.render.krm import envelope, origin
from krm_fn.render.rules import placeholders
from krm_fn.repository.files import enclosing_folders, patch_fields

STDIN = "-"
STDIN_NAME = "<stdin>"
_UNDONE = (codes.IMMUTABLE_MULTINODE, codes.REPLICAS_OF_SCALING_ADAPTER, codes.IMMUTABLE_PVC_FIELD, codes.IMMUTABLE_MIN_AVAILABLE)
"""Codes of changes that an update refuses: the proposed value is the old one, which the author has just replaced."""
LIMIT = 32 * 1024 * 1024
"""The largest file that is read, in bytes. The parser needs a multiple of this as memory, and no cluster accepts an object of this size."""

_DESCRIPTORS = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
"""Paths of open files: a shell passes the output of `<(command)` by such a path."""
_DYNAMO = re.compile(rb"\bkind[\"']?\s*:\s*[\"']?Dynamo|\bdynamo\.krm-fn\.io/")
_FIELD_LISTS = (
    "nameReference",
    "varReference",
    "images",
    "commonLabels",
    "commonAnnotations",
    "namePrefix",
    "nameSuffix",
    "namespace",
    "replicas",
)
"""The lists in a file under `configurations` of a Kustomization (kustomize `api/internal/plugins/builtinconfig`)."""
_OF_FIELDS = ("path", "fieldSpecs")
_TYPES = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a named pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


class Source(NamedTuple):
    """A value and its location: a path in a document of a file.

    `line` is the first line of the document, `text` the text of the document, and `start` the offset of that text in the file. `patches`
    are documents that a build merged into the value, and `unbuilt` is the value in the text before the build; None without a build.
    """

    value: Any
    file: str
    document: int
    line: int
    text: str
    at: results.Path = ()
    start: int = 0
    patches: tuple[Source, ...] = ()
    unbuilt: Any = None

    def location(self, path: results.Path = ()) -> dict[str, Any]:
        """File, document, line and column of a field, as fields of a Result."""
        (location,) = field_locations([(self, path)])
        return location

    @property
    def address(self) -> results.Ref:
        """The address of the value; empty if the value is not a resource."""
        return results.ref(self.value if isinstance(self.value, dict) else {})


def field_locations(fields: Iterable[tuple[Source, results.Path]]) -> list[dict[str, Any]]:
    """Returns the locations of several fields, in the order of the arguments. Each text is read once."""
    whole_paths = [(source, (*source.at, *path)) for source, path in (find_written_field(source, path) for source, path in fields)]
    paths_by_text: dict[int, tuple[str, list[results.Path]]] = {}
    for source, path in whole_paths:
        paths_by_text.setdefault(id(source.text), (source.text, []))[1].append(path)
    positions_by_text = {key: positions.positions(text, listed) for key, (text, listed) in paths_by_text.items()}
    return [_location(source, *positions_by_text[id(source.text)][path]) for source, path in whole_paths]


def find_written_field(source: Source, path: results.Path) -> tuple[Source, results.Path]:
    """Returns the document that has a field, and the path there: a patch with the same value, or the source itself."""
    for patch in source.patches if path else ():
        patched = patch_fields.find(patch.value, source.value, path)
        if patched is not None:
            return patch, patched
    return source, path if source.unbuilt is None else paths.by_names(path, source.value, source.unbuilt)


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
    """Returns the name of a file in findings."""
    return STDIN_NAME if path == STDIN else path


def read(path: str) -> File:
    """Returns the values of a file or of stdin (`-`). Never raises: a file that cannot be read is a finding."""
    file = name(path)
    try:
        return parse(data(path), file)
    except UnreadableError as problem:
        return unreadable(problem, file)


def unreadable(problem: UnreadableError, file: str) -> File:
    """Returns a file that is not read, with the finding about it. `file` is the name in findings."""
    return File("", [], [results.error(problem.code, str(problem), file=file)])


def outside_link(file: str) -> Result:
    """Returns the error about a link that leads out of the folder that a command reads."""
    message = "the link leads out of the folder and is not read; name its target too, or leave the link out with --exclude"
    return results.error(codes.LINK_OUT_OF_FOLDER, message, file=file)


def data(path: str, limit: int = LIMIT) -> bytes:
    """Returns the bytes of a regular file, of an open descriptor, or of stdin (`-`). Raises UnreadableError.

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
        raise UnreadableError(codes.UNREADABLE_FILE, f"the file cannot be read: {reason}; name a file that can be read") from problem
    if len(content) > limit:
        raise too_large(limit)
    return content


def too_large(limit: int = LIMIT) -> UnreadableError:
    """Returns the error of a file above the limit."""
    size = f"{limit // 1024**2} MiB" if limit >= 1024**2 else f"{limit} bytes"
    return UnreadableError(
        codes.FILE_TOO_LARGE, f"the file is larger than {size} and is not read; split it, or leave it out with --exclude"
    )


def regular(path: str, flags: int) -> int:
    """Returns an opener for `open` that accepts only regular files and does not block. Raises UnreadableError for any other file."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
    kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
    if kind == stat.S_IFREG:
        return descriptor
    os.close(descriptor)
    message = f"the path is {_TYPES.get(kind, 'a special file')}, not a regular file; name a regular file, or pipe into `-`"
    raise UnreadableError(codes.UNREADABLE_FILE, message)


def parse(data: bytes, file: str) -> File:
    """Returns the values of the bytes of a file. `file` is the name in findings. Never raises."""
    text, undecodable = reader.decode(data, file)
    documents, broken = reader.read(text, file)
    template = placeholders.of_text(text, file) if broken else None
    wholes = [
        Source(document.value, file, document.number, document.line, text[document.start : document.end], start=document.start)
        for document in documents
    ]
    names_dynamo = may_name_dynamo(data) and not (wholes and all(is_tool_schema(whole.value) for whole in wholes))
    return File(
        text,
        [source for whole in wholes for source in _members(whole)],
        [*undecodable, *([template] if template else broken)],
        names_dynamo,
    )


def may_name_dynamo(data: bytes) -> bool:
    """Returns true for the bytes of a file with a Dynamo kind or one of our annotations; also for a schema that names them."""
    return bool(_DYNAMO.search(data.replace(b"\0", b"")))  # UTF-16 has zero bytes


def is_tool_schema(value: Any) -> bool:
    """Returns true for a schema of an editor or of kustomize, and for a list of fields for kustomize, as `krm-fn schema` writes them."""
    if not isinstance(value, dict) or "apiVersion" in value or "kind" in value:
        return False
    is_schema = bool(value.keys() & {"$schema", "swagger", "openapi"}) and "definitions" in value
    lists = [entry for name in _FIELD_LISTS if isinstance(entries := value.get(name), list) for entry in entries]
    is_list_of_fields = value.keys() <= {*_FIELD_LISTS} and all(
        isinstance(entry, dict) and not entry.keys().isdisjoint(_OF_FIELDS) for entry in lists
    )
    return is_schema or (bool(lists) and is_list_of_fields)


def _members(whole: Source) -> Iterator[Source]:
    """Yields the items of a ResourceList or List as separate sources; any other value unchanged."""
    if whole.address.kind not in (envelope.KIND, "List") or not isinstance(whole.value.get("items"), list):
        yield whole
        return
    if whole.value.get("functionConfig") is not None:
        yield whole._replace(value=whole.value["functionConfig"], at=("functionConfig",))
    for number, item in enumerate(whole.value["items"]):
        yield whole._replace(value=item, at=("items", number))


def locate_findings(findings: Sequence[tuple[Source, Result]]) -> list[Result]:
    """Findings with the location of their field in a source, also in their edits."""
    locations = field_locations((source, result.path) for source, result in findings)
    return [
        _with_edit(source, result._replace(**(_within(source, result, location) if result.within else location)))
        for (source, result), location in zip(findings, locations, strict=True)
    ]


def _with_edit(source: Source, result: Result) -> Result:
    """Returns a located finding whose edit has the path in the document that it names. Without an edit, it is the proposed value."""
    edit = result.edit
    if edit is None and (result.proposed is None or result.code in _UNDONE):
        return result
    edit = edit or Edit(result.proposed)
    author, path = find_written_field(source, result.path if edit.path is None else edit.path)
    new = Move((*author.at, *edit.new.to)) if isinstance(edit.new, Move) else edit.new
    return result._replace(edit=edit._replace(at=(*author.at, *path), new=new))


def _within(source: Source, result: Result, location: dict[str, Any]) -> dict[str, Any]:
    """Returns the location of a part of a text, behind the location of its field."""
    author, _ = find_written_field(source, result.path)
    step = result.path[-1] if result.path else ""
    start = (location["line"] - author.line + 1, location["column"])
    line, column = positions.within(author.text, start, result.within, step if isinstance(step, str) else "")
    return {**location, "line": author.line + line - 1, "column": column}


def locate(findings: Iterable[Result], sources: Iterable[Source], root: Path | None = None) -> list[Result]:
    """Findings with file, line and column of their fields, in the order of the output.

    For resources on stdin, an annotation of kustomize or kpt names the file. Its lines are known only if the file is read again, below
    `root` or in the repository around `root`.
    """
    known: dict[Ref, Source] = {}
    for source in sources:
        known.setdefault(source.address, source)
    read_once = cache(read)
    results_with_location: list[Result] = []
    in_sources: list[tuple[Source, Result]] = []
    for result in findings:
        if result.ref not in known or result.file:
            results_with_location.append(result)
            continue
        location = _original(known[result.ref], root, read_once)
        if isinstance(location, dict):
            results_with_location.append(result._replace(**location))
        else:
            in_sources.append((location, result))
    all_located = [*results_with_location, *locate_findings(in_sources)]
    return sorted(placeholders.once_a_file(all_located, (source.value for source in known.values())), key=results.order)


def _original(source: Source, root: Path | None, read_once: Callable[[str], File]) -> Source | dict[str, Any]:
    """Returns the document of a resource whose annotation names a file; only the file if the document is not found."""
    path, number = origin.file(source.value)
    if not path or (root is None and source.file != STDIN_NAME):
        return source
    document = document_of(read_once(str(root / path)).sources, number, source) if root and _is_inside(root / path, root) else None
    return document._replace(value=source.value, unbuilt=document.value) if document else {"file": path, "document": number}


def _is_inside(path: Path, root: Path) -> bool:
    """True if a path, with its links followed, is below `root` or in the repository around `root`.

    An overlay names its base as `../base`, so `root` alone is not enough. The author of the annotation must not choose any other file.
    """
    top = root.resolve()
    repository = next((folder for folder in enclosing_folders.upwards(top) if (folder / ".git").exists()), top)
    try:
        return path.resolve().is_relative_to(repository)
    except (OSError, ValueError, RuntimeError):  # a zero byte, or a loop of links
        return False


def document_of(candidates: Iterable[Source], number: int, source: Source) -> Source | None:
    """Returns the document of the same kind with the longest name that is part of the resource's name: builds add prefixes and suffixes.

    If several documents match equally, the one with the same number in the file.
    """
    name = source.address.name
    same_kind = [candidate for candidate in candidates if candidate.address.kind == source.address.kind]
    return max(
        same_kind,
        key=lambda candidate: (len(candidate.address.name) * (candidate.address.name in name), candidate.document == number),
        default=None,
    )
