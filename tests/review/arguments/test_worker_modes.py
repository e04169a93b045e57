"""Graphs whose workers cannot serve together: prefill components without a mode, one mode alone, no GPUs, and no LoRA."""

from __future__ import annotations

from typing import Any

from krm_fn.render.config import Config
from krm_fn.render.expand import PlannedResource, expand
from krm_fn.review import resource_findings
from krm_fn.review.arguments import argument_findings
from tests.support import beta, given
from tests.support.cases import cases

IMAGE = "nvcr.io/nvidia/ai-dynamo/vllm-runtime"
MODE = ["--disaggregation-mode", "prefill"]
DECODE = ["--disaggregation-mode", "decode"]
VARIABLE = [{"name": "DYN_VLLM_DISAGGREGATION_MODE", "value": "prefill"}]
CODES = {"DYN702", "DYN703", "DYN179"}


def component(kind: str, *flags: str, program: str = "vllm", version: str = "1.6.1", name: str = "", env: Any = (), **main: Any) -> Any:
    option = "--model-path" if program in ("sglang", "mocker") else "--model"
    line = {"command": ["python3", "-m", f"dynamo.{program}"], "args": [option, "m", *flags], "env": [*env]}
    return beta.component(name or kind.title(), kind, main={"image": f"{IMAGE}:{version}", **line, **main})


FRONTEND = beta.component("Frontend", "frontend", main={"image": f"{IMAGE}:1.6.1"})


def found(*resources: Any, codes: Any = CODES) -> list[tuple[str, str]]:
    """The code and the severity of the findings of this page."""
    findings = resource_findings.check([*resources], Config(), is_configured=False)
    return [(finding.code, finding.severity) for finding in findings if finding.code in codes]


MODES = [
    ("vLLM without a mode", component("prefill"), True),
    ("SGLang without a mode", component("prefill", program="sglang"), True),
    ("TensorRT-LLM without a mode", component("prefill", program="trtllm"), True),
    ("vLLM 0.9 without a mode", component("prefill", version="0.9.0"), True),
    ("vLLM with the mode of whole requests", component("prefill", "--disaggregation-mode", "agg"), True),
    ("an image of an unknown version", component("prefill", version="nightly"), True),
    ("vLLM with the mode", component("prefill", *MODE), False),
    ("SGLang with the mode", component("prefill", *MODE, program="sglang"), False),
    ("the older flag", component("prefill", "--is-prefill-worker", version="0.9.0"), False),
    ("the older flag with an image of an unknown version", component("prefill", "--is-prefill-worker", version="nightly"), False),
    ("the mode in a variable", component("prefill", env=[{"name": "DYN_VLLM_DISAGGREGATION_MODE", "value": "prefill"}]), False),
    ("the mode in a ConfigMap", component("prefill", envFrom=[{"configMapRef": {"name": "modes"}}]), False),
    ("the mode in a file", component("prefill", "--config", "/a.yaml", program="sglang"), False),
    ("flags in a variable", component("prefill", "$(FLAGS)"), False),
    ("a role for images", component("prefill", "--multimodal-encode-prefill-worker", version="0.9.0"), False),
    ("a worker", component("worker"), False),
    ("a decode component without a mode", component("decode"), False),
]


@cases(("part", "is_reported"), MODES)
def test_a_prefill_component_needs_the_mode_of_its_engine(part, is_reported):
    """No release of Dynamo takes the mode from the type of the component."""
    part = {key: value for key, value in part.items() if value is not None}
    assert found(beta.graph(part)) == [("DYN702", "warning")] * is_reported


def test_the_remedy_is_a_flag_of_the_release():
    planned: list[PlannedResource] = []
    for version in ("0.9.0", "1.6.1"):
        expand([beta.graph(component("prefill", version=version))], Config(), planned.append)
    messages = [finding.message for finding in argument_findings.check(planned) if finding.code == "DYN702"]
    transfer = '--kv-transfer-config \'{"kv_connector":"NixlConnector","kv_role":"kv_producer"}\''
    remedies = [message.partition("; ")[2] for message in messages]
    assert remedies == ["add `--is-prefill-worker`", f"add `--disaggregation-mode prefill` and {transfer}"]


ALONE = [
    ("prefill workers alone", [FRONTEND, component("prefill", *MODE)], True),
    ("decode workers alone", [FRONTEND, component("decode", *DECODE)], True),
    ("two decode workers alone", [FRONTEND, component("decode", *DECODE), component("decode", *DECODE, name="Large")], True),
    ("both modes", [FRONTEND, component("prefill", *MODE), component("decode", *DECODE)], False),
    ("a prefill worker alone, by its variable", [FRONTEND, component("prefill", env=VARIABLE)], True),
    ("prefill and a decode component without a mode", [FRONTEND, component("prefill", *MODE), component("decode")], False),
    ("a graph without a frontend of its own", [component("prefill", *MODE)], False),
    ("a component that is not known", [FRONTEND, component("prefill", *MODE), beta.component("Other", "worker")], False),
    ("the mode of a worker in a variable", [FRONTEND, component("prefill", *MODE), component("decode", "$(FLAGS)")], False),
    (
        "workers that other graphs share",
        [FRONTEND, component("prefill", *MODE) | {"globalDynamoNamespace": True}],
        False,
    ),
]


