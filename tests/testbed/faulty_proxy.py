"""A TLS proxy before an API server that spoils single requests: it answers 404 or 409, loses an answer, or ends it after its header."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import json
import re
import ssl
from typing import TYPE_CHECKING, NamedTuple

from tests.testbed import background, server

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator
    from pathlib import Path

    from tests.testbed.certificate_authority import Pair

NOT_FOUND, CONFLICT, LOST, CUT = "404", "409", "lost answer", "closed after the header"
"""A request of the first two does not reach the API server. One of the others does, and the server does what it asks for."""
FAULTS = (NOT_FOUND, CONFLICT, LOST, CUT)
_REASONS = {NOT_FOUND: "NotFound", CONFLICT: "Conflict"}
_END = b"\r\n\r\n"
_LIMIT = 2**24
_LENGTH = re.compile(rb"^content-length: *(\d+)\r$", re.IGNORECASE | re.MULTILINE)


class _Request(NamedTuple):
    """One request of a client."""

    head: bytes
    body: bytes

    @property
    def target(self) -> str:
        """The method and the path."""
        method, path, *_ = self.head.decode("latin-1").split(" ", 2)
        return f"{method} {path.partition('?')[0]}"

    @property
    def faults(self) -> tuple[str, ...]:
        """The faults that it can have. Only a write can conflict, and the answer to a watch has no end."""
        return (NOT_FOUND, LOST, CUT) if self.head.startswith(b"GET ") else FAULTS


class FaultyProxy:
    """Forwards TLS connections to the API server at `target`, whose certificate is `trusted`, and spoils a `share` of the requests.

    `port` is its own port, and `faults` counts the faults by their kind. A request that was spoiled works when it is sent again.
    """

    def __init__(self, target: int, trusted: Path, chance: random.Random) -> None:
        (self.port,) = server.free_ports(1)
        self.share = 0.0
        self.requests = 0
        self.faults: collections.Counter[str] = collections.Counter()
        self.shown = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._target = target
        self._trust = ssl.create_default_context(cafile=trusted)
        self._chance = chance
        self._spoiled: set[str] = set()

    async def serve(self) -> None:
        """Serve until the task is cancelled."""
        async with await asyncio.start_server(self._serve, "127.0.0.1", self.port, ssl=self.shown, limit=_LIMIT) as listening:
            await listening.serve_forever()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ssl.SSLError, asyncio.IncompleteReadError), contextlib.closing(writer):
            backend, sink = await asyncio.open_connection("127.0.0.1", self._target, ssl=self._trust, limit=_LIMIT)
            with contextlib.closing(sink):
                while await self._exchange(reader, writer, backend, sink):
                    pass

    async def _exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, backend: asyncio.StreamReader, sink: asyncio.StreamWriter
    ) -> bool:
        """Passes one request and its answer on. Returns False if the connection ends."""
        head = await reader.readuntil(_END)
        request = _Request(head, await reader.readexactly(_length(head)))
        self.requests += 1
        fault = self._fault(request)
        if fault in _REASONS:
            writer.write(_refusal(fault))
            await writer.drain()
            return True
        sink.write(request.head + request.body)
        await sink.drain()
        answer = await backend.readuntil(_END)
        if fault == LOST:
            return False
        writer.write(answer)
        await writer.drain()
        return fault != CUT and await _passed(answer, backend, writer)

    def _fault(self, request: _Request) -> str:
        """Chooses whether a request is spoiled, and how. Never spoils the same request twice in a row."""
        if request.target in self._spoiled:
            self._spoiled.discard(request.target)
            return ""
        if self._chance.random() >= self.share:
            return ""
        self._spoiled.add(request.target)
        fault = self._chance.choice(request.faults)
        self.faults[fault] += 1
        return fault


async def _passed(head: bytes, backend: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Passes the body of an answer on. Returns False if the answer ends with its connection."""
    if b"\r\ntransfer-encoding: chunked\r\n" not in head.lower():
        writer.write(await backend.readexactly(_length(head)))
        await writer.drain()
        return True
    size = -1
    while size:
        line = await backend.readuntil(b"\r\n")
        size = int(line.partition(b";")[0], 16)
        writer.write(line + await backend.readexactly(size + 2))
        await writer.drain()
    return True


def _length(head: bytes) -> int:
    match = _LENGTH.search(head)
    return int(match[1]) if match else 0


def _refusal(fault: str) -> bytes:
    """Writes an answer as an API server does that has not seen the object, or a newer version of it."""
    reason, code = _REASONS[fault], int(fault)
    fields = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": f"a single {code}", "reason": reason, "code": code}
    body = json.dumps(fields).encode()
    return b"HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d" % (code, reason.encode(), len(body)) + _END + body


@contextlib.contextmanager
def before(target: int, trusted: Path, folder: Path, pair: Pair, chance: random.Random) -> Iterator[FaultyProxy]:
    """A proxy to an API server (see `FaultyProxy`) that shows a certificate of its own, whose file is in `folder`."""
    proxy = FaultyProxy(target, trusted, chance)
    (file := folder / "faulty.pem").write_text(pair.key + pair.certificate)
    proxy.shown.load_cert_chain(file)
    with background.running(proxy.serve(), "faulty"):
        yield proxy
