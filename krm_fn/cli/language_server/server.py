"""The language server: its features, on the library pygls. Handlers translate; the work is in the wings below.

Nothing ends the server except for its client: a request that comes too early, names no open document or has a wrong position gets an empty
answer, and a bug becomes an error in the answer. stderr gets nothing, because editors show it as a crash.
"""

from __future__ import annotations

import logging
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

import krm_fn
from krm_fn.base import report
from krm_fn.base.results import Result
from krm_fn.cli.language_server import code_actions, position_requests
from krm_fn.cli.language_server.checking import DocumentChecker
from krm_fn.cli.language_server.open_documents import OpenDocument, OpenDocuments


class GraphServer(LanguageServer):
    """The server with its open documents and their checker."""

    def __init__(self) -> None:
        super().__init__(report.PROGRAM, krm_fn.__version__, types.TextDocumentSyncKind.Full)
        self.documents = OpenDocuments()
        self.checker = DocumentChecker(self.documents, self._publish)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Does nothing: the answer to a request has its error, and a wrong notification has no answer."""

    def _publish(self, document: OpenDocument, findings: list[Result]) -> None:
        listed = [code_actions.diagnostic(document, finding) for finding in findings]
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, listed, document.version))


def serve() -> None:
    """Serves stdin and stdout until the client leaves."""
    for name in ("pygls", "asyncio", "lsprotocol", "cattrs"):
        logger = logging.getLogger(name)
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
        logger.disabled = True
    server = create()
    try:
        server.start_io()
    finally:
        server.checker.end()


def create() -> GraphServer:
    """Returns a server with all features."""
    server = GraphServer()
    _follow_documents(server)
    _follow_files(server)
    _offer_actions(server)
    _answer_about_positions(server)
    return server


def _follow_documents(server: GraphServer) -> None:
    documents, checker = server.documents, server.checker

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def open_document(params: types.DidOpenTextDocumentParams) -> None:
        documents.encoding = server.workspace.position_encoding or ""
        document = documents.open(params.text_document.uri)
        document.update(params.text_document.text, params.text_document.version)
        checker.handle_change(document)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def change_document(params: types.DidChangeTextDocumentParams) -> None:
        document = documents.get(params.text_document.uri)
        if document is not None:
            document.update(server.workspace.get_text_document(document.uri).source, params.text_document.version)
            checker.handle_change(document)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def close_document(params: types.DidCloseTextDocumentParams) -> None:
        if document := documents.close(params.text_document.uri):
            checker.handle_close(document)


def _follow_files(server: GraphServer) -> None:
    """Judges all documents again after a save, and when the editor says that files changed: other files come from disk."""

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def save_document(_: types.DidSaveTextDocumentParams) -> None:
        server.checker.files_changed()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(_: types.DidChangeWatchedFilesParams) -> None:
        server.checker.files_changed()


def _offer_actions(server: GraphServer) -> None:
    options = types.CodeActionOptions([types.CodeActionKind.QuickFix, code_actions.FIX_ALL])

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)
    @server.thread()
    def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return []
        text = document.text
        listed = code_actions.actions(document, server.documents, params)
        return listed if document.text is text else []


def _answer_about_positions(server: GraphServer) -> None:
    documents = server.documents

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=position_requests.TRIGGERS))
    def complete(params: types.CompletionParams) -> types.CompletionList | None:
        document = documents.get(params.text_document.uri)
        return position_requests.complete(document, params.position) if document else None

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    @server.thread()
    def hover(params: types.HoverParams) -> types.Hover | None:
        document = documents.get(params.text_document.uri)
        return position_requests.hover(document, params.position, documents) if document else None

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    @server.thread()
    def define(params: types.DefinitionParams) -> list[types.Location] | None:
        document = documents.get(params.text_document.uri)
        return position_requests.define(document, params.position, documents) if document else None
