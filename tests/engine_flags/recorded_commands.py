"""Runs every container of rendered objects in its shell, and records the command lines of the programs of Dynamo that it starts.

Programs that record their arguments replace all others, so no engine and no network is needed.
"""

from __future__ import annotations

from concurrent import futures
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support import container_commands, workload_templates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from krm_fn.kubernetes.types import Resource

PROGRAMS = (
    *("python3", "python", "ray", "mpirun", "trtllm-llmapi-launch", "sshd", "ssh", "ssh-keygen", "nvidia-smi", "getent", "sleep"),
    *("kubectl", "curl", "gpu-memory-service", "vllm", "sglang"),
)
MODULES = ("vllm", "sglang", "trtllm", "frontend", "planner", "router", "mocker")
_FIELDS = {"status.podIP": "10.1.1.1", "metadata.namespace": "inference", "metadata.name": "chat-worker-0", "metadata.uid": "1-2-3"}
_SECRET = "x"  # noqa: S105 - the value of each variable that another object has
_GROVE = {
    "GROVE_PCS_NAME": "chat",
    "GROVE_PCS_INDEX": "0",
    "GROVE_PCLQ_NAME": "chat-0-worker",
    "GROVE_PCSG_NAME": "chat-0-worker",
    "GROVE_PCSG_INDEX": "0",
    "GROVE_HEADLESS_SERVICE": "chat-0.team.svc.cluster.local",
}
_NO_CHILD = 127  # the exit code of `wait -n` in bash without a program to wait for
_LAST = 1
"""The index of the last pod of a clique of two followers. With the pod of the leader, a group has three pods."""


class Container(NamedTuple):
    """A container of a rendered object, and the variables that its orchestrator sets."""

    graph: str
    workload: str
    role: str
    spec: Any
    variables: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.graph}: {self.workload}, {self.role}, container {self.spec['name']}"


class CommandLine(NamedTuple):
    """The arguments with which a container starts a program of Dynamo."""

    container: Container
    program: str
    arguments: tuple[str, ...]


class Recording(NamedTuple):
    """The result of one container: its exit code and output, and the command lines of programs of Dynamo."""

    container: Container
    code: int
    output: str
    lines: tuple[CommandLine, ...]


def containers(graph: str, objects: Iterable[Resource]) -> Iterator[Container]:
    """The containers of all pods with a command, once for each role that its orchestrator can give the pod."""
    for item in objects:
        for index, template in enumerate(workload_templates.templates(item)):
            for role, variables in _roles(item, index):
                spec = template["spec"]
                for container in (*spec.get("initContainers", ()), *spec["containers"]):
                    if container.get("command"):
                        workload = f"{item['kind']} {item['metadata']['name']}"
                        yield Container(graph, workload, role, container, variables)


def _roles(workload: Resource, index: int) -> Iterator[tuple[str, dict[str, str]]]:
    """The names of the pods of a template, and the variables that LeaderWorkerSet or Grove sets in them."""
    name = workload["metadata"]["name"]
    if workload["kind"] == "LeaderWorkerSet":
        yield from _pods_of_group(name, workload["spec"]["leaderWorkerTemplate"]["size"], leads=index == 0)
    elif workload["kind"] == "DisaggregatedSet":
        groups = ((role["name"], role["spec"]["leaderWorkerTemplate"]) for role in workload["spec"]["roles"])
        pods = [(role, group, template) for role, group in groups for template in ("leaderTemplate", "workerTemplate") if template in group]
        role, group, template = pods[index]
        yield from _pods_of_group(f"{name}-{role}", group["size"], leads=template == "leaderTemplate" or group["size"] == 1)
    elif workload["kind"] == "PodCliqueSet":
        clique = workload["spec"]["template"]["cliques"][index]
        for pod in range(min(clique["spec"].get("replicas", 1), _LAST + 1)):
            rank = pod if clique["name"].endswith("-ldr") else pod + 1
            indexes = {"GROVE_PCLQ_POD_INDEX": str(pod), "GROVE_PCSG_POD_INDEX": str(rank)}
            yield f"pod {pod} of clique {clique['name']}", _GROVE | indexes
    else:
        yield "pod", {}


