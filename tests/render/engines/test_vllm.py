"""vLLM: Ray if one copy of the model spans nodes, data parallelism if the copies do (reference: backend_vllm.go)."""

from __future__ import annotations

import pytest

from tests.support import container_commands, given, nodes
from tests.support.cases import cases

PYTHON = ["python3", "-m", "dynamo.vllm"]
SHELL = ["/bin/sh", "-c"]
RAY = ["--distributed-executor-backend", "ray"]
MAIN_ARGS = "spec.services.Worker.extraPodSpec.mainContainer.args"


def shared(share, rank, host):
    """The flags of data parallelism, as the engine gets them."""
    return (
        f"--data-parallel-hybrid-lb --data-parallel-size-local {share} --data-parallel-start-rank {rank}"
        f" --data-parallel-address {host} --data-parallel-rpc-port 13445"
    ).split()


SPREAD = [
    ("tensors over more GPUs than a node has", ["--tensor-parallel-size", "16"], "8", "ray"),
    ("stages over more GPUs than a node has", ["--pipeline-parallel-size", "2", "--tensor-parallel-size", "8"], "8", "ray"),
    ("the model over nodes wins over its copies", ["--tensor-parallel-size", "16", "--data-parallel-size", "2"], "8", "ray"),
    ("copies over more GPUs than a node has", ["--data-parallel-size", "16"], "8", "data"),
    ("copies of several GPUs each", ["--tensor-parallel-size", "4", "--data-parallel-size", "4"], "8", "data"),
    ("a flag within one text", ["-m dynamo.vllm --tensor-parallel-size 16"], "8", "ray"),
    ("a sign and zeros in front of a number", ["--tensor-parallel-size", "+016"], "8", "ray"),
    ("the first number after a flag counts", ["--tensor-parallel-size", "x", "--tensor-parallel-size", "16"], "8", "ray"),
    ("all on one node", ["--tensor-parallel-size", "8"], "8", ""),
    ("copies that fit one node", ["--tensor-parallel-size", "4", "--data-parallel-size", "2"], "8", ""),
    ("no flags", [], "8", ""),
    ("a number behind an equals sign is not seen", ["--tensor-parallel-size=16"], "8", ""),
    ("a short flag is not seen", ["-tp", "16"], "8", ""),
    ("a word is no number", ["--tensor-parallel-size", "many"], "8", ""),
    ("a fraction is no number", ["--tensor-parallel-size", "16.0"], "8", ""),
    ("a flag without a number", ["--tensor-parallel-size"], "8", ""),
    ("GPUs that are no whole number", ["--tensor-parallel-size", "16"], "8000m", ""),
    ("more copies than can be counted on no GPUs at all", ["--data-parallel-size", "16"], "0", ""),
]


@cases(("args", "gpus", "spread"), SPREAD)
def test_flags_and_gpus_decide_how_the_engine_spans_nodes(args, gpus, spread):
    given_args = ["--model", "m", *args]
    leader, _ = nodes.mains(nodes.worker(command=PYTHON, args=given_args, gpus=gpus))
    ray, data = leader["args"][0].startswith("ray start --head"), "--data-parallel-hybrid-lb" in leader["args"]
    assert {"ray": ray, "data": data} == {"ray": spread == "ray", "data": spread == "data"}
    assert spread or (leader["command"], leader["args"]) == (PYTHON, given_args)


def test_flags_in_the_command_are_not_seen():
    leader, _ = nodes.mains(nodes.worker(command=[*PYTHON, "--tensor-parallel-size", "16"]), "grove")
    assert leader["command"] == [*PYTHON, "--tensor-parallel-size", "16"]
    assert "args" not in leader


def test_one_node_changes_nothing():
    main = given.main(given.service("worker", main={"command": PYTHON, "args": ["--tensor-parallel-size", "16"]}))
    assert (main["command"], main["args"]) == (PYTHON, ["--tensor-parallel-size", "16"])
    assert {"livenessProbe", "readinessProbe", "startupProbe"} <= main.keys()


ARGS = [["--tensor-parallel-size", "16"], ["--data-parallel-size", "16"], ["--model", "m"]]


@pytest.mark.parametrize("carrier", nodes.CARRIERS)
@pytest.mark.parametrize("args", ARGS, ids=["Ray", "data parallelism", "neither"])
def test_only_the_leader_has_probes(args, carrier):
    leader, follower = nodes.mains(nodes.worker(command=PYTHON, args=args), carrier)
    probes = {"livenessProbe", "readinessProbe", "startupProbe"}
    assert probes <= leader.keys()
    assert not probes & follower.keys()


