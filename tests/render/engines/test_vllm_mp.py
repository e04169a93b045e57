"""vLLM on several nodes under release 1.5: its own processes, or Ray for older graphs (reference: backend_vllm.go)."""

from __future__ import annotations

import pytest

from krm_fn.render import labels
from tests.support import container_commands, given, nodes
from tests.support.cases import cases

PYTHON = ["python3", "-m", "dynamo.vllm"]
SHELL = ["/bin/sh", "-c"]
TENSORS = ["--model", "m", "--tensor-parallel-size", "16"]
RAY = ["--distributed-executor-backend", "ray"]
WAITER = "wait-for-leader-mp"


def flags(carrier, count, rank, *more):
    """The flags of several nodes, as the engine gets them."""
    leader = nodes.LEADERS[carrier]
    text = f"--distributed-executor-backend mp --nnodes {count} --master-addr {leader} --master-port 29500 --node-rank {rank}"
    return [*text.split(), *more]


@pytest.mark.parametrize("carrier", nodes.NEWER)
@pytest.mark.parametrize("command", [PYTHON, SHELL, ["/bin/bash", "-euc"]], ids=["a plain command", "a line for sh", "a line for bash"])
def test_leader_and_followers_run_the_same_command_with_their_ranks(command, carrier, tmp_path):
    args = TENSORS if command == PYTHON else [" ".join(["exec", *PYTHON, *TENSORS])]
    leader, follower = nodes.mains(nodes.worker(command=command, args=args, nodes=4), carrier)
    for main, expected in ((leader, flags(carrier, 4, 0)), (follower, flags(carrier, 4, 1, "--headless"))):
        ran = container_commands.start(main, container_commands.stand_ins(tmp_path, ["python3"]), nodes.VARIABLES[carrier])
        assert ran.code == 0, ran.said
        assert ran.calls.pop() == [*PYTHON, *([*TENSORS, *expected] if command == PYTHON else [*expected, *TENSORS])]


def test_a_plain_command_stays_without_a_shell_on_leaderworkersets():
    """Kubernetes replaces the rank there. Under Grove, the rank is arithmetic."""
    assert nodes.mains(nodes.worker(command=PYTHON, args=TENSORS), nodes.NEWER[0])[1]["command"] == PYTHON
    assert nodes.mains(nodes.worker(command=PYTHON, args=TENSORS), nodes.NEWER[1])[1]["command"] == ["sh", "-c"]


@pytest.mark.parametrize("carrier", nodes.NEWER)
@pytest.mark.parametrize("word", ["it's mine", '{"a": "b c"}', "$HOME", "--at=$(POD_HOST)", "a;b", ""])
def test_every_word_arrives_as_written(word, carrier, tmp_path):
    variables = {**nodes.VARIABLES[carrier], "POD_HOST": "a b"}
    for main in nodes.mains(nodes.worker(command=PYTHON, args=[*TENSORS, word]), carrier):
        ran = container_commands.start(main, container_commands.stand_ins(tmp_path, ["python3"]), variables)
        assert ran.calls.pop()[7] == container_commands.expanded(word, variables)


EXECUTORS = [
    ("a graph of today", {}, "mp"),
    ("a graph of an operator before 1.0", {labels.ORIGIN_VERSION: "0.9.0"}, "ray"),
    ("a graph of an operator of 1.0", {labels.ORIGIN_VERSION: "1.0.0"}, "mp"),
    ("a graph of a candidate for 1.0", {labels.ORIGIN_VERSION: "1.0.0-rc1"}, "ray"),
    ("Ray by annotation", {labels.EXECUTOR_BACKEND: "ray"}, "ray"),
    ("Ray in capitals", {labels.EXECUTOR_BACKEND: "RAY"}, "ray"),
    ("processes by annotation", {labels.EXECUTOR_BACKEND: "mp", labels.ORIGIN_VERSION: "0.9.0"}, "mp"),
]


@cases(("annotations", "executor"), EXECUTORS)
def test_annotations_of_the_graph_choose_the_executor(annotations, executor):
    """The annotation that names one wins over the version of the operator that created the graph."""
    written = given.graph({"Worker": nodes.worker(command=PYTHON, args=TENSORS)}, annotations=annotations)
    found = given.rendered(written, behaviour="v1.5", worker_hash="none", operator_version="1.5.0")
    group = found["LeaderWorkerSet/chat-worker-0"]["spec"]["leaderWorkerTemplate"]
    leader, follower = (nodes.main(group[side]["spec"]) for side in ("leaderTemplate", "workerTemplate"))
    assert (f"--distributed-executor-backend {executor}" in " ".join(leader["args"])) is True
    assert ("VLLM_NIXL_SIDE_CHANNEL_HOST" in given.variables(follower)) is (executor == "mp")
    assert (WAITER in str(group["workerTemplate"])) is (executor == "mp")


