"""TensorRT-LLM: on several nodes, one MPI job over ssh (reference: backend_trtllm.go)."""

from __future__ import annotations

import shlex
import stat
from pathlib import Path
from typing import NamedTuple

import pytest

from krm_fn.render.config import Config
from tests.support import container_commands, given, nodes
from tests.support.cases import cases

PYTHON = ["python3", "-m", "dynamo.trtllm"]
SHELL = ["/bin/sh", "-c"]
PROGRAMS = ("mpirun", "trtllm-llmapi-launch", "python3", "sleep", "ssh-keygen", "sshd")
SECRET, KEYS = "mpi-run-ssh-secret", "keys"
_FOLLOWERS = {
    "deployment": ["chat-worker-0-0-1.chat-worker-0.team", "chat-worker-0-0-2.chat-worker-0.team"],
    "grove": [f"chat-0-worker-0-worker-wkr-{index}.chat-0.team.svc.cluster.local" for index in (0, 1)],
}
FOLLOWERS = {carrier: _FOLLOWERS[carrier.partition(" ")[0]] for carrier in nodes.ALL}
LWS = ("deployment", "deployment of 1.5")


def home(carrier, pod):
    """The home folder in the options of ssh. ssh itself replaces the `~` that release 0.9 writes."""
    return str(pod.home) if carrier in nodes.NEWER else "~"


class Pod(NamedTuple):
    """The file system of a pod: a home folder with programs in it, and the mounted keys."""

    home: Path
    keys: Path

    def __call__(self, main, variables, **scripts):
        """Run a container; `scripts` replace programs."""
        container_commands.stand_ins(self.home, [], **scripts)
        return container_commands.start(main, self.home, variables, {"/ssh-pk": self.keys, "/usr/sbin/sshd": self.home / "sshd"})


@pytest.fixture
def pod(tmp_path):
    keys = tmp_path / "keys"
    keys.mkdir()
    (keys / "private.key").write_text("private")
    (keys / "private.key.pub").write_text("public")
    return Pod(container_commands.stand_ins(tmp_path / "home", PROGRAMS, getent="exit 0"), keys)


def words(call):
    """The word after each option of mpirun."""
    return {option: call[index + 1] for index, option in enumerate(call[:-1]) if option.startswith("-")}


def test_one_node_changes_nothing():
    pod = given.pod(given.service("worker", main={"command": PYTHON, "args": ["--model-path", "m"]}))
    main = pod["containers"][-1]
    assert (main["command"], main["args"]) == (PYTHON, ["--model-path", "m"])
    assert SECRET not in [volume["name"] for volume in pod["volumes"]]
    assert {"livenessProbe", "readinessProbe", "startupProbe"} <= main.keys()


@pytest.mark.parametrize("carrier", nodes.ALL)
def test_the_leader_starts_the_job_on_all_nodes(carrier, pod):
    written = nodes.worker(command=PYTHON, args=["--model-path", "m"], nodes=3, gpus="4")
    leader, _ = nodes.mains(written, carrier)
    ran = pod(leader, container_commands.environment(leader, **nodes.VARIABLES[carrier]))
    assert ran.code == 0, ran.said
    job = ran.words("mpirun")
    assert words(job)["-H"].split(",") == [nodes.LEADERS[carrier], *FOLLOWERS[carrier]]
    assert words(job)["-n"] == "12"
    assert words(job)["--mca"] == "plm_rsh_args"
    assert f"-p 2222 -o StrictHostKeyChecking=no -i {home(carrier, pod)}/.ssh/id_rsa" in job
    assert ran.words("trtllm-llmapi-launch") == [*PYTHON, "--model-path", "m"]
    assert ran.words("python3") == ["-m", "dynamo.trtllm", "--model-path", "m"]


USERS_OF_MPI = [
    ("0.9, any user", "deployment", "1000", True),
    ("1.5, root", LWS[1], "0", True),
    ("1.5, another user", LWS[1], "1000", False),
]


