"""kpt packages with other functions than krm-fn: what is rendered again as kpt does it, and what krm-fn says that it cannot tell.

The functions are real programs, and the real kpt runs them. krm-fn runs none of them.
"""

from __future__ import annotations

import pytest

from tests.cli import console
from tests.repository.clones import GRAPH, RENDER, codes
from tests.support.cases import cases

PACKAGE_GRAPH = GRAPH.replace("name: chat\n", "name: chat\n  namespace: team\n")
LOCAL = RENDER.replace("name: render", 'name: render, annotations: {config.kubernetes.io/local-config: "true"}')
KPTFILE = """\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata: {{name: chat}}
pipeline:
{}
"""
OURS = "  - {exec: krm-fn, configPath: render.yaml}\n"
LABEL = """\
#!/usr/bin/env python3
import sys, yaml
resources = yaml.safe_load(sys.stdin)
for item in resources["items"]:
    item["metadata"].setdefault("labels", {})["team"] = "a"
yaml.safe_dump(resources, sys.stdout, sort_keys=False)
"""
"""A function that labels every resource."""


@pytest.fixture
def package(clone, kpt, tmp_path):
    """Writes a package with a pipeline, in which `{label}` is the function, and renders it with kpt as its author does."""
    program = tmp_path / "label"
    program.write_text(LABEL)
    program.chmod(0o755)

    def write(pipeline, folder="app"):
        kptfile = KPTFILE.format(pipeline.replace("{label}", str(program)).rstrip())
        clone.put({"Kptfile": kptfile, "render.yaml": LOCAL, "graph.yaml": PACKAGE_GRAPH}, folder)
        clone.shell("kpt", "fn", "render", "--allow-exec", folder)
        return clone.commit()

    return write


VALIDATED = [
    ("only krm-fn", f"  mutators:\n{OURS}"),
    ("a validator that would change resources", f"  mutators:\n{OURS}  validators:\n  - exec: '{{label}}'\n"),
    ("krm-fn among the validators too", f"  mutators:\n{OURS}  validators:\n{OURS}  - exec: '{{label}}'\n"),
]


@cases("pipeline", VALIDATED)
def test_a_package_with_validators_is_rendered_again(pipeline, package):
    """kpt ignores what validators return, so a render without them is that of kpt."""
    clone = package(pipeline)
    done = console.run("render", "--check")
    assert (done.code, done.err) == (0, "1 committed render is up to date: app\n")
    clone.edit("app/graph.yaml", "replicas: 2", "replicas: 3")
    for command in (["render", "--check"], ["check"]):
        done = console.run(*command)
        assert (done.code, codes(done)) == (1, ["DYN063"])
    clone.shell("kpt", "fn", "render", "--allow-exec", "app")
    assert console.run("render", "--check").code == 0


def test_a_graph_that_is_kept_out_of_the_cluster_is_deleted_there(package):
    """kpt does not apply a resource with the annotation of local configuration, and prunes the object of before."""
    clone = package(f"  mutators:\n{OURS}")
    clone.put({"app/render.yaml": LOCAL + "spec: {source: local}\n"})
    done = console.run("diff", "--old", "HEAD")
    assert "1 object is deleted: DynamoGraphDeployment chat." in done.out


CHANGED = [
    ("a mutator before krm-fn", f"  mutators:\n  - exec: '{{label}}'\n{OURS}"),
    ("a mutator after krm-fn", f"  mutators:\n{OURS}  - exec: '{{label}}'\n"),
    ("a mutator for one kind", f"  mutators:\n{OURS}  - {{exec: '{{label}}', selectors: [{{kind: ConfigMap}}]}}\n"),
    ("a mutator that leaves our kinds out", f"  mutators:\n{OURS}  - {{exec: '{{label}}', exclude: [{{kind: Deployment}}]}}\n"),
    ("a mutator and a validator", f"  mutators:\n  - exec: '{{label}}'\n{OURS}  validators:\n  - exec: '{{label}}'\n"),
]


@cases("pipeline", CHANGED)
def test_a_package_with_other_mutators_cannot_be_compared(pipeline, package):
    """Any mutator can change the graph or the objects, whatever it selects, so only kpt knows the render."""
    clone = package(pipeline)
    for text in ("replicas: 2", "replicas: 3"):
        clone.edit("app/graph.yaml", "replicas: 2", text)
        done = console.run("render", "--check")
        assert (done.code, codes(done)) == (1, ["DYN721"])
        assert "kpt fn render --allow-exec app" in done.err
        assert "up to date: app" not in done.err
    assert "DYN595" in codes(console.run("check"))


def test_such_a_package_can_be_accepted(package):
    """The other committed renders are still compared, and the package is named and not called up to date."""
    clone = package(f"  mutators:\n{OURS}")
    package(f"  mutators:\n  - exec: '{{label}}'\n{OURS}", "other")
    done = console.run("render", "--check", "--accept-functions")
    assert (done.code, codes(done)) == (0, ["DYN721"])
    assert done.err.endswith("1 committed render is up to date: app\n")
    clone.edit("app/graph.yaml", "replicas: 2", "replicas: 3")
    done = console.run("render", "--check", "--accept-functions")
    assert (done.code, codes(done)) == (1, ["DYN063", "DYN721"])


def test_only_such_packages_can_be_accepted(package):
    """Nothing is compared then, and nothing is called up to date."""
    package(f"  mutators:\n  - exec: '{{label}}'\n{OURS}")
    done = console.run("render", "--check", "--accept-functions")
    assert (done.code, codes(done), "up to date:" in done.err) == (0, ["DYN721"], False)


def test_a_mutator_of_a_package_inside_counts(package):
    """kpt renders the package inside first, and its mutators may change what the outer package renders."""
    clone = package(f"  mutators:\n{OURS}")
    kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: inner}\npipeline: {mutators: [{exec: ./other}]}\n"
    clone.put({"Kptfile": kptfile}, "app/inner")
    assert codes(console.run("render", "--check")) == ["DYN721"]


def test_without_kpt_nothing_is_called_up_to_date(package, monkeypatch):
    """The package cannot be rendered again then, and no option accepts this."""
    clone = package(f"  mutators:\n{OURS}")
    monkeypatch.setenv("PATH", str(clone.folder))
    for options in ([], ["--accept-functions"]):
        done = console.run("render", "--check", *options)
        assert (done.code, codes(done)) == (1, ["DYN594"])


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("false", 0), ("true", 1)])
def test_in_ci_a_package_that_is_not_judged_fails_the_check(ci, code, package, monkeypatch):
    """On a machine of a person, kpt may be missing. A job that passes must have judged."""
    clone = package(f"  mutators:\n{OURS}")
    monkeypatch.setenv("PATH", str(clone.folder))
    monkeypatch.setenv("CI", ci)
    done = console.run("check")
    assert done.code == code
    assert f"{'error' if code else 'warning'} DYN594" in done.out


@pytest.mark.parametrize("options", [[], ["--check", "--output-dir", "out"]])
def test_the_option_is_for_the_check_of_folders(options, clone):
    clone.write(graph=PACKAGE_GRAPH)
    assert console.run("render", "--accept-functions", *options, "graph.yaml").code == 2