def rendered(written, carrier, executor):
    """The main containers of a graph with an annotation for the executor."""
    graph = given.graph({"Worker": written}, annotations={labels.EXECUTOR_BACKEND: executor})
    group = given.rendered(graph, **nodes.settings(carrier))["LeaderWorkerSet/chat-worker-0"]["spec"]["leaderWorkerTemplate"]
    return [nodes.main(group[side]["spec"]) for side in ("leaderTemplate", "workerTemplate")]


LINES = [
    ("words", PYTHON, [*TENSORS, "it's $HOME"], [*TENSORS, "it's $HOME", *RAY]),
    ("a line", SHELL, ["python3 -m dynamo.vllm --tensor-parallel-size 16 --x 'a b'"], [*RAY, "--tensor-parallel-size", "16", "--x", "a b"]),
]


@cases(("command", "args", "arrives"), LINES)
def test_ray_starts_on_the_leader_and_followers_join(command, args, arrives, tmp_path):
    carrier = nodes.NEWER[0]
    leader, follower = rendered(nodes.worker(command=command, args=args), carrier, "ray")
    led = container_commands.start(leader, container_commands.stand_ins(tmp_path, ["ray", "python3"]), nodes.VARIABLES[carrier])
    assert led.calls == [["ray", "start", "--head", "--port=6379"], [*PYTHON, *arrives]]
    (tmp_path / "calls").unlink()
    followed = container_commands.start(follower, tmp_path, nodes.VARIABLES[carrier])
    assert followed.calls == [["ray", "start", f"--address={nodes.LEADERS[carrier]}:6379", "--block"]]


@pytest.mark.parametrize("carrier", nodes.NEWER)
def test_a_follower_waits_for_its_leader_before_it_starts(carrier):
    written = nodes.worker(command=PYTHON, args=TENSORS, pod={"initContainers": [{"name": "mine", "image": "mine:1"}]})
    leader, follower = nodes.pods(written, carrier)
    assert [each["name"] for each in leader["initContainers"]] == ["mine"]
    assert [each["name"] for each in follower["initContainers"]] == ["mine", WAITER]
    waiter = follower["initContainers"][1]
    assert waiter["image"] == given.IMAGE
    assert waiter["volumeMounts"] == [{"name": "wait-leader-script", "mountPath": "/scripts", "readOnly": True}]
    assert follower["volumes"][-1] == {"name": "wait-leader-script", "configMap": {"name": "chat-wait-leader-script"}}


@pytest.mark.parametrize("carrier", nodes.NEWER)
def test_the_script_gets_the_address_of_the_leader(carrier, tmp_path):
    """Kubernetes replaces no reference to a variable that follows in the list, as those of the orchestrator do in init containers."""
    _, follower = nodes.pods(nodes.worker(command=PYTHON, args=TENSORS), carrier)
    told = container_commands.stand_ins(tmp_path, [], python3='echo "$*" "$LEADER_HOST" "$LEADER_PORT" >"$HOME/told"')
    (waiter,) = follower["initContainers"]
    assert container_commands.start(waiter, told, nodes.VARIABLES[carrier]).code == 0
    assert (tmp_path / "told").read_text().split() == ["/scripts/wait-for-leader.py", nodes.LEADERS[carrier], "29500"]
    assert "$(" not in waiter["command"][2]


TAKEN = [
    ("an init container", {"initContainers": [{"name": "a", "image": "a:1"}, {"name": WAITER, "image": "a:1"}]}, "initContainers[1].name"),
    ("a volume", {"volumes": [{"name": "wait-leader-script", "emptyDir": {}}]}, "volumes[0].name"),
]


@cases(("pod", "field"), TAKEN)
def test_a_name_of_the_user_that_the_wait_needs_is_reported(pod, field):
    found = nodes.warned(nodes.worker(command=PYTHON, args=TENSORS, pod=pod), nodes.NEWER[0])
    assert found == [("DYN207", f"spec.services.Worker.extraPodSpec.{field}")]


