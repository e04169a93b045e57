"""The work of the node in the background: follows the cluster, runs the pods, and serves their network."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tests.testbed import watch_client
from tests.testbed.node import dns, network, pod, scheduler, services
from tests.testbed.node.cluster import FOLLOWED, Cluster
from tests.testbed.node.ground import Ground

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable
    from pathlib import Path

    from tests.testbed.control_plane import ControlPlane
    from tests.testbed.node.cluster import Key
    from tests.testbed.node.image import Image

Object = dict[str, Any]


class Work:
    """Runs in the event loop of a thread. `pods` keeps ended pods too, so that their logs can be read."""

    cluster: Cluster
    network: network.Network
    loop: asyncio.AbstractEventLoop

    def __init__(self, plane: ControlPlane, folder: Path, images: dict[str, Image], node: Object, backoff: float) -> None:
        self.images = images
        self.pods: dict[Key, pod.Pod] = {}
        self.problem = ""
        self.claims = folder / "claims"
        self._plane = plane
        self._folder = folder
        self._node = node
        self._backoff = backoff
        self._tasks: dict[Key, asyncio.Task[None]] = {}
        self._services = asyncio.Event()
        self._closing = asyncio.Event()

    def close(self) -> None:
        """End all pods without a grace period, from another thread. Their objects stay."""

        async def closed() -> None:
            self._closing.set()
            await self._main

        self.call(closed())

    def call(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine in the loop, from another thread; returns its result."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)

    async def publish(self, number: int, service: Key, port: str | None) -> asyncio.Server:
        """Forward a port of 127.0.0.1 on the host to a Service."""
        listener = socket.create_server(("127.0.0.1", number))
        listener.setblocking(False)
        return await services.forward(self.network, listener, self._proxy.choice(service, port))

    async def run(self, begun: Callable[[BaseException | None], None]) -> None:
        """Work until `close`. `begun` is called when pods can start, or with the reason why they cannot."""
        self.loop = asyncio.get_running_loop()
        self._main = asyncio.ensure_future(self._work(begun))
        try:
            await self._main
        except Exception as problem:  # noqa: BLE001 - the test raises it
            self.problem = repr(problem)
            begun(problem)

    async def _work(self, begun: Callable[[BaseException | None], None]) -> None:
        async with contextlib.AsyncExitStack() as stack:
            self.network = await network.start()
            stack.push_async_callback(self.network.end)
            self.cluster = Cluster(await stack.enter_async_context(watch_client.open_session(self._plane.kubeconfig)))
            self._scheduler = scheduler.Scheduler(self.cluster, self._node)
            self._proxy = services.Proxy(self.network, self.cluster)
            stack.callback(self._proxy.close)
            stack.callback((await self._serve_api()).close)
            stack.callback((await self._serve_names()).close)
            await self._register()
            stack.push_async_callback(lambda: _cancelled(self._tasks.values()))
            begun(None)
            following = [self.cluster.follow(each, self._changed(each)) for each in FOLLOWED]
            parts = [asyncio.ensure_future(each) for each in (self._scheduler.work(), self._serve_services(), *following)]
            stack.push_async_callback(_cancelled, parts)
            closing = asyncio.ensure_future(self._closing.wait())
            await asyncio.wait([closing, *parts], return_when=asyncio.FIRST_COMPLETED)
            for part in parts:
                if part.done():
                    part.result()  # raises what went wrong

    async def _serve_api(self) -> asyncio.Server:
        """Pods reach the API server, which listens on the host's 127.0.0.1, at the address of the Service `kubernetes`."""
        config = json.loads(self._plane.kubeconfig.read_text())
        port = urlsplit(config["clusters"][0]["cluster"]["server"]).port

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError):
                await services.join((reader, writer), await asyncio.open_connection("127.0.0.1", port))
            writer.close()

        return await asyncio.start_server(serve, sock=self.network.listen(network.API_SERVER, 443))

    async def _serve_names(self) -> asyncio.DatagramTransport:
        names = self.network.socket(socket.AF_INET, socket.SOCK_DGRAM)
        names.bind((network.DNS, 53))
        objects = self.cluster.objects

        def lookup(name: str) -> list[str] | None:
            return dns.addresses(name, objects["services"], list(objects["endpointslices"].values()))

        transport, _ = await self.loop.create_datagram_endpoint(lambda: dns.Server(lookup), sock=names)
        return transport

    async def _register(self) -> None:
        """Create the Node object."""
        path = f"/api/v1/nodes/{self._node['metadata']['name']}"
        await self.cluster.request("POST", "/api/v1/nodes", self._node)
        await self.cluster.request("PATCH", f"{path}/status", {"status": self._node["status"]})
        await self.cluster.request("PATCH", path, {"spec": {"taints": None}})  # the one that admission adds to new nodes

    async def _serve_services(self) -> None:
        while True:
            await self._services.wait()
            self._services.clear()
            await self._proxy.update()

    def _changed(self, resource: str) -> Callable[[Key, Object | None], None]:
        if resource == "pods":
            return self._pod
        if resource == "persistentvolumeclaims":
            return lambda key, found: self._scheduler.wake()
        return lambda key, found: self._services.set()

    def _pod(self, key: Key, found: Object | None) -> None:
        """Begin to run a pod, or tell it what has changed."""
        self._scheduler.wake()
        own = self.pods.get(key)
        if own and (found is None or found["metadata"]["uid"] != own.object["metadata"]["uid"]):
            own.forget()
        if found is None or found["spec"].get("nodeName") != self._node["metadata"]["name"]:
            return
        if own and found["metadata"]["uid"] == own.object["metadata"]["uid"]:
            own.see(found)
        else:
            before = self._tasks.get(key)
            self.pods[key] = pod.Pod(found, self._ground())
            self._tasks[key] = asyncio.ensure_future(self._after(before, self.pods[key]))

    async def _after(self, before: asyncio.Task[None] | None, own: pod.Pod) -> None:
        """Run a pod after the last one of its name has ended."""
        if before:
            await asyncio.wait([before])
        await own.run()

    def _ground(self) -> Ground:
        return Ground(
            folder=self._folder / "pods",
            cluster=self.cluster,
            network=self.network,
            images=self.images,
            authority=(self._plane.folder / "certs" / "apiserver.crt").read_text(),
            claims=self.claims,
            allocatable=self._node["status"]["allocatable"],
            backoff=self._backoff,
        )


async def _cancelled(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel tasks and wait until all have ended."""
    listed = list(tasks)
    for task in listed:
        task.cancel()
    await asyncio.gather(*listed, return_exceptions=True)
