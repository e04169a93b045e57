"""The network of the pods: a bridge inside a network namespace that has no way out of it.

Sockets of this process reach the pods all the same: a socket belongs to the namespace of the thread that made it. One thread lives in the
namespace of the node and makes sockets for the others. With them the node asks probes, serves names and Services, and forwards the pods'
connections to the API server, which listens on 127.0.0.1 of the host. No interface, address or rule of the host changes.

All of the Services' range is local to the node's namespace, so that every cluster IP can be listened at.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import ctypes
import ipaddress
import os
import socket as sockets
from pathlib import Path
from typing import TYPE_CHECKING

from tests.testbed.node import process, sandbox

if TYPE_CHECKING:
    from tests.testbed.node.sandbox import Sandbox

PODS = ipaddress.ip_network("10.244.0.0/16")
SERVICES = ipaddress.ip_network("10.0.0.0/16")  # --service-cluster-ip-range of the test bed's API server
GATEWAY = str(PODS[1])
API_SERVER = str(SERVICES[1])  # the Service `kubernetes`: the first of the range
DNS = str(SERVICES[10])  # by convention
_BRIDGE = "bridge0"
# A bridge without an address of its own takes the lowest of its ports. When that pod goes, the others lose the gateway for half a minute.
_BRIDGE_MAC = "02:00:0a:f4:00:01"
_NEW_NET = 0x40000000


class Network:
    """The node's end of all pods' networks. Use `start`."""

    def __init__(self, node: Sandbox) -> None:
        self._node = node
        self._free = iter(PODS.hosts())
        for _ in range(9):
            next(self._free)
        self._returned: list[str] = []
        self._maker = concurrent.futures.ThreadPoolExecutor(1, "node-network", lambda: enter(node.pid))

    @property
    def pid(self) -> int:
        """A process in the namespace of the node."""
        return self._node.pid

    async def end(self) -> None:
        """Take the network down."""
        self._maker.shutdown()
        await self._node.end()

    def socket(self, family: int = sockets.AF_INET, kind: int = sockets.SOCK_STREAM, protocol: int = 0) -> sockets.socket:
        """A socket in the namespace of the node, for any thread."""
        return self._maker.submit(sockets.socket, family, kind, protocol).result()

    def connect(self, address: str, port: int, seconds: float = 5) -> sockets.socket:
        """A TCP connection from the node to a pod or a Service. Raises OSError."""
        made = self.socket()
        try:
            made.settimeout(seconds)
            made.connect((address, port))
        except BaseException:
            made.close()
            raise
        return made

    def listen(self, address: str, port: int) -> sockets.socket:
        """A listening TCP socket at an address of the node, or at a cluster IP."""
        made = self.socket()
        made.setsockopt(sockets.SOL_SOCKET, sockets.SO_REUSEADDR, 1)
        made.setblocking(False)
        try:
            made.bind((address, port))
            made.listen(512)
        except BaseException:
            made.close()
            raise
        return made

    def command(self, *words: str) -> list[str]:
        """The command line that starts a program in the node's network namespace."""
        return ["nsenter", "--target", str(self._node.pid), "--net", "--", *words]

    def address(self) -> str:
        """A free address for a pod. Addresses of ended pods are used again only when all others have been used."""
        with contextlib.suppress(StopIteration):
            return str(next(self._free))
        return self._returned.pop(0)

    async def plug(self, pod: Sandbox, address: str) -> None:
        """Give a pod its interface and its address."""
        link = _link(address)
        await _ip(
            self._node,
            f"link add {link} type veth peer name eth0 netns {pod.pid}",
            f"link set {link} master {_BRIDGE}",
            f"link set {link} up",
        )
        await _ip(
            pod, "link set lo up", f"addr add {address}/{PODS.prefixlen} dev eth0", "link set eth0 up", f"route add default via {GATEWAY}"
        )

    async def unplug(self, address: str) -> None:
        """Take the interface of an ended pod away. Its address becomes free."""
        with contextlib.suppress(process.StartError):  # gone with the namespace of the pod
            await _ip(self._node, f"link del {_link(address)}")
        self._returned.append(address)

    async def switch(self, address: str, *, on: bool) -> None:
        """Switch the cable of a pod off or on: packets are lost, connections stay open."""
        await _ip(self._node, f"link set {_link(address)} {'up' if on else 'down'}")


async def start() -> Network:
    """The network, with no pod in it."""
    node = await sandbox.start("node")
    await _ip(
        node,
        "link set lo up",
        f"link add {_BRIDGE} address {_BRIDGE_MAC} type bridge",
        f"addr add {GATEWAY}/{PODS.prefixlen} dev {_BRIDGE}",
        f"link set {_BRIDGE} up",
        f"route add local {SERVICES} dev lo",
    )
    return Network(node)


def _link(address: str) -> str:
    return f"pod{int(ipaddress.ip_address(address)) - int(PODS[0])}"


async def _ip(where: Sandbox, *lines: str) -> None:
    command = ["nsenter", "--target", str(where.pid), "--net", "--", "ip", "-batch", "-"]
    code, said = await process.run(command, 60, text="\n".join(lines) + "\n")
    if code:
        raise process.StartError(f"ip: {said.strip()}")


def enter(pid: int) -> None:
    """Move this thread into the network namespace of a process."""
    with Path(f"/proc/{pid}/ns/net").open("rb") as handle:
        if ctypes.CDLL(None, use_errno=True).setns(handle.fileno(), _NEW_NET):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "network namespace of the node")
