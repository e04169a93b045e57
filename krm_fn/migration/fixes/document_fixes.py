"""Fixes for an editor: each one as the new text of a document, with the same proof as `krm-fn check --fix`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from krm_fn.base.results import Result
from krm_fn.migration.edits import edited_files
from krm_fn.migration.fixes import finding_edits, fix_rounds
from krm_fn.migration.fixes.editable_files import EditableFiles
from krm_fn.review.inputs import Inputs
from krm_fn.review.inputs.document_checks import CheckedDocuments

Check = Callable[[Mapping[str, str]], CheckedDocuments]
"""Checks the inputs with new texts of files."""


class DocumentFix(NamedTuple):
    """A fix: its title, its finding, the new texts of files, and whether it changes nothing that runs."""

    title: str
    result: Result
    texts: dict[str, str]
    is_safe: bool


def of(findings: Sequence[Result], given: Inputs, check: Check | None) -> list[DocumentFix]:
    """Returns the fixes of findings, in their order. `given.texts` are the texts of open documents.

    A fix that makes other findings, or that changes pods of another component, is left out. With `check` None nothing is proved: the
    findings are those of a build, which takes too long for an editor.
    """
    files = EditableFiles(given)
    fixes: list[DocumentFix] = []
    for entry in finding_edits.of(findings, files, {}):
        if check is None:
            new, failed = edited_files.edit_texts(finding_edits.documents([entry]), given.texts)
            texts = {} if failed else {file: text.new for file, text in new.items()}
        else:
            texts = fix_rounds.fix(files, check, unsafe=True, only={entry.identity}).texts
        if texts:
            fixes.append(DocumentFix(finding_edits.title(entry), entry.results[0], texts, entry.is_safe))
    return fixes


def all_safe(given: Inputs, check: Check) -> dict[str, str]:
    """Returns the new texts of files after all safe fixes, as `krm-fn check --fix` writes them."""
    return fix_rounds.fix(EditableFiles(given), check, unsafe=False).texts
