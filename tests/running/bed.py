"""A cluster whose pods really run, with Dynamo's definitions, roles, NATS and etcd, and a syncer with its own rights."""

from __future__ import annotations

import contextlib
import json
import shutil
from typing import TYPE_CHECKING, NamedTuple

import runtimes

from tests.gitops import cluster
from tests.platform import installation
from tests.running import graphs
from tests.testbed import audit, node, programs, server, syncer
from tests.testbed import control_plane as planes
from tests.testbed.node import image
from tests.testbed.node.image import Image
from tests.testbed.place import GRAPH, Object, Place, conditions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

    from tests.testbed.control_plane import ControlPlane
    from tests.testbed.node import Node
    from tests.testbed.server import Server
    from tests.testbed.syncer import Syncer

NATS_PORT, ETCD_PORT, PEER_PORT = 4222, 2379, 2380
_SMALL = {"OMP_NUM_THREADS": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}
"""Settings of vLLM for a test machine: one thread, and a KV cache of 1 GiB, of which a short test touches little."""
HELLO = {"model": graphs.MODEL, "messages": [{"role": "user", "content": "hello"}], "max_tokens": 8}


def images() -> dict[str, Image]:
    """The image of each release of the runtime. A test is skipped or fails if a release is not installed."""
    return {graphs.image(release): image.of_environment(environment(release)) for release in runtimes.RELEASES}


def environment(release: str) -> Path:
    """The Python environment of a release. A test is skipped or fails if it is not installed."""
    return _installed(runtimes.find(release))


def model() -> Path:
    """The model folder. A test is skipped or fails if it does not exist."""
    return _installed(runtimes.find_model())


def planner(release: str) -> Image:
    """The image of the planner of a release. A test is skipped or fails if what it needs is not installed."""
    modules = packages(runtimes.PLANNER)
    return image.of_environment(environment(release), modules, PYTHONPATH=str(modules))


def profiler(release: str, *folders: Path, **env: str) -> Image:
    """The image of the profiler of a release, with more folders of Python modules. A test is skipped or fails as for `planner`."""
    modules = (*folders, packages(runtimes.PLANNER), packages(runtimes.PROFILER))
    return image.of_environment(environment(release), *modules, PYTHONPATH=":".join(map(str, modules)), **env)


def vllm(release: str) -> Image:
    """The image of a release with vLLM for CPUs. A test is skipped or fails if it is not installed."""
    modules = [_installed(runtimes.find_packages(name), "vLLM for CPUs", runtimes.VLLM_REMEDY) for name in runtimes.VLLM[release]]
    return image.of_environment(environment(release), *modules, PYTHONPATH=":".join(map(str, modules)), **_SMALL)


def packages(name: str) -> Path:
    """The folder with the packages of a list of `tools/runtimes.py`. A test is skipped or fails if they are not installed."""
    return _installed(runtimes.find_packages(name), f"the packages of the {name}", runtimes.PLANNER_REMEDY)


def _installed(folder: Path | None, what: str = "the Dynamo runtime", remedy: str = runtimes.REMEDY) -> Path:
    return folder or programs.missing(what, {"provided": True, "missing": remedy})


class Running(NamedTuple):
    """A control plane and its node."""

    plane: ControlPlane
    node: Node


@contextlib.contextmanager
def started(make: pytest.TempPathFactory, gpus: int = 8) -> Iterator[Running]:
    """A control plane of its own with the real controllers, and a node with GPUs and no images. The first back-off takes a second."""
    needed = planes.Programs(*(programs.path(name) for name in ("etcd", "kube-apiserver", "kubectl")))
    folder = make.mktemp("control-plane")
    with (
        planes.running(folder, needed, *audit.flags(folder)) as plane,
        planes.controllers(plane, programs.path("kube-controller-manager")),
        node.running(plane, make.mktemp("node"), {}, gpus=gpus, backoff=1.0) as machine,
    ):
        yield Running(plane, machine)


