"""A comparison names the line of a patch that makes a change: the value of an operation or of a field, and never its target."""

from __future__ import annotations

import json
from typing import Any

from tests.cli import console
from tests.repository.clones import FUNCTION
from tests.repository.test_change_lines import GRAPH
from tests.support.cases import cases

LAYER = "namespace: prod\nresources: [base]\nopenapi: {path: dynamo.json}\n"
RENDER = "transformers: [render.yaml]\n"
TARGET = "- target:\n    kind: DynamoGraphDeployment\n    name: chat\n"
ARGUMENTS = """\
- op: replace
  path: /spec/components/1/podTemplate/spec/containers/0/args/1
  value: Qwen/Qwen3-14B
- op: replace
  path: /spec/components/2/podTemplate/spec/containers/0/args/1
  value: Qwen/Qwen3-14B
"""
ONE = "".join(ARGUMENTS.splitlines(keepends=True)[3:])
MERGE = """\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: chat}
spec:
  components:
  - name: Prefill
    podTemplate:
      spec:
        containers:
        - name: main
          env:
          - {name: TUNED, value: "yes"}
  - name: Decode
    podTemplate:
      spec:
        containers:
        - name: main
          env:
          - {name: TUNED, value: "yes"}
"""
REPLICAS = """\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: chat}
spec:
  components:
  - {name: Decode, replicas: 3}
"""


def inline(text: str) -> str:
    return "  patch: |-\n" + "".join(f"    {line}\n" for line in text.splitlines())


def patched(*entries: str) -> str:
    return LAYER + "patches:\n" + "".join(entries) + RENDER


ROWS = [
    # reason, the old and the new Kustomization, new files, the lines of the changes in Prefill and in Decode, their file
    ("two inline operations with one value", LAYER + RENDER, patched(TARGET, inline(ARGUMENTS)), {}, (11, 14), "kustomization.yaml"),
    ("the target behind the operations", LAYER + RENDER, patched("- " + inline(ARGUMENTS)[2:], TARGET.replace("- ", "  ")), {}, (8, 11),
     "kustomization.yaml"),
    ("one inline operation", LAYER + RENDER, patched(TARGET, inline(ONE)), {}, (None, 11), "kustomization.yaml"),
    ("another operation of an inline patch", patched(TARGET, inline(ARGUMENTS.removesuffix(ONE))), patched(TARGET, inline(ARGUMENTS)), {},
     (None, 13), "kustomization.yaml"),  # the old state has the line of the value, too
    ("an inline merge patch", LAYER + RENDER, patched("- " + inline(MERGE)[2:]), {}, (17, 24), "kustomization.yaml"),
    ("a merge patch in a new file", LAYER + RENDER, patched("- path: tuning.yaml\n"), {"tuning.yaml": MERGE}, (12, 19), "tuning.yaml"),
    ("an operation in a new file", LAYER + RENDER, patched(TARGET, "  path: tuning.yaml\n"), {"tuning.yaml": ONE}, (None, 3),
     "tuning.yaml"),
    ("an inline operation before a patch that moves components", patched("- path: scale.yaml\n"),
     patched(TARGET, inline(ARGUMENTS), "- path: scale.yaml\n"), {"scale.yaml": REPLICAS}, (11, 14), "kustomization.yaml"),
]  # fmt: skip


@cases(("old", "new", "files", "lines", "file"), ROWS)
def test_the_lines_of_patches(old, new, files, lines, file, clone):
    base = {"base/graph.yaml": GRAPH, "base/kustomization.yaml": "resources: [graph.yaml]\n", "render.yaml": FUNCTION}
    kept = {name: text for name, text in files.items() if name in old}
    clone.put({**base, **kept, "dynamo.json": console.run("schema", "--for", "kustomize").out, "kustomization.yaml": old}).commit()
    clone.put({**files, "kustomization.yaml": new}).commit()
    document = json.loads(console.run("diff", "--old", "HEAD~1", "--format", "json").out)
    objects = document.get("roots", [document])[0]["objects"]
    fields = {entry["object"]["name"]: entry["fields"] for entry in objects if entry["object"]["kind"] == "Deployment"}
    for name, line in zip(("chat-prefill", "chat-decode"), lines, strict=True):
        in_pod = [field for field in fields[name] if ".containers[" in field["field"] and not _is_hash(field)]
        assert [_lines(field) for field in in_pod] == ([{(file, line)}] if line else [])
        hashes = [_lines(field) for field in fields[name] if _is_hash(field)]
        assert hashes
        assert all(named == {(file, line) for line in lines if line} for named in hashes)


def _is_hash(field: dict[str, Any]) -> bool:
    return "worker-hash" in field["field"] or len(str(field["new"])) == 8


def _lines(field: dict[str, Any]) -> set[tuple[str, int]]:
    return {(origin["file"], origin["line"]) for origin in field["madeBy"]}
