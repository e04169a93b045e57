"""SGLang: every node gets the address of the leader, the number of nodes and its own rank (reference: backend_sglang.go)."""

from __future__ import annotations

import pytest

from tests.support import container_commands, given, nodes
from tests.support.cases import cases

PYTHON = ["python3", "-m", "dynamo.sglang"]
SHELL = ["/bin/sh", "-c"]
ARGS = ["--model-path", "m", "--tp", "16"]


def flags(carrier, count, rank):
    return f"--dist-init-addr {nodes.LEADERS[carrier]}:29500 --nnodes {count} --node-rank {rank}".split()


def test_one_node_changes_nothing():
    main = given.main(given.service("worker", main={"command": PYTHON, "args": ARGS}))
    assert (main["command"], main["args"]) == (PYTHON, ARGS)
    assert {"livenessProbe", "readinessProbe", "startupProbe"} <= main.keys()


@pytest.mark.parametrize("carrier", nodes.ALL)
@pytest.mark.parametrize("command", [PYTHON, SHELL], ids=["a plain command", "a line for a shell"])
@pytest.mark.parametrize("count", [2, 4])
def test_the_leader_is_rank_0(count, command, carrier, tmp_path):
    args = [" ".join([*PYTHON, *ARGS])] if command == SHELL else ARGS
    leader, _ = nodes.mains(nodes.worker(command=command, args=args, nodes=count), carrier)
    ran = container_commands.start(leader, container_commands.stand_ins(tmp_path, ["python3"]), nodes.VARIABLES[carrier])
    expected = flags(carrier, count, 0)
    assert ran.words("python3") == ["-m", "dynamo.sglang", *([*expected, *ARGS] if command == SHELL else [*ARGS, *expected])]


FOLLOWERS = [
    ("the first on LeaderWorkerSets", "deployment", {"LWS_WORKER_INDEX": "1"}, 1),
    ("the third on LeaderWorkerSets", "deployment", {"LWS_WORKER_INDEX": "3"}, 3),
    ("the first under Grove, which counts followers from 0", "grove", {"GROVE_PCLQ_POD_INDEX": "0"}, 1),
    ("the third under Grove", "grove", {"GROVE_PCLQ_POD_INDEX": "2"}, 3),
    ("the third on LeaderWorkerSets of 1.5", "deployment of 1.5", {"LWS_WORKER_INDEX": "3"}, 3),
    ("the third under Grove with 1.5", "grove of 1.5", {"GROVE_PCLQ_POD_INDEX": "2"}, 3),
]


@cases(("carrier", "index", "rank"), FOLLOWERS)
@pytest.mark.parametrize("command", [PYTHON, SHELL], ids=["a plain command", "a line for a shell"])
def test_a_follower_gets_its_rank(command, carrier, index, rank, tmp_path):
    args = [" ".join([*PYTHON, *ARGS])] if command == SHELL else ARGS
    _, follower = nodes.mains(nodes.worker(command=command, args=args, nodes=4), carrier)
    ran = container_commands.start(follower, container_commands.stand_ins(tmp_path, ["python3"]), {**nodes.VARIABLES[carrier], **index})
    assert ran.code == 0, ran.said
    expected = flags(carrier, 4, rank)
    assert ran.words("python3") == ["-m", "dynamo.sglang", *([*expected, *ARGS] if command == SHELL else [*ARGS, *expected])]


def test_a_plain_command_replaces_its_shell(tmp_path):
    """A signal to the container must reach the engine."""
    _, follower = nodes.mains(nodes.worker(command=PYTHON, args=ARGS))
    assert follower["command"] == ["sh", "-c"]
    programs = container_commands.stand_ins(tmp_path, [], python3='echo "$$" >"$HOME/engine"')
    follower["args"] = [f'echo "$$$$" >"$HOME/shell"; {follower["args"][0]}']  # Kubernetes makes one dollar of two
    assert container_commands.start(follower, programs, nodes.LWS).code == 0
    assert (tmp_path / "engine").read_text() == (tmp_path / "shell").read_text()


