"""Files of TensorRT-LLM that are keys of a ConfigMap: misspelt fields, and sizes beyond the GPUs of the worker."""

from __future__ import annotations

from typing import Any

import yaml

from krm_fn.render.config import Config
from krm_fn.review import resource_findings
from tests.cli import console
from tests.support import beta, given
from tests.support.cases import cases

IMAGE = "nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:1.5.1"
FILE = ["--extra-engine-args", "/etc/trt/agg.yaml"]


def worker(*flags: str, gpus: str = "8", mount: Any = None, **fields: Any) -> Any:
    main = {
        "image": IMAGE,
        "command": ["python3", "-m", "dynamo.trtllm"],
        "args": ["--model", "m", *flags],
        "resources": {"limits": {"nvidia.com/gpu": gpus}},
        "volumeMounts": [{"name": "trt", "mountPath": "/etc/trt", **(mount or {})}],
    }
    return beta.component("Worker", main=main, pod={"volumes": [{"name": "trt", "configMap": {"name": "trt"}}]}, **fields)


def found(text: str, component: Any, key: str = "agg.yaml") -> list[tuple[str, str]]:
    """The code and the remedy of the findings at the ConfigMap."""
    config_map = given.item("ConfigMap", "trt", data={key: text})
    findings = resource_findings.check([config_map, beta.graph(component)], Config(), is_configured=False)
    return [(finding.code, finding.message.partition("; ")[2]) for finding in findings if finding.ref and finding.ref.kind == "ConfigMap"]


DOCUMENTS = [
    ("a slip", "tensor_paralel_size: 8\n", ("DYN696", "write tensor_parallel_size")),
    ("a switch without its verb", "chunked_prefill: true\n", ("DYN696", "write enable_chunked_prefill")),
    ("a slip in an object", "kv_cache_config:\n  free_gpu_memory_fracton: 0.8\n", ("DYN696", "write free_gpu_memory_fraction")),
    ("a percentage", "kv_cache_config:\n  free_gpu_memory_fraction: 85\n", ("DYN644", "write 0.85")),
    ("a share above 1", "kv_cache_config:\n  free_gpu_memory_fraction: 1.5\n", ("DYN644", "write 0.9")),
    ("a share", "kv_cache_config:\n  free_gpu_memory_fraction: 0.85\n", ()),
    ("a share in another object", "own_config:\n  free_gpu_memory_fraction: 85\n", ()),
    ("known fields", "tensor_parallel_size: 8\nkv_cache_config:\n  enable_block_reuse: false\n", ()),
    ("a field of another release", "own_field_of_a_release: 3\n", ()),
    ("both names", "tensor_parallel_size: 8\ntensor_parallel_sizes: 8\n", ()),
    ("more GPUs", "tensor_parallel_size: 16\n", ("DYN612", "write tensor_parallel_size: 8")),
    ("more GPUs with two sizes", "tensor_parallel_size: 8\npipeline_parallel_size: 2\n", ("DYN612", "write tensor_parallel_size: 4")),
    ("more GPUs by no round number", "tensor_parallel_size: 12\n", ("DYN612", "write tensor_parallel_size: 8")),
    ("fewer GPUs", "tensor_parallel_size: 4\n", ()),
    ("other GPUs per node", "tensor_parallel_size: 16\ngpus_per_node: 4\n", ()),
    ("no object", "- a\n", ()),
    ("flow style", "{tensor_paralel_size: 8}\n", ()),
    ("no YAML", "a: [\n", ()),
    ("fields of any type", "3: a\nkv_cache_config: 4\ntensor_parallel_size: many\n", ()),
]


@cases(("text", "finding"), DOCUMENTS)
def test_documents_of_a_worker(text, finding):
    assert found(text, worker(*FILE)) == [finding] * bool(finding)


WORKERS = [
    ("that names another file", worker("--extra-engine-args", "/etc/trt/other.yaml")),
    ("without the flag", worker()),
    ("with one file mounted", worker(*FILE, mount={"subPath": "agg.yaml"})),
    ("on two nodes", worker("--extra-engine-args", "/etc/trt/agg.yaml", multinode={"nodeCount": 2})),
]


