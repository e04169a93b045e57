"""Each documented layout is judged without any option, with the verdict of the build that its pipeline runs."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.cli import console
from tests.repository.clones import codes
from tests.support import golden
from tests.support.cases import cases
from tests.testbed import programs

FLAGS = "kustomize build --enable-alpha-plugins --enable-exec"
LAYOUTS = [
    ("A: overlays", "layout-a-overlays", ["prod-tuned", "staging"], "base/graph.yaml"),
    ("B: a component", "layout-b-component", ["broken", "prod", "staging"], "base/graph.yaml"),
    ("C: a generator", "layout-c-generator", ["."], "graph.yaml"),
    ("D: a kpt package", "layout-d-kpt", ["package", "rendered"], "package/graph.yaml"),
    ("E: a container", "layout-e-container", ["package", "prod"], "base/graph.yaml"),
    ("F: a plugin", "layout-f-legacy", ["generator", "prod"], "base/graph.yaml"),
    ("G: Argo CD", "argocd", ["llm-agg", "llm-agg-kustomize"], "llm-agg/graph.yaml"),
    ("H: Flux", "flux", ["llm-agg", "."], "llm-agg/graph.yaml"),
]


def copied(clone, layout):
    shutil.copytree(golden.EXAMPLES / layout, clone.folder, dirs_exist_ok=True)
    return clone.commit()


@pytest.mark.parametrize(("layout", "roots"), [row[1:3] for row in LAYOUTS], ids=[row[0] for row in LAYOUTS])
def test_the_roots_of_a_layout_are_judged(layout, roots, clone, kpt):
    """All are sound but the layer that shows a mistake, and the graph of the guide with missing images."""
    copied(clone, layout)
    done = console.run("check")
    assert [root for root in roots if f"{root}: " not in done.err] == []
    expected = {"layout-b-component": ["DYN060"], "flux": ["DYN205"]}.get(layout, [])
    assert [code for code in codes(done) if f"error {code}" in done.out] == expected
    assert "DYN059" not in done.out


BUILT = [
    ("A: overlays", "layout-a-overlays", "staging", "base/graph.yaml", {}),
    ("B: a component", "layout-b-component", "staging", "base/graph.yaml", {}),
    ("C: a generator", "layout-c-generator", ".", "graph.yaml", {}),
    ("E: a container", "layout-e-container", "prod", "base/graph.yaml", {}),
    ("F: a plugin", "layout-f-legacy", "prod", "base/graph.yaml", {"KUSTOMIZE_PLUGIN_HOME": "plugins"}),
    ("G: Argo CD", "argocd", "llm-agg-kustomize", "llm-agg-kustomize/graph.yaml", {}),
    ("H: Flux", "flux", "llm-agg", "llm-agg/graph.yaml", {}),
]


@cases(("layout", "root", "file", "variables"), BUILT)
def test_a_change_has_the_verdict_of_the_real_build(layout, root, file, variables, clone, monkeypatch):
    """The build of a user, with programs of the repository, gives the same effects on the same objects."""
    copied(clone, layout)
    for name, path in variables.items():
        monkeypatch.setenv(name, str(clone.folder / path))
    monkeypatch.setenv("PATH", f"{programs.ROOT / '.venv' / 'bin'}:{golden.SHIM}:{clone.path}")
    text = (clone.folder / file).read_text()
    (clone.folder / file).write_text(text.replace("memory: 2Gi", "memory: 3Gi").replace("-runtime:1.6.1", "-runtime:1.6.3", 1))
    assert (clone.folder / file).read_text() != text
    ours = json.loads(console.run("diff", "--old", "HEAD", "--format", "json").out)
    ours = next(entry for entry in ours["roots"] if entry["root"] == root) if "roots" in ours else ours
    theirs = json.loads(console.run("diff", "--old", "HEAD", "--build", f"{FLAGS} {root}", "--format", "json", ".").out)
    assert effects(ours) == effects(theirs)
    assert ours["forecast"] == theirs["forecast"]
    assert any(effect != "same" for _, effect, _ in effects(ours))


def effects(report):
    """The objects with their effects and the changed fields."""
    return sorted(
        (json.dumps(entry["object"]), entry["effect"], [field["field"] for field in entry["fields"]]) for entry in report["objects"]
    )


def test_a_changed_package_has_the_verdict_of_its_render(clone, kpt):
    copied(clone, "layout-d-kpt")
    clone.edit("rendered/graph.yaml", "replicas: 2 # one GPU each", "replicas: 3")
    done = console.run("diff", "--old", "HEAD")
    assert "2 GPUs before, 3 at the peak, 3 after." in done.out
    assert codes(done) == ["DYN063"]
