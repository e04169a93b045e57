"""A Ray cluster: `ray start` on each node, and the engine on the first node, which waits until the cluster has all its GPUs.

`ray start --head` leaves a process behind that listens; `ray start --address --block` connects to it and ends when it is gone. If a node is
lost, the engine ends, as vLLM does when Ray tells it that one of its workers has died.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import sys
import threading
from typing import TYPE_CHECKING, NoReturn

from . import rendezvous

if TYPE_CHECKING:
    from collections.abc import Callable

    from .rendezvous import Object

_PORT = 6379


def main() -> None:
    """The command `ray start`."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("command", choices=("start",))
    parser.add_argument("--head", action="store_true")
    parser.add_argument("--block", action="store_true")
    parser.add_argument("--port", type=int, default=_PORT)
    parser.add_argument("--address", default="")
    options = parser.parse_args()
    rendezvous.end_on_sigterm()
    if options.head:
        _start_head(options.port)
    else:
        _join(options.address)


def use(world: int, met: Callable[[], None]) -> NoReturn:
    """The engine: wait until the cluster of this node has `world` GPUs, call `met`, and end when the cluster loses a node."""
    connection = socket.create_connection(("127.0.0.1", _PORT), 5)
    connection.settimeout(None)
    stream = connection.makefile("rw")
    stream.write(json.dumps({"gpus_needed": world}) + "\n")
    stream.flush()
    line = stream.readline()
    if not line:
        sys.exit("the Ray cluster has ended")
    rendezvous.say(met=json.loads(line))
    met()
    stream.readline()
    sys.exit("the Ray cluster has lost a node")


def _start_head(port: int) -> None:
    """Start the process that listens, in the background, and return when it does."""
    listener = socket.create_server(("", port))
    if os.fork():
        return
    os.setsid()
    head = _Head()
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=head.serve, args=(connection,), daemon=True).start()


def _join(address: str) -> NoReturn:
    host, _, port = address.rpartition(":")
    connection = rendezvous.connect(host, int(port))
    own = {**rendezvous.member([], host), "peer": connection.getpeername()[0], "gpus": rendezvous.gpus()}
    connection.sendall((json.dumps(own) + "\n").encode())
    rendezvous.say(joined=address)
    connection.recv(1)
    sys.exit("the head of the Ray cluster has ended")


class _Head:
    """The nodes of the cluster, and the engine that uses them."""

    def __init__(self) -> None:
        self._nodes: dict[socket.socket | None, Object] = {None: {**rendezvous.member([], ""), "gpus": rendezvous.gpus()}}
        self._engine: socket.socket | None = None
        self._changed = threading.Condition()

    def serve(self, connection: socket.socket) -> None:
        """Serve a node or the engine until it ends."""
        line = connection.makefile().readline()
        if not line:
            return
        news = json.loads(line)
        if "gpus_needed" in news:
            self._serve_engine(connection, news["gpus_needed"])
            return
        with self._changed:
            self._nodes[connection] = news
            self._changed.notify_all()
        with contextlib.suppress(OSError):
            connection.recv(1)
        with self._changed:
            del self._nodes[connection]
            if self._engine:
                self._engine.shutdown(socket.SHUT_RDWR)

    def _serve_engine(self, connection: socket.socket, needed: int) -> None:
        with self._changed:
            while sum(node["gpus"] for node in self._nodes.values()) < needed:
                self._changed.wait()
            self._engine = connection
            connection.sendall((json.dumps(list(self._nodes.values())) + "\n").encode())


if __name__ == "__main__":
    main()
