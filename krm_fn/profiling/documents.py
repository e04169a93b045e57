"""The documents of an output: YAML, or JSON objects one after the other (reference: NewYAMLOrJSONDecoder of apimachinery)."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from krm_fn.yamlio import reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.results import Result
    from krm_fn.yamlio.reader import Document

OBJECTS = 1000
"""The most JSON objects in a row that are read."""
_TEXT_WORDS = ("y", "Y", "n", "N")
"""Words that YAML 1.1 reads as booleans. The profiler's YAML library writes them without quotes where it means text."""
_NONBLANK = re.compile(r"\S")


def read(text: str) -> tuple[list[Document], list[Result]]:
    """The documents that are not empty, and the findings about the others. Never raises, whatever the text is."""
    documents: list[Document] = []
    wrong: list[Result] = []
    lines = done = 0
    for start, end in _parts(text):
        lines, done = lines + text.count("\n", done, start), start
        found, findings = reader.read(text[start:end], literal=_TEXT_WORDS)
        documents += [each._replace(line=each.line + lines, start=each.start + start, end=each.end + start) for each in found]
        wrong += [each._replace(line=each.line + lines) for each in findings]
    return documents, wrong


def kind(document: Document) -> str:
    """The kind of a document; empty if it has none."""
    found = document.value.get("kind") if isinstance(document.value, dict) else None
    return found if isinstance(found, str) else ""


def concerns(finding: Result, document: Document, text: str) -> bool:
    """True if a finding is about this document of the text."""
    return document.line <= finding.line <= document.line + text.count("\n", document.start, document.end)


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """The places of the JSON objects that a text begins with, and of the rest."""
    decoder, start = json.JSONDecoder(), 0
    for _ in range(OBJECTS):
        found = _NONBLANK.search(text, start)
        if not found or found[0] != "{":
            break
        try:
            _, end = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            break
        yield found.start(), end
        start = end
    yield start, len(text)
