"""Writes rendered resources into a folder, one file each, and converted documents into their files.

The first line of each rendered file marks it as rendered. Other files in the folder are never overwritten or removed, and links are not
followed: a user who can write there must not decide what else is written.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from krm_fn.base import codes, escaping, results
from krm_fn.base.results import Result
from krm_fn.base.yaml import emitter, reader
from krm_fn.kubernetes.types import Resource
from krm_fn.repository.files import reading, temporary_files
from krm_fn.repository.files.reading import Source

HEADER = "# Rendered by krm-fn; rendering again overwrites this file.\n"
_LIMIT = 240  # bytes: file systems allow 255, and a number and `.yaml` are added
_SEPARATOR = "---\n"
_UNSAFE = re.compile(r"^\.|[^a-z0-9._-]")


def names(resources: Iterable[Resource]) -> dict[str, Resource]:
    """Returns a file name for every resource: `<kind>_<name>.yaml`, with namespace and group only if names would collide.

    Names are in lower case, because some file systems ignore case. They have no characters that lead out of the folder.

    >>> list(names([{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}}]))
    ['service_a.yaml']
    """
    listed = [(resource, _stems(results.ref(resource))) for resource in resources]
    uses = Counter(stem for _, stems in listed for stem in set(stems))
    chosen: dict[str, Resource] = {}
    for resource, stems in listed:
        stem = next((stem for stem in stems if uses[stem] == 1), stems[-1])
        numbers = (f"_{number}" if number > 1 else "" for number in range(1, len(listed) + 1))
        chosen[next(name for number in numbers if (name := f"{stem}{number}.yaml") not in chosen)] = resource
    return chosen


def _stems(address: results.Ref) -> tuple[str, str, str]:
    """Returns the candidate names without extension, from the shortest to the longest."""
    group = address.api_version.rpartition("/")[0]
    kind, name = address.kind, address.name
    prefix = f"{address.namespace}_" if address.namespace else ""
    return _safe(f"{kind}_{name}"), _safe(f"{kind}_{prefix}{name}"), _safe(f"{kind}{'.' if group else ''}{group}_{prefix}{name}")


def _safe(stem: str) -> str:
    text = _UNSAFE.sub("-", stem.lower())
    return text if len(text) <= _LIMIT else f"{text[: _LIMIT - 9]}-{sha256(stem.encode()).hexdigest()[:8]}"


def ours(folder: Path) -> set[str]:
    """Returns the names of the files that an earlier render wrote into a folder."""
    return {path.name for path in folder.glob("*.yaml") if _is_ours(path)}


def foreign(folder: Path, wanted: Iterable[str]) -> list[str]:
    """Returns the wanted names of existing files and links that no render wrote."""
    return sorted(name for name in wanted if _is_there(folder / name) and not _is_ours(folder / name))


def out_of_date(folder: Path, rendered: Iterable[Resource]) -> Iterator[Result]:
    """Compares a folder with the files that a render would write, byte by byte, and yields an error for each file that is not the same."""
    wanted, present = texts(names(rendered)), ours(folder)
    changed = sorted(name for name, text in wanted.items() if name in present and not has_text(folder / name, text))
    groups = {"differs": changed, "is missing": sorted(wanted.keys() - present), "is no longer rendered": sorted(present - wanted.keys())}
    for problem, files in groups.items():
        for name in files:
            message = f"the file {problem}; render again without --check"
            yield results.error(codes.OUTDATED_COMMITTED_RENDER, message, file=str(folder / name))


def _is_there(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _is_ours(path: Path) -> bool:
    """True if a regular file begins with our first line. Raises OSError if it cannot be read."""
    if path.is_symlink() or not path.is_file():
        return False
    with contextlib.suppress(reading.UnreadableError), open(path, "rb", opener=reading.regular) as file:
        return file.read(len(HEADER)) == HEADER.encode()
    return False


def write(folder: Path, files: dict[str, Resource]) -> None:
    """Writes all resources, each into its file, which begins with our line. Raises OSError."""
    write_texts(folder, texts(files))


def texts(files: Mapping[str, Resource]) -> dict[str, str]:
    """Returns the text of each file that `write` writes."""
    return {name: HEADER + emitter.text(resource) for name, resource in files.items()}


def has_text(path: Path, text: str) -> bool:
    """True if a file has a text. Raises OSError if it cannot be read."""
    return path.read_bytes() == text.encode()


def write_texts(folder: Path, files: Mapping[str, str]) -> None:
    """Writes texts into files of these names, and makes the folder if it is missing. Raises OSError.

    All files are written into a temporary folder first and then moved, so that a full disk changes nothing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with temporary_files.folder(folder) as temporary:
        for number, text in enumerate(files.values()):
            temporary(number).write_text(text, encoding="utf-8", newline="\n")
        for number, name in enumerate(files):
            temporary(number).replace(folder / name)


