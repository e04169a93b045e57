"""The start page of the site has one graph, and the diagram of this graph."""

from __future__ import annotations

from tests.cli import console
from tests.support import markdown
from tests.testbed import programs

PAGE = (programs.ROOT / "docs" / "start.md").read_text()


def test_the_diagram_is_that_of_the_graph(tmp_path):
    ((name, graph),) = markdown.files(PAGE).items()
    (tmp_path / name).write_text(graph)
    ((_, diagram),) = markdown.fenced(PAGE, "mermaid")
    assert console.run("graph", tmp_path / name).out == diagram


def test_the_graph_is_that_of_the_front_page():
    assert markdown.files(PAGE).items() <= markdown.files((programs.ROOT / "README.md").read_text()).items()
