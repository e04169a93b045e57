"""Every code has one name, one title and one range, some module reports it, and some test expects it."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import krm_fn
from krm_fn.base import codes
from krm_fn.schemas import finding_pages
from tests.support import argument_mistakes, faults, native_mistakes, newer_faults, newer_pod_faults, schema_mistakes

pytestmark = pytest.mark.xdist_group("codes")  # one worker parses all modules, once
PACKAGE = Path(krm_fn.__file__).parent
TABLE = Path(codes.__file__)


@cache
def modules():
    """The syntax trees of all modules of the package but the table."""
    return {file.relative_to(PACKAGE).as_posix(): ast.parse(file.read_text()) for file in sorted(PACKAGE.rglob("*.py")) if file != TABLE}


def used(tree):
    """The constants of the table that a module uses."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr.isupper())
    return {node.attr for node in nodes if isinstance(node.value, ast.Name) and node.value.id == "codes"}


def literal(tree):
    """The codes in the texts of a module, without those in its docstrings."""
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in documented)
    return {code for text in texts if isinstance(text, str) for code in re.findall(r"DYN[0-9]{3}", text)}


def test_no_module_writes_a_code_as_text():
    """The table of codes has each of them, once: `git grep UNKNOWN_FIELD` finds every rule of a code."""
    assert {name: found for name, tree in modules().items() if (found := literal(tree))} == {}


def test_every_code_of_the_table_is_used():
    assert {name for tree in modules().values() for name in used(tree)} == {*finding_pages.CONSTANTS.values()}


@pytest.mark.parametrize(
    ("reason", "source", "found"),
    [
        ("a text", 'results.error("DYN001", "no")', {"DYN001"}),
        ("a part of a longer text", 'f"ignore DYN001 in {file}"', {"DYN001"}),
        ("a docstring", 'def check():\n    """Reports DYN001."""', set()),
        ("a docstring of a constant", 'CODE = codes.NO_INPUT\n"""DYN001"""', set()),
        ("a comment", "x = 1  # DYN001", set()),
    ],
)
def test_what_is_a_literal_code(reason, source, found):
    assert literal(ast.parse(source)) == found


def test_every_code_has_one_page():
    texts = "".join(path.read_text() for path in sorted((PACKAGE / "schemas/finding_pages/texts").iterdir()))
    assert sorted(re.findall(r"^(DYN[0-9]{3}):", texts, re.MULTILINE)) == sorted(finding_pages.CONSTANTS)


def test_each_code_is_in_the_range_of_its_comment():
    """The codes and the ranges are in order, so no range overlaps another."""
    entries = re.findall(r'^(?:# ([0-9]{3})-([0-9]{3}): .+|[A-Z0-9_]+ = "DYN([0-9]{3})")$', TABLE.read_text(), re.MULTILINE)
    assert [f"DYN{code}" for _, _, code in entries if code] == [*finding_pages.CONSTANTS] == sorted(finding_pages.CONSTANTS)
    first, last = "", ""
    for start, end, code in entries:
        if not code:
            assert last < start <= end
            first, last = start, end
        assert not code or first <= code <= last, code


def test_names_are_words_of_one_line():
    for constant in finding_pages.CONSTANTS.values():
        assert re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", constant)
        assert len(constant) <= 40
    assert len({*finding_pages.CONSTANTS.values()}) == len(finding_pages.CONSTANTS)


def test_titles_are_short_capitalised_and_told_apart():
    """A field at their beginning keeps its spelling."""
    titles = [page.title for page in finding_pages.pages().values()]
    assert len(set(titles)) == len(titles)
    assert all(re.match(r"[A-Z]|[a-z]+[A-Z]", title) and len(title) <= 90 and title[-1].isalnum() for title in titles)


def test_messages_of_pages_without_an_example_are_messages_of_the_program():
    """The names and values in such a message are made up. The other words are those of the program: at least three in a row."""
    constants = [node.value for tree in modules().values() for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    known = {row for text in constants if isinstance(text, str) for row in rows(text)}
    assert [code for code, page in finding_pages.pages().items() if not page.wrong and not rows(page.message) & known] == []


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
    assert set(finding_pages.pages()) - BY_RULES - BY_SCHEMA - NATIVE - IN_COMMAND_LINES - elsewhere == set()


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
ABOUT_GRAPHS = [
    code for code in finding_pages.pages() if "DYN100" <= code < "DYN170" or "DYN200" <= code < "DYN250" or "DYN270" <= code < "DYN400"
]


@pytest.mark.parametrize("code", ABOUT_GRAPHS)
def test_every_finding_about_graphs_stands_in_the_table(code):
    assert code in BY_RULES
