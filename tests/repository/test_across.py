"""`krm-fn diff --across`: what differs between the clusters of a repository, which folders cannot be compared, and what is left out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

from krm_fn import review
from krm_fn.render import render_mark
from tests.cli import console
from tests.repository.clones import FUNCTION, GRAPH, RENDER

SCHEMA = json.loads((Path(review.__file__).parent / "schemas" / "diff.json").read_text())
OVERLAY = "namespace: prod\nresources: [../../base]\ntransformers: [render.yaml]\n"
LAYER = "resources: [../../named/{0}]\n"
BASE = {"base/graph.yaml": GRAPH, "base/kustomization.yaml": "resources: [graph.yaml]\n"}
CLUSTERS = ("clusters/a", "clusters/b", "clusters/c")


def across(*paths, arguments=()):
    """The JSON of a comparison, by the titles of its sections and the fields of their rows."""
    done = console.run("diff", "--across", *(paths or CLUSTERS), "--format", "json", *arguments)
    document = json.loads(done.out)
    jsonschema.validate(document, SCHEMA)
    sections = {
        ", ".join(section["titles"]): {
            " ".join(filter(None, (row["object"], row["field"]))): [*row["values"].values()] for row in section["rows"]
        }
        for section in document["sections"]
    }
    return done, document, sections


def overlays(clone, **files):
    """Three clusters that build the same base; `files` are the Kustomizations of some of them."""
    for cluster in ("a", "b", "c"):
        clone.put({"kustomization.yaml": files.get(cluster, OVERLAY), "render.yaml": FUNCTION}, f"clusters/{cluster}")
    return clone.put(BASE)


def settings(**spec):
    return yaml.safe_dump({**yaml.safe_load(FUNCTION), "spec": spec})


def plain(clone, **graphs):
    """Clusters of plain files, each with one graph."""
    for cluster, graph in graphs.items():
        clone.put({"graph.yaml": graph, "render.yaml": RENDER}, f"clusters/{cluster}")
    return clone


def test_equal_clusters_are_the_same(clone):
    plain(clone, a=GRAPH, b=GRAPH, c=GRAPH)
    done = console.run("diff", "--across", *CLUSTERS, "--fail-on", "changes", "--quiet")
    assert (done.code, done.out) == (0, "3 clusters with 1 Dynamo resource: a, b, c.\nThe clusters are the same.\n")


def test_fields_and_settings_explain_the_objects(clone):
    """The replicas of one cluster and the NATS address of another change objects, whose fields are left out unless --objects is given."""
    patch = "patches: [{target: {kind: DynamoGraphDeployment}, patch: '- {op: replace, path: /spec/services/Worker/replicas, value: 5}'}]\n"
    overlays(clone, b=OVERLAY + patch)
    clone.put({"clusters/c/render.yaml": settings(natsAddress="nats://c:4222")})
    done, document, sections = across(arguments=("--fail-on", "changes"))
    assert done.code == 3
    assert sections == {
        "Configuration": {"natsAddress": [None, None, "nats://c:4222"]},
        "DynamoGraphDeployment prod/chat": {"Worker replicas": [2, 5, 2]},
    }
    assert document["explained"] == 3
    assert [section["columns"] for section in document["sections"]] == [[["a", "b"], ["c"]], [["a", "c"], ["b"]]]
    _, document, sections = across(arguments=("--objects",))
    assert sections["DynamoGraphDeployment prod/chat"]["Deployment chat-worker spec.replicas"] == [2, 5, 2]
    assert document["explained"] == 0


def test_a_layer_around_the_function_is_not_explained(clone):
    """The image is an effective setting; the label is a field of an object. The replicas of the same cluster do not explain them."""
    layer = "resources: [../../named]\nlabels: [{pairs: {team: x}}]\nimages: [{name: registry.example/dynamo, newTag: 1.5.1}]\n"
    named = OVERLAY.replace("../../base", "../base")
    clone.put({**BASE, "named/kustomization.yaml": named, "named/render.yaml": FUNCTION})
    clone.put({"clusters/a/kustomization.yaml": "resources: [../../named]\n", "clusters/b/kustomization.yaml": layer})
    _, document, sections = across(*CLUSTERS[:2])
    rows = sections["DynamoGraphDeployment prod/chat"]
    assert rows["Worker image"] == ["registry.example/dynamo:1.5.0", "registry.example/dynamo:1.5.1"]
    assert rows["Deployment chat-worker metadata.labels.team"] == [None, "x"]
    assert document["explained"] == 0


def test_a_graph_of_some_clusters_is_absent_in_the_others(clone):
    other = GRAPH.replace("name: chat", "name: more")
    plain(clone, a=GRAPH, b=GRAPH + "---\n" + other, c=GRAPH + "---\n" + other)
    _, document, sections = across()
    assert sections == {"DynamoGraphDeployment default/more": {"present": [None, "present", "present"]}}
    assert document["sections"][0]["columns"] == [["a"], ["b", "c"]]


def test_graphs_that_differ_in_the_same_way_share_a_table(clone):
    """The namespace of a cluster may be another one; it is a difference of the graph."""
    both = GRAPH + "---\n" + GRAPH.replace("name: chat", "name: more")
    plain(clone, a=both, b=both.replace("replicas: 2", "replicas: 3"))
    clone.put({"clusters/b/render.yaml": RENDER + "spec: {namespace: eu}\n"})
    _, _, sections = across(*CLUSTERS[:2])
    rows = sections["DynamoGraphDeployment chat, DynamoGraphDeployment more"]
    assert rows == {"Worker replicas": [2, 3], "metadata.namespace": ["default", "eu"]}


def test_an_api_version_of_its_own_hides_no_difference(clone):
    """Graphs of both API versions are compared in one of them."""
    plain(clone, a=GRAPH, b=GRAPH)
    converted = console.run("convert", "--to", "v1beta1", "clusters/b/graph.yaml").out
    clone.put({"clusters/b/graph.yaml": converted.replace("replicas: 2", "replicas: 4")})
    _, _, sections = across(*CLUSTERS[:2])
    rows = sections["DynamoGraphDeployment default/chat"]
    assert rows["apiVersion"] == ["nvidia.com/v1alpha1", "nvidia.com/v1beta1"]
    assert rows["Worker replicas"] == [2, 4]
    assert not [name for name in rows if name.startswith("spec.services")]


def test_secrets_are_hidden_in_all_formats(clone):
    env = '      envs: [{{name: HF_TOKEN, value: "hf_{0}"}}]\n      replicas: 2\n'
    plain(clone, a=GRAPH.replace("      replicas: 2\n", env.format("one")), b=GRAPH.replace("      replicas: 2\n", env.format("two")))
    for style in ("text", "markdown", "json"):
        done = console.run("diff", "--across", *CLUSTERS[:2], "--objects", "--format", style)
        assert "(hidden)" in done.out
        assert "hf_" not in done.out + done.err


@pytest.mark.parametrize("broken", ["overlay", "graph", "file"])
def test_a_cluster_that_cannot_be_built_is_named(clone, broken):
    """The others are compared, and the exit code is 1."""
    plain(clone, a=GRAPH, b={"graph": console.MISSPELT, "file": "a: ["}.get(broken, GRAPH), c=GRAPH)
    clone.put({"clusters/a/render.yaml": RENDER + "spec: {namespace: eu}\n"})
    if broken == "overlay":
        clone.put({"clusters/b/kustomization.yaml": "resources: [missing.yaml, graph.yaml]\n"})
    done, document, sections = across(arguments=("--fail-on", "changes"))
    assert (done.code, document["clusters"]) == (1, ["a", "c"])
    assert sections["DynamoGraphDeployment chat"] == {"metadata.namespace": ["eu", "default"]}
    assert "the cluster b cannot be built" in next(entry["message"] for entry in document["findings"] if entry["code"] == "DYN524")


def test_a_rendered_file_is_a_cluster(clone):
    """The settings of its render are those in its annotations."""
    plain(clone, a=GRAPH)
    clone.put({"config.yaml": RENDER + "spec: {behaviour: v0.9}\n"})
    rendered = console.run("render", "--config", "config.yaml", "clusters/a/graph.yaml")
    assert rendered.code == 0, rendered
    clone.put({"clusters/b.yaml": rendered.out})
    _, _, sections = across("clusters/a", "clusters/b.yaml")
    assert sections["DynamoGraphDeployment default/chat"]["release"] == ["v1.5", "v0.9"]
    clone.put({"clusters/b.yaml": re.sub("rendered-by: .*", "rendered-by: edited", rendered.out)})
    _, _, sections = across("clusters/a", "clusters/b.yaml")
    assert sections["DynamoGraphDeployment default/chat"]["rendered by"] == [render_mark.program(), "edited"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--across", "clusters/a"], "krm-fn diff --across clusters/*"),
        (["--across", "clusters/a", "clusters/a/"], "at least two clusters"),
        (["--across", "clusters/a", "clusters/b", "--old", "HEAD"], "takes no --old"),
        (["--across", "clusters/a", "clusters/b", "--fail-on", "restarts"], "the only condition"),
        (["--objects", "--old", "HEAD", "clusters/a"], "--objects needs --across"),
    ],
)
def test_wrong_usage_says_what_to_write(clone, arguments, message):
    plain(clone, a=GRAPH, b=GRAPH)
    done = console.run("diff", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in " ".join(done.err.replace("│", " ").split())


def test_long_values_differ_where_they_are_cut(clone):
    long = "registry.example/" + "x" * 200
    plain(clone, a=GRAPH.replace("registry.example/dynamo:1.5.0", f"{long}:1.5.0"), b=GRAPH.replace("registry.example/dynamo", long))
    clone.edit("clusters/b/graph.yaml", f"{long}:1.5.0", f"{long}:1.5.1")
    done = console.run("diff", "--across", *CLUSTERS[:2])
    assert "…xxxxxxx:1.5.0  …xxxxxxx:1.5.1" in done.out


def test_a_comment_has_tables(clone):
    plain(clone, a=GRAPH, b=GRAPH.replace("replicas: 2", "replicas: 3"))
    done = console.run("diff", "--across", *CLUSTERS[:2], "--format", "markdown")
    assert "### What differs between the clusters\n" in done.out
    assert "| Field | a | b |\n|---|---|---|\n| `Worker replicas` | `2` | `3` |\n" in done.out