@cases(("components", "is_reported"), ALONE)
def test_a_graph_needs_both_modes(components, is_reported):
    assert found(beta.graph(*components)) == [("DYN703", "warning")] * is_reported


DECODERS = [
    ("SGLang", "sglang", MODE, [("DYN702", "warning")]),
    ("TensorRT-LLM", "trtllm", MODE, [("DYN702", "warning")]),
    ("vLLM, which decodes without a mode", "vllm", MODE, []),
    ("SGLang without a prefill worker", "sglang", [], []),
]


@cases(("program", "flags", "expected"), DECODERS)
def test_a_decode_worker_beside_a_prefill_worker_needs_its_mode(program, flags, expected):
    workers = [component("decode", program=program), component("worker", *flags, program=program)]
    assert found(beta.graph(FRONTEND, *workers), codes={"DYN702"}) == expected


def test_a_prefill_worker_by_its_variable_needs_a_transfer():
    """The variable counts as the flag does (`dynamo/vllm/backend_args.py`); releases below 1.0 do not read it."""
    workers = [component("prefill", env=VARIABLE), component("decode", *DECODE)]
    assert ("DYN635", "error") in found(beta.graph(FRONTEND, *workers), codes={"DYN635"})


TWO = ("--tensor-parallel-size", "2")
SIZES = [
    ("no GPU at all", component("worker", *TWO), "error"),
    ("no GPU with an image of another name", component("worker", *TWO, image="registry.example/dynamo:1.6.1"), "warning"),
    ("one GPU, which some clusters give to all pods", component("worker"), "warning"),
    ("one GPU with an image of another name", component("worker", image="registry.example/dynamo:1.6.1"), ""),
    ("a mocker", component("worker", program="mocker"), ""),
    ("a frontend, which has its own finding", component("frontend"), ""),
    ("a claim for a device", component("worker", resources={"claims": [{"name": "gpu"}]}), ""),
    ("parts of a GPU under another name", component("worker", *TWO, resources={"limits": {"acme.example/slice": "2"}}), ""),
    ("an engine on CPUs", component("worker", *TWO, env=[{"name": "VLLM_CPU_KVCACHE_SPACE", "value": "8"}]), ""),
    ("devices that a variable chooses", component("worker", *TWO, env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]), ""),
]


@cases(("part", "severity"), SIZES)
def test_an_engine_with_parallel_sizes_needs_gpus(part, severity):
    assert found(beta.graph(part), codes={"DYN612"}) == [("DYN612", severity)] * bool(severity)


ADAPTER = given.item(
    "DynamoModel",
    "math",
    api="nvidia.com/v1alpha1",
    spec={"modelName": "math", "baseModelName": "acme/tiny", "modelType": "lora", "source": {"uri": "s3://a/b"}},
)
ON = [{"name": "DYN_LORA_ENABLED", "value": "true"}]
LORA = [
    ("neither", component("worker"), "error", "the flag `--enable-lora` and the variable"),
    ("no variable", component("worker", "--enable-lora"), "error", "lacks the variable"),
    ("no flag", component("worker", env=ON), "error", "lacks the flag `--enable-lora`;"),
    ("a variable that is false", component("worker", "--enable-lora", env=[{**ON[0], "value": "false"}]), "error", "lacks the variable"),
    ("an image of an unknown build", component("worker", version="1.6.1-rc1"), "warning", "the flag"),
    ("TensorRT-LLM", component("worker", program="trtllm"), "warning", "cannot load the LoRA adapter"),
    ("SGLang before 1.1", component("worker", "--enable-lora", program="sglang", version="1.0.2", env=ON), "warning", "cannot load"),
    ("both", component("worker", "--enable-lora", env=ON), "", ""),
    ("SGLang with both", component("worker", "--enable-lora", program="sglang", env=ON), "", ""),
    ("the variable in a ConfigMap", component("worker", "--enable-lora", envFrom=[{"configMapRef": {"name": "a"}}]), "", ""),
    ("the flag in a variable", component("worker", "$(FLAGS)", env=ON), "", ""),
]


@cases(("part", "severity", "words"), LORA)
def test_a_worker_needs_lora_for_the_adapters_of_its_base_model(part, severity, words):
    graph = beta.graph({**part, "modelRef": {"name": "acme/tiny"}})
    findings = [finding for finding in resource_findings.check([graph, ADAPTER], Config(), is_configured=False) if finding.code == "DYN179"]
    assert [(finding.code, finding.severity) for finding in findings] == [("DYN179", severity)] * bool(severity)
    assert all(words in finding.message for finding in findings)


def test_other_models_need_no_lora():
    """An adapter of another base model, in another namespace, or a model of another type."""
    graph = beta.graph({**component("worker"), "modelRef": {"name": "acme/tiny"}})
    other = {**ADAPTER, "metadata": {**ADAPTER["metadata"], "namespace": "other"}}
    base = {**ADAPTER, "spec": {**ADAPTER["spec"], "modelType": "base"}}
    assert found(graph, other) == found(graph, base) == []