WAITS = [
    ("tensors over nodes", TENSORS, True),
    ("the flag of the user", ["--model", "m", "--distributed-executor-backend", "mp"], True),
    ("the flag of the user in one word", ["--distributed-executor-backend=mp"], True),
    ("copies over nodes", ["--data-parallel-size", "16"], False),
    ("one node is enough", ["--model", "m"], False),
]


@pytest.mark.parametrize("carrier", nodes.NEWER)
@cases(("args", "waits"), WAITS)
def test_followers_wait_if_the_command_line_names_the_executor(args, waits, carrier):
    """The address for transfers of the key-value cache is set in any case."""
    _, follower = nodes.pods(nodes.worker(command=PYTHON, args=args), carrier)
    assert (WAITER in str(follower)) is waits
    assert nodes.main(follower)["env"][-1] == {
        "name": "VLLM_NIXL_SIDE_CHANNEL_HOST",
        "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}},
    }


def test_one_node_has_neither_flags_nor_an_address():
    written = given.graph({"Worker": given.service("worker", main={"command": PYTHON, "args": TENSORS})})
    found = given.rendered(written, **nodes.settings(nodes.NEWER[0]))
    main = nodes.main(found["Deployment/chat-worker"]["spec"]["template"]["spec"])
    assert (main["command"], main["args"]) == (PYTHON, TENSORS)
    assert "VLLM_NIXL_SIDE_CHANNEL_HOST" not in given.variables(main)
    assert "ConfigMap/chat-wait-leader-script" not in found


def test_a_variable_of_the_user_keeps_its_value():
    """The reference appends a second variable of the same name, which server-side apply refuses."""
    env = [{"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "value": "10.0.0.1"}]
    leader, _ = nodes.mains(nodes.worker(command=PYTHON, args=TENSORS, env=env), nodes.NEWER[0])
    assert given.variables(leader)["VLLM_NIXL_SIDE_CHANNEL_HOST"] == "10.0.0.1"


COPIES = ["--data-parallel-size", "16"]


def shared(carrier, rank):
    """The flags of data parallelism, as the engine gets them."""
    text = f"--data-parallel-hybrid-lb --data-parallel-size-local 8 --data-parallel-start-rank {rank}"
    return f"{text} --data-parallel-address {nodes.LEADERS[carrier]} --data-parallel-rpc-port 13445".split()


@pytest.mark.parametrize("carrier", nodes.NEWER)
def test_the_leader_of_copies_is_rank_0(carrier, tmp_path):
    leader, _ = nodes.mains(nodes.worker(command=PYTHON, args=COPIES), carrier)
    ran = container_commands.start(leader, container_commands.stand_ins(tmp_path, ["python3"]), nodes.VARIABLES[carrier])
    assert ran.words("python3") == ["-m", "dynamo.vllm", *COPIES, *shared(carrier, 0)]


def test_a_follower_of_copies_computes_its_rank_under_grove(tmp_path):
    carrier = nodes.NEWER[1]
    written = nodes.worker(command=PYTHON, args=[*COPIES, "it's"])
    _, follower = nodes.mains(written, carrier)
    ran = container_commands.start(
        follower, container_commands.stand_ins(tmp_path, ["python3"]), {**nodes.VARIABLES[carrier], "GROVE_PCLQ_POD_INDEX": "2"}
    )
    assert ran.words("python3") == ["-m", "dynamo.vllm", *COPIES, "it's", *shared(carrier, 24)]
    assert nodes.warned(written, carrier) == []


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_a_follower_of_copies_computes_its_rank_on_leaderworkersets(shell, tmp_path):
    """The shell reads the variable in `$(( 8 * LWS_WORKER_INDEX ))`; Kubernetes would replace no `$(LWS_WORKER_INDEX)` there."""
    carrier = nodes.NEWER[0]
    written = nodes.worker(command=[shell, "-c"], args=[" ".join(["exec", *PYTHON, *COPIES])])
    _, follower = nodes.mains(written, carrier)
    ran = container_commands.start(
        follower, container_commands.stand_ins(tmp_path, ["python3"]), {**nodes.VARIABLES[carrier], "LWS_WORKER_INDEX": "3"}
    )
    assert ran.calls == [[*PYTHON, *shared(carrier, 24), *COPIES]]
    assert nodes.warned(written, carrier) == []
