"""The node as tests use it: it runs the pods of a control plane, and answers questions about them."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import signal as signals
import subprocess
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.testbed import server
from tests.testbed.node import network, services, story

if TYPE_CHECKING:
    import socket as sockets
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tests.testbed.node.image import Image
    from tests.testbed.node.pod import Pod
    from tests.testbed.node.services import Endpoint
    from tests.testbed.node.work import Work

Object = dict[str, Any]


class Response(NamedTuple):
    """The answer to an HTTP request."""

    status: int
    text: str


class Node:
    """A node that runs pods. Tests call its methods from any thread. `images` may change at any time."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self.images: dict[str, Image] = work.images
        self.address = network.GATEWAY

    def endpoints(self, namespace: str, service: str, port: str = "") -> list[Endpoint]:
        """The ready endpoints of a Service, from its EndpointSlices; those of one port if `port` is its name."""
        slices = list(self._work.cluster.objects["endpointslices"].values())
        return [each for each in services.endpoints(slices, (namespace, service)) if each.ready and port in ("", each.name)]

    def connect(self, address: str, port: int, timeout: float = 5) -> sockets.socket:
        """A TCP connection from the node to a pod or a cluster IP. Raises OSError."""
        return self._work.network.connect(address, port, timeout)

    def accepts(self, address: str, port: int) -> bool:
        """True if a pod or a cluster IP accepts connections. A cluster IP does so a moment after its first endpoint is ready."""
        try:
            self.connect(address, port).close()
        except OSError:
            return False
        return True

    def socket(self, info: Any) -> sockets.socket:
        """For `aiohttp.TCPConnector(socket_factory=...)`: a socket in the pods' network."""
        return self._work.network.socket(*info[:3])

    def request(self, address: str, port: int, path: str, body: Any = None, timeout: float = 30) -> Response:
        """One HTTP request to a pod or a cluster IP: a POST if there is a body, a JSON value. Raises OSError or HTTPException."""
        connection = http.client.HTTPConnection(address, port, timeout=timeout)
        with contextlib.closing(connection):
            connection.sock = self.connect(address, port, timeout)
            data = None if body is None else json.dumps(body)
            connection.request("GET" if body is None else "POST", path, data, {"Content-Type": "application/json"} if data else {})
            response = connection.getresponse()
            return Response(response.status, response.read().decode(errors="replace"))

    def ask(self, namespace: str, service: str, path: str, body: Any = None, port: str = "") -> Response:
        """One HTTP request to a ready endpoint of a Service. Raises AssertionError with the story of the namespace if it has none."""
        found = self.endpoints(namespace, service, port)
        assert found, f"Service {service} has no ready endpoint\n{self.story(namespace)}"
        chosen = random.choice(found)  # noqa: S311 - no secret
        return self.request(chosen.address, chosen.port, path, body)

    def command(self, *words: str) -> list[str]:
        """The command line that starts a program in the network of the node: pods reach it at `address`."""
        return self._work.network.command(*words)

    def reaching(self) -> str:
        """Code that a syncer runs before it starts (`syncer.running`), so that its requests to workers reach the pods."""
        return f"""
import concurrent.futures, socket, aiohttp
from krm_fn.syncer.loader import worker_api
from tests.testbed.node import network
in_node = concurrent.futures.ThreadPoolExecutor(1, "node-network", lambda: network.enter({self._work.network.pid}))
make = lambda info: in_node.submit(socket.socket, *info[:3]).result()
worker_api.connector = lambda: aiohttp.TCPConnector(limit=0, force_close=True, socket_factory=make)
"""

    @contextlib.contextmanager
    def forward(self, namespace: str, service: str, port: str = "") -> Iterator[int]:
        """A port of 127.0.0.1 on the host that forwards each connection to an endpoint of a Service, as its cluster IP does."""
        (number,) = server.free_ports(1)
        listening = self._work.call(self._work.publish(number, (namespace, service), port or None))
        try:
            yield number
        finally:
            self._work.loop.call_soon_threadsafe(listening.close)

    def log(self, namespace: str, pod: str, container: str = "", *, previous: bool = False, life: int | None = None) -> str:
        """The output of the newest life of a container, of the life before, or of a life by number; of the first container by default."""
        found = self._pod(namespace, pod)
        running = found.containers.get(container or found.object["spec"]["containers"][0]["name"])
        if running is None:
            return ""
        file = running.log(running.state.restarts - previous if life is None else life)
        return file.read_text(errors="replace") if file.exists() else ""

    def logs(self, namespace: str, pod: str) -> str:
        """The output of all lives of all containers."""
        found = self._pod(namespace, pod)
        files = [(name, each.log(life)) for name, each in found.containers.items() for life in range(each.state.restarts + 1)]
        return "".join(f"==> {name} {file.stem} <==\n{file.read_text(errors='replace')}" for name, file in files if file.exists())

    def pids(self, namespace: str, pod: str) -> dict[str, int]:
        """The process ids, on the host, of the running containers by name; empty before the pod has begun."""
        own = self._work.pods.get((namespace, pod))
        return {name: each.process.pid for name, each in (own.containers if own else {}).items() if each.process}

    def execute(
        self, namespace: str, pod: str, words: Sequence[str], container: str = "", timeout: float = 60
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in a container, as `kubectl exec` does."""
        found = self._pod(namespace, pod)
        running = found.containers[container or found.object["spec"]["containers"][0]["name"]].process
        assert running, f"the container does not run\n{story.of_pod(found)}"
        command = running.entering(words)
        return subprocess.run(command, env=running.environment, capture_output=True, text=True, check=False, timeout=timeout)

    def kill(self, namespace: str, pod: str, container: str = "", signal: str = "KILL") -> None:
        """Send a signal to the command of a container, from outside: `KILL` ends it, `STOP` makes it hang."""
        pids = self.pids(namespace, pod)
        os.kill(pids[container] if container else next(iter(pids.values())), signals.Signals[f"SIG{signal}"])

    @contextlib.contextmanager
    def cut(self, namespace: str, pod: str) -> Iterator[None]:
        """Unplug the network of a pod: its packets are lost. At the end it is plugged in again."""
        address = self._pod(namespace, pod).address
        self._work.call(self._work.network.switch(address, on=False))
        try:
            yield
        finally:
            self._work.call(self._work.network.switch(address, on=True))

    def claim(self, namespace: str, name: str) -> Path:
        """The folder behind a PersistentVolumeClaim. Tests may fill it before the claim exists."""
        folder = self._work.claims / namespace / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def story(self, namespace: str) -> str:
        """What the pods of a namespace do and wait for, and the ends of their logs. Pods that are gone have told theirs before."""
        told = []
        for (where, name), found in list(self._work.cluster.objects["pods"].items()):
            if where == namespace and (own := self._own(found)):
                told.append(story.of_pod(own))
            elif where == namespace:
                reasons = [said.get("message", "") for said in found["status"].get("conditions") or ()]
                told.append(f"pod {name}: not bound to the node; {' '.join(reasons)}")
        return "\n".join(told) or f"no pods in {namespace}"

    def eventually(self, holds: Callable[[], bool], namespace: str, seconds: float = 180) -> None:
        """Return as soon as `holds()` is true.

        Raises AssertionError with the story of the namespace: when the time is over, and at once if the node cannot run a pod.
        """
        deadline = time.monotonic() + seconds
        while not holds():
            assert not self._work.problem, self._work.problem
            pods = [found for key, found in list(self._work.cluster.objects["pods"].items()) if key[0] == namespace]
            broken = [own.problem for own in map(self._own, pods) if own and own.problem]
            assert not broken, f"{'; '.join(broken)}\n{self.story(namespace)}"
            assert time.monotonic() < deadline, f"not so within {seconds:.0f} s\n{self.story(namespace)}"
            time.sleep(0.05)

    def _own(self, found: Object) -> Pod | None:
        """The pod of an object, once the node runs it."""
        own = self._work.pods.get((found["metadata"]["namespace"], found["metadata"]["name"]))
        return own if own and own.object["metadata"]["uid"] == found["metadata"]["uid"] else None

    def _pod(self, namespace: str, name: str) -> Pod:
        return self._work.pods[namespace, name]
