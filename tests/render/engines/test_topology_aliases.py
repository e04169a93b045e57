"""Since release 1.6, pods on several nodes have variables with their leader's host and their rank, and command lines use them.

The origin version of the graph decides, so a graph of an older operator keeps its pods.
"""

from __future__ import annotations

import pytest

from krm_fn.render import labels
from tests.support import beta, given

HOST, RANK = "$(DYNAMO_LEADER_ADDRESS)", "$(DYNAMO_RANK)"
GROVE = "$(GROVE_PCSG_NAME)-$(GROVE_PCSG_INDEX)-worker-ldr-0.$(GROVE_HEADLESS_SERVICE)"
VALUES = {
    "deployment": {"DYNAMO_LEADER_ADDRESS": "$(LWS_LEADER_ADDRESS)", "DYNAMO_RANK": "$(LWS_WORKER_INDEX)"},
    "grove": {"DYNAMO_LEADER_ADDRESS": GROVE, "DYNAMO_RANK": "$(GROVE_PCSG_POD_INDEX)"},
}
TENSORS = ["--model", "m", "--tensor-parallel-size", "16"]
MP = f"--distributed-executor-backend mp --nnodes 2 --master-addr {HOST} --master-port 29500 --node-rank {RANK}"
SGLANG = f"--dist-init-addr {HOST}:29500 --nnodes 2 --node-rank {RANK}"


def pods(engine, orchestrator, origin, *, main=None, release="v1.6"):
    """The main containers of the leader and of the followers of a worker on two nodes."""
    command = {"command": ["python3", "-m", f"dynamo.{engine}"], "args": TENSORS, "resources": {"limits": {"nvidia.com/gpu": "8"}}}
    worker = beta.component(
        "Worker", main={"image": "registry.example/dynamo:1.6.0", **command, **(main or {})}, multinode={"nodeCount": 2}
    )
    graph = beta.graph(worker)
    graph["metadata"]["annotations"] = {labels.ORIGIN_VERSION: origin}
    found = given.rendered(graph, behaviour=release, orchestrator=orchestrator)
    if orchestrator == "grove":
        specs = [clique["spec"]["podSpec"] for clique in found["PodCliqueSet/chat"]["spec"]["template"]["cliques"]]
    else:
        group = found["LeaderWorkerSet/chat-worker-0"]["spec"]["leaderWorkerTemplate"]
        specs = [group[side]["spec"] for side in ("leaderTemplate", "workerTemplate")]
    return [spec["containers"][0] for spec in specs]


@pytest.mark.parametrize("orchestrator", VALUES)
@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"])
@pytest.mark.parametrize("origin", ["1.6.0", "1.6.1-rc1", "v1.7.2"])
def test_every_pod_has_the_variables_among_the_sorted_ones(engine, orchestrator, origin):
    for main in pods(engine, orchestrator, origin):
        variables = given.variables(main)
        assert VALUES[orchestrator].items() <= variables.items()
        names = [name for name in variables if name.startswith("DYN")]
        assert names == sorted(names)


@pytest.mark.parametrize("orchestrator", VALUES)
@pytest.mark.parametrize(("engine", "flags", "followers"), [("vllm", MP, " --headless"), ("sglang", SGLANG, "")])
def test_plain_commands_use_them_without_a_shell(engine, flags, followers, orchestrator):
    leader, follower = pods(engine, orchestrator, "1.6.0")
    assert leader["command"] == follower["command"] == ["python3", "-m", f"dynamo.{engine}"]
    assert leader["args"] == [*TENSORS, *flags.split()]
    assert follower["args"] == [*TENSORS, *flags.split(), *followers.split()]


@pytest.mark.parametrize("orchestrator", VALUES)
@pytest.mark.parametrize("engine", ["vllm", "sglang"])
@pytest.mark.parametrize(
    ("origin", "release"),
    [("1.5.0", "v1.6"), ("1.6.0-rc1", "v1.6"), ("1.6.0", "v1.5")],
    ids=["an older graph", "a graph of a candidate", "an older release"],
)
def test_other_graphs_keep_the_names_of_their_workload(engine, orchestrator, origin, release):
    for main in pods(engine, orchestrator, origin, release=release):
        assert not {*VALUES[orchestrator]} & given.variables(main).keys()
        assert "DYNAMO_" not in " ".join(main["args"])


@pytest.mark.parametrize("orchestrator", VALUES)
def test_ray_keeps_the_names_of_the_workload(orchestrator):
    """Only processes of vLLM itself use the variables; the pods have them in any case."""
    annotations = {"annotations": {labels.EXECUTOR_BACKEND: "ray"}}
    worker = beta.component(
        "Worker",
        main={
            "image": "registry.example/dynamo:1.6.0",
            "command": ["python3", "-m", "dynamo.vllm"],
            "args": TENSORS,
            "resources": {"limits": {"nvidia.com/gpu": "8"}},
        },
        metadata=annotations,
        multinode={"nodeCount": 2},
    )
    found = str(given.rendered(beta.graph(worker), behaviour="v1.6", operator_version="1.6.0", orchestrator=orchestrator))
    assert "ray start --address=" in found
    assert HOST not in found
    assert "'DYNAMO_RANK'" in found


def test_tensorrt_llm_passes_them_to_all_nodes():
    leader, _ = pods("trtllm", "deployment", "1.6.0")
    assert "-x DYNAMO_LEADER_ADDRESS" in leader["args"][0]
    assert "-x DYNAMO_RANK" in leader["args"][0]


@pytest.mark.parametrize("orchestrator", VALUES)
def test_they_replace_the_users_variables(orchestrator):
    """`DYN495` reports it."""
    for main in pods("sglang", orchestrator, "1.6.0", main={"env": [{"name": "DYNAMO_RANK", "value": "7"}]}):
        assert given.variables(main)["DYNAMO_RANK"] == VALUES[orchestrator]["DYNAMO_RANK"]


def test_one_node_has_none():
    main = given.rendered(beta.graph(beta.component("Worker")), behaviour="v1.6")["Deployment/chat-worker"]["spec"]["template"]["spec"]
    assert "DYNAMO_RANK" not in given.variables(main["containers"][0])
