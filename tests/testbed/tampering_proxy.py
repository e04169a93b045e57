"""A TLS proxy before an API server that damages what either side sends, refuses requests, or shows another certificate."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from typing import TYPE_CHECKING

from tests.testbed import background, server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.testbed.certificate_authority import Pair


_REFUSAL = b'{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429}'
_REFUSED = b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Type: application/json\r\nConnection: close\r\n"


class Tampering:
    """Forwards TLS connections to the API server at `target`, whose certificate is `trusted`.

    `port` is its own port, and `refused` counts the requests that it has refused.
    """

    def __init__(self, target: int, trusted: Path, folder: Path) -> None:
        (self.port,) = server.free_ports(1)
        self._target = target
        self._folder = folder
        self._trust = ssl.create_default_context(cafile=trusted)
        self._shown = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._damage = 0
        self._path, self._other_path, self._misdirections = b"", b"", 0
        self._refuses = False
        self.refused = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    def show(self, pair: Pair) -> None:
        """Show a certificate to clients from now on, and close all connections."""
        (file := self._folder / "shown.pem").write_text(pair.key + pair.certificate)
        self._shown.load_cert_chain(file)
        self.cut()

    def damage(self, events: int) -> None:
        """Damage as many of the next watch events."""
        self._damage = events

    def misdirect(self, path: str, other: str, requests: int) -> None:
        """Replace a part of the path of as many of the next requests by another one of the same length."""
        assert len(path) == len(other)
        self._path, self._other_path, self._misdirections = path.encode(), other.encode(), requests

    def refuse(self, *, every: bool) -> None:
        """Answer 429 to every request from now on, as a busy API server does, and close all connections; or pass all requests on again."""
        self._refuses = every
        self.cut()

    def cut(self) -> None:
        """Close all connections."""
        if self._loop:
            for each in self._writers.copy():
                self._loop.call_soon_threadsafe(each.close)

    async def serve(self) -> None:
        """Serve until the task is cancelled."""
        self._loop = asyncio.get_running_loop()
        async with await asyncio.start_server(self._serve, "127.0.0.1", self.port, ssl=self._shown) as listening:
            await listening.serve_forever()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refuses:
            self.refused += 1
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                await reader.readuntil(b"\r\n\r\n")
                writer.write(_REFUSED + b"Content-Length: %d\r\n\r\n" % len(_REFUSAL) + _REFUSAL)
                await writer.drain()
            writer.close()
            return
        try:
            backend = await asyncio.open_connection("127.0.0.1", self._target, ssl=self._trust)
        except OSError:
            writer.close()
            return
        self._writers |= {writer, backend[1]}
        await asyncio.gather(self._copy(reader, backend[1]), self._copy(backend[0], writer, answers=True))

    async def _copy(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, answers: bool = False) -> None:
        with contextlib.suppress(OSError, ssl.SSLError):
            while data := await source.read(65536):
                sink.write(self._damaged(data) if answers else self._misdirected(data))
                await sink.drain()
        self._writers.discard(sink)
        sink.close()

    def _damaged(self, data: bytes) -> bytes:
        """The data with as many bytes as before, because HTTP counts them."""
        event = b'{"type":"MODIFIED"'
        if self._damage and event in data:
            self._damage -= 1
            return data.replace(event, b"\xff" * len(event))
        return data

    def _misdirected(self, data: bytes) -> bytes:
        if self._misdirections and self._path in data.partition(b"\r\n")[0]:
            self._misdirections -= 1
            return data.replace(self._path, self._other_path, 1)
        return data


@contextlib.contextmanager
def before(target: int, trusted: Path, folder: Path, pair: Pair) -> Iterator[Tampering]:
    """A proxy to an API server (see `Tampering`) that shows a certificate of its own. `folder` is for its files."""
    proxy = Tampering(target, trusted, folder)
    proxy.show(pair)
    with background.running(proxy.serve(), "tampering"):
        yield proxy
