"""The GPUs of ResourceClaims in a comparison: counted where the objects show the number, and unknown otherwise, never 0."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import krm_fn
from tests.cli import console

SCHEMA = json.loads((Path(krm_fn.__file__).parent / "review" / "schemas" / "diff.json").read_text())
GRAPH = """\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: chat, namespace: team}
spec:
  components:
  - name: Worker
    type: worker
    replicas: 2
    podTemplate:
      spec:
        CLAIMS
        containers:
        - name: main
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1
          command: [python3, -m, dynamo.vllm]
          args: [--model, m]
          resources: RESOURCES
"""
LIMITS = GRAPH.replace("CLAIMS\n        ", "").replace("RESOURCES", '{limits: {nvidia.com/gpu: "4"}}')
TEMPLATE = GRAPH.replace("CLAIMS", "resourceClaims: [{name: g, resourceClaimTemplateName: gpu}]").replace(
    "RESOURCES", "{claims: [{name: g}]}"
)
SHARED = GRAPH.replace("CLAIMS", "resourceClaims: [{name: g, resourceClaimName: gpu}]").replace("RESOURCES", "{claims: [{name: g}]}")
REQUEST = "{devices: {requests: [{name: g, exactly: {deviceClassName: CLASS, count: 4}}]}}"


def claim(kind="ResourceClaimTemplate", device_class="gpu.nvidia.com", request=REQUEST):
    spec = request.replace("CLASS", device_class)
    inner = f"{{spec: {spec}}}" if kind == "ResourceClaimTemplate" else spec
    return f"---\napiVersion: resource.k8s.io/v1\nkind: {kind}\nmetadata: {{name: gpu, namespace: team}}\nspec: {inner}\n"


ALL = "{devices: {requests: [{name: g, exactly: {deviceClassName: CLASS, allocationMode: All}}]}}"
ROWS = [
    # reason, old files, new files, the column of the worker, the states with an unknown number, a word of the headline
    (
        "a template elsewhere",
        LIMITS,
        TEMPLATE,
        "8 -> unknown",
        ["after"],
        "8 GPUs before, at least 8 at the peak, an unknown number after.",
    ),
    ("a template in the input", LIMITS, TEMPLATE + claim(), "8", [], "8 after."),
    ("a template for all devices of a node", LIMITS, TEMPLATE + claim(request=ALL), "8 -> unknown", ["after"], "an unknown number after."),
    ("a template of other devices", LIMITS, TEMPLATE + claim(device_class="nic.example"), "8 -> 0", [], "8 at the peak, 0 after."),
    ("one claim for all pods", LIMITS, SHARED + claim("ResourceClaim"), "8 -> 4", [], "4 after."),
    (
        "unknown in both states",
        TEMPLATE,
        TEMPLATE.replace("1.6.1", "1.6.0"),
        "unknown",
        ["before", "after"],
        "An unknown number of GPUs before",
    ),
    ("unknown before", TEMPLATE, LIMITS, "unknown -> 8", ["before"], "An unknown number of GPUs before, at least 8 at the peak, 8 after."),
]


@pytest.mark.parametrize(("old", "new", "column", "unknown", "headline"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_the_gpus_of_a_claim(tmp_path, old, new, column, unknown, headline):
    for state, text in (("old", old), ("new", new)):
        (tmp_path / state).mkdir()
        (tmp_path / state / "graph.yaml").write_text(text)
    compare = ("diff", "--old", tmp_path / "old", tmp_path / "new")
    done = console.run(*compare)
    assert done.code == 0
    (line,) = [line for line in done.out.splitlines() if line.startswith("chat/Worker")]
    assert line.split("restarts", 1)[1].split("  graph")[0].strip().startswith(f"{column}  ")
    assert headline in done.out
    assert ("DYN675" in done.out + done.err) is ("after" in unknown)
    markdown = console.run(*compare, "--format", "markdown").out
    assert f"| {column.replace('->', '→')} |" in markdown
    report = json.loads(console.run(*compare, "--format", "json").out)
    jsonschema.Draft202012Validator(SCHEMA).validate(report)
    assert report["forecast"]["gpus"].get("unknown", []) == unknown
    gate = console.run(*compare, "--fail-on", "interrupted")
    assert gate.code == 3, "pods with GPUs stop in every row"