@pytest.mark.parametrize("carrier", nodes.CARRIERS)
def test_ray_starts_on_the_leader_and_followers_join(carrier, tmp_path):
    leader, follower = nodes.mains(nodes.worker(command=PYTHON, args=["--model", "m", "--tensor-parallel-size", "16"]), carrier)
    programs = container_commands.stand_ins(tmp_path, ["ray", "python3"])
    led = container_commands.start(leader, programs, nodes.VARIABLES[carrier])
    assert led.calls == [
        ["ray", "start", "--head", "--port=6379"],
        ["python3", "-m", "dynamo.vllm", "--model", "m", "--tensor-parallel-size", "16", *RAY],
    ]
    (tmp_path / "calls").unlink()
    followed = container_commands.start(follower, programs, nodes.VARIABLES[carrier])
    assert followed.calls == [["ray", "start", f"--address={nodes.LEADERS[carrier]}:6379", "--block"]]


LINES = [
    ("a plain line", SHELL, "python3 -m dynamo.vllm --tensor-parallel-size 16", []),
    (
        "quotes of both sorts",
        SHELL,
        """python3 -m dynamo.vllm --tensor-parallel-size 16 --kv '{"kv_role": "both"}' --served-model-name "it's mine" """,
        ["--kv", '{"kv_role": "both"}', "--served-model-name", "it's mine"],
    ),
    ("a folder first", ["/bin/bash", "-c"], "cd / && exec python3 -m dynamo.vllm --tensor-parallel-size 16", []),
    ("a shell with more options", ["bash", "-euc"], "exec python3 -m dynamo.vllm --tensor-parallel-size 16", []),
    ("output into a file", SHELL, "python3 -m dynamo.vllm --tensor-parallel-size 16 2>&1 | tee log", []),
    ("lines that go on", SHELL, "python3 \\\n  -m dynamo.vllm \\\n  --tensor-parallel-size 16", []),
    ("a variable of the shell", SHELL, 'size=16; python3 -m dynamo.vllm --tensor-parallel-size 16 --x "$size"', ["--x", "16"]),
    ("backslashes", SHELL, r"python3 -m dynamo.vllm --tensor-parallel-size 16 --x a\ b\\c", ["--x", r"a b\c"]),
]


@cases(("command", "line", "more"), LINES)
def test_ray_before_a_line_for_a_shell_runs_the_line_as_written(command, line, more, tmp_path):
    """The reference joins the words without quotes, and the shell then runs `python3` without arguments."""
    leader, _ = nodes.mains(nodes.worker(command=command, args=[line]))
    ran = container_commands.start(leader, container_commands.stand_ins(tmp_path, ["ray", "python3"]), nodes.LWS)
    assert ran.code == 0, ran.said
    assert ran.words("ray") == ["start", "--head", "--port=6379"]
    assert ran.words("python3") == ["-m", "dynamo.vllm", *RAY, "--tensor-parallel-size", "16", *more]


def test_ray_that_does_not_start_keeps_the_engine_from_starting(tmp_path):
    leader, _ = nodes.mains(nodes.worker(command=PYTHON, args=["--tensor-parallel-size", "16"]))
    ran = container_commands.start(leader, container_commands.stand_ins(tmp_path, ["python3"], ray="exit 7"), nodes.LWS)
    assert (ran.code, ran.calls) == (7, [])


COPIES = ["--data-parallel-size", "16"]


@pytest.mark.parametrize("carrier", nodes.CARRIERS)
@pytest.mark.parametrize("command", [PYTHON, SHELL], ids=["a plain command", "a line for a shell"])
def test_the_leader_of_copies_is_rank_0_at_its_own_address(command, carrier, tmp_path):
    """In a plain list of words only Kubernetes expands a variable."""
    line = " ".join([*PYTHON, *COPIES])
    leader, _ = nodes.mains(nodes.worker(command=command, args=[line] if command == SHELL else COPIES), carrier)
    ran = container_commands.start(leader, container_commands.stand_ins(tmp_path, ["python3"]), nodes.VARIABLES[carrier])
    flags = shared(8, 0, nodes.LEADERS[carrier])
    parts = [flags, COPIES] if command == SHELL else [COPIES, flags]
    assert ran.words("python3") == ["-m", "dynamo.vllm", *parts[0], *parts[1]]


SHARES = [("1", "8", 8), ("4", "8", 2), ("3", "8", 2)]
INDEXES = [
    ("deployment", "LWS_WORKER_INDEX", 1, 1),
    ("deployment", "LWS_WORKER_INDEX", 3, 3),
    ("grove", "GROVE_PCLQ_POD_INDEX", 0, 1),
    ("grove", "GROVE_PCLQ_POD_INDEX", 2, 3),
]


