"""Background servers that end with the tests, also if the tests are killed."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

# The server replaces the shell and keeps its process id. A second process reads from a pipe that only the tests hold open: when the tests
# end for any reason, the pipe closes and that process stops the server.
_BOUND_TO_US = 'exec 3<&0 </dev/null; (cat <&3 >/dev/null; kill $$ 2>/dev/null) & exec 3<&-; exec "$@"'


class StartError(Exception):
    """A server ended or did not become ready. The message ends with the last lines of its log."""


class Server(NamedTuple):
    """A running server."""

    process: subprocess.Popen[bytes]
    log: Path

    def wait(self, ready: Callable[[], bool], seconds: float = 180) -> None:
        """Return as soon as `ready()` is true. Raises StartError if the server ends or the time is over."""
        try:
            eventually(lambda: self.process.poll() is not None or ready(), seconds)
        except TimeoutError:
            raise StartError(self._story(f"not ready after {seconds:.0f} s")) from None
        if self.process.poll() is not None:
            raise StartError(self._story(f"exit code {self.process.returncode}"))

    def _story(self, what: str) -> str:
        return "\n".join([f"{self.log.stem}: {what}", *self.log.read_text(errors="replace").splitlines()[-20:]])


@contextlib.contextmanager
def running(command: Sequence[str | Path], log: Path) -> Iterator[Server]:
    """Start a server with its output in `log`. At the end it gets SIGTERM, and SIGKILL after 10 seconds."""
    with log.open("wb") as sink:
        bound = ["/bin/sh", "-c", _BOUND_TO_US, "sh", *command]
        process = subprocess.Popen(bound, stdin=subprocess.PIPE, stdout=sink, stderr=subprocess.STDOUT)
    try:
        yield Server(process, log)
    finally:
        _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdin:
        process.stdin.close()


def free_ports(count: int) -> list[int]:
    """Different free ports on the loopback interface."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def eventually(holds: Callable[[], bool], seconds: float = 180) -> None:
    """Return as soon as `holds()` is true; calls it 20 times a second. Raises TimeoutError."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not so within {seconds:.0f} s")
        time.sleep(0.05)
