"""vLLM with elastic expert parallelism under release 1.5, in one pod and on several nodes (reference: backend_vllm.go)."""

from __future__ import annotations

import pytest

from tests.support import container_commands, given, nodes
from tests.support.cases import cases

PYTHON = ["python3", "-m", "dynamo.vllm"]
SHELL = ["/bin/sh", "-c"]
ELASTIC = ["--model", "it's $HOME", "--enable-elastic-ep", "--data-parallel-backend", "ray"]
ADDRESS = {"POD_IP": "10.1.2.3"}
ENGINE = r"""case "$1" in
-m) printf '%s\0' "$#" "$@" >>"$HOME/engine" ;;
*) printf '%s\n' "$2" >>"$HOME/asked"; exit STATUS ;;
esac"""


def lone(**main):
    """The main container of a single pod."""
    found = given.rendered(given.graph({"Worker": given.service("worker", main=main)}), **nodes.settings(nodes.NEWER[0]))
    return nodes.main(found["Deployment/chat-worker"]["spec"]["template"]["spec"])


def engine(folder):
    """The words that the engine got."""
    text = (folder / "engine").read_text() if (folder / "engine").exists() else ""
    return text.split("\0")[1:-1]


def programs(folder, *, ready=True, **scripts):
    """Stand-ins for `ray`, `sleep` and Python, which asks whether the other side is `ready`."""
    return container_commands.stand_ins(folder, ["ray", "sleep"], python3=ENGINE.replace("STATUS", "0" if ready else "1"), **scripts)


@pytest.mark.parametrize("command", [PYTHON, SHELL], ids=["a plain command", "a line for a shell"])
def test_a_single_pod_starts_ray_and_then_the_engine(command, tmp_path):
    """The engine replaces the shell, so that a signal reaches it. Ray gets the address under which the engine looks for it."""
    line = """python3 -m dynamo.vllm --model "it's \\$HOME" --enable-elastic-ep --data-parallel-backend ray"""
    main = lone(command=command, args=ELASTIC if command == PYTHON else [line])
    ran = container_commands.start(main, programs(tmp_path), ADDRESS)
    assert ran.code == 0, ran.said
    assert ran.calls == [["ray", "start", "--head", "--port=6379", "--node-ip-address=10.1.2.3", "--block"]]
    assert engine(tmp_path) == ["-m", "dynamo.vllm", *ELASTIC]
    assert main["args"][0].rpartition("&& ")[2].startswith("exec ")
    assert [entry["name"] for entry in main["env"][-2:]] == ["POD_IP", "VLLM_DP_MASTER_IP"]


def test_a_ray_that_never_answers_ends_the_pod(tmp_path):
    ran = container_commands.start(lone(command=PYTHON, args=ELASTIC), programs(tmp_path, ready=False, ray=":"), ADDRESS)
    assert (ran.code, engine(tmp_path)) == (1, [])
    assert len((tmp_path / "asked").read_text().splitlines()) == 150
    assert "Ray head did not start" in ran.said


ASKS = [
    ("both flags", ELASTIC, True),
    ("the short flag", ["--enable-elastic-ep", "-dpb", "ray"], True),
    ("an equals sign", ["--enable-elastic-ep", "--data-parallel-backend=ray"], True),
    ("another backend", ["--enable-elastic-ep", "--data-parallel-backend", "mp"], False),
    ("no elastic parallelism", ["--data-parallel-backend", "ray"], False),
]


@cases(("args", "starts_ray"), ASKS)
def test_both_flags_ask_for_ray_in_a_single_pod(args, starts_ray):
    assert (lone(command=PYTHON, args=args)["command"] == SHELL) is starts_ray
    assert (lone(command=[*PYTHON, *args])["command"] == SHELL) is starts_ray


def test_release_0_9_does_not_know_elastic_parallelism():
    found = given.main(given.service("worker", main={"command": PYTHON, "args": ELASTIC}))
    assert (found["command"], found["args"]) == (PYTHON, ELASTIC)


COPIES = ["--data-parallel-size", "16", *ELASTIC]


@pytest.mark.parametrize("carrier", nodes.NEWER)
def test_the_leader_of_several_nodes_starts_ray_and_then_the_engine(carrier, tmp_path):
    leader, _ = nodes.mains(nodes.worker(command=PYTHON, args=COPIES), carrier)
    ran = container_commands.start(leader, programs(tmp_path), nodes.VARIABLES[carrier])
    assert ran.calls == [["ray", "start", "--head", "--port=6379", "--block"]]
    assert engine(tmp_path) == ["-m", "dynamo.vllm", *COPIES]


@pytest.mark.parametrize("carrier", nodes.NEWER)
def test_a_follower_joins_when_the_engine_of_the_leader_is_ready(carrier, tmp_path):
    _, follower = nodes.mains(nodes.worker(command=PYTHON, args=COPIES), carrier)
    late = 'echo "$2" >>"$HOME/asked"; [ "$(wc -l <"$HOME/asked")" -gt 3 ]'
    ran = container_commands.start(
        follower, container_commands.stand_ins(tmp_path, ["ray", "sleep"], python3=late), nodes.VARIABLES[carrier]
    )
    assert ran.code == 0, ran.said
    assert ran.calls == [*[["sleep", "15"]] * 3, ["ray", "start", f"--address={nodes.LEADERS[carrier]}:6379", "--block"]]
    assert f"http://{nodes.LEADERS[carrier]}:9090/live" in (tmp_path / "asked").read_text()
    assert not {"livenessProbe", "readinessProbe", "startupProbe"} & follower.keys()


@pytest.mark.slow  # starts a program 720 times
def test_a_follower_gives_up_on_the_leader_after_three_hours(tmp_path):
    """720 times 15 seconds."""
    _, follower = nodes.mains(nodes.worker(command=PYTHON, args=COPIES), nodes.NEWER[0])
    ran = container_commands.start(follower, programs(tmp_path, ready=False, sleep=":"), nodes.LWS)
    assert (ran.code, ran.calls) == (1, [])
    assert len((tmp_path / "asked").read_text().splitlines()) == 720


def test_a_model_over_several_nodes_wins_over_elastic_parallelism():
    leader, _ = nodes.mains(nodes.worker(command=PYTHON, args=["--tensor-parallel-size", "16", *ELASTIC]), nodes.NEWER[0])
    assert leader["command"] == PYTHON
    assert "--nnodes" in leader["args"]
