"""A comparison judges the graphs of builds, whose objects the function has made, as `krm-fn check` does."""

from __future__ import annotations

from tests.cli import console
from tests.repository.clones import FUNCTION, codes
from tests.repository.test_unmatched_entries import GRAPH, MERGE
from tests.support.cases import cases

ROWS = [
    # reason, the text of the base, the text of the patch, the code and the location
    ("a misspelt flag", ("--model,", "--modle,"), ("", ""), "base/graph.yaml:17:18: error DYN600"),
    ("a patch with a slip", ("", ""), ("Worker", "Wroker"), "prod/fix.yaml:5:16: error DYN591"),
]


@cases(("base", "patch", "expected"), ROWS)
def test_a_comparison_has_the_findings_of_a_check(base, patch, expected, clone):
    files = {
        "base/graph.yaml": GRAPH,
        "base/kustomization.yaml": "resources: [graph.yaml]\n",
        "prod/render.yaml": FUNCTION,
        "prod/openapi.json": console.run("schema", "--for", "kustomize").out,
        "prod/fix.yaml": MERGE + "  components: [{name: Worker, replicas: 2}]\n",
        "prod/kustomization.yaml": "namespace: prod\nresources: [../base]\nopenapi: {path: openapi.json}\n"
        "patches: [{path: fix.yaml}]\ntransformers: [render.yaml]\n",
    }
    clone.put(files).commit()
    clone.put({"base/graph.yaml": GRAPH.replace(*base), "prod/fix.yaml": files["prod/fix.yaml"].replace(*patch)})
    checked, compared = console.run("check"), console.run("diff", "--old", "main")
    assert expected in checked.out
    assert expected in compared.out
    assert compared.code == 1
    assert {*codes(compared)} - {*codes(checked)} <= {"DYN402", "DYN510"}  # a removed component, and objects that are not compared
