"""Asks a container: by HTTP, by a command, by a TCP connection, by gRPC. Probes and hooks use the same handlers."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import TYPE_CHECKING, Any

import aiohttp

from tests.testbed.node import grpc_health

if TYPE_CHECKING:
    import socket

    from tests.testbed.node.network import Network
    from tests.testbed.node.process import Process

Object = dict[str, Any]

_SHOWN = 10 * 1024


class Asker:
    """Asks the containers of one pod. Use `open_asker`."""

    def __init__(self, session: aiohttp.ClientSession, network: Network, address: str) -> None:
        self._session = session
        self._network = network
        self._address = address

    async def ask(self, handler: Object, container: Object, process: Process, seconds: float) -> str | None:
        """None if the answer is good, otherwise what is wrong, in the words of a kubelet."""
        if "httpGet" in handler:
            return await self._http(handler["httpGet"], container, seconds)
        if "exec" in handler:
            try:
                code, said = await process.execute(handler["exec"]["command"], seconds)
            except TimeoutError:
                return f"command timed out: {' '.join(handler['exec']['command'])!r} timed out after {seconds:g}s"
            return said[:_SHOWN] if code else None
        if "tcpSocket" in handler or "grpc" in handler:
            return await self._connected(handler, container, seconds)
        await asyncio.sleep(min(handler["sleep"]["seconds"], seconds))
        return None

    async def _http(self, action: Object, container: Object, seconds: float) -> str | None:
        host = action.get("host") or self._address
        path = action.get("path") or "/"
        url = f"{action.get('scheme', 'HTTP').lower()}://{host}:{port(container, action['port'])}{path if path[0] == '/' else '/' + path}"
        headers = {"User-Agent": "kube-probe/1.36", "Accept": "*/*", "Connection": "close"}
        headers |= {each["name"]: each["value"] for each in action.get("httpHeaders") or ()}
        try:
            limit = aiohttp.ClientTimeout(total=seconds)
            # A redirect is a success. (A kubelet follows it on the same host.)
            async with self._session.get(url, headers=headers, timeout=limit, ssl=False, allow_redirects=False) as response:
                return None if response.status < 400 else f"HTTP probe failed with statuscode: {response.status}"
        except TimeoutError:
            return f'Get "{url}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
        except (aiohttp.ClientError, OSError, ValueError) as problem:
            return f'Get "{url}": {problem}'

    async def _connected(self, handler: Object, container: Object, seconds: float) -> str | None:
        """Ask by a TCP connection, and by a gRPC call on it if the handler says so."""
        action = handler.get("tcpSocket") or handler["grpc"]
        place = action.get("host") or self._address, port(container, action["port"])
        with contextlib.closing(self._network.socket()) as made:
            made.setblocking(False)
            try:
                async with asyncio.timeout(seconds):
                    await asyncio.get_running_loop().sock_connect(made, place)
                    return await _healthy(made, f"{place[0]}:{place[1]}", action.get("service") or "") if "grpc" in handler else None
            except TimeoutError:
                return f"dial tcp {place[0]}:{place[1]}: i/o timeout"
            except EOFError:
                return f"{place[0]}:{place[1]} does not speak gRPC"
            except OSError as problem:
                return f"dial tcp {place[0]}:{place[1]}: connect: {os.strerror(problem.errno or 0).lower()}"


async def _healthy(connection: socket.socket, authority: str, service: str) -> str | None:
    reader, writer = await asyncio.open_connection(sock=connection)
    try:
        status = await grpc_health.check(reader, writer, authority, service)
    finally:
        writer.close()
    return None if status == "SERVING" else f'service unhealthy (responded with "{status}")'


@contextlib.asynccontextmanager
async def open_asker(network: Network, address: str) -> Any:
    """An asker whose connections begin at the node."""
    connector = aiohttp.TCPConnector(socket_factory=lambda info: network.socket(*info[:3]), force_close=True)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:
        yield Asker(session, network, address)


def port(container: Object, written: int | str) -> int:
    """The number of a port that may be a name. Raises ValueError if the container has no port of that name."""
    if isinstance(written, int) or written.isdigit():
        return int(written)
    for each in container.get("ports") or ():
        if each.get("name") == written:
            return int(each["containerPort"])
    raise ValueError(f"couldn't find port: {written!r}")
