"""The documents that an editor has open, and positions in them.

A position of the protocol counts lines from 0 and characters in the units of an encoding; ours count lines and characters from 1.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types
from pygls import uris

from krm_fn.base.results import Result
from krm_fn.base.yaml import tokens
from krm_fn.review.inputs import document_checks
from krm_fn.review.inputs.document_checks import DocumentScope
from krm_fn.review.inputs.document_origins import BuiltRoots
from krm_fn.review.known_checks import KnownChecks

_WIDTHS = {types.PositionEncodingKind.Utf8: ("utf-8", 1), types.PositionEncodingKind.Utf32: ("utf-32-le", 4)}
_UTF_16 = ("utf-16-le", 2)
"""The default of the protocol: its clients count code units of UTF-16."""


class OpenDocument:
    """A document of an editor: its text, what it is judged with, and the findings about this text.

    `alone` are the findings about the document, and `built` those of the build that it is a part of; None until they are known for the
    current text. `made` is what that build made. `seconds` is the time of the last check, and `known` what it knows about resources that
    the next edit leaves as they are.
    """

    def __init__(self, uri: str, file: str, encoding: str = "") -> None:
        self.uri, self.file = uri, file
        self.version: int | None = None
        self.text = ""
        self.lines: list[str] = [""]
        self.is_of_dynamo = self.is_too_large = False
        self.alone: list[Result] | None = None
        self.built: list[Result] | None = None
        self.made: BuiltRoots | None = None
        self.seconds = 0.0
        self.known = KnownChecks()
        self.scope: DocumentScope | None = None
        self._codec, self._width = _WIDTHS.get(types.PositionEncodingKind(encoding or "utf-16"), _UTF_16)

    def update(self, text: str, version: int | None) -> None:
        """Takes a new text. Half of a surrogate pair, which is no text, becomes a question mark. Of a large text, nothing is kept."""
        self.is_of_dynamo = self.is_of_dynamo or document_checks.names_dynamo(text)
        self.is_too_large = document_checks.is_too_large(text)
        self.text, self.version = "" if self.is_too_large else text.encode("utf-8", "replace").decode(), version
        self.lines = tokens.lines(self.text)
        self.alone = self.built = self.made = None

    @property
    def is_judged(self) -> bool:
        """True for a document that has had a Dynamo kind, and for a part of a build with one. Others belong to other programs."""
        return self.is_of_dynamo or bool(self.scope and self.scope.build)

    def findings(self) -> list[Result] | None:
        """Returns the findings about the current text; None if a part of a build is not judged yet."""
        if self.built is not None:
            return self.built
        return self.alone if self.alone or not (self.scope and self.scope.is_part) else None

    def position(self, line: int, column: int) -> types.Position:
        """Returns the position of a line and a column, both from 1; the last one of the line or of the text if it is shorter."""
        number = min(max(line, 1), len(self.lines))
        before = self.lines[number - 1][: max(column - 1, 0)]
        return types.Position(number - 1, len(before.encode(self._codec)) // self._width)

    def at_offset(self, offset: int) -> types.Position:
        """Returns the position of an offset in the text."""
        before = tokens.lines(self.text[:offset])
        return self.position(len(before), len(before[-1]) + 1)

    def location(self, position: types.Position) -> tuple[int, int]:
        """Returns line and column of a position, both from 1. A position outside of the text is at its end, or at the end of its line."""
        if position.line >= len(self.lines):
            return len(self.lines), len(self.lines[-1]) + 1
        line = self.lines[position.line]
        before = line.encode(self._codec)[: position.character * self._width].decode(self._codec, "ignore")
        return position.line + 1, len(before) + 1

    def range(self, result: Result) -> types.Range:
        """Returns the range of the key, the scalar or the word that a finding is about; the first line for a finding about the file."""
        if not result.line:
            return types.Range(types.Position(0, 0), self.position(1, len(self.lines[0]) + 1))
        line = self.lines[min(result.line, len(self.lines)) - 1]
        column = result.column or len(line) - len(line.lstrip()) + 1
        end = tokens.end(line, column, is_word=bool(result.within))
        if end <= column:  # the end of a line
            column = min(len(line), column - 1) or 1
            end = len(line) + 1
        return types.Range(self.position(result.line, column), self.position(result.line, end))


class OpenDocuments:
    """All open documents. `encoding` is that of positions, which client and server agree on when they start."""

    def __init__(self) -> None:
        self.encoding = ""
        self._by_uri: dict[str, OpenDocument] = {}

    def __iter__(self) -> Iterator[OpenDocument]:
        return iter([*self._by_uri.values()])

    def get(self, uri: str) -> OpenDocument | None:
        """Returns an open document; None for one that the editor has not opened, or has closed."""
        return self._by_uri.get(uri)

    def open(self, uri: str) -> OpenDocument:
        """Adds a document. One without a file gets the name of a file in the current folder."""
        path = (uris.to_fs_path(uri) if uri.startswith("file:") else None) or f"{len(self._by_uri)}-without-a-file.yaml"
        self._by_uri[uri] = OpenDocument(uri, str(Path(os.path.abspath(path))), self.encoding)  # noqa: PTH100 - resolves no links
        return self._by_uri[uri]

    def close(self, uri: str) -> OpenDocument | None:
        """Removes a document, and returns it."""
        return self._by_uri.pop(uri, None)

    def texts(self) -> dict[str, str]:
        """Returns the texts by the paths of their files, without large ones."""
        return {document.file: document.text for document in self._by_uri.values() if not document.is_too_large}

    def of_file(self, file: str) -> OpenDocument | None:
        """Returns the document of a file; None if it is not open."""
        return next((document for document in self._by_uri.values() if document.file == file), None)
