"""A server without TLS that gives the answers of a test. Only for answers that no API server gives on request."""

from __future__ import annotations

import asyncio
import contextlib
import json
from time import monotonic
from typing import TYPE_CHECKING, Any

from aiohttp import web

from krm_fn.cluster.access import Cluster, Content, StaticCredentials, Trust

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence


class OddServer:
    """Gives the first answer to the first request, and so on; after the last answer it waits. `asked` has the query of each request, and
    `times` the monotonic time.

    An answer is a web.Response, or a list of parts of a stream: JSON values, which become lines, and bytes, which are sent as they are.
    After its last part a stream ends, or waits if that part is `...`.
    """

    def __init__(self, answers: Sequence[Any]) -> None:
        self.asked: list[dict[str, str]] = []
        self.times: list[float] = []
        self._answers = answers

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answers one request."""
        self.asked.append(dict(request.query))
        self.times.append(monotonic())
        answer = self._answers[len(self.asked) - 1] if len(self.asked) <= len(self._answers) else [...]
        if isinstance(answer, web.StreamResponse):
            return answer
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for part in answer:
            if part is ...:
                await asyncio.sleep(1000)
            await response.write(part if isinstance(part, bytes) else json.dumps(part).encode() + b"\n")
        return response


@contextlib.asynccontextmanager
async def giving(*answers: Any) -> AsyncIterator[tuple[OddServer, Cluster]]:
    """A running server, and the way to it."""
    server = OddServer(answers)
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", server.answer)
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        port = runner.addresses[0][1]
        yield server, Cluster(f"http://127.0.0.1:{port}", Trust(Content()), StaticCredentials())
    finally:
        await runner.cleanup()
