"""The HTTP server for probes and metrics: /livez, /readyz, /healthz (the same as /livez) and /metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from time import monotonic

from aiohttp import web

from krm_fn.syncer.metrics import Metrics

_TICK = 1.0
_LAG = 5.0
"""Seconds that the event loop may be late."""
_TEXT = "text/plain"
_METRICS = "text/plain; version=0.0.4; charset=utf-8"


class Health:
    """Answers probes and scrapes. `hanging` lists the reasons to restart the process, `missing` the reasons why it is not ready yet.

    A process without a connection to the API server must not be restarted.
    """

    def __init__(self, metrics: Metrics, hanging: Callable[[], Iterable[str]], missing: Callable[[], Iterable[str]]) -> None:
        self.stopping = False
        self._metrics = metrics
        self._hanging = hanging
        self._missing = missing
        self._lag = 0.0
        self._runner: web.AppRunner | None = None

    async def serve(self, address: str, port: int) -> None:
        """Starts to listen. Raises OSError if the address cannot be used."""
        app = web.Application()
        routes = {"/livez": self._live, "/healthz": self._live, "/readyz": self._ready, "/metrics": self._scrape}
        app.add_routes([web.get(path, handler) for path, handler in routes.items()])
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
        await self._runner.setup()
        await web.TCPSite(self._runner, address, port).start()

    async def close(self) -> None:
        """Stops listening."""
        if self._runner:
            await self._runner.cleanup()

    async def tick(self) -> None:
        """Measures how late the event loop is, until the task is cancelled."""
        while True:
            began = monotonic()
            await asyncio.sleep(_TICK)
            self._lag = monotonic() - began - _TICK

    async def _live(self, _request: web.Request) -> web.Response:
        late = [f"the event loop was {self._lag:.1f} s late"] if self._lag >= _LAG else []
        return _answer([*late, *self._hanging()])

    async def _ready(self, _request: web.Request) -> web.Response:
        return _answer([*(["stopping"] if self.stopping else []), *self._missing()])

    async def _scrape(self, _request: web.Request) -> web.Response:
        return web.Response(body=self._metrics.text(), headers={"Content-Type": _METRICS})


def _answer(problems: list[str]) -> web.Response:
    text = "".join(f"{problem}\n" for problem in problems) or "ok\n"
    return web.Response(text=text, status=503 if problems else 200, content_type=_TEXT)