@pytest.mark.parametrize("command", [PYTHON, SHELL, ["/bin/bash", "-c"]], ids=["a plain command", "a line for sh", "a line for bash"])
@pytest.mark.parametrize(("size", "gpus", "share"), SHARES, ids=["1 of 8", "4 of 8", "3 of 8"])
@pytest.mark.parametrize(("carrier", "variable", "index", "rank"), INDEXES, ids=[f"{row[0]}, node {row[3]}" for row in INDEXES])
def test_the_first_rank_of_a_follower_follows_the_last_rank_of_the_node_before(
    carrier, variable, index, rank, size, gpus, share, command, tmp_path
):
    args = ["--tensor-parallel-size", size, "--data-parallel-size", "32"]
    line = args if command == PYTHON else [" ".join([*PYTHON, *args])]
    written = nodes.worker(command=command, args=line, gpus=gpus, nodes=4)
    _, follower = nodes.mains(written, carrier)
    ran = container_commands.start(
        follower, container_commands.stand_ins(tmp_path, ["python3"]), {**nodes.VARIABLES[carrier], variable: str(index)}
    )
    assert ran.code == 0, ran.said
    flags = shared(share, share * rank, nodes.LEADERS[carrier])
    parts = [args, flags] if command == PYTHON else [flags, args]
    assert ran.words("python3") == ["-m", "dynamo.vllm", *parts[0], *parts[1]]
    assert nodes.warned(written, carrier) == []


READERS = [("grove", "--data-parallel-size", 1), ("deployment", "--data-parallel-size", 1), ("deployment", "--tensor-parallel-size", 0)]
WORDS = [
    ("a blank", "my model", True),
    ("a quote", "it's", True),
    ("a backslash", r"a\b", True),
    ("two commands", "a;b", True),
    ("a redirection", "a>b", True),
    ("a variable", "pa$word", True),
    ("parentheses", "a(b)", True),
    ("a comment", "#x", True),
    ("a home", "~/m", True),
    ("a pattern", "/et?", True),
    ("a word that names Dynamo", "dynamo.vllm it's", True),
    ("JSON", '{"a":1}', False),
    ("JSON with blanks and quotes", """{"a": ["it's", "b c"]}""", False),
    ("a model's name", "Qwen/Qwen3-0.6B", False),
    ("a number", "16", False),
    ("an assignment", "--a=b,c:d", False),
]


@cases(("word", "lost"), WORDS)
@pytest.mark.parametrize(("carrier", "size", "role"), READERS, ids=["Grove, copies", "LeaderWorkerSet, copies", "LeaderWorkerSet, Ray"])
def test_a_word_that_the_shell_changes_is_reported_and_json_is_quoted(carrier, size, role, word, lost, tmp_path):
    written = nodes.worker(command=PYTHON, args=[size, "16", "--x", word])
    main = nodes.mains(written, carrier)[role]
    ran = container_commands.start(main, container_commands.stand_ins(tmp_path, ["python3", "ray"]), nodes.VARIABLES[carrier])
    arrived = [call[6] for call in ran.calls if call[0] == "python3" and len(call) > 6]
    assert (arrived != [word]) == lost
    assert nodes.warned(written, carrier) == ([("DYN166", f"{MAIN_ARGS}[3]")] if lost else [])


def test_ray_puts_any_program_that_is_no_shell_behind_one(tmp_path):
    written = nodes.worker(command=["uv", "run", "python3"], args=["--tensor-parallel-size", "16", "--x", '{"a": "b c"}', "--y", "b c"])
    leader, _ = nodes.mains(written, backendFramework="vllm")
    ran = container_commands.start(leader, container_commands.stand_ins(tmp_path, ["ray", "uv"]), nodes.LWS)
    assert ran.words("uv") == ["run", "python3", "--tensor-parallel-size", "16", "--x", '{"a": "b c"}', "--y", "b", "c", *RAY]
    assert nodes.warned(written, backendFramework="vllm") == [("DYN166", f"{MAIN_ARGS}[5]")]


def test_words_that_no_shell_reads_are_not_reported():
    fits = nodes.worker(command=PYTHON, args=["--x", "a b"])
    quoted = nodes.worker(command=SHELL, args=["""python3 -m dynamo.vllm --tensor-parallel-size 16 --x 'a b'"""])
    single = given.graph({"Worker": given.service("worker", main={"command": PYTHON, "args": ["--data-parallel-size", "16", "a b"]})})
    assert nodes.warned(fits) == nodes.warned(quoted) == []
    assert given.expanded(single).results == []


CACHES = [
    ("a cache with a path", {"mountPoint": "/cache", "useAsCompilationCache": True}, "/cache", "/cache"),
    ("a cache without a path", {"useAsCompilationCache": True}, "/root/.cache/vllm", None),
    ("a mount that is no cache", {"mountPoint": "/cache"}, "/cache", None),
]


@cases(("mount", "place", "value"), CACHES)
def test_the_variable_of_the_cache_is_set_only_for_a_path_of_the_user(mount, place, value):
    """The variable is the last one, unsorted (reference: UpdateContainer)."""
    main = given.main(given.service("worker", main={"command": PYTHON}, volumeMounts=[{"name": "cache", **mount}]))
    assert {"name": "cache", "mountPath": place} in main["volumeMounts"]
    assert given.variables(main).get("VLLM_CACHE_ROOT") == value
    assert value is None or main["env"][-1]["name"] == "VLLM_CACHE_ROOT"
