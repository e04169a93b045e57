"""The files that the commands of a migration read: the render of one graph each."""

from __future__ import annotations

import json
from typing import Any

import pytest

from krm_fn.migration.take_over import from_operator, moved_graphs
from krm_fn.migration.take_over.moved_graphs import Applier, RefusedMoveError
from tests.cli import console
from tests.support import given
from tests.support.cases import cases

GRAPH: dict[str, Any] = {
    "apiVersion": "nvidia.com/v1alpha1",
    "kind": "DynamoGraphDeployment",
    "metadata": {"name": "chat", "namespace": "team"},
}


def owned(namespace, owner):
    metadata = {"name": "chat-frontend", "annotations": {"dynamo.krm-fn.io/owner": owner}}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata | ({"namespace": namespace} if namespace else {})}


WRONG = [
    ("no graph", [owned("team", "DynamoGraphDeployment/chat")], "the file has 0 graphs; write the output of `krm-fn render` for one graph"),
    ("two graphs", [GRAPH, {**GRAPH, "metadata": {"name": "search", "namespace": "team"}}], "the file has 2 graphs"),
    ("a text", ["chat"], "the file has a value that is not an object of Kubernetes"),
    ("an object without a kind", [GRAPH, {"metadata": {"name": "chat"}}], "the file has a value that is not an object of Kubernetes"),
    ("another namespace", [GRAPH, owned("other", "DynamoGraphDeployment/chat")], "the object has the namespace other; render the graph"),
    ("no namespace", [GRAPH, owned("", "DynamoGraphDeployment/chat")], "the object has no namespace; render the graph"),
    (
        "another graph",
        [GRAPH, owned("team", "DynamoGraphDeployment/search")],
        "belongs to DynamoGraphDeployment/search, and not to the graph",
    ),
]


@cases(("reason", "objects", "message"), WRONG)
def test_a_file_that_is_not_the_render_of_one_graph(reason, objects, message, tmp_path):
    """The command ends before it asks a cluster."""
    file = tmp_path / "objects.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    for command in ("compare", "take-over", "give-back", "can-start", "set-owners"):
        done = console.run("adopt", command, file)
        assert done.code == 1
        assert "DYN800" in done.err
        assert message in done.err
        assert "objects.json" in done.err


def test_the_graph_and_its_namespace_are_those_of_the_file():
    """A render of several documents, with an object that two graphs share; files of one namespace share its live objects."""
    shared = owned("team", "DynamoGraphDeployment/chat,DynamoGraphDeployment/search")
    search = {**GRAPH, "metadata": {"name": "search", "namespace": "team"}}
    first, second = moved_graphs.read({"a": [GRAPH, shared, None], "b": [{"kind": "List", "items": [search, shared]}]}, Applier())
    assert (first.namespace, first.name, second.name) == ("team", "chat", "search")
    assert first.rendered == [GRAPH, shared]
    assert first.cluster is second.cluster


def test_a_render_of_the_command_is_such_a_file(tmp_path):
    graph = tmp_path / "graph.json"
    graph.write_text(json.dumps(given.graph({"Worker": given.service("worker")})))
    file = tmp_path / "objects.json"
    file.write_text(console.run("render", graph, "-o", "json").out)
    (moved,) = moved_graphs.read({"objects.json": [json.loads(file.read_text())]}, Applier())
    assert moved.name == "chat"
    assert len(moved.rendered) > 3


def test_a_broken_file_stops_all():
    done = console.run("adopt", "compare", "-", stdin="a: [1")
    assert (done.code, done.out) == (1, "")
    assert "error DYN004" in done.err


USAGE = [
    ("two tools", ["take-over", "--argocd", "--flux", "a/b", __file__], "name either --argocd or --flux"),
    ("a Kustomization without a namespace", ["compare", "--flux", "chat", __file__], "'chat' has no namespace; write NAMESPACE/NAME"),
    ("an option of adopt", ["--namespace", "team", "compare", __file__], "compare takes no option of adopt"),
]


@cases(("reason", "arguments", "message"), USAGE)
def test_wrong_usage(reason, arguments, message):
    done = console.run("adopt", *arguments)
    assert done.code == 2
    assert message in done.err


def test_an_owner_that_does_not_end_is_named_with_its_finalizers():
    owner = {**GRAPH, "metadata": {**GRAPH["metadata"], "finalizers": ["example.com/backup"]}}
    (finding,) = RefusedMoveError([from_operator.report_unended(owner)]).findings
    assert (finding.code, finding.severity) == ("DYN805", "error")
    assert "its finalizers are example.com/backup; remove" in finding.message


@pytest.mark.parametrize("command", ["compare", "let-go"])
def test_without_kubectl(command, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    file = tmp_path / "objects.json"
    if command == "compare":
        file.write_text(json.dumps(GRAPH))
    done = console.run("adopt", command, *(["--save"] if command == "let-go" else []), file)
    assert done.code == 1
    assert "kubectl cannot be run" in done.err.replace("\n", " ")