class Bed(NamedTuple):
    """A control plane with its controllers, which serves Dynamo's kinds in one version, and a node that runs pods."""

    plane: ControlPlane
    machine: Node
    version: str = "v1alpha1"

    @property
    def platform(self) -> dict[str, str]:
        """The addresses of NATS and etcd, as settings of a render."""
        address = self.machine.address
        return {"natsAddress": f"nats://{address}:{NATS_PORT}", "etcdAddress": f"http://{address}:{ETCD_PORT}"}

    @contextlib.contextmanager
    def namespace(self, name: str) -> Iterator[Place]:
        """A new namespace with the claim `models`, whose volume holds the model folder. At the end all its pods have stopped."""
        here = Place(self.plane, self.plane.namespace(name), f"nvidia.com/{self.version}")
        spec = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
        here.apply([{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": graphs.CLAIM}, "spec": spec}])
        shutil.copytree(model(), self.machine.claim(name, graphs.CLAIM) / "tiny")
        try:
            yield here
        finally:
            here.kubectl("delete", "deployments,replicasets", "--all", "--wait=false", "--cascade=orphan")
            here.kubectl("delete", "pods", "--all", "--grace-period=1", "--wait=false")
            server.eventually(lambda: not here.listed("Pod"))

    def wait_until_successful(self, here: Place, graph: str, seconds: float = 180) -> Object:
        """The status of a graph as soon as the syncer calls it successful. Raises an error with what all pods wait for."""
        self.machine.eventually(lambda: successful(here.get(GRAPH, graph)), here.namespace, seconds)
        return here.status(graph)

    def frontend(self, here: Place, graph: str) -> tuple[str, int]:
        """The address and the port of the Service of a graph's frontend."""
        spec = self.plane.client.get(f"/api/v1/namespaces/{here.namespace}/services/{graph}-frontend")["spec"]
        return spec["clusterIP"], spec["ports"][0]["port"]

    def models(self, here: Place, graph: str) -> list[str]:
        """The models that a ready frontend lists; none if no frontend is ready."""
        if not self.machine.endpoints(here.namespace, f"{graph}-frontend"):
            return []
        said = self.machine.ask(here.namespace, f"{graph}-frontend", "/v1/models")
        return [each["id"] for each in json.loads(said.text)["data"]] if said.status == 200 else []

    def answering(self, here: Place, graph: str, model: str = graphs.MODEL) -> int:
        """The number of ready frontends; 0 if not all of them list a model. A frontend of 1.5.1 may be ready a moment earlier."""
        ready = self.machine.endpoints(here.namespace, f"{graph}-frontend")
        try:
            listed = [self.machine.request(each.address, each.port, "/v1/models") for each in ready]
        except OSError:  # one has ended meanwhile
            return 0
        return len(ready) if all(f'"{model}"' in each.text for each in listed) else 0

    def chat(self, here: Place, graph: str) -> str:
        """The text with which a ready frontend answers a chat completion; empty if it refuses."""
        said = self.machine.ask(here.namespace, f"{graph}-frontend", "/v1/chat/completions", body=HELLO)
        return str(json.loads(said.text)["choices"][0]["message"]["content"]) if said.status == 200 else ""

    def answers(self, here: Place, graph: str) -> bool:
        """True if a ready frontend lists the model and answers a chat completion."""
        try:
            return self.models(here, graph) == [graphs.MODEL] and self.chat(here, graph) != ""
        except (AssertionError, OSError):  # no frontend is ready, or it does not answer in time
            return False

    @contextlib.contextmanager
    def nats(self, folder: Path) -> Iterator[Server]:
        """NATS with JetStream at `platform["natsAddress"]`."""
        command = self.machine.command(str(programs.path("nats-server")), "-js", "-sd", str(folder / "jetstream"), "-p", str(NATS_PORT))
        with server.running(command, folder / "nats.log") as running:
            yield running

    @contextlib.contextmanager
    def etcd(self, folder: Path) -> Iterator[Server]:
        """An etcd for graphs at `platform["etcdAddress"]`, which is not that of the API server."""
        own, peer = f"http://{self.machine.address}:{ETCD_PORT}", f"http://{self.machine.address}:{PEER_PORT}"
        told = [f"--data-dir={folder / 'etcd'}", f"--listen-client-urls={own}", f"--advertise-client-urls={own}"]
        peers = [f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=default={peer}"]
        command = self.machine.command(str(programs.path("etcd")), *told, *peers, "--unsafe-no-fsync", "--log-level=warn")
        with server.running(command, folder / "graphs-etcd.log") as running:
            yield running


@contextlib.contextmanager
def syncing(bed: Bed, kustomize: Path, make: pytest.TempPathFactory) -> Iterator[Syncer]:
    """A syncer with the account and the rights of platform/syncer. It shows the last lines of containers that failed."""
    folder = make.mktemp("syncer")
    account = syncer.installed(bed.plane, kustomize, folder, "pods", "restarts", "planner", "models", "loras", "requests", "auto-apply")
    options = ("--pods", "--pod-messages", "--restarts", "--graph-replicas", "--models", "--loras", "--requests", "--auto-apply")
    with syncer.running(account, folder, *options, prelude=bed.machine.reaching()) as started:
        yield started


def furnish(plane: ControlPlane, machine: Node, version: str = "v1alpha1") -> Bed:
    """Add the images of the runtime to a node, and apply Dynamo's definitions and the roles of the platform, as shipped."""
    machine.images.update(images())
    for part in ("crds" if version == "v1alpha1" else f"crds-{version}", "roles"):
        cluster.put(plane, *installation.objects(programs.ROOT / "platform" / part))
    return Bed(plane, machine, version)


def add_weights(bed: Bed, here: Place) -> None:
    """Replace the model in the volume of a namespace by one with weights."""
    folder = _installed(runtimes.find_weights(), "the model with weights", runtimes.VLLM_REMEDY)
    shutil.copytree(folder, bed.machine.claim(here.namespace, graphs.CLAIM) / "tiny", dirs_exist_ok=True)


def successful(graph: Object) -> bool:
    """True if the syncer has seen the newest spec and calls the graph successful."""
    status = graph.get("status", {})
    return bool(status.get("state") == "successful" and status.get("observedGeneration") == graph["metadata"]["generation"])


def message(status: Object) -> str:
    """The message of `Ready`."""
    return str(conditions(status).get("Ready", {}).get("message", ""))
