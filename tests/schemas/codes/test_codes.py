"""Every code has one title and one range, some module reports it, and some test expects it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import krm_fn
from krm_fn.schemas import codes
from tests.support import argument_mistakes, faults, native_mistakes, newer_faults, newer_pod_faults, schema_mistakes

PACKAGE = Path(codes.__file__).parent
SOURCES = [file for file in sorted(Path(krm_fn.__file__).parent.rglob("*.py")) if PACKAGE not in file.parents]
REPORTED = {code for file in SOURCES for code in re.findall(r'"(DYN[0-9]{3})"', file.read_text())}


def test_the_codes_with_a_page_are_the_codes_that_modules_report():
    assert set(codes.pages()) == REPORTED


def test_every_code_has_one_page():
    texts = "".join(path.read_text() for path in sorted((PACKAGE / "texts").iterdir()))
    listed = re.findall(r"^(DYN[0-9]{3}):", texts, re.MULTILINE)
    assert sorted(listed) == list(codes.pages())


def test_every_code_is_in_a_range_of_the_docstring():
    ranges = [(int(first), int(last)) for first, last in re.findall(r"([0-9]{3})-([0-9]{3})", codes.__doc__)]
    outside = [code for code in codes.pages() if not any(first <= int(code[3:]) <= last for first, last in ranges)]
    assert outside == ["DYN080"]


def test_titles_are_short_capitalised_and_told_apart():
    """A field at their beginning keeps its spelling."""
    titles = [page.title for page in codes.pages().values()]
    assert len(set(titles)) == len(titles)
    assert all(re.match(r"[A-Z]|[a-z]+[A-Z]", title) and len(title) <= 90 and title[-1].isalnum() for title in titles)


def test_messages_of_pages_without_an_example_are_messages_of_the_program():
    """The names and values in such a message are made up. The other words are those of the program: at least three in a row."""
    constants = [node.value for file in SOURCES for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Constant)]
    known = {row for text in constants if isinstance(text, str) for row in rows(text)}
    assert [code for code, page in codes.pages().items() if not page.wrong and not rows(page.message) & known] == []


def rows(text):
    """All rows of three words in a text."""
    words = re.findall(r"[\w']+", text.lower())
    return {*zip(words, words[1:], words[2:], strict=False)}


PRINTERS = {"test_codes.py", "test_results.py", "test_report.py", "test_check_formats.py"}
"""These tests make findings themselves, to print or to compare them."""

BY_RULES = {code for case in (*faults.ALL, *newer_faults.ALL, *newer_pod_faults.ALL) for code, _ in case.found}
IN_COMMAND_LINES = {mistake.code for mistake in argument_mistakes.ALL}
BY_SCHEMA = {case.code for case in schema_mistakes.ALL}


def expected(source):
    """The codes that a test file expects: in an assertion, or in a table that parametrizes a test."""
    tree = ast.parse(source)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    decorators = [call for call in calls if {getattr(call.func, "attr", ""), getattr(call.func, "id", "")} & {"parametrize", "cases"}]
    named = names(decorators)
    tables = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign) and names([node]) & named]
    asserts = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    words = [node.value for part in (*asserts, *decorators, *tables) for node in ast.walk(part) if isinstance(node, ast.Constant)]
    return {code for word in words if isinstance(word, str) for code in re.findall(r"\bDYN[0-9]{3}\b", word)}


def names(parts):
    """The variables that parts of a program use or set."""
    return {node.id for part in parts for node in ast.walk(part) if isinstance(node, ast.Name)}


@pytest.mark.slow  # parses all tests
def test_some_test_expects_each_code():
    """The table of faults has the codes of graphs, the table of slips those of the schema; other tests run both."""
    files = [file for file in Path(__file__).parents[2].rglob("test_*.py") if file.name not in PRINTERS]
    elsewhere = {code for file in files for code in expected(file.read_text("utf-8"))}
    assert set(codes.pages()) - BY_RULES - BY_SCHEMA - NATIVE - IN_COMMAND_LINES - elsewhere == set()


@pytest.mark.parametrize(
    ("reason", "source", "found"),
    [
        ("an assertion counts", "def test_a():\n    assert code == 'DYN001'", {"DYN001"}),
        ("a row of a table counts", "ROWS = [('a', 'DYN001')]\n@pytest.mark.parametrize('row', ROWS)\ndef test_a(row): ...", {"DYN001"}),
        ("a row of a table with reasons counts", "ROWS = [('a', 'DYN001')]\n@cases('code', ROWS)\ndef test_a(code): ...", {"DYN001"}),
        ("a comment does not count", "# DYN001\nassert True", set()),
        ("a docstring does not count", "def test_a():\n    'DYN001'\n    assert True", set()),
        ("an input does not count", "def test_a():\n    found = results.error('DYN001')\n    assert found", set()),
        ("a table of no test does not count", "EXCEPT = {'DYN001'}\nassert True", set()),
    ],
)
def test_what_counts_as_expected(reason, source, found):
    assert expected(source) == found


NATIVE = {code for _, _, code, _ in native_mistakes.MISTAKES}
ABOUT_GRAPHS = [code for code in codes.pages() if "DYN100" <= code < "DYN170" or "DYN200" <= code < "DYN250" or "DYN270" <= code < "DYN400"]


@pytest.mark.parametrize("code", ABOUT_GRAPHS)
def test_every_finding_about_graphs_stands_in_the_table(code):
    assert code in BY_RULES