def write_new(folder: Path, files: Mapping[str, str]) -> None:
    """Writes texts into files of these paths in a new or an empty folder: all of them, or none. Raises OSError.

    All files are written into a temporary folder first. If one cannot be moved, those that were moved are removed.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    inner = {parent for name in files for parent in (folder / name).parents if folder in parent.parents}
    try:
        for path in (*reversed(missing), *sorted(inner)):
            path.mkdir(exist_ok=True)
        write_texts(folder, files)
    except OSError:
        for name in files:
            with contextlib.suppress(OSError):  # it was not moved
                (folder / name).unlink()
        for path in (*sorted(inner, reverse=True), *missing):
            with contextlib.suppress(OSError):  # it was not made, or another program wrote a file into it
                path.rmdir()
        raise


def is_empty(folder: Path) -> bool:
    """True for a folder without files, or a missing one. The folder of Git does not count. Raises OSError."""
    return not names_in(folder)


def names_in(folder: Path) -> list[str]:
    """Returns the names in a folder, without the folder of Git; none for a missing folder. Raises OSError."""
    return sorted(path.name for path in folder.iterdir() if path.name != ".git") if folder.is_dir() else []


def remove(folder: Path, stale: Sequence[str]) -> None:
    """Removes files that an earlier render wrote. Raises OSError."""
    for name in stale:
        (folder / name).unlink()


def delete(path: str) -> None:
    """Removes one file. Raises OSError."""
    Path(path).unlink()


class DocumentChange(NamedTuple):
    """A value of a file, and the resources that take its place."""

    source: Source
    resources: list[Resource]


def rewritten(text: str, changes: Iterable[DocumentChange]) -> str:
    """Returns the text of a file with some values replaced. The changes must be in the order of the file."""
    parts, done = [], 0
    for _, group in groupby(changes, key=lambda change: change.source.document):
        listed = [*group]
        source = listed[0].source
        parts += [text[done : source.start], _document(source.text, listed)]
        done = source.start + len(source.text)
    return "".join((*parts, text[done:]))


def _document(text: str, changes: list[DocumentChange]) -> str:
    """Returns the text of one document with its changes."""
    resources = changes[0].resources if changes[0].source.at == () else [_with_items(text, changes)]
    if reader.json_value(text) is not None:
        return _json(text, resources)
    head = _SEPARATOR if text.startswith("---") else ""
    new = head + _SEPARATOR.join(map(emitter.YAMLWriter().text, resources))
    return (new.replace("\n", "\r\n") if "\r\n" in text else new) + _tail(text)


def _tail(text: str) -> str:
    """Returns the empty lines and comments at the end of a document. An indented line can be the end of a text."""
    start = len(text)
    while start:
        above = text.rfind("\n", 0, start - 1) + 1
        if text[above] not in "#\n":
            break
        start = above
    return text[start:]


def _with_items(text: str, changes: list[DocumentChange]) -> Resource:
    """Returns the List or ResourceList of a text, with some items replaced."""
    whole: dict[str, Any] = reader.read(text)[0][0].value
    new = {change.source.at: change.resources for change in changes}
    items = [resource for number, item in enumerate(whole["items"]) for resource in new.get(("items", number), [item])]
    return {**whole, "items": items}


def _json(text: str, resources: list[Resource]) -> str:
    """JSON has no separator of documents, so that several resources become a List."""
    value = resources[0] if len(resources) == 1 else {"apiVersion": "v1", "kind": "List", "items": resources}
    ends = "\n" if text.endswith("\n") else ""
    return escaping.json_text(value, 2 if "\n" in text.strip() else None) + ends


def join_documents(texts: Iterable[str]) -> str:
    """Returns the texts of several files as one stream of documents."""
    parts: list[str] = []
    for text in filter(None, texts):
        ended = text if text.endswith("\n") else f"{text}\n"
        parts.append(ended if not parts or ended.startswith("---") else _SEPARATOR + ended)
    return "".join(parts)


def save(path: str, text: str) -> None:
    """Replaces the content of a file at once, and keeps its mode. A link stays, and its target is replaced. Raises OSError."""
    target = Path(path).resolve()
    mark = "\ufeff" if target.read_bytes().startswith(b"\xef\xbb\xbf") else ""
    temporary_files.replace(target, (mark + text).encode())
