"""A TCP proxy on the loopback interface that breaks connections as networks do."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING

from tests.testbed.server import free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator


class Proxy:
    """Forwards connections to a port of 127.0.0.1, each in two threads. `port` is its own port, `received` counts the bytes of answers."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._lock = threading.Lock()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._swallowed: set[socket.socket] = set()
        self._listener: socket.socket | None = None
        (self.port,) = free_ports(1)  # nobody else gets it while the proxy refuses connections
        self.received = 0
        self.accept()

    @property
    def connections(self) -> int:
        """The number of open connections."""
        with self._lock:
            return len(self._pairs)

    def accept(self) -> None:
        """Accept new connections again, after `refuse`, on the same port."""
        if self._listener is None:
            self._listener = socket.create_server(("127.0.0.1", self.port))
            threading.Thread(target=self._serve, args=[self._listener], daemon=True).start()

    def refuse(self) -> None:
        """Refuse new connections. Existing ones go on."""
        if self._listener is not None:
            with contextlib.suppress(OSError):  # wakes the thread that accepts
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None

    def cut(self) -> None:
        """Close all existing connections. New ones work."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
            self._swallowed.clear()
        for pair in pairs:
            for each in pair:
                _close(each)

    def swallow(self) -> None:
        """Lose all further bytes of existing connections, without closing them. New ones work."""
        with self._lock:
            self._swallowed = {each for pair in self._pairs for each in pair}

    def mute(self) -> None:
        """Lose all further answers on existing connections, without closing them. Requests still arrive. New connections work."""
        with self._lock:
            self._swallowed = {server for _, server in self._pairs}

    def close(self) -> None:
        """Stop."""
        self.refuse()
        self.cut()

    def _serve(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
            except ConnectionRefusedError:  # by the target, as without a proxy
                _close(client)
                continue
            except OSError:
                return
            pair = (client, server)
            with self._lock:
                self._pairs.append(pair)
            for source, sink in (pair, pair[::-1]):
                threading.Thread(target=self._forward, args=[source, sink, pair], daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket, pair: tuple[socket.socket, socket.socket]) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if source not in self._swallowed:
                    sink.sendall(data)
                    if source is pair[1]:
                        with self._lock:
                            self.received += len(data)
        if source in self._swallowed:
            return
        with self._lock:
            if pair in self._pairs:
                self._pairs.remove(pair)
        for each in pair:
            _close(each)


def _close(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


@contextlib.contextmanager
def to(target: int) -> Iterator[Proxy]:
    """A proxy to a port of 127.0.0.1."""
    with contextlib.closing(Proxy(target)) as proxy:
        yield proxy
