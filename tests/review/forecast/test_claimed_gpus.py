"""The GPUs of ResourceClaims in a comparison: counted where the objects show the number, and unknown otherwise, never 0."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema

import krm_fn
from tests.cli import console
from tests.support.cases import cases

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
        "8 GPUs before, at least 8 at the peak, an unknown number after; 1 claim is not known.",
    ),
    ("a template in the input", LIMITS, TEMPLATE + claim(), "8", [], "8 after."),
    (
        "a template for all devices of a node",
        LIMITS,
        TEMPLATE + claim(request=ALL),
        "8 -> unknown",
        ["after"],
        "an unknown number after; 1 claim is not known.",
    ),
    ("a template of other devices", LIMITS, TEMPLATE + claim(device_class="nic.example"), "8 -> 0", [], "8 at the peak, 0 after."),
    ("one claim for all pods", LIMITS, SHARED + claim("ResourceClaim"), "8 -> 4", [], "4 after."),
    (
        "unknown in both states",
        TEMPLATE,
        TEMPLATE.replace("1.6.1", "1.6.0"),
        "unknown",
        ["before", "after"],
        "An unknown number of GPUs is interrupted. An unknown number of GPUs before, an unknown number at the peak, an unknown",
    ),
    (
        "unknown before",
        TEMPLATE,
        LIMITS,
        "unknown -> 8",
        ["before"],
        "An unknown number of GPUs before, at least 8 at the peak, 8 after; 1 claim is not known.",
    ),
]


@cases(("old", "new", "column", "unknown", "headline"), ROWS)
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


BUDGET = """\
apiVersion: config.dynamo.krm-fn.io/v1alpha1
kind: DynamoBudget
metadata: {name: gpus}
spec:
  budgets:
  - {name: all, gpus: 20, pricePerGpuHour: 2}
"""
BOTH = TEMPLATE.replace("{claims: [{name: g}]}", '{limits: {nvidia.com/gpu: "2"}, claims: [{name: g}]}')
OTHER = GRAPH.replace("name: chat,", "name: other,")
ONE_OTHER = OTHER.replace("CLAIMS", "resourceClaims: [{name: g, resourceClaimName: shared}]").replace("RESOURCES", "{claims: [{name: g}]}")
MINIMA = [
    # reason, files, GPUs of the headline and of the table of limits, the claims that are not known
    ("GPUs in limits", LIMITS, "8 GPUs", "8", "16.00", "ok", ""),
    ("a claim that is known", TEMPLATE + claim(), "8 GPUs", "8", "16.00", "ok", ""),
    ("a claim elsewhere", TEMPLATE, "an unknown number of GPUs", "unknown", "unknown", "unknown", "1 claim is not known"),
    ("limits and a claim", BOTH, "at least 4 GPUs", "at least 4", "at least 8.00", "unknown", "1 claim is not known"),
    (
        "two graphs, one template",
        BOTH + "---\n" + TEMPLATE.replace("name: chat,", "name: b,"),
        "at least 4 GPUs",
        "at least 4",
        "at least 8.00",
        "unknown",
        "1 claim is not known",
    ),
    ("two claims", BOTH + "---\n" + ONE_OTHER, "at least 4 GPUs", "at least 4", "at least 8.00", "unknown", "2 claims are not known"),
    (
        "above the limit",
        BOTH.replace('"2"', '"11"'),
        "at least 22 GPUs",
        "at least 22",
        "at least 44.00",
        "exceeded",
        "1 claim is not known",
    ),
]


@cases(("files", "sentence", "cell", "cost", "state", "claims"), MINIMA)
def test_the_headline_and_the_budget_say_the_same(tmp_path, files, sentence, cell, cost, state, claims):
    """An unknown claim is in no number, and no number looks as if it were exact."""
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "graph.yaml").write_text(files)
    (tmp_path / "budget.yaml").write_text(BUDGET)
    compare = ("diff", "--old", tmp_path / "old", tmp_path / "new", "--budget", tmp_path / "budget.yaml")
    text = console.run(*compare).out
    number = sentence.removesuffix(" GPUs").removesuffix(" of")
    assert f"0 GPUs before, {number} at the peak, {number} after{f'; {claims}' * bool(claims)}." in text
    (row,) = [line for line in text.splitlines() if line.startswith("all ")]
    assert [part.strip() for part in row.split("  ") if part.strip()] == [
        "all",
        "20",
        "0",
        cell,
        cell,
        cost,
        cost,
        state,
    ]
    report = json.loads(console.run(*compare, "--format", "json").out)
    jsonschema.Draft202012Validator(SCHEMA).validate(report)
    limit = report["budget"]["limits"][0]
    assert limit["gpus"].get("unknown", []) == report["forecast"]["gpus"].get("unknown", []) == (["after"] if claims else [])
    assert [limit["gpus"][field] for field in ("before", "peak", "after")] == [
        report["forecast"]["gpus"][field] for field in ("before", "peak", "after")
    ]
    assert ("DYN642" in text) is bool(claims)


def test_an_upgrade_says_the_same(tmp_path):
    (tmp_path / "graph.yaml").write_text(BOTH.replace("1.6.1", "1.5.1"))
    text = console.run("upgrade", tmp_path, "--to", "1.6.1").out
    assert "At least 4 GPUs are interrupted, at least 6 GPUs at the peak; 1 claim is not known." in text
    (row,) = [line for line in text.splitlines() if line.startswith("team/chat ")]
    assert re.split(r"\s{2,}", row)[3:6] == ["at least 4", "at least 4", "at least 6"]