def test_kubernetes_replaces_the_rank_in_a_plain_command_on_leaderworkersets_of_1_5():
    """So that the command needs no shell."""
    _, follower = nodes.mains(nodes.worker(command=PYTHON, args=ARGS), "deployment of 1.5")
    assert (follower["command"], follower["args"][-2:]) == (PYTHON, ["--node-rank", "$(LWS_WORKER_INDEX)"])


@pytest.mark.parametrize("carrier", nodes.ALL)
def test_only_the_leader_has_probes(carrier):
    leader, follower = nodes.mains(nodes.worker(command=PYTHON, args=ARGS), carrier)
    probes = {"livenessProbe", "readinessProbe", "startupProbe"}
    assert probes <= leader.keys()
    assert not probes & follower.keys()


@pytest.mark.parametrize("carrier", nodes.CARRIERS)
@pytest.mark.parametrize(("word", "lost"), [("two words", True), ("~", True), ('{"a": "b c"}', False), ("Qwen/Qwen3-8B", False)])
def test_a_word_that_the_shell_of_followers_changes_is_reported_and_json_is_quoted(word, lost, carrier, tmp_path):
    """The leader of a plain command starts without a shell."""
    written = nodes.worker(command=PYTHON, args=["--x", word])
    programs = container_commands.stand_ins(tmp_path, ["python3"])
    leader, follower = nodes.mains(written, carrier)
    led, *_ = container_commands.start(leader, programs, nodes.VARIABLES[carrier]).calls
    *_, followed = container_commands.start(follower, programs, nodes.VARIABLES[carrier]).calls
    assert led[4] == word
    assert (followed[4] != word) == lost
    at = "spec.services.Worker.extraPodSpec.mainContainer.args[1]"
    assert nodes.warned(written, carrier) == ([("DYN166", at)] if lost else [])


@pytest.mark.parametrize("carrier", nodes.NEWER)
@pytest.mark.parametrize("word", ["two words", "~", '{"a": "b c"}', "it's $HOME", "$(LWS_GROUP_SIZE)", "a;b"])
def test_every_word_arrives_as_written_under_1_5(word, carrier, tmp_path):
    written = nodes.worker(command=PYTHON, args=["--x", word])
    programs = container_commands.stand_ins(tmp_path, ["python3"])
    for main in nodes.mains(written, carrier):
        *_, call = container_commands.start(main, programs, nodes.VARIABLES[carrier]).calls
        assert call[4] == container_commands.expanded(word, nodes.VARIABLES[carrier])
    assert nodes.warned(written, carrier) == []


def test_quotes_in_a_line_for_a_shell_stay(tmp_path):
    written = nodes.worker(command=SHELL, args=["""exec python3 -m dynamo.sglang --json '{"a": "b c"}'"""])
    programs = container_commands.stand_ins(tmp_path, ["python3"])
    for main in nodes.mains(written):
        assert container_commands.start(main, programs, nodes.LWS).calls[-1][-2:] == ["--json", '{"a": "b c"}']
    assert nodes.warned(written) == []


UNTOUCHED = [
    ("a program that is not Python", ["java", "-jar"], ["app.jar"]),
    ("a script that starts the engine itself", SHELL, ["./start.sh"]),
    ("the engine's name in the command only", ["bash", "-c", "python3 -m dynamo.sglang"], ["x"]),
]


@cases(("command", "args"), UNTOUCHED)
def test_a_command_that_does_not_start_the_engine_is_unchanged(command, args):
    for main in nodes.mains(nodes.worker(command=command, args=args), backendFramework="sglang"):
        assert (main["command"], main["args"]) == (command, args)


def test_a_cache_changes_no_variable():
    plain = given.service("worker", main={"command": PYTHON})
    mount = {"name": "cache", "mountPoint": "/c", "useAsCompilationCache": True}
    assert given.main({**plain, "volumeMounts": [mount]})["env"] == given.main(plain)["env"]
