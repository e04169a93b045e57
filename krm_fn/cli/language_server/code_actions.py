"""Findings and their fixes as values of the protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from lsprotocol import types

from krm_fn.base import report, results
from krm_fn.base.results import Result
from krm_fn.cli.language_server.open_documents import OpenDocument, OpenDocuments
from krm_fn.migration.fixes import document_fixes
from krm_fn.migration.fixes.document_fixes import DocumentFix
from krm_fn.review.inputs import document_checks
from krm_fn.review.inputs.document_checks import CheckedDocuments, DocumentScope
from krm_fn.schemas import finding_pages

SOURCE = report.PROGRAM
FIX_ALL = "source.fixAll.krm-fn"
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}


def diagnostic(document: OpenDocument, result: Result) -> types.Diagnostic:
    """Returns a finding about a document."""
    return types.Diagnostic(
        document.range(result),
        report.printable(f"{_field(result)}{result.message}"),
        severity=_SEVERITIES[result.severity],
        code=result.code,
        code_description=types.CodeDescription(finding_pages.url(result.code)),
        source=SOURCE,
    )


def _field(result: Result) -> str:
    field = results.field(result.path)
    return f"{field}: " if field else ""


def actions(document: OpenDocument, documents: OpenDocuments, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Returns the fixes of the findings in a range, and the command that makes all safe fixes of the document.

    The documents must not change meanwhile: the caller drops the answer if they did.
    """
    wanted = params.context.only
    listed: list[types.CodeAction] = []
    if _is_wanted(types.CodeActionKind.QuickFix, wanted):
        listed += _quick_fixes(document, documents, params.range)
    if wanted and _is_wanted(FIX_ALL, wanted):
        listed += _fix_all(document, documents)
    return listed


def _is_wanted(kind: str, wanted: Iterable[str] | None) -> bool:
    """True for a kind that a client asks for, or a kind below one: `source` has `source.fixAll`. Without a list, all are wanted."""
    return wanted is None or any(f"{kind}.".startswith(f"{name}.") for name in wanted)


def _quick_fixes(document: OpenDocument, documents: OpenDocuments, asked: types.Range) -> Iterator[types.CodeAction]:
    scope, texts = document.scope, documents.texts()
    if scope is None:
        return
    alone = document.alone or []
    of_build = [finding for finding in document.built or () if finding not in alone]
    for findings, given, judge in ((alone, scope.alone, _judge(scope, texts)), (of_build, scope.build, None)):
        inside = [finding for finding in findings if finding.edit and _touches(document.range(finding), asked)]
        if inside and given is not None:
            fixes = document_fixes.of(inside, given._replace(texts=texts), judge)
            yield from (_action(document, documents, fix, is_preferred=fix.is_safe and len(fixes) == 1) for fix in fixes)


def _fix_all(document: OpenDocument, documents: OpenDocuments) -> Iterator[types.CodeAction]:
    scope, texts = document.scope, documents.texts()
    if scope is None or scope.is_part or not document.alone:
        return
    new = document_fixes.all_safe(scope.alone._replace(texts=texts), _judge(scope, texts))
    if edit := workspace_edit(documents, new):
        yield types.CodeAction("Fix all findings with one safe fix (krm-fn)", FIX_ALL, edit=edit)


def _judge(scope: DocumentScope, texts: Mapping[str, str]) -> Callable[[Mapping[str, str]], CheckedDocuments]:
    """Returns the check of a document with new texts of files."""
    return lambda new: document_checks.check_alone(scope, {**texts, **new})


def _action(document: OpenDocument, documents: OpenDocuments, fix: DocumentFix, *, is_preferred: bool) -> types.CodeAction:
    return types.CodeAction(
        fix.title,
        types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic(document, fix.result)],
        is_preferred=is_preferred,
        edit=workspace_edit(documents, fix.texts),
    )


def workspace_edit(documents: OpenDocuments, texts: Mapping[str, str]) -> types.WorkspaceEdit | None:
    """Returns the edits from the texts of open documents to new ones; None without a change."""
    changes = {}
    for file, text in texts.items():
        document = documents.of_file(file)
        if document is not None and document.text != text:
            changes[document.uri] = [_changed_lines(document, text)]
    return types.WorkspaceEdit(changes=changes) if changes else None


def _changed_lines(document: OpenDocument, text: str) -> types.TextEdit:
    """Returns one edit of the lines that differ: the lines before and behind them stay."""
    old, new = document.text.splitlines(keepends=True), text.splitlines(keepends=True)
    first = next((number for number, (line, other) in enumerate(zip(old, new, strict=False)) if line != other), min(len(old), len(new)))
    rest = min(len(old), len(new)) - first
    last = next((number for number in range(rest) if old[-1 - number] != new[-1 - number]), rest)
    before, behind = "".join(old[:first]), "".join(old[: len(old) - last])
    return types.TextEdit(
        types.Range(document.at_offset(len(before)), document.at_offset(len(behind))), "".join(new[first : len(new) - last])
    )


def _touches(one: types.Range, other: types.Range) -> bool:
    """True for ranges with a common position, also an end."""
    return (one.start.line, one.start.character) <= (other.end.line, other.end.character) and (
        (other.start.line, other.start.character) <= (one.end.line, one.end.character)
    )