@cases(("carrier", "user", "allowed"), USERS_OF_MPI)
def test_root_is_allowed_to_start_the_job(carrier, user, allowed, pod):
    """Release 1.5 asks only for root, so that a job of root is no accident."""
    leader, _ = nodes.mains(nodes.worker(command=PYTHON, args=["x"]), carrier)
    job = pod(leader, nodes.VARIABLES[carrier], id=f"echo {user}").words("mpirun")
    assert ("--allow-run-as-root" in job, "--oversubscribe" in job) == (allowed, True)


@pytest.mark.parametrize("carrier", LWS)
def test_both_sides_have_the_keys(carrier, pod):
    for main in nodes.mains(nodes.worker(command=PYTHON, args=["x"]), carrier):
        assert pod(main, nodes.LWS).code == 0
        folder = pod.home / ".ssh"
        assert {file.name: file.read_text() for file in folder.iterdir() if file.name in ("id_rsa", "id_rsa.pub", "authorized_keys")} == {
            "id_rsa": "private",
            "id_rsa.pub": "public",
            "authorized_keys": "public",
        }
        assert stat.S_IMODE((folder / "id_rsa").stat().st_mode) == 0o600
        key = f"{home(carrier, pod)}/.ssh/id_rsa"
        assert (folder / "config").read_text() == f"Host *\nIdentityFile {key}\nStrictHostKeyChecking no\nPort 2222\n"


@pytest.mark.parametrize("carrier", LWS)
def test_a_follower_runs_sshd_only(carrier, pod):
    _, follower = nodes.mains(nodes.worker(command=PYTHON, args=["x"]), carrier)
    ran = pod(follower, nodes.LWS)
    assert ran.code == 0, ran.said
    folder = f"{pod.home}/.ssh"
    hosts = [f"{folder}/host_keys/ssh_host_{kind}_key" for kind in ("rsa", "ecdsa", "ed25519")]
    kinds = [call[1:] for call in ran.calls if call[0] == "ssh-keygen"]
    assert kinds == [["-t", kind, "-f", file, "-N", ""] for kind, file in zip(("rsa", "ecdsa", "ed25519"), hosts, strict=True)]
    assert ran.calls[-1] == ["sshd", "-D", "-f", f"{folder}/sshd_config"]
    settings = dict(line.split(" ", 1) for line in (pod.home / ".ssh" / "sshd_config").read_text().splitlines())
    assert settings["Port"] == "2222"
    assert settings["PasswordAuthentication"] == "no"
    assert settings["AuthorizedKeysFile"] == f"{home(carrier, pod)}/.ssh/authorized_keys"
    assert settings.get("StrictModes") == ("no" if carrier in nodes.NEWER else None)


def test_a_follower_is_ready_when_its_sshd_accepts_connections():
    leader, follower = nodes.mains(nodes.worker(command=PYTHON, args=["x"], readinessProbe={"httpGet": {"port": 1, "path": "/mine"}}))
    assert leader["readinessProbe"] == {"httpGet": {"port": 1, "path": "/mine"}}
    assert {"livenessProbe", "startupProbe"} <= leader.keys()
    assert follower["readinessProbe"]["tcpSocket"] == {"port": 2222}
    assert not {"livenessProbe", "startupProbe"} & follower.keys()


LINES = [
    ("a plain line", "python3 -m dynamo.trtllm --model-path m", ["--model-path", "m"]),
    ("single quotes", 'python3 -m dynamo.trtllm --override \'{"a": "b c"}\'', ["--override", '{"a": "b c"}']),
    ("single quotes in double ones", 'python3 -m dynamo.trtllm --name "it\'s mine"', ["--name", "it's mine"]),
    ("a quote that is quoted", r"""python3 -m dynamo.trtllm --name 'it'\''s'""", ["--name", "it's"]),
    ("backslashes and dollars", r"python3 -m dynamo.trtllm --x a\\b --y '\$z'", ["--x", r"a\b", "--y", r"\$z"]),
    ("output into a file", "python3 -m dynamo.trtllm --a 2>&1 | cat", ["--a"]),
]


