"""A Kustomization that no longer runs krm-fn builds the graph without its objects, so an apply with pruning deletes them."""

from __future__ import annotations

import pytest

from tests.cli import console
from tests.repository.clones import FUNCTION, GRAPH, codes

OVERLAY = "resources: [../base]\ntransformers: [render.yaml]\n"
LOST = "resources: [../base]\n"


@pytest.fixture
def overlays(clone):
    """Two overlays of one graph, both with the function, in a commit."""
    clone.put({"base/graph.yaml": GRAPH, "base/kustomization.yaml": "resources: [graph.yaml]\n"})
    for name in ("prod", "test"):
        clone.put({f"{name}/kustomization.yaml": f"namespace: {name}\n{OVERLAY}", f"{name}/render.yaml": FUNCTION})
    clone.commit()
    return clone


def lose(clone, name="prod"):
    clone.put({f"{name}/kustomization.yaml": f"namespace: {name}\n{LOST}"})


def test_the_overlay_that_lost_the_function_is_named_without_an_old_state(overlays):
    """Other overlays of the same base show that the file beside it was meant."""
    lose(overlays)
    done = console.run("check")
    assert (done.code, codes(done)) == (0, ["DYN065"])
    assert "prod/render.yaml: warning DYN065" in done.out
    assert "and test with the same base does; list the file under transformers" in done.out


@pytest.mark.parametrize(
    ("text", "line", "fix"),
    [
        (FUNCTION.replace("kubernetes.io/function", "kubernetes.io/functions"), 6, "write config.kubernetes.io/function"),
        ("apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: render}\n", 3, "add the annotation"),
    ],
    ids=["a slip", "no annotation"],
)
def test_kustomize_needs_the_annotation_of_the_function(overlays, text, line, fix):
    """The configuration of the other overlay has it. A plugin for the kind works without the annotation, so alone it has no finding."""
    overlays.put({"prod/render.yaml": text})
    done = console.run("check")
    assert f"prod/render.yaml:{line}:" in done.out, done.out
    assert ("warning DYN792" in done.out, f"; {fix}\n" in done.out) == (True, True), done.out
    if line == 3:
        overlays.put({"test/render.yaml": text})
        assert "DYN792" not in console.run("check").out


def test_settings_for_a_later_render_are_a_note(overlays):
    """Without another overlay that runs krm-fn, a later step can render the build."""
    lose(overlays)
    lose(overlays, "test")
    done = console.run("check")
    assert "warning" not in done.out
    assert "prod/render.yaml: note DYN065" in done.out


@pytest.mark.parametrize("command", ["check", "diff"])
def test_a_lost_function_is_an_error_beside_the_old_state(overlays, command):
    """A render in place of the build would make the same objects, and the apply of the build deletes them."""
    lose(overlays)
    done = console.run(command, "--old", "main")
    assert (done.code, "DYN592" in codes(done)) == (1, True)
    assert "prod/kustomization.yaml:1:1: error DYN592 prod no longer builds the objects of DynamoGraphDeployment chat" in done.out
    assert "no object changes" not in done.out.partition("== test")[0]


def test_transformers_of_others_are_the_line_of_a_lost_function(overlays):
    overlays.put({"prod/kustomization.yaml": f"namespace: prod\n{LOST}transformers: []\n"})
    assert "prod/kustomization.yaml:3:1: error DYN592" in console.run("check", "--old", "main").out


@pytest.mark.parametrize("command", [("check",), ("check", "--old", "main"), ("diff", "--old", "main")], ids=" ".join)
def test_a_new_overlay_without_the_function_is_a_note(overlays, command):
    """The operator may run in its cluster."""
    overlays.put({"dev/kustomization.yaml": f"namespace: dev\n{LOST}"})
    done = console.run(*command)
    assert (done.code, codes(done)) == (0, [])
    assert "dev/kustomization.yaml:1:1: note DYN790" in done.out
    assert "and in prod it does" in done.out


@pytest.mark.parametrize("reason", ["another base", "no function at all", "a finished build", "no graph"])
def test_overlays_that_need_no_function_have_no_note(overlays, reason):
    if reason == "no function at all":
        for name in ("prod", "test"):
            lose(overlays, name)
            (overlays.folder / name / "render.yaml").unlink()
    elif reason == "another base":
        overlays.put({"dev/graph.yaml": GRAPH.replace("chat", "other"), "dev/kustomization.yaml": "resources: [graph.yaml]\n"})
    elif reason == "a finished build":
        overlays.put({"around/kustomization.yaml": "resources: [../prod]\nnamePrefix: a-\n"})
    else:
        overlays.put({"base/account.yaml": "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: x}\n"})
        overlays.put({"dev/kustomization.yaml": "resources: [../base/account.yaml]\n"})
    assert "DYN790" not in console.run("check").out


@pytest.mark.parametrize("command", ["check", "diff"])
def test_a_function_that_begins_to_run_is_none(overlays, command):
    lose(overlays)
    overlays.commit()
    overlays.put({"prod/kustomization.yaml": f"namespace: prod\n{OVERLAY}"})
    assert "DYN592" not in console.run(command, "--old", "main").out


def test_a_graph_that_leaves_with_its_objects_is_none(overlays):
    overlays.put({"prod/kustomization.yaml": "namespace: prod\nresources: []\ntransformers: [render.yaml]\n"})
    assert "DYN592" not in console.run("diff", "--old", "main").out
