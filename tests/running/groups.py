"""Components on several nodes, whose engines meet: their graphs, their pods by group, and what each group's leader reports."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from tests.running import cliques
from tests.testbed import programs
from tests.testbed.node import image

if TYPE_CHECKING:
    from tests.testbed.node import Image, Node
    from tests.testbed.place import Place

Object = dict[str, Any]

GPUS = 2
"""GPUs of each node."""
GRAPH = "chat"
KEYS = "mpi-run-ssh-secret"
_PROGRAMS = Path(__file__).parent / "engines"
_USER, _HOME = 1000, "/tmp/dynamo"  # noqa: S108 - in a container, whose /tmp is its own
_VERSIONS = {"0.9": "0.9.0", "1.5": "1.5.1", "1.6": "1.6.1"}
_SET, _GROUP, _INDEX = (f"leaderworkerset.sigs.k8s.io/{name}" for name in ("name", "group-index", "worker-index"))
_REPLICA, _POD_INDEX = "grove.io/podcliquescalinggroup-replica-index", "grove.io/podcliquescalinggroup-pod-index"
_NOT_APPLIED = ("DynamoGraphDeployment", "PodGroup")  # nothing here reads a graph, and the node starts pods of any scheduler


class Case(NamedTuple):
    """A component on several nodes. `mode` is vllm-mp, vllm-ray, vllm-data, sglang or trtllm; `workload` is a kind."""

    mode: str
    release: str
    workload: str
    nodes: int
    root: bool
    in_shell: bool

    @property
    def name(self) -> str:
        """A name for the namespace and the test."""
        return f"{self.mode}-{self.release.replace('.', '')}-{'lws' if self.workload == 'LeaderWorkerSet' else 'grove'}"

    @property
    def engine(self) -> str:
        """The engine's name, as in `backendFramework`."""
        return self.mode.partition("-")[0]

    @property
    def arguments(self) -> tuple[str, ...]:
        """The user's arguments, which need all GPUs of all nodes."""
        total = str(self.nodes * GPUS)
        if self.engine == "vllm":
            size = "--data-parallel-size" if self.mode == "vllm-data" else "--tensor-parallel-size"
            return ("--model", "acme/tiny", size, total)
        return ("--model-path", "acme/tiny", *(("--tp", total) if self.engine == "sglang" else ()))

    def ranks(self, node: int) -> list[int]:
        """The ranks on a node. Ray has none."""
        if self.mode in ("vllm-data", "trtllm"):
            return list(range(node * GPUS, (node + 1) * GPUS))
        return [] if self.mode == "vllm-ray" else [node]

    def pod(self, main: Object) -> Object:
        """The fields that the user writes into the pods besides the main container.

        The leader of TensorRT-LLM on a LeaderWorkerSet would start its job before the followers' sshd listens, so an init container of the
        user waits for them, as docs/status.md says.
        """
        spec: Object = {"terminationGracePeriodSeconds": 1}
        if (self.mode, self.workload) != ("trtllm", "LeaderWorkerSet"):
            return spec
        return {**spec, "initContainers": [{**documented_wait(), "image": main["image"]}]}

    def graph(self, replicas: int) -> Object:
        """The graph, in the API version of the release."""
        module = ("python3", "-m", f"dynamo.{self.engine}")
        line = " ".join(("exec", *module, *self.arguments))
        written = {"command": ["/bin/sh", "-c"], "args": [line]} if self.in_shell else {"command": [*module], "args": [*self.arguments]}
        main = {"image": _reference(self.release, root=self.root), **written}
        make = _v1alpha1 if self.release == "0.9" else _v1beta1
        return {"metadata": {"name": GRAPH}, "kind": "DynamoGraphDeployment", **make(self, main, replicas)}

    def objects(self, here: Place, replicas: int = 1) -> list[Object]:
        """The objects that the cluster gets: the rendered ones, or Grove's pods in place of a PodCliqueSet."""
        orchestrator = "deployment" if self.workload == "LeaderWorkerSet" else "grove"
        settings = {"behaviour": f"v{self.release}", "orchestrator": orchestrator, "discoveryBackend": "kubernetes"}
        rendered = [each for each in here.render(self.graph(replicas), **settings) if each["kind"] not in _NOT_APPLIED]
        assert self.workload in [each["kind"] for each in rendered]
        sets = [each for each in rendered if each["kind"] == "PodCliqueSet"]
        return [*(each for each in rendered if each not in sets), *(each for one in sets for each in cliques.objects(one))]


def documented_wait() -> Object:
    """The init container with which the page about the status lets a leader wait for the followers."""
    blocks = re.findall(r"^```yaml\n(podTemplate:.*?)^```$", (programs.ROOT / "docs" / "status.md").read_text(), re.DOTALL | re.MULTILINE)
    (container,) = [each for block in blocks for each in yaml.safe_load(block)["podTemplate"]["spec"].get("initContainers") or ()]
    return dict(container)