@pytest.mark.parametrize("carrier", nodes.ALL)
@cases(("line", "arrives"), LINES)
def test_a_line_for_a_shell_arrives_as_written(line, arrives, carrier, pod):
    """The reference puts the line into single quotes without escaping, so a single quote in the line ends them."""
    leader, _ = nodes.mains(nodes.worker(args=[line]), carrier)
    ran = pod(leader, nodes.VARIABLES[carrier])
    assert ran.code == 0, ran.said
    assert ran.words("python3") == ["-m", "dynamo.trtllm", *arrives]
    assert nodes.warned(nodes.worker(args=[line]), carrier) == []


RUN = [
    ("Python with arguments", PYTHON, ["--a"], "python3 -m dynamo.trtllm --a"),
    ("a shell is dropped", SHELL, ["python3 -m dynamo.trtllm --a"], "python3 -m dynamo.trtllm --a"),
    ("so is any other program before arguments", ["uv", "run"], ["python3", "-m", "dynamo.trtllm"], "python3 -m dynamo.trtllm"),
    ("a command alone", ["uv", "run", "python3", "-m", "dynamo.trtllm"], None, "uv run python3 -m dynamo.trtllm"),
]


@pytest.mark.parametrize("carrier", ["grove", "grove of 1.5"])
@cases(("command", "args", "line"), RUN)
def test_the_command_that_the_job_runs(command, args, line, carrier):
    more = {} if args is None else {"args": args}
    leader, _ = nodes.mains(nodes.worker(command=command, **more), carrier)
    assert shlex.split(leader["args"][0])[-1] == f"trtllm-llmapi-launch {line}"


GPUS = [
    ("the limit counts", {"limits": {"gpu": "4"}}, "8"),
    ("a request wins over it", {"limits": {"gpu": "4"}, "requests": {"gpu": "3"}}, "6"),
    ("a request that is no whole number does not count", {"limits": {"gpu": "4"}, "requests": {"gpu": "3k"}}, "8"),
    ("no GPUs", {"limits": {"cpu": "4"}}, "0"),
]


@cases(("resources", "processes"), GPUS)
def test_one_process_for_each_gpu_of_each_node(resources, processes):
    leader, _ = nodes.mains(nodes.worker(command=PYTHON, args=["x"], resources=resources, gpus=""), "grove")
    assert words(shlex.split(leader["args"][0]))["-n"] == processes


@pytest.mark.parametrize(("carrier", "more"), [(LWS[0], set()), (LWS[1], {"CPATH", "TRITON_PTXAS_PATH"})], ids=["0.9", "1.5"])
def test_the_job_hands_on_the_variables_of_the_container(carrier, more, pod):
    written = nodes.worker(command=PYTHON, args=["x"], envs=[{"name": "MINE", "value": "1"}, {"name": "HF_TOKEN", "value": "2"}])
    leader, _ = nodes.mains(written, carrier)
    job = pod(leader, nodes.LWS).words("mpirun")
    taken = [job[index + 1] for index, word in enumerate(job) if word == "-x"]
    assert taken == sorted(set(taken))
    assert {variable["name"] for variable in leader["env"]} <= set(taken)
    assert {"MINE", "HF_TOKEN", "PATH", "HOME", "LD_LIBRARY_PATH", "OMPI_MCA_orte_keep_fqdn_hostnames"} <= set(taken)
    assert {"CPATH", "TRITON_PTXAS_PATH"} & set(taken) == more


@pytest.mark.parametrize("carrier", LWS)
def test_the_leader_waits_until_its_followers_have_names(carrier, pod):
    """The pods of a LeaderWorkerSet start at the same time, and the job fails on a host whose name does not resolve."""
    leader, _ = nodes.mains(nodes.worker(command=PYTHON, args=["x"], nodes=3), carrier)
    late = 'echo "$2" >>"$HOME/asked"; [ "$(wc -l <"$HOME/asked")" -gt 3 ]'
    ran = pod(leader, nodes.LWS, getent=late)
    assert ran.code == 0, ran.said
    asked = (pod.home / "asked").read_text().split()
    assert asked == [FOLLOWERS["deployment"][0]] * 4 + [FOLLOWERS["deployment"][1]]
    assert len([call for call in ran.calls if call[0] == "sleep"]) == 3
    assert ran.calls[-1][0] == "python3"


