"""Findings about builds name the line that wrote the value: of a patch in a file or in a Kustomization, of a component, or of an image."""

from __future__ import annotations

import json

from krm_fn.repository.files import patch_fields
from tests.cli import console
from tests.repository.clones import FUNCTION, GRAPH
from tests.support.cases import cases

LAYER = "namespace: prod\nresources: [base]\ntransformers: [render.yaml]\n"
OPERATIONS = "- op: replace\n  path: /spec/services/Worker/replicas\n  value: -7\n"
FLOW = "- {op: replace, path: /spec/services/Worker/replicas, value: -7}"
MERGE = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: chat}
spec:
  services:
    Worker:
      replicas: -7
"""
TARGET = "target: {kind: DynamoGraphDeployment}"


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


ROWS = [
    # reason, the Kustomization of the root, further files, the file and a text of the line that a finding names
    ("the base", LAYER, {"base/graph.yaml": GRAPH.replace("replicas: 2", "replicas: -7")}, ("base/graph.yaml", "replicas: -7")),
    (
        "operations in a file",
        f"{LAYER}patches:\n- {TARGET}\n  path: fix.yaml\n",
        {"fix.yaml": OPERATIONS},
        ("fix.yaml", "value: -7"),
    ),
    ("inline operations", f"{LAYER}patches:\n- {TARGET}\n  patch: |-\n{indented(OPERATIONS)}", {}, ("kustomization.yaml", "value: -7")),
    ("an inline patch", f"{LAYER}patches:\n- patch: |-\n{indented(MERGE)}", {}, ("kustomization.yaml", "replicas: -7")),
    ("one inline operation", f"{LAYER}patches:\n- {TARGET}\n  patch: |\n    {FLOW}\n", {}, ("kustomization.yaml", FLOW)),
    ("an inline operation in quotes", f"{LAYER}patches:\n- {TARGET}\n  patch: '{FLOW}'\n", {}, ("kustomization.yaml", f"patch: '{FLOW}'")),
    ("a patch in a file", f"{LAYER}patches: [{{path: fix.yaml}}]\n", {"fix.yaml": MERGE}, ("fix.yaml", "replicas: -7")),
    (
        "operations of a component",
        f"{LAYER}components: [part]\n",
        {
            "part/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
            f"patches: [{{path: fix.yaml, {TARGET}}}]\n",
            "part/fix.yaml": OPERATIONS,
        },
        ("part/fix.yaml", "value: -7"),
    ),
]


@cases(("layer", "files", "expected"), ROWS)
def test_a_finding_names_the_line_that_wrote_the_value(layer, files, expected, clone):
    clone.put({"base/graph.yaml": GRAPH, "base/kustomization.yaml": "resources: [graph.yaml]\n", "render.yaml": FUNCTION})
    clone.put({"kustomization.yaml": layer, **files}).commit()
    findings = json.loads(console.run("check", "--format", "json").out)["findings"]
    errors = [finding for finding in findings if finding["severity"] == "error" and "replicas" in finding["field"]]
    lines = {
        (finding["file"], (clone.folder / finding["file"]).read_text().splitlines()[finding["line"] - 1].strip()) for finding in errors
    }
    assert lines == {expected}


BUILT = {
    "metadata": {"namespace": "team", "labels": {"area": "chat"}, "annotations": {"owner": "me"}},
    "spec": {
        "list": ["a", "b"],
        "map": {"a/b": "c", "image": "registry.example/dynamo:2"},
        "named": [{"name": "worker", "args": ["--x"]}, {"name": "frontend"}],
    },
}
MOVED = {"op": "add", "path": "/spec/named/1/args/-", "value": "--x"}
FIELDS = [
    # reason, the patch, the path in the built resource, the path in the patch
    ("the last operation", [{"op": "add", "path": "/spec/list/0", "value": "a"}] * 2, ("spec", "list", 0), (1, "value")),
    ("the end of a list", [{"op": "add", "path": "/spec/list/-", "value": "b"}], ("spec", "list", 1), (0, "value")),
    ("below the value", [{"op": "add", "path": "/spec/map", "value": {"a/b": "c"}}], ("spec", "map", "a/b"), (0, "value", "a/b")),
    ("an escaped step", [{"op": "replace", "path": "/spec/map/a~1b", "value": "c"}], ("spec", "map", "a/b"), (0, "value")),
    ("an entry that another patch moved", [MOVED], ("spec", "named", 0, "args", 0), (0, "value")),
    ("two entries that another patch moved", [MOVED, MOVED], ("spec", "named", 0, "args", 0), None),
    ("another value", [{"op": "replace", "path": "/spec/map/a~1b", "value": "d"}], ("spec", "map", "a/b"), None),
    ("another operation", [{"op": "test", "path": "/spec/list/0", "value": "a"}], ("spec", "list", 0), None),
    ("no operation", ["a", {"op": "add"}, {"op": "add", "path": 7}], ("spec", "list", 0), None),
    ("an image", {"images": [{"name": "registry.example/dynamo", "newTag": "2"}]}, ("spec", "map", "image"), ("images", 0, "newTag")),
    ("a namespace", {"namespace": "team"}, ("metadata", "namespace"), ("namespace",)),
    ("another namespace", {"namespace": "other"}, ("metadata", "namespace"), None),
    ("a label", {"commonLabels": {"area": "chat"}}, ("metadata", "labels", "area"), ("commonLabels", "area")),
    ("one of pairs", {"labels": [{"pairs": {"area": "chat"}}]}, ("metadata", "labels", "area"), ("labels", 0, "pairs", "area")),
    ("an annotation", {"commonAnnotations": {"owner": "me"}}, ("metadata", "annotations", "owner"), ("commonAnnotations", "owner")),
    ("fields of any type", {"namespace": [], "labels": 3, "images": {"a": 1}}, ("metadata", "labels", "area"), None),
    ("a part of a resource", {"spec": {"list": ["a"]}}, ("spec", "list", 0), ("spec", "list", 0)),
    ("a missing field", {"spec": {"list": ["a"]}}, ("spec", "other"), None),
]


@cases(("patch", "path", "expected"), FIELDS)
def test_the_field_of_a_patch_that_wrote_a_value(patch, path, expected):
    assert patch_fields.find(patch, BUILT, path) == expected
