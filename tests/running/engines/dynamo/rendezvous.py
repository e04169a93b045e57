"""The meeting of a group's nodes over TCP: one node listens, the others connect to it by its rendered name, and all learn who is there.

As with `torch.distributed` over TCP: the listening node connects to its own rendered name too, a node that connects early tries again, and
a node that loses another one after the meeting ends.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Object = dict[str, Any]

PATIENCE = 120.0
"""Seconds in which a node must reach the node that listens."""
_PAUSE = 0.5  # seconds between two attempts to connect


def say(**news: Any) -> None:
    """Write a line of JSON into the log."""
    sys.stdout.write(json.dumps(news) + "\n")
    sys.stdout.flush()


def end_on_sigterm() -> None:
    """End at once on SIGTERM: the first process of a container ignores it without a handler."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(143))


def gpus() -> int:
    """The number of GPUs of this node: what a driver would report."""
    return int(os.environ["GPUS_OF_NODE"])


def member(ranks: Sequence[int], leader: str) -> Object:
    """This node: its host name, its ranks, the address of the leader that it was given, and when its container started, in clock ticks."""
    started = int(Path("/proc/1/stat").read_text().rpartition(")")[2].split()[19])  # proc(5): field 22, starttime
    return {"host": socket.gethostname(), "ranks": list(ranks), "leader": leader, "started": started}


def lead(host: str, port: int, own: Object, size: int, met: Callable[[], None]) -> NoReturn:
    """Listen at a port until all ranks below `size` are there, once each; then call `met` and watch the others."""
    group = _Group(own, size)
    listener = socket.create_server(("", port))
    threading.Thread(target=_accept, args=(listener, group.join), daemon=True).start()
    connect(host, port).close()  # the name must lead here
    members = group.wait()
    say(met=members)
    met()
    threading.Event().wait()
    raise AssertionError


def follow(host: str, port: int, own: Object, met: Callable[[], None]) -> NoReturn:
    """Connect to the node that listens, wait until all are there, call `met`, and end when that node ends."""
    connection = connect(host, port)
    stream = connection.makefile("rw")
    stream.write(json.dumps({**own, "peer": connection.getpeername()[0]}) + "\n")
    stream.flush()
    line = stream.readline()
    if not line:
        sys.exit("the leader has ended before all were there")
    say(met=json.loads(line), as_follower=True)
    met()
    stream.readline()
    sys.exit("the leader has ended")


def serve(ready: threading.Event) -> None:
    """Serve the probes of Dynamo's system port in the background: /live at once, /health as soon as `ready` is set."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            well = self.path == "/live" or ready.is_set()
            self.send_response(200 if well else 503)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: Any) -> None:
            """Write no log."""

    server = http.server.ThreadingHTTPServer(("", int(os.environ["DYN_SYSTEM_PORT"])), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()


class _Group:
    """The nodes that have connected, with this one."""

    def __init__(self, own: Object, size: int) -> None:
        self._own = own
        self._size = size
        self._others: dict[socket.socket, Object] = {}
        self._changed = threading.Condition()
        self._met = False

    def join(self, connection: socket.socket) -> None:
        """Read the description of a node, and hold it until it ends. A loss after the meeting ends this process."""
        line = connection.makefile().readline()
        if not line:
            return
        with self._changed:
            self._others[connection] = json.loads(line)
            say(joined=self._others[connection])
            self._changed.notify_all()
        with contextlib.suppress(OSError):
            connection.recv(1)
        with self._changed:
            lost = self._others.pop(connection)
            if self._met:
                say(lost=lost)
                os._exit(1)

    def wait(self) -> list[Object]:
        """All nodes in the order of their ranks, as soon as each rank is there exactly once. The nodes are told."""
        with self._changed:
            while sorted(rank for each in self._all() for rank in each["ranks"]) != list(range(self._size)):
                self._changed.wait()
            self._met = True
            members = sorted(self._all(), key=lambda each: min(each["ranks"]))
            for connection in self._others:
                connection.sendall((json.dumps(members) + "\n").encode())
            return members

    def _all(self) -> list[Object]:
        return [self._own, *self._others.values()]


def _accept(listener: socket.socket, join: Callable[[socket.socket], None]) -> None:
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=join, args=(connection,), daemon=True).start()


def connect(host: str, port: int) -> socket.socket:
    """A connection to a node that may not have a name or may not listen yet. Ends the process when the time is over."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection = socket.create_connection((host, port), 5)
        except OSError as problem:
            say(waits_for=f"{host}:{port}", problem=str(problem))
            if time.monotonic() > deadline:
                sys.exit(f"{host}:{port} did not answer within {PATIENCE:.0f} s")
            time.sleep(_PAUSE)
        else:
            connection.settimeout(None)
            return connection
