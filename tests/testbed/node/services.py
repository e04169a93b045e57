"""The Services of the cluster for the pods: every cluster IP answers, and every name resolves.

The node stands in for kube-proxy in user space: it listens at a cluster IP while the Service has a ready endpoint, and forwards each new
connection to one of them at random. iptables could do it without a copy of the bytes; it would need a program and kernel modules that not
every machine has. A Service without a ready endpoint refuses connections, as with kube-proxy. UDP is not forwarded.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterable, Iterator

    from tests.testbed.node.cluster import Cluster, Key
    from tests.testbed.node.network import Network

Object = dict[str, Any]

_SIZE = 65536
_joining: set[asyncio.Task[Any] | None] = set()  # the loop alone would not keep a task whose connections are half closed


class Endpoint(NamedTuple):
    """An address of a Service, one of its ports, and the name of the pod. `serving` but not `ready`: the pod is about to end."""

    address: str
    port: int
    name: str
    pod: str
    ready: bool
    serving: bool


def of_service(slices: Iterable[Object], key: Key) -> Iterator[tuple[Object, list[Object]]]:
    """The endpoints of a Service as its EndpointSlices have them, each with the ports of its slice."""
    for each in slices:
        metadata = each["metadata"]
        if (metadata["namespace"], (metadata.get("labels") or {}).get("kubernetes.io/service-name")) == key:
            for endpoint in each.get("endpoints") or ():
                yield endpoint, each.get("ports") or []


def endpoints(slices: Iterable[Object], key: Key) -> list[Endpoint]:
    """The endpoints of a Service, one for each address and port."""
    found = []
    for endpoint, ports in of_service(slices, key):
        said = endpoint.get("conditions") or {}
        ready, pod = said.get("ready", True), (endpoint.get("targetRef") or {}).get("name", "")
        serving = said.get("serving", ready)
        for address in endpoint["addresses"]:
            found += [Endpoint(address, port["port"], port.get("name") or "", pod, ready, serving) for port in ports]
    return found


def usable(found: list[Endpoint], port: str | None) -> list[Endpoint]:
    """The endpoints that get connections to a port (None: to any): those that are ready, or else those that end and still serve.

    Source of the rule: "Traffic to terminating endpoints" of kube-proxy (`pkg/proxy/topology.go`).
    """
    of_port = [each for each in found if port in (None, each.name)]
    return [each for each in of_port if each.ready] or [each for each in of_port if each.serving]


class Proxy:
    """Listens at cluster IPs. `update` makes it listen at those that it should."""

    def __init__(self, network: Network, cluster: Cluster) -> None:
        self._network = network
        self._cluster = cluster
        self._servers: dict[tuple[str, int], asyncio.Server] = {}

    async def update(self) -> None:
        """Listen at every port of a cluster IP that has a ready endpoint, and at no other."""
        wanted: dict[tuple[str, int], tuple[Key, str]] = {}
        for key, service in self._cluster.objects["services"].items():
            address = service["spec"].get("clusterIP", "None")
            for port in service["spec"].get("ports") or () if address not in ("None", "") else ():
                if self._usable(key, port.get("name") or ""):
                    wanted[address, port["port"]] = key, port.get("name") or ""
        for place in self._servers.keys() - wanted.keys():
            self._servers.pop(place).close()
        for place in wanted.keys() - self._servers.keys():
            key, name = wanted[place]
            self._servers[place] = await forward(self._network, self._network.listen(*place), self.choice(key, name))

    def choice(self, key: Key, name: str | None) -> Callable[[], tuple[str, int] | None]:
        """A function that returns one endpoint of a port (None: of any) at random, or None if connections are refused."""

        def choose() -> tuple[str, int] | None:
            found = self._usable(key, name)
            return random.choice(found)[:2] if found else None  # noqa: S311 - no secret

        return choose

    def close(self) -> None:
        """Listen no more."""
        for server in self._servers.values():
            server.close()

    def _usable(self, key: Key, name: str | None) -> list[Endpoint]:
        return usable(endpoints(self._cluster.objects["endpointslices"].values(), key), name)


async def forward(network: Network, listener: socket.socket, target: Callable[[], tuple[str, int] | None]) -> asyncio.Server:
    """Connect each connection of a listening socket to a target in the pods' network."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        chosen = target()
        with contextlib.suppress(OSError):
            if chosen:
                made = network.socket()
                made.setblocking(False)
                try:
                    await asyncio.get_running_loop().sock_connect(made, chosen)
                    other = await asyncio.open_connection(sock=made)
                except BaseException:
                    made.close()
                    raise
                await join((reader, writer), other)
        writer.close()

    return await asyncio.start_server(serve, sock=listener)


async def join(one: tuple[asyncio.StreamReader, asyncio.StreamWriter], other: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> None:
    """Copy the bytes of two connections to each other until both have ended."""
    task = asyncio.current_task()
    _joining.add(task)
    try:
        await asyncio.gather(_copy(one[0], other[1]), _copy(other[0], one[1]))
    finally:
        _joining.discard(task)
        for _, writer in (one, other):
            writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_SIZE):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
