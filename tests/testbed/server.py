"""Background servers that end with the tests, also if the tests are killed."""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import signal
import socket
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

# The program replaces the shell and keeps its process id. A second process of its group reads from a pipe that only the tests hold open.
# When the tests end for any reason, the pipe closes, and that process ends the group: with SIGKILL after a second, because a kube-apiserver
# whose etcd has ended waits for it for ever.
_BOUND_TO_US = 'exec 3<&0 </dev/null; (cat <&3; kill -s TERM $$; sleep 1; kill -s KILL -- -$$) >/dev/null 2>&1 & exec 3<&-; exec "$@"'


_RESTART_PERIOD = 0.2  # seconds
_ASSIGNED_BY_NOBODY = range(16384, 32768)  # net.ipv4.ip_local_port_range begins at 32768
_GIVEN: set[int] = set()


class StartError(Exception):
    """A server ended or did not become ready. The message ends with the last lines of its log."""


class Server:
    """A running server. Tests may kill it, pause it, and start it again with the same command; `log` has the output of all its lives.

    `environment` is added to the variables of this process.
    """

    def __init__(self, command: Sequence[str | Path], log: Path, environment: Mapping[str, str] | None = None) -> None:
        self.log = log
        self._command = command
        self._environment = environment or {}
        log.unlink(missing_ok=True)
        self.start()

    def start(self, *more: str) -> None:
        """Start the server again, after `kill`, with further arguments for this life."""
        with self.log.open("ab") as sink:
            environment = {**os.environ, **self._environment}
            self._process = start([*self._command, *more], stdout=sink, stderr=subprocess.STDOUT, env=environment)

    def wait(self, ready: Callable[[], bool], seconds: float = 180) -> None:
        """Return as soon as `ready()` is true. Raises StartError if the server ends or the time is over."""
        try:
            eventually(lambda: self._process.poll() is not None or ready(), seconds)
        except TimeoutError:
            raise StartError(self._story(f"not ready after {seconds:.0f} s")) from None
        if self._process.poll() is not None:
            raise StartError(self._story(f"exit code {self._process.returncode}"))

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def restart_if_ended(self) -> None:
        """Start the server again if its process has ended, by itself or by a signal."""
        if self._process.poll() is not None:
            end_group(self._process)
            self.start()

    def end(self, number: signal.Signals = signal.SIGTERM, seconds: float = 60) -> int:
        """Send a signal; returns the exit code, or the negative number of the signal. Raises subprocess.TimeoutExpired."""
        self._process.send_signal(number)
        code = self._process.wait(seconds)
        end_group(self._process)
        return code

    def kill(self) -> None:
        """SIGKILL: the server closes nothing and saves nothing."""
        self._process.kill()
        self.stop()

    def pause(self) -> None:
        """SIGSTOP: connections stay open, and nothing answers."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT, after `pause`."""
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """SIGTERM, and SIGKILL after 10 seconds."""
        self._process.terminate()
        self.resume()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        end_group(self._process)

    def _story(self, what: str) -> str:
        return "\n".join([f"{self.log.stem}: {what}", *self.log.read_text(errors="replace").splitlines()[-20:]])


@functools.cache
def _lifeline() -> tuple[int, int]:
    """The two ends of a pipe. Nothing is ever written into it: it closes when this process ends."""
    return os.pipe()


def start(command: Sequence[str | Path], **options: Any) -> subprocess.Popen[Any]:
    """Start a program in a process group of its own. The group ends with this process, also if that is killed."""
    words = ["/bin/sh", "-c", _BOUND_TO_US, "sh", *map(str, command)]
    return subprocess.Popen(words, stdin=_lifeline()[0], process_group=0, **options)


def end_group(process: subprocess.Popen[Any]) -> None:
    """SIGKILL for all that a program has left behind in its process group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def running(command: Sequence[str | Path], log: Path, environment: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Start a server with its output in `log`, and stop it at the end. `environment` is added to the variables of this process."""
    server = Server(command, log, environment)
    try:
        yield server
    finally:
        server.stop()


@contextlib.contextmanager
def restarting(server: Server) -> Iterator[None]:
    """Start a server again whenever its process ends, as a kubelet does with a container, until the context ends."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_RESTART_PERIOD):
            server.restart_if_ended()

    thread = threading.Thread(target=watch, name=f"restarts of {server.log.stem}")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def free_ports(count: int) -> list[int]:
    """Different free ports on the loopback interface.

    Linux gives these ports to no socket that asks for any port, each worker of pytest-xdist has ports of its own, and no port is given
    twice. So they are still free when the server starts, some seconds later, and when it starts again.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    own = _ASSIGNED_BY_NOBODY[worker :: int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))]
    found: list[int] = []
    while len(found) < count:
        number = secrets.choice(own)
        if number in _GIVEN:
            continue
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", number))
            _GIVEN.add(number)
            found.append(number)
    return found


def eventually(holds: Callable[[], bool], seconds: float = 180) -> None:
    """Return as soon as `holds()` is true; calls it 20 times a second. Raises TimeoutError."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not so within {seconds:.0f} s")
        time.sleep(0.05)
