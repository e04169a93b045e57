"""Requests at a constant rate from inside the pods' network, as clients of a Service send them."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import aiohttp

from tests.running.bed import HELLO
from tests.testbed import background, server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.testbed.node import Node

RATE = 20.0
OVERLOADED = 3.0
"""The lateness of a request, in seconds, from which on a loss says more about the machine than about the change."""


class Answer(NamedTuple):
    """A request: its start in seconds of the load, how long it took, and the reason why it is lost; empty if it was answered."""

    started: float
    took: float
    lost: str


class Load:
    """The requests so far."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.events: list[tuple[float, str]] = []
        self.sent = 0
        self.late = 0.0
        """The most seconds by which a request was sent too late, because the machine was busy."""
        self.over = False
        self._began = time.monotonic()

    def note(self, what: str) -> None:
        """Remember that something happens now, for the report."""
        self.events.append((self.now(), what))

    def now(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._began

    @property
    def lost(self) -> list[Answer]:
        """The requests without a complete answer."""
        return [each for each in self.answers if each.lost]

    def story(self) -> str:
        """One line for each event, and one for each kind of loss."""
        slowest = max((each.took for each in self.answers), default=0.0)
        counts = f"{len(self.answers)} requests, {len(self.lost)} lost"
        lines = [f"{counts}, the slowest answer after {slowest:.2f} s, sent up to {self.late:.1f} s late"]
        lines += [f"  {when:6.1f} s {what}" for when, what in self.events]
        reasons: dict[str, list[Answer]] = {}
        for each in sorted(self.lost):
            reasons.setdefault(each.lost, []).append(each)
        for why, found in reasons.items():
            longest = max(each.took for each in found)
            lines.append(f"  {found[0].started:6.1f} s to {found[-1].started:.1f} s: {len(found)} lost after up to {longest:.1f} s, {why}")
        return "\n".join(lines)


@contextlib.contextmanager
def running(
    machine: Node, address: str, port: int, rate: float = RATE, body: dict[str, Any] = HELLO, timeout: float = 30
) -> Iterator[Load]:
    """Send `rate` chat completions a second to the address of a Service until the context ends, each on a connection of its own.

    The first one is sent as soon as the address accepts connections.

    A request does not wait for the answers of others. `body` is the JSON of each request. A request without a complete answer after
    `timeout` seconds is lost.
    """
    server.eventually(lambda: machine.accepts(address, port))
    load = Load()
    limit = aiohttp.ClientTimeout(total=timeout)
    with background.running(_send(load, machine, f"http://{address}:{port}/v1/chat/completions", rate, body, limit), "load"):
        yield load
        load.over = True
        server.eventually(lambda: len(load.answers) == load.sent, max(180, 2 * timeout))


async def _send(load: Load, machine: Node, url: str, rate: float, body: dict[str, Any], limit: aiohttp.ClientTimeout) -> None:
    connector = aiohttp.TCPConnector(socket_factory=machine.socket, force_close=True, limit=0)
    async with aiohttp.ClientSession(connector=connector, timeout=limit) as session, asyncio.TaskGroup() as requests:
        while not load.over:
            load.late = max(load.late, load.now() - load.sent / rate)
            load.sent += 1
            requests.create_task(_ask(load, session, url, body))
            await asyncio.sleep(max(0.0, load.sent / rate - load.now()))


async def _ask(load: Load, session: aiohttp.ClientSession, url: str, body: dict[str, Any]) -> None:
    started = load.now()
    try:
        async with session.post(url, json=body) as response:
            text = await response.text()
            lost = "" if response.status == 200 and '"finish_reason"' in text else f"{response.status} {text[:200]}"
    except (aiohttp.ClientError, OSError, TimeoutError) as failure:
        lost = f"{type(failure).__name__}: {failure}"
    load.answers.append(Answer(started, load.now() - started, lost))
