"""An editor: the client of pygls, connected to `krm-fn lsp` as a process, over stdio; and the same documents without a process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from anyio import from_thread
from lsprotocol import types
from pygls.lsp.client import LanguageClient

from krm_fn.cli.language_server.checking import DocumentChecker
from krm_fn.cli.language_server.open_documents import OpenDocument, OpenDocuments
from tests.testbed import programs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from anyio.from_thread import BlockingPortal

    from krm_fn.base.results import Result

SECONDS = 120


class Editor(NamedTuple):
    """A connected editor, for tests that are not asynchronous."""

    portal: BlockingPortal
    client: LanguageClient
    published: asyncio.Queue[types.PublishDiagnosticsParams]

    def open(self, path: Path, text: str) -> list[types.Diagnostic]:
        """Opens a document with a text, and returns its findings."""
        item = types.TextDocumentItem(path.as_uri(), "yaml", 1, text)
        self.notify("text_document_did_open", types.DidOpenTextDocumentParams(item))
        return self.findings(path)

    def change(self, path: Path, text: str, version: int) -> None:
        """Writes a text into the document, not into the file."""
        document = types.VersionedTextDocumentIdentifier(version=version, uri=path.as_uri())
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.notify("text_document_did_change", types.DidChangeTextDocumentParams(document, [whole]))

    def close(self, path: Path) -> None:
        """Closes a document."""
        document = types.TextDocumentIdentifier(path.as_uri())
        self.notify("text_document_did_close", types.DidCloseTextDocumentParams(document))

    def findings(self, path: Path, version: int = 0) -> list[types.Diagnostic]:
        """Returns the next findings about a document, or those about a version of it."""
        while True:
            params = self.portal.call(self._next)
            if params.uri == path.as_uri() and (not version or params.version == version):
                return [*params.diagnostics]

    async def _next(self) -> types.PublishDiagnosticsParams:
        async with asyncio.timeout(SECONDS):
            return await self.published.get()

    def notify(self, name: str, params: Any) -> None:
        """Sends a notification."""
        self.portal.call(getattr(self.client, name), params)

    def ask(self, name: str, params: Any) -> Any:
        """Sends a request, and returns the answer. Raises JsonRpcException for an error."""

        async def answer() -> Any:
            async with asyncio.timeout(SECONDS):
                return await getattr(self.client, f"{name}_async")(params)

        return self.portal.call(answer)


@contextlib.contextmanager
def connected(root: Path) -> Iterator[Editor]:
    """An editor whose server runs in a folder. The server ends with the block, with code 0 and without a word on stderr."""
    published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
    client = LanguageClient("tests", "1")

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]  # of a client; a server has types
    def publish(params: types.PublishDiagnosticsParams) -> None:
        published.put_nowait(params)

    async def start() -> None:
        await client.start_io(sys.executable, "-m", "krm_fn", "lsp", cwd=root, env={**os.environ, "PYTHONPATH": str(programs.ROOT)})
        await client.initialize_async(types.InitializeParams(types.ClientCapabilities(), root_uri=root.as_uri()))
        client.initialized(types.InitializedParams())

    async def end() -> tuple[int, bytes]:
        await client.shutdown_async(None)
        client.exit(None)
        server: Any = client._server
        error = await server.stderr.read()
        code = await server.wait()
        await client.stop()
        return code, error

    with from_thread.start_blocking_portal() as portal:
        portal.call(start)
        yield Editor(portal, client, published)
        assert portal.call(end) == (0, b"")


def judged(path: Path, texts: Iterable[str]) -> list[Result]:
    """Returns the findings after a session: each text follows the one before in the editor, and the last findings count."""

    async def session() -> list[Result]:
        documents, last = OpenDocuments(), asyncio.Event()
        published: list[Result] = []

        def publish(document: OpenDocument, findings: list[Result]) -> None:
            if document.version == -1:
                published.extend(findings)
                last.set()

        checker = DocumentChecker(documents, publish)
        document = documents.open(path.as_uri())
        *first, end = texts
        for version, text in enumerate(first):
            document.update(text, version)
            checker.handle_change(document)
            await asyncio.sleep(0.002)
        document.update(end, -1)
        checker.handle_change(document)
        async with asyncio.timeout(SECONDS):
            await last.wait()
        checker.end()
        return published

    return asyncio.run(session())
