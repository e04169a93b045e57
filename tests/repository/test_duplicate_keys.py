"""A key that is set twice in a file of a Kustomization: kustomize takes one of the two, and says nothing."""

from __future__ import annotations

import yaml

from tests.cli import console
from tests.repository.clones import GRAPH, codes
from tests.support.cases import cases

MERGE = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: chat}\n"
PATCH = f"{MERGE}spec:\n  services:\n    Worker:\n      replicas: 4\n"
LAYER = "namespace: prod\nresources: [../base]\npatches: [{path: more.yaml}]\n"
JSON = "- {op: replace, path: /spec/services/Worker/replicas, value: 7}"
FILES = {
    "base/graph.yaml": GRAPH,
    "base/kustomization.yaml": "resources: [graph.yaml]\n",
    "prod/kustomization.yaml": LAYER,
    "prod/more.yaml": PATCH,
}

ROWS = [
    # reason, the file, the text behind it, the location and the message of the finding, the replicas that kustomize builds
    (
        "a field of a Kustomization: the last one counts",
        "prod/kustomization.yaml",
        f"patches: [{{target: {{kind: DynamoGraphDeployment}}, patch: '{JSON}'}}]\n",
        "prod/kustomization.yaml:4:1: error DYN007 the key patches is set twice in this mapping; write the entries of both below one",
        7,
    ),
    (
        "a field of a patch: the first one counts",
        "prod/more.yaml",
        "      replicas: 5\n",
        "prod/more.yaml:8:7: error DYN007 the key replicas is set twice in this mapping; remove one of the two",
        4,
    ),
]


@cases(("file", "more", "finding", "replicas"), ROWS)
def test_a_build_with_a_key_that_is_set_twice(file, more, finding, replicas, clone):
    clone.put({**FILES, file: FILES[file] + more})
    done = console.run("check")
    assert (done.code, codes(done)) == (1, ["DYN007"]), done.out
    assert finding in done.out
    (graph,) = yaml.safe_load_all(clone.shell("kustomize", "build", "prod"))
    assert graph["spec"]["services"]["Worker"]["replicas"] == replicas


def test_a_graph_with_a_key_that_is_set_twice(clone):
    """kustomize refuses it, and counts lines of its own: the cause has the line of the file."""
    graph = GRAPH.replace("      replicas: 2\n", "      replicas: 2\n      replicas: 3\n", 1)
    clone.put({**FILES, "base/graph.yaml": graph})
    line = graph.splitlines().index("      replicas: 3") + 1
    done = console.run("check")
    assert codes(done) == ["DYN593"]
    assert f"base/graph.yaml:{line}:7: error DYN593 the root is not built: the key replicas is set twice in this mapping" in done.out
