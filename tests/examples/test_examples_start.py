"""The container commands of the multinode examples, expanded as by Kubernetes and a shell, start the programs that the READMEs name."""

from __future__ import annotations

from tests.support import build_checks, container_commands, golden, workload_templates
from tests.support.cases import cases

SET = {"LWS_LEADER_ADDRESS": "g-0.g.inference", "LWS_WORKER_INDEX": "0", "LWS_GROUP_SIZE": "2"}
CLIQUE = {
    "GROVE_PCSG_NAME": "p",
    "GROVE_PCSG_INDEX": "1",
    "GROVE_HEADLESS_SERVICE": "h",
    "GROVE_PCLQ_POD_INDEX": "0",
    "GROVE_PCSG_POD_INDEX": "1",
}
LARGE = ["-m", "dynamo.vllm", "--distributed-executor-backend", "ray", "--model", "meta-llama/Llama-3.1-405B-Instruct"]
EXPERTS = ["-m", "dynamo.vllm", "--data-parallel-hybrid-lb", "--data-parallel-size-local", "8", "--data-parallel-start-rank"]
SPLIT = ["-m", "dynamo.sglang", "--model-path", "deepseek-ai/DeepSeek-R1", "--tp", "16", "--disaggregation-mode", "decode"]
AGENT = [
    "-m",
    "dynamo.sglang",
    "--model-path=moonshotai/Kimi-K2-Instruct",
    "--trust-remote-code",
    "--tp=16",
    "--disaggregation-mode=prefill",
]
SAGE = [
    "-m",
    "dynamo.trtllm",
    "--model=nvidia/DeepSeek-R1-FP4",
    "--disaggregation-mode=decode",
    "--extra-engine-args=/etc/engine/decode.yaml",
]
WIDE = ["-m", "dynamo.trtllm", "--model-path", "nvidia/DeepSeek-R1-FP4", "--served-model-name", "wide", "--override-engine-args"]

STARTS = [
    (
        "a model over nodes: the leader's engine, its JSON whole",
        ("multinode-vllm", "large-worker-1", 0, SET),
        ("python3", [*LARGE, "--tensor-parallel-size", "8", "--pipeline-parallel-size", "2", "--kv-transfer-config"]),
        '{"kv_connector": "NixlConnector", "kv_role": "kv_both"}',
    ),
    ("a model over nodes: the leader's Ray", ("multinode-vllm", "large-worker-1", 0, SET), ("ray", ["start", "--head"]), "--port=6379"),
    (
        "a model over nodes: a follower's Ray",
        ("multinode-vllm", "large-worker-1", 1, {**SET, "LWS_WORKER_INDEX": "1"}),
        ("ray", ["start", "--address=g-0.g.inference:6379"]),
        "--block",
    ),
    (
        "copies over nodes: the first rank of the leader is 0",
        ("multinode-vllm", "experts-worker-0", 0, SET),
        ("python3", [*EXPERTS, "0", "--data-parallel-address", "g-0.g.inference"]),
        "--enable-expert-parallel",
    ),
    (
        "copies over nodes: the first rank of a follower is 8",
        ("multinode-vllm", "experts-worker-0", 1, {**SET, "LWS_WORKER_INDEX": "1"}),
        ("python3", [*EXPERTS, "8", "--data-parallel-address", "g-0.g.inference"]),
        "--enable-expert-parallel",
    ),
    (
        "SGLang: a follower knows its leader",
        ("multinode-sglang-grove", "split", 1, CLIQUE),
        ("python3", SPLIT),
        "p-1-decode-ldr-0.h:29500",
    ),
    ("SGLang: a follower's rank", ("multinode-sglang-grove", "split", 1, CLIQUE), ("python3", SPLIT), "1"),
    (
        "TensorRT-LLM: one process for each GPU",
        ("multinode-trtllm-grove", "wide", 1, CLIQUE),
        ("mpirun", ["--allow-run-as-root", "--oversubscribe", "-n", "16", "-H"]),
        "p-1-worker-ldr-0.h,p-1-worker-wkr-0.h",
    ),
    (
        "SGLang in a LeaderWorkerSet: a follower knows its leader",
        ("disagg-multinode-sglang", "agent-prefill-0", 1, {**SET, "LWS_WORKER_INDEX": "1"}),
        ("python3", AGENT),
        "g-0.g.inference:29500",
    ),
    (
        "SGLang in a LeaderWorkerSet: a follower's rank",
        ("disagg-multinode-sglang", "agent-prefill-0", 1, {**SET, "LWS_WORKER_INDEX": "1"}),
        ("python3", AGENT),
        "1",
    ),
    (
        "TensorRT-LLM on four nodes: one process for each GPU",
        ("disagg-multinode-trtllm", "sage", 3, {**CLIQUE, "GROVE_PCSG_INDEX": "0"}),
        ("mpirun", ["--allow-run-as-root", "--oversubscribe", "-n", "32", "-H"]),
        "p-0-decode-ldr-0.h,p-0-decode-wkr-0.h,p-0-decode-wkr-1.h,p-0-decode-wkr-2.h",
    ),
    (
        "TensorRT-LLM on four nodes: the engine, with its file",
        ("disagg-multinode-trtllm", "sage", 3, CLIQUE),
        ("python3", SAGE[:-1]),
        SAGE[-1],
    ),
    (
        "TensorRT-LLM: the engine, its JSON whole",
        ("multinode-trtllm-grove", "wide", 1, CLIQUE),
        ("python3", WIDE),
        '{"tensor_parallel_size": 16, "moe_expert_parallel_size": 16}',
    ),
]


@cases(("place", "begins", "holds"), STARTS)
def test_start(place, begins, holds, tmp_path):
    example, name, index, variables = place
    objects = build_checks.read((golden.EXAMPLES / example / "expected.yaml").read_text())
    (carrier,) = [each for each in objects if each["metadata"]["name"] == name and [*workload_templates.templates(each)]]
    main = [*workload_templates.templates(carrier)][index]["spec"]["containers"][-1]
    keys = container_commands.stand_ins(tmp_path / "keys", ["private.key", "private.key.pub"])
    programs = container_commands.stand_ins(tmp_path / "home", ["python3", "ray", "mpirun", "trtllm-llmapi-launch"])
    ran = container_commands.start(main, programs, variables, {"/ssh-pk": keys})
    assert ran.code == 0, ran.said
    program, words = begins
    called = ran.words(program)
    assert called[: len(words)] == words
    assert holds in called[len(words) :]
