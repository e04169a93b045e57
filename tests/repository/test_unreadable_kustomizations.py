"""A Kustomization that cannot be read is a root that is not known: its file and line are named, and its bases stay bases."""

from __future__ import annotations

import json

import pytest

from tests.cli import console
from tests.repository.clones import FLUX, FUNCTION, GRAPH, codes
from tests.support.cases import cases

OVERLAY = "namespace: prod\nresources:\n- ../../base\ntransformers: [render.yaml]\n"
PROD, BASE = "overlays/prod/kustomization.yaml", "base/kustomization.yaml"
BROKEN = [
    ("a list that does not end", f"{OVERLAY}images: [\n", f"{PROD}:6:"),
    ("a tab", OVERLAY.replace("- ../", "\t- ../"), f"{PROD}:3:"),
    ("a merge that is not done", f"<<<<<<< HEAD\n{OVERLAY}=======\nresources: [../../base]\n>>>>>>> other\n", f"{PROD}:1:"),
    ("a quoted path", 'resources: ["../../base"\ntransformers: [render.yaml]\n', f"{PROD}:2:"),
    ("two documents", f"{OVERLAY}---\n{OVERLAY}", f"{PROD}: "),
    ("a list", "- ../../base\n- render.yaml\n", f"{PROD}: "),
]


@pytest.fixture
def overlays(clone):
    """Two overlays of one base, whose graph has a namespace."""
    graph = GRAPH.replace("metadata:\n", "metadata:\n  namespace: team\n")
    clone.put({"graph.yaml": graph, "kustomization.yaml": "resources: [graph.yaml]\n"}, "base")
    for name in ("prod", "staging"):
        clone.put({"kustomization.yaml": OVERLAY.replace("prod", name), "render.yaml": FUNCTION}, f"overlays/{name}")
    return clone.commit()


def assert_only_prod_is_unknown(location):
    """Nothing is deleted or created, and the finding is at the file that cannot be read."""
    done = console.run("diff", "--old", "HEAD", "--format", "json")
    roots = {root["root"]: root for root in json.loads(done.out)["roots"]}
    assert (done.code, {*roots}) == (1, {"overlays/prod", "overlays/staging"})
    assert [entry for root in roots.values() for entry in root["objects"]] == []
    assert location in console.run("diff", "--old", "HEAD").out
    assert console.run("diff", "--old", "HEAD", "--fail-on", "deleted,restarts").code == 1


@cases(("text", "location"), BROKEN)
def test_a_base_of_a_kustomization_that_cannot_be_read_stays_a_base(text, location, overlays):
    overlays.edit(PROD, OVERLAY, text).edit("overlays/staging/kustomization.yaml", "- ../../base", "- ../../other")
    overlays.put({"graph.yaml": GRAPH, "kustomization.yaml": "resources: [graph.yaml]\n"}, "other")
    done = console.run("check", notes=True)
    assert (done.code, codes(done)) == (1, ["DYN593"])
    assert location in done.out
    assert "base: built" not in done.err
    overlays.git("checkout", "overlays/staging")
    overlays.git("clean", "-fdq", "other")
    assert_only_prod_is_unknown(location)


def test_the_old_state_knows_the_base_of_an_empty_kustomization(overlays):
    overlays.put({PROD: ""}).edit("overlays/staging/kustomization.yaml", "- ../../base", "- ../../other")
    overlays.put({"graph.yaml": GRAPH, "kustomization.yaml": "resources: [graph.yaml]\n"}, "other")
    roots = [root["root"] for root in json.loads(console.run("diff", "--old", "HEAD", "--format", "json").out)["roots"]]
    assert roots == ["overlays/prod", "overlays/staging"]


def test_a_repaired_kustomization_has_the_root_of_before(overlays):
    """The old state cannot be read, so nothing is called new."""
    overlays.put({PROD: f"{OVERLAY}images: [\n"}).commit()
    overlays.put({PROD: OVERLAY})
    text = console.run("diff", "--old", "HEAD").out
    assert "created" not in text
    assert "== base" not in text


def test_a_base_that_cannot_be_read_is_an_error_of_the_roots_that_include_it(overlays):
    """The files beside it are not called unlisted, because nobody knows what it lists."""
    overlays.put({BASE: "resources: [graph.yaml\n"})
    done = console.run("check", notes=True)
    assert (done.code, codes(done)) == (1, ["DYN593"])
    assert f"{BASE}:2:" in done.out
    assert "DYN065" not in done.out + done.err
    assert "deleted" not in console.run("diff", "--old", "HEAD").out


def test_a_base_that_a_pipeline_names_is_a_root_of_its_own(overlays):
    overlays.put({"flux.yaml": FLUX.format(name="chat", path="./base", kind="GitRepository", more="")}, "flux").commit()
    overlays.put({PROD: f"{OVERLAY}images: [\n"}).edit("base/graph.yaml", "replicas: 2", "replicas: 3")
    roots = {root["root"]: root for root in json.loads(console.run("diff", "--old", "HEAD", "--format", "json").out)["roots"]}
    assert [name for name, root in roots.items() if root["objects"]] == ["base", "overlays/staging"]
