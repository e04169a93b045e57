"""What an open document is judged with: its configuration, and the build that it is a part of."""

from __future__ import annotations

import pytest

from krm_fn.review.inputs import document_checks
from tests.cli import console
from tests.support.cases import cases

RENDER = "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: render}\nspec: {natsAddress: nats://nats:4222}\n"


@pytest.fixture
def folder(tmp_path):
    """A repository with an overlay of a base, a plain folder, and a configuration at the top."""
    files = {
        ".git/HEAD": "",
        "render.yaml": RENDER,
        "base/graph.yaml": console.GRAPH,
        "base/kustomization.yaml": "resources: [graph.yaml]\n",
        "prod/patch.yaml": "kind: DynamoGraphDeployment\n",
        "prod/render.yaml": RENDER,
        "prod/kustomization.yaml": "resources: [../base]\npatches: [{path: patch.yaml}]\ntransformers: [render.yaml]\n",
        "plain/graph.yaml": console.GRAPH,
        "other/kustomization.yaml": "resources: [service.yaml]\n",
        "other/service.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


SCOPES = (
    ("a graph of a base is judged with the nearest folder", "base/graph.yaml", "render.yaml", "base", False),
    ("a patch has no findings of its own", "prod/patch.yaml", "prod/render.yaml", "prod", True),
    ("a configuration has none of its own", "prod/render.yaml", None, "prod", False),
    ("a Kustomization is only built", "prod/kustomization.yaml", "prod/render.yaml", "prod", True),
    ("a plain graph has the configuration above", "plain/graph.yaml", "render.yaml", None, False),
    ("a file that does not exist yet", "plain/new/graph.yaml", "render.yaml", None, False),
    ("a build without a Dynamo kind", "other/service.yaml", "render.yaml", None, False),
)


@cases(("name", "config", "build", "is_part"), SCOPES)
def test_the_scope_of_a_document(folder, name, config, build, is_part):
    scope = document_checks.scope(str(folder / name))
    assert scope.config == (str(folder / config) if config else None)
    assert (scope.build.paths if scope.build else None) == ((str(folder / build),) if build else None)
    assert scope.is_part == is_part


def test_a_path_that_no_file_can_have(tmp_path):
    """The document is judged alone."""
    assert document_checks.scope(f"{tmp_path}/a\0b.yaml").build is None


def test_a_bug_is_a_finding(tmp_path, monkeypatch):
    """An editor shows it at the top of the document."""
    monkeypatch.setattr("krm_fn.review.inputs.checked_inputs.load", lambda *_, **__: 1 / 0)
    scope = document_checks.scope(str(tmp_path / "graph.yaml"))
    assert [finding.code for finding in document_checks.check_alone(scope, {}).findings] == ["DYN019"]


def test_the_settings_of_an_open_configuration_count(folder):
    """The namespace of the open text decides the default namespace of the graph."""
    graph, config = str(folder / "plain/graph.yaml"), str(folder / "render.yaml")
    texts = {
        graph: console.GRAPH,
        config: RENDER.replace("}\n", ", behaviour: v0.1}\n", 2).replace("{name: render, behaviour: v0.1}", "{name: render}"),
    }
    findings = document_checks.check_alone(document_checks.scope(graph), texts).findings
    assert [finding.file for finding in findings if finding.severity == "error"] == [config]
