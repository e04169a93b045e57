"""The name of a function says what it does: nobody can search for a bare participle, such as `written`."""

from __future__ import annotations

import ast

import structure

from tests.testbed import programs

PACKAGE = programs.ROOT / "krm_fn"
EVENTS = ("restarted", "relisted", "rejected", "changed")
"""Methods that a watch calls for an event, with the name of the event."""
OTHERS = ("done", "split")
"""`done` is the word of client-go for the end of a key in a queue, and `split` is a verb too."""


def test_no_function_is_a_bare_participle():
    names = [
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in PACKAGE.rglob("*.py")
        for name in structure.bare_participles(ast.parse(path.read_text("utf-8")))
        if name not in (*EVENTS, *OTHERS)
    ]
    assert names == []


def test_a_bare_participle_is_found_in_functions_and_methods():
    """Otherwise the test above could not fail."""
    source = """
def written(): ...
def write(): ...
def written_fields():
    def _moved(): ...
class Writer:
    async def refused(self): ...
    @property
    def known(self): ...
"""
    assert structure.bare_participles(ast.parse(source)) == ["written", "_moved", "refused"]
