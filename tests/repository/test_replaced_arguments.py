"""A patch that replaces all arguments of a container is named, if a finding says that a flag which it lost is missing."""

from __future__ import annotations

import re

import pytest

from tests.cli import console
from tests.repository.test_change_lines import GRAPH
from tests.support.cases import cases

LAYER = "namespace: prod\nresources: [../base]\nopenapi: {path: dynamo.json}\npatches:\n"
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
          args: %s
"""
OPERATION = "- op: replace\n  path: /spec/components/1/podTemplate/spec/containers/0/args\n  value: %s\n"
ADDED = "- op: add\n  path: /spec/components/1/podTemplate/spec/containers/0/args/-\n  value: --max-model-len=32768\n"
IN_FILE = "- path: fix.yaml\n  target: {kind: DynamoGraphDeployment}\n"
MODEL, MODE = "--model, Qwen/Qwen3-8B", "--disaggregation-mode, prefill"
TRANSFER = """--kv-transfer-config, '{"kv_connector":"NixlConnector","kv_role":"kv_producer"}'"""
LOST = "this patch replaces args as a whole, so Prefill loses {}; write them into the patch too"
ROWS = [
    # reason, the patch, its text with some arguments, the line of the patch, the flags in the finding; empty for none
    ("a merge patch", MERGE % '[--max-model-len, "32768"]', 11, "--model, --disaggregation-mode and --kv-transfer-config"),
    ("a merge patch without the mode", MERGE % f"[{MODEL}, {TRANSFER}]", 11, "--disaggregation-mode"),
    ("an operation on the list", OPERATION % f"[{MODE}, {TRANSFER}]", 3, "--model"),
    ("all arguments", MERGE % f"[{MODEL}, {MODE}, {TRANSFER}, --max-model-len, '32768']", 0, ""),
    ("an operation on one word", ADDED, 0, ""),
]


def put(clone, patch: str, graph: str = GRAPH) -> None:
    clone.put({"base/graph.yaml": graph, "base/conf.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\n"})
    clone.put({"base/kustomization.yaml": "resources: [graph.yaml, conf.yaml]\n", "prod/kustomization.yaml": LAYER + IN_FILE})
    clone.put({"prod/fix.yaml": patch, "prod/dynamo.json": console.run("schema", "--for", "kustomize").out})


@cases(("patch", "line", "flags"), ROWS)
def test_flags_that_a_patch_loses(patch, line, flags, clone):
    put(clone, patch)
    found = re.findall(r"(\S+): warning DYN791 \S+ (.*)", console.run("check").out)
    assert [(where.rpartition(":")[0], message.partition(", or change")[0]) for where, message in found] == (
        [(f"prod/fix.yaml:{line}", LOST.format(flags))] if flags else []
    )


def test_the_findings_about_lost_flags_are_left_out(clone):
    put(clone, MERGE % '[--max-model-len, "32768"]')
    for done in (console.run("check"), console.run("diff", "--old", clone.commit().git("rev-parse", "HEAD").strip(), "--all")):
        assert "DYN791" in done.out
        assert not re.search("DYN702|DYN718", done.out), done.out


def test_flags_that_the_base_lacks_too_are_findings_about_the_base(clone):
    put(clone, ADDED, GRAPH.replace(f"{MODEL}, {MODE}", MODE))
    out = console.run("check").out
    assert re.search(r"base/graph.yaml:\d+:\d+: warning DYN718", out), out
    assert "DYN791" not in out


@pytest.mark.parametrize("is_optional", [True, False])
def test_a_flag_without_a_finding_may_go(is_optional, clone):
    graph = GRAPH.replace(MODEL, f"{MODEL}, --enforce-eager")
    put(clone, MERGE % f"[{MODEL}, {MODE}, {TRANSFER}]" if is_optional else MERGE % f"[{MODE}, {TRANSFER}]", graph)
    assert ("DYN791" in console.run("check").out) == (not is_optional)
