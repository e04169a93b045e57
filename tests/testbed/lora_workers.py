"""Workers with Dynamo's API for LoRA adapters: one real HTTP server for the addresses of all pods of a test.

An API server refuses loopback addresses in EndpointSlices. So pods have addresses that lead nowhere (RFC 5737), and the syncer gets a
connector that opens each connection to this server instead. The header `Host` tells the server which pod is meant.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import aiohttp
from aiohttp import web

from tests.testbed import background

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OK, SLOW, ENDLESS, REDIRECT, HTML, REFUSED = "ok", "slow", "endless", "redirect", "html", "refused"
"""What a pod may do. A number is a status code; REFUSED is a closed port."""


class Asked(NamedTuple):
    """One request that a pod got."""

    pod: str
    method: str
    path: str
    headers: dict[str, str]
    body: Any
    time: float


class Workers:
    """The pods. `behave` says what a pod does; a pod without an entry is OK."""

    def __init__(self, delay: float = 0) -> None:
        self.asked: list[Asked] = []
        self.given_up = 0
        self.busy = self.busiest = 0
        self.port = 0
        self._delay = delay
        self._behaviour: dict[str, str | int] = {}

    def behave(self, address: str, how: str | int) -> None:
        """From now on, the pod at an address does this."""
        self._behaviour[address] = how

    def to(self, *addresses: str) -> list[Asked]:
        """The requests that pods got, in order."""
        return [each for each in list(self.asked) if each.pod in addresses]

    def done(self, *addresses: str) -> list[str]:
        """The same as `POST support-v1 s3://…` and `DELETE support-v1`."""
        return [_short(each) for each in self.to(*addresses)]

    async def serve(self, ready: Callable[[], None]) -> None:
        """Serve until the task is cancelled."""
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0, backlog=512).start()
            self.port = runner.addresses[0][1]
            ready()
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        pod = request.host.rpartition(":")[0]
        text = await request.text()
        self.asked.append(Asked(pod, request.method, request.raw_path, dict(request.headers), json.loads(text or "null"), time.monotonic()))
        self.busy += 1
        self.busiest = max(self.busiest, self.busy)
        try:
            return await self._behave(request, self._behaviour.get(pod, OK))
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        finally:
            self.busy -= 1

    async def _behave(self, request: web.Request, how: str | int) -> web.StreamResponse:
        await asyncio.sleep(self._delay)
        if how == SLOW:
            await asyncio.sleep(1000)
        if how == ENDLESS:
            response = web.StreamResponse()
            await response.prepare(request)
            while True:
                await response.write(b"x" * 4096)
        if how == REDIRECT:
            return web.Response(status=307, headers={"Location": "http://192.0.2.250:9090/elsewhere"})
        if how == HTML:
            return web.Response(text="<!DOCTYPE html><title>Welcome</title>", content_type="text/html")
        if isinstance(how, int):
            return web.json_response({"status": "error", "message": "no such adapter"}, status=how)
        return web.json_response({"status": "success"})


class Routed(aiohttp.TCPConnector):
    """Opens each connection to the workers. `refused` are the addresses with a closed port."""

    def __init__(self, port: int, refused: tuple[str, ...] = ()) -> None:
        super().__init__(limit=0, force_close=True)
        self._port = port
        self._refused = refused

    async def _resolve_host(self, host: str, port: int, traces: Any = None) -> Any:
        assert port == 9090, port
        target = 1 if host in self._refused else self._port
        return [{"hostname": host, "host": "127.0.0.1", "port": target, "family": socket.AF_INET, "proto": 0, "flags": 0}]


def prelude(workers: Workers, *refused: str, **limits: float) -> str:
    """What a syncer process runs before it starts, so that it reaches the workers, with these limits."""
    return f"""
from krm_fn.syncer.loader import adapter_state, worker_api
from tests.testbed.lora_workers import Routed
worker_api.connector = lambda: Routed({workers.port}, {refused!r})
adapter_state.LIMITS = adapter_state.LIMITS._replace(**{limits!r})
"""


@contextlib.contextmanager
def running(delay: float = 0) -> Iterator[Workers]:
    """Workers that answer after `delay` seconds."""
    import threading  # noqa: PLC0415

    workers, ready = Workers(delay), threading.Event()
    with background.running(workers.serve(ready.set), "workers"):
        assert ready.wait(60)
        yield workers


def _short(asked: Asked) -> str:
    name = asked.body["lora_name"] if asked.body else asked.path.removeprefix("/v1/loras/")
    return " ".join([asked.method, name, *([asked.body["source"]["uri"]] if asked.body else [])])
