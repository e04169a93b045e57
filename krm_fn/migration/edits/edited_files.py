"""Makes the new texts of files from edits of their documents."""

from __future__ import annotations

import difflib
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from krm_fn.base.results import Path
from krm_fn.base.yaml import reader
from krm_fn.kubernetes import paths
from krm_fn.migration.edits.edit_locations import DocumentEdit
from krm_fn.origins import text_origins
from krm_fn.render.convert import versions
from krm_fn.repository.files import reading, text_comments, text_edits
from krm_fn.repository.files.reading import Source

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
"""A line as git knows lines: other characters that separate lines are text."""
EditKey = tuple[str, int, Path, str, bool]
"""The file, the document and the field of an edit, the text that it replaces, and whether it converts a resource."""


class FileText(NamedTuple):
    """The text of a file before and after edits."""

    old: str
    new: str


def key(edit: DocumentEdit) -> EditKey:
    """Returns the key of an edit. Edits with the same key change the same text."""
    return edit.source.file, edit.source.start, edit.path, edit.old, edit.converts


def edit_texts(edits: Iterable[DocumentEdit], texts: Mapping[str, str] | None = None) -> tuple[dict[str, FileText], set[EditKey]]:
    """Returns the texts of the files that the edits change, and the edits that have no position in their texts.

    `texts` are the texts of files to edit, in place of those on disk.
    """
    by_document: dict[tuple[str, int], list[DocumentEdit]] = {}
    for edit in edits:
        by_document.setdefault((edit.source.file, edit.source.start), []).append(edit)
    failed: set[EditKey] = set()
    changed: dict[str, dict[int, tuple[Source, str]]] = {}
    for (file, start), of_document in by_document.items():
        text, wrong = _document(of_document)
        failed |= wrong
        changed.setdefault(file, {})[start] = of_document[0].source, text
    known = texts or {}
    new = {file: _file(known.get(file) or reading.read(file).text, documents) for file, documents in changed.items()}
    return {file: text for file, text in new.items() if text.old != text.new}, failed


def _document(edits: Sequence[DocumentEdit]) -> tuple[str, set[EditKey]]:
    """Returns the text of a document with its edits, and the edits that failed: also those that want another value for the same field."""
    changes: dict[Path, Any] = {}
    failed: set[EditKey] = set()
    for edit in (edit for edit in edits if not edit.old and not edit.converts):
        if changes.setdefault(edit.path, edit.new) != edit.new:
            failed.add(key(edit))
    result = text_edits.edit_document(edits[0].source.text, changes)
    failed |= {key(edit) for edit in edits if edit.path in result.failed and not edit.old and not edit.converts}
    text = result.text
    for edit in (edit for edit in edits if edit.old):
        before, text = text, text_edits.with_text(text, edit.old, edit.new or "")
        if before == text and edit.old in before:
            failed.add(key(edit))
    for edit in (edit for edit in edits if edit.converts):
        converted = _convert_document(text, edit.path, (edit.new or "").rpartition("/")[2])
        text = text if converted is None else converted
        failed |= {key(edit)} if converted is None else set()
    return text, failed


def _convert_document(text: str, at: Path, version: str) -> str | None:
    """Returns the text of a document with a resource in another API version, `v1alpha1` or `v1beta1`; None if it has no position."""
    documents, _ = reader.read(text)
    resource = paths.at(documents[0].value, at) if documents else None
    if not isinstance(resource, dict):
        return None
    new = versions.to(version, resource)
    return text if new is resource else text_comments.replace_mapping(text, at, new, text_origins.path_map(resource, version))


def _file(whole: str, documents: Mapping[int, tuple[Source, str]]) -> FileText:
    """Returns the text of a file with new texts of some documents."""
    parts, done = [], 0
    for start in sorted(documents):
        source, text = documents[start]
        parts += [whole[done:start], text]
        done = start + len(source.text)
    return FileText(whole, "".join((*parts, whole[done:])))


def patch(texts: Mapping[str, FileText]) -> str:
    """Returns the changes as a unified diff, for `git apply`, which refuses a path such as `./graph.yaml`."""
    return "".join(_diff(file, text) for file, text in texts.items())


def _diff(file: str, text: FileText) -> str:
    old, new = (_LINE.findall(state) for state in text)
    name = posixpath.normpath(file).lstrip("/")
    lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