def images(folder: Path) -> dict[str, Image]:
    """The images of the engines for each release, that of root and that of a user. `folder` is empty."""
    users = folder / "passwd"
    known = [line for line in Path("/etc/passwd").read_text().splitlines() if line.split(":")[2] != str(_USER)]
    users.write_text("\n".join([*known, f"dynamo:x:{_USER}:0::{_HOME}:/bin/bash", ""]))
    private = folder / "sshd"  # sshd of root needs this empty folder
    private.mkdir(mode=0o755)
    empty = folder / "bashrc"
    empty.touch()
    files = [(users, "/etc/passwd"), (private, "/run/sshd")]
    files += [(empty, f"/root/{name}") for name in (".bashrc", ".profile") if (Path("/root") / name).exists()]  # those of this machine
    base = image.of_environment(Path(sys.prefix), _PROGRAMS, PYTHONPATH=str(_PROGRAMS), GPUS_OF_NODE=str(GPUS))
    base = base._replace(path=(_PROGRAMS / "bin", *base.path), files=tuple(files))
    user = base._replace(user=_USER, env={**base.env, "HOME": _HOME})
    return {_reference(release, root=root): base if root else user for release in _VERSIONS for root in (True, False)}


def by_group(here: Place) -> list[list[Object]]:
    """The pods of each group, in the order of their ranks."""
    groups: dict[tuple[str, int], list[Object]] = {}
    for pod in here.listed("Pod"):
        labels = pod["metadata"]["labels"]
        key = (labels[_SET], int(labels[_GROUP])) if _SET in labels else ("", int(labels[_REPLICA]))
        groups.setdefault(key, []).append(pod)
    return [sorted(groups[key], key=_rank) for key in sorted(groups)]


def problem(case: Case, here: Place, machine: Node, replicas: int = 1) -> str:
    """The reason why not all groups have met and are ready; empty if they have."""
    groups = by_group(here)
    if [len(pods) for pods in groups] != [case.nodes] * replicas:
        return f"groups of {[len(pods) for pods in groups]} pods"
    return "; ".join(filter(None, (_problem(case, here, machine, pods) for pods in groups)))


def started(here: Place, machine: Node, pod: str) -> int | None:
    """The start of the main container of a pod, in clock ticks since the start of the machine; None if it does not run."""
    pid = machine.pids(here.namespace, pod).get("main")
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (FileNotFoundError, ProcessLookupError):  # the second one if it ends while it is read
        return None


def _problem(case: Case, here: Place, machine: Node, pods: list[Object]) -> str:
    """The reason why a group has not met: its leader must report exactly the processes that run now, with their ranks."""
    waiting = [pod["metadata"]["name"] for pod in pods if not cliques.is_ready(pod)]
    if waiting:
        return f"not ready: {waiting}"
    leader = pods[0]
    members = _report(machine.log(here.namespace, leader["metadata"]["name"]))
    hosts = {each["host"]: (each["ranks"], each["started"]) for each in members}
    expected = {
        pod["spec"]["hostname"]: (case.ranks(node), started(here, machine, pod["metadata"]["name"])) for node, pod in enumerate(pods)
    }
    if hosts != expected:
        return f"{leader['metadata']['name']} reports {hosts}, but these run: {expected}"
    elsewhere = [each for each in members if each.get("peer", leader["status"]["podIP"]) != leader["status"]["podIP"]]
    return f"followers of another leader: {elsewhere}" if elsewhere else ""


def _report(log: str) -> list[Object]:
    """The members of a leader's newest meeting; none before it."""
    lines = [line for line in log.splitlines() if line.startswith('{"met"')]
    members: list[Object] = json.loads(lines[-1])["met"] if lines else []
    return members


def _rank(pod: Object) -> int:
    labels = pod["metadata"]["labels"]
    return int(labels[_INDEX] if _INDEX in labels else labels[_POD_INDEX])


def _reference(release: str, *, root: bool) -> str:
    return f"example.com/engines{'-of-root' if root else ''}:{_VERSIONS[release]}"


_PATIENT = {"httpGet": {"path": "/live", "port": "system"}, "periodSeconds": 5, "timeoutSeconds": 4, "failureThreshold": 10}
"""A liveness probe for tests on busy machines: the default of release 0.9 restarts a container after one failure."""


def _v1alpha1(case: Case, main: Object, replicas: int) -> Object:
    service = {
        "componentType": "worker",
        "replicas": replicas,
        "multinode": {"nodeCount": case.nodes},
        "resources": {"limits": {"gpu": str(GPUS)}},
        "extraPodSpec": {**case.pod(main), "mainContainer": {**main, "livenessProbe": _PATIENT}},
    }
    return {"apiVersion": "nvidia.com/v1alpha1", "spec": {"backendFramework": case.engine, "services": {"Worker": service}}}


def _v1beta1(case: Case, main: Object, replicas: int) -> Object:
    chosen = {"annotations": {"nvidia.com/vllm-distributed-executor-backend": "ray"}} if case.mode == "vllm-ray" else {}
    container = {"name": "main", **main, "resources": {"limits": {"nvidia.com/gpu": str(GPUS)}}}
    component = {
        "name": "Worker",
        "type": "worker",
        "replicas": replicas,
        "multinode": {"nodeCount": case.nodes},
        "podTemplate": {"metadata": chosen, "spec": {**case.pod(main), "containers": [container]}},
    }
    return {"apiVersion": "nvidia.com/v1beta1", "spec": {"backendFramework": case.engine, "components": [component]}}