def test_the_leader_gives_up_on_a_follower_after_five_minutes(pod):
    leader, _ = nodes.mains(nodes.worker(command=PYTHON, args=["x"]))
    clock = 'echo x >>"$HOME/ticks"; echo $(($(wc -l <"$HOME/ticks") * 101))'
    ran = pod(leader, nodes.LWS, getent="exit 2", date=clock)
    assert ran.code == 1
    assert f"Timeout waiting for DNS: {FOLLOWERS['deployment'][0]}" in ran.said
    assert [call[0] for call in ran.calls] == ["sleep"] * 2
    assert "mpirun" not in [call[0] for call in ran.calls]


@pytest.mark.parametrize("carrier", ["grove", "grove of 1.5"])
def test_under_grove_the_leader_does_not_wait(carrier):
    """The clique of the leader starts after the clique of its followers."""
    leader, _ = nodes.mains(nodes.worker(command=PYTHON, args=["x"]), carrier)
    assert "getent" not in leader["args"][0]


@pytest.mark.parametrize("carrier", nodes.CARRIERS)
def test_keys_come_from_the_configured_secret_and_are_last_in_their_lists(carrier):
    written = nodes.worker(command=PYTHON, args=["x"], volumeMounts=[{"name": "weights", "mountPoint": "/w"}])
    found = given.expanded(given.graph({"Worker": written}), config=Config(orchestrator=carrier, mpi_secret_name=KEYS))
    text = str(found.resources)
    assert SECRET not in text
    leader, follower = nodes.pods(written, carrier)
    for spec in (leader, follower):
        assert spec["volumes"][-1] == {"name": SECRET, "secret": {"secretName": SECRET, "defaultMode": 0o644}}
        assert spec["containers"][-1]["volumeMounts"][-1] == {"name": SECRET, "mountPath": "/ssh-pk", "readOnly": True}
        assert [mount["name"] for mount in spec["containers"][-1]["volumeMounts"]] == ["weights", "shared-memory", SECRET]
        assert spec["containers"][-1]["env"][-1] == {"name": "OMPI_MCA_orte_keep_fqdn_hostnames", "value": "1"}
    assert f"'secretName': '{KEYS}'" in text


@pytest.mark.parametrize("carrier", nodes.NEWER)
def test_keys_are_mounted_before_shared_memory_under_1_5(carrier):
    """The engine changes the main container before shared memory is added, and volumes follow the mounts."""
    leader, follower = nodes.pods(nodes.worker(command=PYTHON, args=["x"]), carrier)
    for spec in (leader, follower):
        assert [mount["name"] for mount in nodes.main(spec)["volumeMounts"]] == [SECRET, "shared-memory"]
        assert [volume["name"] for volume in spec["volumes"]] == [SECRET, "shared-memory"]


@pytest.mark.parametrize("carrier", nodes.NEWER)
@pytest.mark.parametrize("word", ["it's", "two words", "x{a,b}", "$HOME", "$(POD_HOST)", """{"a": ["it's", "$HOME"]}""", "#", ""])
def test_every_word_passes_both_shells_as_written_under_1_5(word, carrier, pod):
    written = nodes.worker(command=PYTHON, args=["--x", word])
    variables = {**nodes.VARIABLES[carrier], "POD_HOST": "a b"}
    ran = pod(nodes.mains(written, carrier)[0], variables)
    assert ran.words("python3") == ["-m", "dynamo.trtllm", "--x", container_commands.expanded(word, variables)]
    assert nodes.warned(written, carrier) == []


