"""Judges open documents after edits, and publishes the findings.

A document alone is judged in a thread, a short pause after an edit. A build follows in a process when the editor is quiet. A later edit of
the document ends both, or their result is dropped.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from krm_fn.base.results import Result
from krm_fn.cli.language_server import build_process
from krm_fn.cli.language_server.open_documents import OpenDocument, OpenDocuments
from krm_fn.review.inputs import document_checks
from krm_fn.review.inputs.document_checks import DocumentScope
from krm_fn.review.inputs.document_origins import BuiltRoots

_SHORTEST, _LONGEST = 0.02, 0.5
_SHARE = 0.2
"""The pause before a check is this share of the time of the last one, between two limits in seconds: quick checks come at once."""
_QUIET = 0.4
"""The seconds without an edit before a build."""

Publish = Callable[[OpenDocument, list[Result]], None]


class DocumentChecker:
    """Judges documents. `publish` gets the findings about a document whenever they are known."""

    def __init__(self, documents: OpenDocuments, publish: Publish) -> None:
        self._documents, self._publish = documents, publish
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self.executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="check")

    def handle_change(self, document: OpenDocument) -> None:
        """Judges a document after a pause, and then those that its text changes."""
        self._start(document, self._judged_with_others(document))

    def files_changed(self) -> None:
        """Judges all documents again, because files around them changed."""
        for document in self._documents:
            document.scope = document.alone = document.built = document.made = None
            self._start(document, self._judge(document))

    def handle_close(self, document: OpenDocument) -> None:
        """Ends the checks of a document, and removes its findings from the editor."""
        self._cancel(document.uri)
        self._publish(document, [])
        for other in self._documents:
            if self._depends(other, document):
                self._start(other, self._judge(other))

    def end(self) -> None:
        """Ends all checks."""
        for uri in [*self._tasks]:
            self._cancel(uri)
        self.executor.shutdown(wait=False, cancel_futures=True)

    def _start(self, document: OpenDocument, work: Coroutine[Any, Any, None]) -> None:
        self._cancel(document.uri)
        self._tasks[document.uri] = asyncio.ensure_future(work)

    def _cancel(self, uri: str) -> None:
        if task := self._tasks.pop(uri, None):
            task.cancel()

    async def _judged_with_others(self, document: OpenDocument) -> None:
        await self._alone(document)
        for other in self._documents:
            if self._depends(other, document):
                other.alone = None
                self._start(other, self._judge(other))
        await self._build(document)
        for other in self._documents:
            if _is_built_from(other.scope, document):
                self._start(other, self._judge(other))

    async def _judge(self, document: OpenDocument) -> None:
        await self._alone(document)
        await self._build(document)

    @staticmethod
    def _depends(other: OpenDocument, document: OpenDocument) -> bool:
        return other is not document and bool(other.scope and other.scope.alone.default_config == document.file)

    async def _alone(self, document: OpenDocument) -> None:
        """Judges a document alone, if its findings are not known yet."""
        await asyncio.sleep(min(max(document.seconds * _SHARE, _SHORTEST), _LONGEST))
        loop = asyncio.get_running_loop()
        if document.scope is None:
            document.scope = await loop.run_in_executor(self.executor, document_checks.scope, document.file)
        if not document.is_judged or document.alone is not None:
            return
        if document.is_too_large:
            document.alone = [document_checks.too_large(document.file)]
            self._show(document)
            return
        text, texts, start = document.text, self._documents.texts(), time.monotonic()
        checked = await loop.run_in_executor(self.executor, document_checks.check_alone, document.scope, texts, document.known)
        document.seconds = time.monotonic() - start
        if document.text is text:
            document.alone = document_checks.about(checked.findings, document.file)
            self._show(document)

    async def _build(self, document: OpenDocument) -> None:
        """Judges the build that a document is a part of, and publishes the findings about all open files of it."""
        scope = document.scope
        if scope is None or scope.build is None:
            return
        await asyncio.sleep(_QUIET)
        texts = self._documents.texts()
        built = await build_process.run(scope.build._replace(texts=texts))
        if built is None or document.text != texts.get(document.file):
            return
        made = BuiltRoots(built.parts) if built.is_known else None
        for part in self._documents:
            if _is_in(part.scope, scope) and part.text == texts.get(part.file):
                part.made = made
                about = document_checks.about(built.findings, part.file)
                part.built = about if built.is_known else _together(about, part.alone or [])
                self._show(part)

    def _show(self, document: OpenDocument) -> None:
        findings = document.findings()
        if findings is not None and self._documents.get(document.uri) is document:
            self._publish(document, findings)


def _together(built: list[Result], alone: list[Result]) -> list[Result]:
    """Returns the findings of both, each once: a build that failed says why, and nothing of the document."""
    return [*{repr(finding): finding for finding in (*built, *alone)}.values()]


def _is_built_from(scope: DocumentScope | None, document: OpenDocument) -> bool:
    """True for a document of another build, such as an overlay, that has the document as a part."""
    return bool(scope and not _is_in(document.scope, scope) and os.path.realpath(document.file) in scope.parts)


def _is_in(part: DocumentScope | None, scope: DocumentScope) -> bool:
    return bool(part and part.build and scope.build and part.build.paths == scope.build.paths)
