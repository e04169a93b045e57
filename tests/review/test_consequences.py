"""`krm-fn check` has one error for one mistake: it leaves out what a misspelt field or a broken command causes."""

from __future__ import annotations

from krm_fn.kubernetes import paths
from krm_fn.render.config import Config
from krm_fn.review import resource_findings
from tests.support import beta, given
from tests.support.cases import cases


def mounted(**mount):
    return given.graph({"Worker": given.service("worker", volumeMounts=[mount])}, pvcs=[{"name": "models", "create": False}])


def variable(**source):
    return beta.graph(beta.component("Worker", main={"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", **source}}}]}))


def command(written):
    return beta.graph(beta.component("Worker", main={"command": written, "args": ["--model", "m"]}))


def args(*words):
    image = "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1"
    main = {"image": image, "command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "m", *words]}
    return beta.graph(beta.component("Worker", main={**main, "resources": {"limits": {"nvidia.com/gpu": "8"}}}))


def gpus(resources):
    graph = args("--tensor-parallel-size", "8")
    return paths.replaced(graph, ("spec", "components", 0, "podTemplate", "spec", "containers", 0, "resources"), resources)


ROWS = [
    ("a required field with another name", mounted(name="models", mountPath="/m"), ["DYN023"]),
    ("the same of Kubernetes", variable(keys="k"), ["DYN029"]),
    ("a required field that is missing", variable(), ["DYN022"]),
    ("an unknown field of another meaning", variable(zone="z"), ["DYN022", "DYN029"]),
    ("a command that is no list", command("python3 -m dynamo.vllm"), ["DYN021"]),
    ("an argument that is a number", args("--tensor-parallel-size", 8), ["DYN021"]),
    ("GPUs beside limits", gpus({"nvidia.com/gpu": "8"}), ["DYN029"]),
    ("GPUs under a misspelt field", gpus({"limit": {"nvidia.com/gpu": "8"}}), ["DYN029"]),
    ("too few GPUs", gpus({"limits": {"nvidia.com/gpu": "2"}}), ["DYN612"]),
    ("a list without a program", command([]), ["DYN623"]),
]


@cases(("graph", "codes"), ROWS)
def test_a_mistake_has_one_error(graph, codes):
    findings = resource_findings.check([graph], Config(), is_configured=False)
    assert sorted(finding.code for finding in findings if finding.severity == "error") == codes
