"""Answers about a position: help, completions and definitions as values of the protocol."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lsprotocol import types

from krm_fn.base.yaml import outline
from krm_fn.cli.language_server.open_documents import OpenDocument, OpenDocuments
from krm_fn.review.authoring import completions, field_help
from krm_fn.review.authoring.completions import Completion
from krm_fn.review.inputs import document_origins
from krm_fn.review.inputs.document_origins import OriginLine

_KINDS = {
    "field": types.CompletionItemKind.Field,
    "value": types.CompletionItemKind.EnumMember,
    "flag": types.CompletionItemKind.Property,
}
TRIGGERS = [" ", "-", "=", ":"]
"""The characters after which an editor asks for completions by itself."""


def _is_answered(document: OpenDocument) -> bool:
    return document.is_judged and not document.is_too_large


def complete(document: OpenDocument, position: types.Position) -> types.CompletionList:
    """Returns what can stand at a position."""
    if not _is_answered(document):
        return types.CompletionList(is_incomplete=False, items=[])
    line, column = document.location(position)
    cursor = outline.cursor(document.lines, line, column)
    replaced = types.Range(document.position(line, cursor.column), document.position(line, column))
    listed = [_item(completion, number, replaced) for number, completion in enumerate(completions.at(cursor))]
    return types.CompletionList(is_incomplete=False, items=listed)


def _item(completion: Completion, number: int, replaced: types.Range) -> types.CompletionItem:
    return types.CompletionItem(
        completion.label,
        kind=_KINDS[completion.kind],
        detail=completion.detail,
        documentation=types.MarkupContent(types.MarkupKind.Markdown, completion.description) if completion.description else None,
        sort_text=f"{number:05}",
        filter_text=completion.label,
        text_edit=types.TextEdit(replaced, completion.text),
    )


def hover(document: OpenDocument, position: types.Position, documents: OpenDocuments) -> types.Hover | None:
    """Returns the help about the field or the flag at a position, with the fields of objects that its line makes."""
    if not _is_answered(document):
        return None
    line, column = document.location(position)
    cursor = outline.under(document.lines, line, column)
    if cursor is None:
        return None
    scope = document.scope
    effects: Iterable[str] = document_origins.effects(scope, line, documents.texts(), document.made) if scope and cursor.path else ()
    text = field_help.markdown(cursor, effects)
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None


def define(document: OpenDocument, position: types.Position, documents: OpenDocuments) -> list[types.Location]:
    """Returns the lines of graphs that made the field of a generated object at a position."""
    if document.is_too_large:
        return []
    line, column = document.location(position)
    cursor = outline.under(document.lines, line, column) or outline.cursor(document.lines, line, column)
    origins = document_origins.definitions(document.file, document.lines[line - 1], cursor, documents.texts())
    return [_location(origin, documents) for origin in origins]


def _location(entry: OriginLine, documents: OpenDocuments) -> types.Location:
    start = types.Position(max(entry.line - 1, 0), 0)
    opened = documents.of_file(entry.file)
    return types.Location(opened.uri if opened else Path(entry.file).absolute().as_uri(), types.Range(start, start))