def _pods_of_group(name: str, size: int, *, leads: bool) -> Iterator[tuple[str, dict[str, str]]]:
    """The names and variables of the pods of a LeaderWorkerSet's template: of the leader, or else of the first and the last worker."""
    shared = {"LWS_LEADER_ADDRESS": f"{name}-0.{name}.team", "LWS_GROUP_SIZE": str(size)}
    for rank in (0,) if leads else (1, size - 1):
        yield f"pod {rank} of its group", {**shared, "LWS_WORKER_INDEX": str(rank)}


def record(listed: Sequence[Container], folder: Path) -> list[Recording]:
    """Runs the containers, two at a time, and equal ones once. The result has the same order."""
    keys = [(str(container.spec.get("command")), str(container.spec.get("args")), str(environment(container))) for container in listed]
    first = dict(zip(reversed(keys), reversed(listed), strict=True))
    rooms = [_room(folder / str(number)) for number in range(len(first))]  # before the first fork, which would keep written programs busy
    with futures.ThreadPoolExecutor(2) as pool:
        runs = dict(zip(first, pool.map(_run, first.values(), rooms), strict=True))
    return [_recording(container, runs[key]) for container, key in zip(listed, keys, strict=True)]


def _room(folder: Path) -> Path:
    """A folder with the programs, the ssh keys and the shared folders of a pod."""
    for name in ("shared", "keys"):
        (folder / name).mkdir(parents=True)
    for name in ("private.key", "private.key.pub"):
        (folder / "keys" / name).touch()
    container_commands.stand_ins(folder / "home", PROGRAMS)
    return folder


def _run(container: Container, room: Path) -> container_commands.Start:
    programs = room / "home"
    mapped = {"/ssh-pk": room / "keys", "/usr/sbin/sshd": programs / "sshd", "/run/gms/shared": room / "shared"}
    return container_commands.start(container.spec, programs, environment(container), mapped, seconds=60)


def environment(container: Container) -> dict[str, str]:
    """The variables of the container, with those of its orchestrator. Each value may name variables before it."""
    variables = dict(container.variables)
    for entry in container.spec.get("env") or ():
        if "valueFrom" in entry:
            variables[entry["name"]] = _FIELDS.get(entry["valueFrom"].get("fieldRef", {}).get("fieldPath", ""), _SECRET)
        elif entry["name"] not in ("PATH", "HOME"):
            variables[entry["name"]] = container_commands.expanded(entry.get("value", ""), variables)
    return variables


def _recording(container: Container, ran: container_commands.Start) -> Recording:
    lines = tuple(CommandLine(container, module, tuple(arguments)) for module, arguments in _modules(ran.calls))
    return Recording(container, 0 if _ended_before_wait(container, ran) else ran.code, ran.said, lines)


def _ended_before_wait(container: Container, ran: container_commands.Start) -> bool:
    """True if a program in the background ran, and ended before the shell reached `wait -n`, whose exit code is then 127.

    Real servers run on; the programs of this test end at once. A program that the shell does not find has the code 127 too, but no call.
    """
    script = f"{container.spec.get('command')}{container.spec.get('args')}"
    started = any(
        program.startswith("python") and f"python3 -m {arguments[1]} &" in script for program, *arguments in ran.calls if arguments[1:]
    )
    return ran.code == _NO_CHILD and "wait -n" in script and started


def _modules(calls: Iterable[Sequence[str]]) -> Iterator[tuple[str, Sequence[str]]]:
    """The programs of Dynamo that Python starts, with their arguments. A module inside one is the same program."""
    for program, *arguments in calls:
        if program.startswith("python") and arguments[:1] == ["-m"]:
            package, _, name = arguments[1].partition(".")
            if package == "dynamo" and name.partition(".")[0] in MODULES:
                yield f"dynamo.{name.partition('.')[0]}", arguments[2:]