@cases("component", WORKERS)
def test_other_workers_read_another_document(component):
    assert found("tensor_parallel_size: 16\n", component) == []


def test_a_worker_without_gpus():
    fix = 'add nvidia.com/gpu: "2" to resources.limits of main'
    component = worker(*FILE)
    del component["podTemplate"]["spec"]["containers"][0]["resources"]
    assert found("tensor_parallel_size: 2\n", component) == [("DYN612", fix)]


def test_a_flag_counts_beside_the_document():
    assert found("pipeline_parallel_size: 2\n", worker(*FILE, "--tensor-parallel-size", "8")) == [
        ("DYN612", "write pipeline_parallel_size: 1")
    ]


def test_a_finding_is_at_the_line_of_its_field(tmp_path):
    graph, config_map = (
        beta.graph(worker(*FILE)),
        given.item("ConfigMap", "trt", data={"agg.yaml": "max_batch_size: 4\ntensor_parallel_size: 16\n"}),
    )
    lines = "".join(f"    {line}\n" for line in config_map["data"]["agg.yaml"].splitlines())
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: trt}\ndata:\n  agg.yaml: |\n"
    (tmp_path / "a.yaml").write_text(f"{head}{lines}---\n{yaml.safe_dump({**graph, 'metadata': {'name': 'a'}})}")
    done = console.run("check", tmp_path / "a.yaml")
    assert "a.yaml:7:5: error DYN612" in done.out


def test_two_workers_have_one_finding():
    other = worker(*FILE) | {"name": "Other"}
    config_map = given.item("ConfigMap", "trt", data={"agg.yaml": "max_batch_sizes: 4\n"})
    findings = resource_findings.check([config_map, beta.graph(worker(*FILE), other)], Config(), is_configured=False)
    assert [finding.code for finding in findings].count("DYN696") == 1


MODE = ["--disaggregation-mode", "prefill"]
TRANSFERS = [
    ("without the field", "max_batch_size: 4\n", worker(*FILE, *MODE), True),
    ("with the field", "cache_transceiver_config:\n  backend: DEFAULT\n", worker(*FILE, *MODE), False),
    ("a worker of whole requests", "max_batch_size: 4\n", worker(*FILE), False),
    ("with fields in another flag", "max_batch_size: 4\n", worker(*FILE, *MODE, "--override-engine-args", "{}"), False),
]


@cases(("text", "component", "is_reported"), TRANSFERS)
def test_a_worker_of_a_mode_transfers_its_cache(text, component, is_reported):
    fix = "add cache_transceiver_config: with backend: DEFAULT below it"
    assert found(text, component) == [("DYN690", fix)] * is_reported


FILES = [
    # reason, the mode of the worker, its file, the keys of the ConfigMap, the file that is meant
    ("the file of the other mode", "decode", "prefill.yaml", ["prefill.yaml", "decode.yaml"], "/etc/trt/decode.yaml"),
    (
        "the same with more words",
        "prefill",
        "qwen-decode-v2.yaml",
        ["qwen-prefill-v2.yaml", "qwen-decode-v2.yaml"],
        "/etc/trt/qwen-prefill-v2.yaml",
    ),
    ("its own file", "decode", "decode.yaml", ["prefill.yaml", "decode.yaml"], ""),
    ("one file for both", "decode", "prefill.yaml", ["prefill.yaml"], ""),
    ("a file for all modes", "decode", "agg.yaml", ["agg.yaml", "decode.yaml"], ""),
]


@cases(("mode", "file", "keys", "right"), FILES)
def test_a_worker_that_reads_the_file_of_the_other_mode(mode, file, keys, right):
    config_map = given.item("ConfigMap", "trt", data=dict.fromkeys(keys, "cache_transceiver_config:\n  backend: DEFAULT\n"))
    component = worker("--extra-engine-args", f"/etc/trt/{file}", "--disaggregation-mode", mode)
    findings = resource_findings.check([config_map, beta.graph(component)], Config(), is_configured=False)
    found = [(finding.code, finding.path[-2:], finding.proposed) for finding in findings if finding.path[-2:] == ("args", 3)]
    assert found == [("DYN758", ("args", 3), right)] * bool(right)