@pytest.mark.parametrize("carrier", nodes.CARRIERS)
@pytest.mark.parametrize(("word", "lost"), [("it's", True), ("two words", True), ("x{a,b}", True), ("Qwen/Qwen3-8B", False)])
def test_a_word_that_the_shell_changes_is_reported(word, lost, carrier, pod):
    """A plain command becomes a line for bash, and the reference joins the words without quotes."""
    written = nodes.worker(command=PYTHON, args=["--x", word])
    ran = pod(nodes.mains(written, carrier)[0], nodes.VARIABLES[carrier])
    arrived = [call[4:] for call in ran.calls if call[0] == "python3"]
    assert (arrived != [[word]]) == lost
    at = "spec.services.Worker.extraPodSpec.mainContainer.args[1]"
    assert nodes.warned(written, carrier) == ([("DYN166", at)] if lost else [])


@pytest.mark.parametrize("carrier", nodes.CARRIERS)
@pytest.mark.parametrize("word", ['{"a":1}', """{"a": ["it's", "b c", "$HOME"]}"""])
def test_json_passes_both_shells_as_written(word, carrier, pod):
    written = nodes.worker(command=PYTHON, args=["--x", word])
    ran = pod(nodes.mains(written, carrier)[0], nodes.VARIABLES[carrier])
    assert ran.words("python3") == ["-m", "dynamo.trtllm", "--x", word]
    assert nodes.warned(written, carrier) == []


OTHERS = [
    ("the words after another program", ["uv", "run"], ["python3", "-m", "dynamo.trtllm", "a b"], "args[3]"),
    ("a line for a shell in the command, which loses its quotes", [*SHELL, "python3 -m dynamo.trtllm --a"], None, "command[2]"),
]


@cases(("command", "args", "field"), OTHERS)
def test_words_of_other_programs_are_reported_too(command, args, field):
    written = nodes.worker(command=command, **({} if args is None else {"args": args}))
    at = f"spec.services.Worker.extraPodSpec.mainContainer.{field}"
    assert nodes.warned(written, "grove") == [("DYN166", at)]


POD_AT, MAIN_AT = (f"spec.services.Worker.extraPodSpec.{place}.runAsUser" for place in ("securityContext", "mainContainer.securityContext"))
ROOT, USER = {"runAsUser": 0}, {"runAsUser": 1000}
USERS = [
    ("the container runs as root", None, ROOT, [], MAIN_AT),
    ("the pod runs as root", ROOT, None, [], POD_AT),
    ("a container without a user takes that of the pod", ROOT, {"privileged": True}, [], POD_AT),
    ("the user of the container wins", ROOT, USER, [], ""),
    ("and so does root there", USER, ROOT, [], MAIN_AT),
    ("another home", ROOT, None, [{"name": "HOME", "value": "/workspace"}], POD_AT),
    ("the home of root", ROOT, None, [{"name": "HOME", "value": "/root"}], ""),
    ("another user", USER, None, [], ""),
    ("the user of the image", None, None, [], ""),
]


@pytest.mark.parametrize("carrier", nodes.CARRIERS)
@cases(("pod_context", "context", "env", "field"), USERS)
def test_root_with_the_home_of_another_user_is_reported(pod_context, context, env, field, carrier):
    """The shell writes the keys to HOME; sshd reads the keys from the home in /etc/passwd."""
    main = {} if context is None else {"securityContext": context}
    spec = {} if pod_context is None else {"securityContext": pod_context}
    written = nodes.worker(command=PYTHON, args=["x"], env=env, main=main, pod=spec)
    assert nodes.warned(written, carrier) == ([("DYN172", field)] if field else [])


def test_the_home_of_root_does_not_matter_under_1_5():
    """All paths begin with $HOME, and sshd accepts files of another user."""
    written = nodes.worker(command=PYTHON, args=["x"], main={"securityContext": ROOT})
    assert nodes.warned(written, "deployment of 1.5") == []


def test_root_on_one_node_is_not_reported():
    written = given.service("worker", main={"command": PYTHON, "securityContext": ROOT})
    assert given.expanded(given.graph({"Worker": written})).results == []
