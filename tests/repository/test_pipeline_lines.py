"""Commits that change what a pipeline or settings elsewhere say about a folder of plain files: the line of the commit is named."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli import console
from tests.repository import commit_lines
from tests.repository.clones import APPLICATION, FLUX, GRAPH, RENDER
from tests.support.cases import cases

APP = APPLICATION.format(name="chat", path="apps/chat", namespace="team")
FLUX_APP = FLUX.format(name="chat", path="./apps/chat", kind="GitRepository", more=",\n  targetNamespace: team")
SET = """\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: apps, namespace: argocd}
spec:
  generators:
  - git: {directories: [{path: apps/*}]}
  template:
    spec:
      source: {repoURL: https://git.example/team/fleet.git, targetRevision: HEAD, path: '{{path}}'}
      destination:
        server: https://kubernetes.default.svc
        namespace: 'team-{{path.basename}}'
"""
OTHER = APP.replace("chat", "search")
KPTFILE = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: chat}\n"
ROWS = [
    ("an Application has another namespace", {"a.yaml": APP}, {"a.yaml": APP.replace("namespace: team", "namespace: other")}, {"a.yaml"}),
    ("a Kustomization of Flux has another one", {"f.yaml": FLUX_APP}, {"f.yaml": FLUX_APP.replace("team", "other")}, {"f.yaml"}),
    ("an ApplicationSet has another template", {"s.yaml": SET}, {"s.yaml": SET.replace("'team-", "'x-")}, {"s.yaml"}),
    (
        "one of two Applications in a file, and a comment",
        {"a.yaml": f"{OTHER}---\n{APP}"},
        {"a.yaml": f"# Applications\n{OTHER}---\n{APP.replace('namespace: team', 'namespace: other')}"},
        {"a.yaml"},
    ),
    ("an Application is new", {"a.yaml": OTHER}, {"a.yaml": OTHER, "b.yaml": APP}, {"b.yaml"}),
    ("an Application goes", {"a.yaml": OTHER, "b.yaml": APP}, {"b.yaml": None}, {"b.yaml"}),
    ("the only Application goes", {"a.yaml": APP}, {"a.yaml": None}, {"a.yaml"}),
    (
        "an Application names another folder",
        {"a.yaml": APP, "apps/next/graph.yaml": GRAPH.replace("replicas: 2", "replicas: 3")},
        {"a.yaml": APP.replace("apps/chat", "apps/next")},
        {"a.yaml"},
    ),
    (
        "a package of kpt without functions",
        {"a.yaml": APP, "apps/chat/Kptfile": KPTFILE},
        {"a.yaml": APP.replace("namespace: team", "namespace: other")},
        {"a.yaml"},
    ),
]


@cases(("before", "after", "files"), ROWS)
def test_the_line_of_a_pipeline_that_delivers_plain_files_is_named(before, after, files, clone):
    clone.put({"apps/chat/graph.yaml": GRAPH, "apps/search/graph.yaml": GRAPH.replace("chat", "search")})
    commit(clone, before)
    commit(clone, after)
    assert commit_lines.problems(clone) == []
    document = json.loads(console.run("diff", "--old", "HEAD~1", "--format", "json").out)
    assert {line.file for line in commit_lines.named(document)} == files
    text = console.run("diff", "--old", "HEAD~1").out
    assert "not known" not in text
    assert re.search(r"chat/Worker +(deleted|updated)", text)


def commit(clone, files):
    for name, text in files.items():
        clone.put({name: text}) if text is not None else (clone.folder / name).unlink()
    clone.commit()


def test_the_lines_of_a_pipeline_and_of_a_graph_are_told_apart(clone):
    """Two Applications deliver two folders. One commit moves one of them, and edits the other."""
    clone.put({"apps/chat/graph.yaml": GRAPH, "apps/search/graph.yaml": GRAPH.replace("chat", "search"), "a.yaml": f"{APP}---\n{OTHER}"})
    clone.commit()
    clone.put({"a.yaml": f"{APP.replace('namespace: team', 'namespace: other')}---\n{OTHER}"})
    clone.edit("apps/search/graph.yaml", "replicas: 2", "replicas: 3").commit()
    assert commit_lines.problems(clone) == []
    roots = json.loads(console.run("diff", "--old", "HEAD~1", "--format", "json").out)["roots"]
    lines = {root["root"]: {line.file for line in commit_lines.named(root)} for root in roots if root["objects"]}
    assert lines == {"apps/chat": {"a.yaml"}, "apps/search": {"apps/search/graph.yaml"}}


SETTINGS = f"{RENDER}spec: {{natsAddress: 'nats://one:4222'}}\n"
ELSEWHERE = [
    ("the option names a file", (), ("--config", "settings/render.yaml")),
    ("the project file names it", (".krm-fn.yaml",), ()),
]


@cases(("names", "options"), ELSEWHERE)
@pytest.mark.parametrize("pipelines", [{}, {"a.yaml": APP}, {"f.yaml": FLUX_APP}], ids=["no pipeline", "Argo CD", "Flux"])
def test_the_line_of_settings_in_another_folder_is_named(pipelines, names, options, clone):
    project = (
        "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoProject\nmetadata: {name: project}\nspec: {config: settings/render.yaml}\n"
    )
    clone.put({"apps/chat/graph.yaml": GRAPH, "settings/render.yaml": SETTINGS, **pipelines, **dict.fromkeys(names, project)}).commit()
    clone.edit("settings/render.yaml", "one", "two").commit()
    assert commit_lines.problems(clone, *options) == []
    document = json.loads(console.run("diff", "--old", "HEAD~1", "--format", "json", *options).out)
    assert {line.file for line in commit_lines.named(document)} == {"settings/render.yaml"}


def test_other_objects_of_a_root_that_loses_its_last_graph_stay(clone):
    """The folder is a root in both states, so its ConfigMap is not deleted."""
    configmap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes}\ndata: {a: b}\n"
    clone.put({"graph.yaml": GRAPH, "notes.yaml": configmap}, "apps/chat").put({"a.yaml": APP, "apps/search/graph.yaml": GRAPH}).commit()
    (clone.folder / "apps" / "chat" / "graph.yaml").unlink()
    text = console.run("diff", "--old", "HEAD").out
    assert "2 services are deleted: Frontend, Worker." in text
    assert "ConfigMap" not in text
