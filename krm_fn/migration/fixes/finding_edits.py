"""The edits of findings as edits of documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from krm_fn.base import report, results
from krm_fn.base.edits import Addition, Edit, Items, Key, Move, Quotes, Removal, Word
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import paths, secret_values
from krm_fn.migration.edits.edit_locations import DocumentEdit, as_written
from krm_fn.migration.fixes import editable_files
from krm_fn.migration.fixes.editable_files import EditableFiles
from krm_fn.repository.files import text_edits
from krm_fn.repository.files.reading import Source
from krm_fn.repository.files.text_edits import Words

_KINDS: dict[type, str] = {
    Key: "key",
    Word: "text",
    Quotes: "quotes",
    Removal: "removal",
    Move: "move",
    Items: "items",
    Addition: "addition",
}
"""The kinds of edits in JSON."""
EditIdentity = tuple[str, int, Path, str]
"""The file, the number of the document, the path and the new value of an edit: the same before and after edits of other fields."""


class FindingEdit(NamedTuple):
    """A finding, and the document of the file that its edit changes. `results` are all findings with this edit."""

    results: tuple[Result, ...]
    edit: Edit
    document: Source
    path: Path
    is_safe: bool

    @property
    def file(self) -> str:
        """The file of the document."""
        return self.document.file

    @property
    def identity(self) -> EditIdentity:
        """What distinguishes the edit from others."""
        return self.file, self.document.document, self.path, repr(self.edit.new)


def of(findings: Iterable[Result], files: EditableFiles, texts: Mapping[str, str]) -> list[FindingEdit]:
    """Returns the edits of findings that have a position in a file, in the order of the findings. `texts` are new texts of files.

    An edit of a text that other fields share by an anchor is not safe.
    """
    known: dict[EditIdentity, FindingEdit] = {}
    for result in findings:
        if (entry := _of(result, files, texts)) is not None:
            same = known.setdefault(entry.identity, entry)
            known[entry.identity] = same if same is entry else same._replace(results=(*same.results, result))
    return [*known.values()]


def _of(result: Result, files: EditableFiles, texts: Mapping[str, str]) -> FindingEdit | None:
    edit = result.edit
    if edit is None or edit.at is None or not editable_files.is_about_file(result):
        return None
    file = files.read(result.file, texts)
    document = next((source for source in file.sources if source.document == result.document), None) if file else None
    if document is None:
        return None
    whole = as_written(document._replace(at=()))
    if not _has_field(whole.value, edit.at, edit.new, result.current if edit.path is None else None):
        return None
    needs_no_consent = result.severity == "error" if edit.is_safe is None else edit.is_safe
    is_safe = needs_no_consent and not text_edits.is_shared(whole.text, edit.at)
    return FindingEdit((result,), edit, whole, edit.at, is_safe)


def _has_field(value: Any, path: Path, new: Any, current: Any) -> bool:
    """True if a document has the field of a finding, with the value that the finding is about."""
    fields = paths.at(value, path[:-1])
    if isinstance(new, (Key, Removal, Move)):
        return isinstance(fields, dict) and path[-1] in fields
    written = paths.at(value, path)
    if isinstance(new, Addition):
        return written is None
    return written is not None and (isinstance(new, Word) or current is None or written == current)


def documents(chosen: Sequence[FindingEdit]) -> Iterator[DocumentEdit]:
    """Yields the edits of documents. Words of one text are one edit; those that overlap with an earlier one are left out."""
    words: dict[tuple[str, int, Path], list[Word]] = {}
    for entry in chosen:
        if isinstance(entry.edit.new, Word):
            words.setdefault((entry.file, entry.document.start, entry.path), []).append(entry.edit.new)
        else:
            yield DocumentEdit(entry.document, entry.path, entry.edit.new)
    sources = {(entry.file, entry.document.start): entry.document for entry in chosen}
    for (file, start, path), listed in words.items():
        yield DocumentEdit(sources[file, start], path, Words((*_apart(listed),)))


def _apart(words: Iterable[Word]) -> Iterator[Word]:
    end = 0
    for word in sorted(words):
        if word.within >= end:
            yield word
            end = word.within + len("".join(word.old.split()))


def describe_edit(entry: FindingEdit) -> str:
    """Returns an edit in a line: `file:line: CODE field: what`."""
    result, new = entry.results[0], entry.edit.new
    field = results.field(result.path)
    old, shown = _old(result), _new_value(entry)
    match new:
        case Key():
            text = f"renamed to {shown}"
        case Word():
            text = f"{report.value(old)} is now {report.value(shown)}" if old else f"is now {report.value(shown)}"
        case Move():
            text = f"moved to {shown}"
        case Removal():
            text = "removed"
        case Quotes():
            text = "quoted"
        case Addition():
            text = f"added, with {report.value(shown)}"
        case Items():
            text = f"more words in {results.field(entry.edit.path[:-1])}" if entry.edit.path else "other entries in its place"
        case _:
            text = "is now " + (_kind(new) if shown is None else report.value(shown))
    return report.printable(f"{result.file}:{result.line}: {result.code} {field}: {text}")


def title(entry: FindingEdit) -> str:
    """Returns an edit as a command of an editor: `Write replicas`, with the code. An edit that can change what runs says so."""
    result, new = entry.results[0], entry.edit.new
    field = report.visible(str(result.path[-1])) if result.path else "the field"
    shown = _new_value(entry)
    match new:
        case Key():
            text = f"Rename {field} to {shown}"
        case Move():
            text = f"Move {field} to {shown}"
        case Removal():
            text = f"Remove {field}"
        case Quotes():
            text = "Put in quotes"
        case Word():
            text = f"Write {shown}"
        case Addition():
            text = f"Add {field}"
        case Items():
            text = f"Add words to {entry.edit.path[-2]}" if entry.edit.path else "Write other entries in its place"
        case _:
            text = "Write " + (_kind(new) if shown is None else report.value(shown))
    return report.printable(f"{text} ({result.code}{'' if entry.is_safe else ', unsafe: can change what runs'})")


def _kind(value: Any) -> str:
    """Names an object or a list whose values are not shown."""
    return "an object" if isinstance(value, dict) else "a list"


def _new_value(entry: FindingEdit) -> Any:
    """Returns the new name, word, path or value of an edit; None for another one, and for an object or a list that may hold secrets."""
    new = entry.edit.new
    match new:
        case Key():
            return new.name
        case Word():
            return _unquote(new.new)
        case Move():
            return results.field(new.to)
        case Addition():
            return new.value
        case Quotes() | Removal() | Items():
            return None
    return None if isinstance(new, dict | list) and secret_values.may_be_at(entry.results[0].path) else new


def _old(result: Result) -> Any:
    """Returns the old key, word or value of an edit; None for a value that the message hides, because it may be secret."""
    new = result.edit.new if result.edit else None
    if isinstance(new, Word):
        return _unquote(new.old) if _unquote(new.old) in result.message else None
    return result.path[-1] if isinstance(new, (Key, Move)) else result.current


def _unquote(word: str) -> str:
    """Returns a name or a value in JSON without its quotes."""
    return word.strip('"')


def json_fields(entry: FindingEdit) -> dict[str, Any]:
    """Returns an edit for programs."""
    result, new = entry.results[0], entry.edit.new
    kind = _KINDS.get(type(new), "value")
    location = {"file": result.file, "line": result.line or None, "column": result.column or None}
    return {
        "code": result.code,
        "field": results.field(result.path),
        **location,
        "kind": kind,
        "old": _old(result),
        "new": _new_value(entry),
        "safe": entry.is_safe,
    }
