"""The effects of a line of a graph, and the lines of a graph behind a line of its rendered objects."""

from __future__ import annotations

from krm_fn.base.yaml import outline
from krm_fn.review.inputs import document_checks, document_origins
from tests.cli import console


def test_a_line_of_a_graph_has_the_fields_that_it_makes(tmp_path):
    """The open text counts: the file does not exist. A graph with an error, and a large one, have none."""
    file = str(tmp_path / "graph.yaml")
    scope, line = document_checks.scope(file), console.GRAPH[: console.GRAPH.index("replicas")].count("\n") + 1
    assert document_origins.effects(scope, line, {file: console.GRAPH}) == ["Deployment/chat-worker `spec.replicas`: `2`"]
    assert document_origins.effects(scope, line, {file: console.MISSPELT}) == []
    assert document_origins.effects(scope, 999, {file: console.GRAPH}) == []
    assert document_origins.effects(scope, line, {file: console.GRAPH + "#" * document_origins.LARGEST}) == []


def defined(file, text, words, texts):
    """The lines of the graph behind the line of a render that has some words."""
    lines = text.split("\n")
    number = next(number for number, line in enumerate(lines, 1) if words in line)
    column = lines[number - 1].index(words) + 2
    cursor = outline.under(lines, number, column)
    assert cursor
    return [entry.line for entry in document_origins.definitions(file, lines[number - 1], cursor, texts)]


def line_of(words):
    return console.GRAPH[: console.GRAPH.index(words)].count("\n") + 1


def test_a_field_of_a_render_leads_to_the_graph(tmp_path):
    """By its value, and to the name of the graph if a rule made it. The open text of the graph counts."""
    (tmp_path / "graph.yaml").write_text(console.GRAPH)
    rendered = console.run("render", tmp_path / "graph.yaml").out
    file = str(tmp_path / "rendered.yaml")
    assert defined(file, rendered, "replicas: 2", {}) == [line_of("replicas: 2")]
    assert defined(file, rendered, "image: registry.example/front", {}) == [line_of('mainContainer: {image: "registry.example/front')]
    assert defined(file, rendered, "protocol: TCP", {}) == [line_of("name: chat")]
    moved = {str(tmp_path / "graph.yaml"): "# a line more\n" + console.GRAPH}
    assert defined(file, rendered, "replicas: 2", moved) == [line_of("replicas: 2") + 1]


def test_a_comment_of_explain_leads_to_its_line(tmp_path, monkeypatch):
    """Without a search: the first line that the comment names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graph.yaml").write_text(console.GRAPH)
    explained = console.run("explain", "-o", "yaml", "--object", "Deployment/chat-worker", "graph.yaml").out
    assert defined(str(tmp_path / "explained.yaml"), explained, "replicas: 2", {}) == [line_of("replicas: 2")]


def test_other_documents_lead_nowhere(tmp_path):
    """A graph itself, and an object of a graph that is not beside it."""
    file = str(tmp_path / "graph.yaml")
    assert defined(file, console.GRAPH, "replicas: 2", {}) == []
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "graph.yaml").write_text(console.GRAPH)
    rendered = console.run("render", tmp_path / "elsewhere" / "graph.yaml").out
    assert defined(str(tmp_path / "rendered.yaml"), rendered, "replicas: 2", {}) == []
