"""The project file `.krm-fn.yaml` and a configuration above a folder give the settings that options would repeat."""

from __future__ import annotations

import json

from tests.cli import console
from tests.repository.clones import GRAPH, README, RENDER, codes
from tests.support.cases import cases

HEAD = "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoProject\nmetadata: {name: project}\n"
NODES = '{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {}}]}'
GROVE = f"{RENDER}spec: {{orchestrator: grove}}\n"


def project(clone, spec):
    return clone.put({".krm-fn.yaml": f"{HEAD}spec: {spec}\n"})


def test_settings_replace_options(clone):
    """The namespace, the configuration, and what is not read."""
    clone.put({"teams/a/graph.yaml": GRAPH, "teams/a/draft/bad.yaml": console.MISSPELT, "settings/render.yaml": GROVE})
    assert "DYN023" in codes(console.run("check", "teams/a"))
    project(clone, "{config: settings/render.yaml, namespace: team, exclude: [draft]}")
    assert console.run("check", "teams/a").code == 0
    rendered = console.run("render", "teams/a").out
    assert "kind: PodCliqueSet" in rendered
    assert "namespace: team" in rendered


def test_options_win(clone):
    clone.put({"graph.yaml": GRAPH, "grove.yaml": GROVE, "plain.yaml": RENDER})
    project(clone, "{config: grove.yaml, namespace: team}")
    rendered = console.run("render", "graph.yaml", "--config", "plain.yaml", "--namespace", "other").out
    assert "namespace: other" in rendered
    assert "PodCliqueSet" not in rendered


def test_a_finished_build_keeps_its_own_settings(clone):
    """A build says how it was rendered; the configuration of the project is that of sources."""
    clone.put(README).put({"grove.yaml": GROVE}, "settings")
    project(clone, "{config: settings/grove.yaml}")
    done = console.run("check")
    assert (done.code, codes(done)) == (0, [])


def test_the_origins_of_the_settings_are_shown(clone):
    clone.put({"a/graph.yaml": GRAPH, "render.yaml": RENDER})
    assert console.run("check", "--show-config", "a").out.splitlines() == [
        "project file: none",
        "config: render.yaml  (above the folder)",
        "namespace: none",
        "nodes: none",
        "budget: none",
    ]
    project(clone, "{namespace: team, exclude: [x], roots: [{path: a}]}")
    done = console.run("diff", "--show-config", "--namespace", "own", "--exclude", "y")
    assert done.out.splitlines() == [
        "project file: .krm-fn.yaml",
        "config: none",
        "namespace: own  (--namespace)",
        "exclude: y  (--exclude)",
        "exclude: x  (.krm-fn.yaml)",
        "nodes: none",
        "budget: none",
        "root: a  (.krm-fn.yaml)",
    ]


def test_a_configuration_above_the_folder_is_used(clone):
    """The nearest one, of the same repository, unless the folder has its own. A change of it is part of the comparison."""
    clone.put(
        {"graphs/render.yaml": f"{RENDER}spec: {{natsAddress: 'nats://one'}}\n", "graphs/a/b/graph.yaml": GRAPH, "render.yaml": GROVE}
    )
    clone.commit()
    assert "nats://one" in console.run("render", "graphs/a/b").out
    clone.edit("graphs/render.yaml", "one", "two")
    done = console.run("diff", "--old", "HEAD", "graphs/a/b")
    assert "2 of 2 services restart" in done.out
    assert '"nats://one" -> "nats://two"' in done.out
    clone.put({"graphs/a/b/render.yaml": RENDER})
    assert "nats" not in console.run("render", "graphs/a/b").out


def test_the_roots_of_the_project_are_the_only_ones(clone):
    clone.put(README, "apps/a").put(README, "apps/b").put({"graph.yaml": GRAPH}, "plain").put({"graph.yaml": GRAPH}, "other").commit()
    project(clone, "{roots: [{path: apps/a}, {path: plain, namespace: team}]}")
    done = console.run("check")
    assert done.err.splitlines()[:2] == [
        "apps/a: built with kustomize: the project file names it",
        "plain: read as plain files: the project file names it",
    ]
    clone.edit("plain/graph.yaml", "replicas: 2", "replicas: 3").edit("apps/b/graph.yaml", "replicas: 2", "replicas: 3")
    report = json.loads(console.run("diff", "--old", "HEAD", "--format", "json").out)
    assert {entry["object"]["namespace"] for root in report["roots"] for entry in root["objects"]} == {"team"}


def test_the_nodes_of_the_project_are_those_of_the_comparison(clone):
    clone.put({"graph.yaml": GRAPH, "nodes.json": NODES})
    project(clone, "{nodes: nodes.json, exclude: [nodes.json]}").commit()
    assert json.loads(console.run("diff", "--old", "HEAD", "--format", "json").out)["forecast"]["gpus"]["free"] == 0


WRONG = [
    ("an unknown field", f"{HEAD}spec: {{namespaces: a}}\n", "DYN023"),
    ("a wrong type", f"{HEAD}spec: {{exclude: a}}\n", "DYN021"),
    ("another kind", RENDER, "DYN598"),
    ("several documents", f"{HEAD}---\n{HEAD}", "DYN598"),
    ("not YAML", "a: [", "DYN004"),
    ("a missing file", f"{HEAD}spec: {{config: none.yaml}}\n", "DYN598"),
    ("a file outside of the repository", f"{HEAD}spec: {{config: /etc/passwd}}\n", "DYN598"),
    ("a file above the repository", f"{HEAD}spec: {{nodes: ../hush}}\n", "DYN598"),
    ("a root outside of the repository", f"{HEAD}spec: {{roots: [{{path: ..}}]}}\n", "DYN598"),
]


@cases(("text", "code"), WRONG)
def test_a_wrong_project_file_stops_every_command(text, code, clone):
    clone.put({"graph.yaml": GRAPH, ".krm-fn.yaml": text})
    (clone.folder.parent / "hush").write_text("hush")
    for verb in ("check", "render"):
        done = console.run(verb, "graph.yaml")
        assert (done.code, done.out, codes(done)) == (1, "", [code])
    assert "hush" not in done.err.replace("../hush", "")


def test_a_linked_project_file_is_not_followed(clone):
    clone.put({"graph.yaml": GRAPH})
    (clone.folder / ".krm-fn.yaml").symlink_to("/etc/passwd")
    done = console.run("check", "graph.yaml")
    assert (done.code, codes(done)) == (1, ["DYN598"])
    assert "root" not in done.err


def test_a_file_above_the_repository_does_not_count(clone):
    (clone.folder.parent / ".krm-fn.yaml").write_text("a: [")
    (clone.folder.parent / "render.yaml").write_text(GROVE)
    clone.put({"graph.yaml": GRAPH})
    assert console.run("check", ".").code == 0
    assert "PodCliqueSet" not in console.run("render", ".").out
