"""Positions of the protocol in texts with characters of several code units, and with any line end."""

from __future__ import annotations

from lsprotocol import types

from krm_fn.base import results
from krm_fn.cli.language_server.open_documents import OpenDocuments
from tests.support.cases import cases

TEXT = "a: \U0001f600 b\r\nkey: é\n"


def opened(encoding, text=TEXT):
    documents = OpenDocuments()
    documents.encoding = encoding
    document = documents.open("file:///graph.yaml")
    document.update(text, 1)
    return document


ENCODINGS = (("the default", "", 5), ("code units of UTF-16", "utf-16", 5), ("bytes", "utf-8", 7), ("characters", "utf-32", 4))


@cases(("encoding", "behind"), ENCODINGS)
def test_a_position_counts_units_of_the_encoding(encoding, behind):
    """Behind the emoji, and at the end of its line. The way back gives the same column."""
    document = opened(encoding)
    assert document.position(1, 5) == types.Position(0, behind)
    assert document.position(1, 99) == types.Position(0, behind + 2)
    assert document.location(types.Position(0, behind)) == (1, 5)
    assert document.location(types.Position(0, 999)) == (1, 7)
    assert document.location(types.Position(99, 0)) == (3, 1)
    assert document.at_offset(len(TEXT)) == types.Position(2, 0)


def test_half_a_character_is_before_it():
    assert opened("utf-16").location(types.Position(0, 4)) == (1, 4)


def test_the_range_of_a_finding():
    """A finding without a line is about the first one, and one behind the text is at its end."""
    document = opened("utf-16")
    assert document.range(results.error("DYN001", "a", line=2, column=1)).end == types.Position(1, 3)
    assert document.range(results.error("DYN001", "a")).end == types.Position(0, 7)
    assert document.range(results.error("DYN001", "a", line=99, column=99)).start.line == 2


def test_documents_without_a_file_are_told_apart():
    documents = OpenDocuments()
    files = {documents.open(f"untitled:Untitled-{number}").file for number in range(2)}
    assert len(files) == 2


def test_nothing_of_a_large_text_is_kept():
    """A later, smaller text is judged again."""
    document = opened("", "kind: DynamoRender\n" + "a: b\n" * 500_000)
    assert document.is_too_large
    assert (document.text, document.is_of_dynamo) == ("", True)
    document.update("kind: DynamoRender\n", 2)
    assert not document.is_too_large
