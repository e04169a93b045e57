"""The workers of a graph that transfer key-value caches agree in mode, component type and settings."""

from __future__ import annotations

from tests.review.arguments.test_argument_findings import IMAGE, NIXL, codes, findings, pair, worker
from tests.support import given
from tests.support.cases import cases


def test_before_dynamo_1_0_a_worker_has_a_connector_by_default():
    """`--connector` had the default `nixl` in 0.9."""
    graph = pair(f"--model a --is-prefill-worker --kv-transfer-config {NIXL}", "--model a --is-decode-worker")
    for service in graph["spec"]["services"].values():
        service["extraPodSpec"]["mainContainer"]["image"] = f"{IMAGE}:0.9.1"
    assert codes(graph, behaviour="v1.5") == []


SGLANG_PAIRS = [
    ("two types of the cache", "--kv-cache-dtype fp8_e5m2", "--kv-cache-dtype fp8_e4m3", ["DYN636"]),
    ("a backend and the default", "--disaggregation-transfer-backend nixl", "", ["DYN618"]),
    ("the default and a backend", "", "--disaggregation-transfer-backend nixl", ["DYN618"]),
    ("the default in words", "--disaggregation-transfer-backend mooncake", "", []),
    ("two sizes of pages", "--page-size 16", "--page-size 64", ["DYN617"]),
]


@cases(("prefill", "decode", "expected"), SGLANG_PAIRS)
def test_workers_of_sglang_must_agree(prefill, decode, expected):
    """The finding stands at the worker that has the flag, and names the place of the other one."""
    mode = "--model-path a --disaggregation-mode"
    found = findings(pair(f"{mode} prefill {prefill}", f"{mode} decode {decode}", "dynamo.sglang"), behaviour="v1.5")
    assert [finding.code for finding in found] == expected
    for finding in found:
        other = "Decode" if "Prefill" in finding.path else "Prefill"
        assert f"(spec.services.{other}.extraPodSpec.mainContainer." in finding.message


ENGINES = [
    ("vLLM", "dynamo.vllm", "--model a"),
    ("SGLang", "dynamo.sglang", "--model-path a"),
    ("TensorRT-LLM", "dynamo.trtllm", "--model a"),
]


def with_frontend(graph):
    frontend = given.service("frontend", main={"image": f"{IMAGE}:1.5.1"})
    return {**graph, "spec": {"services": {"Frontend": frontend, **graph["spec"]["services"]}}}


@cases(("module", "model"), ENGINES)
def test_a_decode_component_that_prefills_has_the_mode_to_write(module, model):
    """Beside the finding that no worker decodes, which names both workers. Applied, the remedy leaves no finding."""
    mode = "--disaggregation-mode"
    wrong = pair(f"{model} {mode} prefill", f"{model} {mode} prefill", module)
    found = {finding.code: finding for finding in findings(with_frontend(wrong), behaviour="v1.5")}
    assert sorted(found) == ["DYN637", "DYN703"]
    assert found["DYN637"].path[2] == "Decode"
    assert "; write --disaggregation-mode decode" in found["DYN637"].message
    assert "spec.services.Prefill.extraPodSpec.mainContainer.args[2]" in found["DYN703"].message
    right = pair(f"{model} {mode} prefill", f"{model} {mode} decode", module)
    assert codes(with_frontend(right), behaviour="v1.5") == []


@cases(("module", "model"), ENGINES)
def test_exchanged_modes_are_found_at_both_workers(module, model):
    """Each finding names the flag, the field of the type, and the mode to write."""
    mode = "--disaggregation-mode"
    found = findings(with_frontend(pair(f"{model} {mode} decode", f"{model} {mode} prefill", module)), behaviour="v1.5")
    assert [(finding.code, finding.path[2]) for finding in found] == [("DYN637", "Decode"), ("DYN637", "Prefill")]
    assert "spec.services.Prefill.componentType is prefill; write --disaggregation-mode prefill" in found[1].message


def test_the_type_below_a_worker_counts_too():
    graph = worker("--model a --disaggregation-mode decode", name="W", subComponentType="prefill")
    [finding] = findings(graph, behaviour="v1.5")
    assert finding.code == "DYN637"
    assert "spec.services.W.subComponentType is prefill" in finding.message


def test_a_mode_in_the_environment_is_no_flag_to_change():
    """`DYN_VLLM_DISAGGREGATION_MODE` decides without a flag."""
    env = [{"name": "DYN_VLLM_DISAGGREGATION_MODE", "value": "decode"}]
    assert codes(worker("--model a", kind="prefill", env=env), behaviour="v1.5") == []
