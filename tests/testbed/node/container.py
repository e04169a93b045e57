"""One container of a pod: starts it, asks its probes, starts it again when it ends, and stops it with its pod."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from typing import TYPE_CHECKING, Any

from tests.testbed.node import environment, plan, process, state
from tests.testbed.node.backoff import Backoff
from tests.testbed.node.probes import Probes

if TYPE_CHECKING:
    from pathlib import Path

    from tests.testbed.node.plan import Surroundings
    from tests.testbed.node.process import Plan, Process
    from tests.testbed.node.state import State

Object = dict[str, Any]

_MESSAGE_LINES, _MESSAGE_BYTES = 80, 2048  # of a log, for FallbackToLogsOnError
_RETRY = 1.0  # seconds until a configuration that cannot be read is read again
_SHORTEST_GRACE = 2.0


class Container:
    """A container with all its lives. `log(n)` is the file with the output of its life n."""

    def __init__(self, own: State, around: Surroundings) -> None:
        self.state = own
        self.process: Process | None = None
        self.told: list[str] = []
        self._around = around
        self._folder = around.folder / "containers" / own.name
        self._folder.mkdir(parents=True)
        self._backoff = Backoff(around.ground.backoff)
        self._pulls = Backoff(around.ground.backoff)
        self._stopped = asyncio.Event()
        self.begun = asyncio.Event()  # the startup probe has succeeded, or the container is over

    def log(self, life: int) -> Path:
        """The file with the output of one life."""
        return self._folder / f"{life}.log"

    async def keep(self) -> None:
        """Run the container until it ends for good. A pod that ends calls `stop`."""
        life = 0
        try:
            while (code := await self._live(life)) is not None:
                ended = time.monotonic()
                if self._stopped.is_set() or not state.restarts(self._around.pod, self.state, code):
                    break
                await self._back_off(ended)
                life += 1
        finally:
            self.begun.set()

    async def stop(self, seconds: float) -> None:
        """End the container: its preStop hook, SIGTERM, and SIGKILL after the grace period. It does not start again."""
        self._stopped.set()
        if self.process:
            await self._kill(self.process, seconds)

    async def _back_off(self, ended: float) -> None:
        wait = self._backoff.wait(ended)
        if wait:
            pod = self._around.pod["metadata"]
            named = f"container={self.state.name} pod={pod['name']}_{pod['namespace']}({pod['uid']})"
            self.state.wait("CrashLoopBackOff", f"back-off {_duration(wait)} restarting failed {named}")
            self._changed()
            await self._pause(wait - (time.monotonic() - ended))
        self._backoff.restarted(ended, time.monotonic())

    async def _live(self, life: int) -> int | None:
        """One life of the container; its exit code, or None if it was stopped before it began."""
        message = self._folder / f"{life}.message"
        message.touch()
        made = await self._plan(life, message)
        if made is None:
            return None
        container = self.state.container
        self.state.id = f"tests://{secrets.token_hex(32)}"
        try:
            started = self.process = await process.start(made, self.log(life))
        except process.StartError as problem:
            self.state.restarts = life
            self.state.end(128, "StartError", f"failed to create containerd task: {problem}")
            self._changed()
            return 128
        self.state.run(life)
        self._changed()
        if self._stopped.is_set():  # meanwhile
            await started.stop(0)
        code = await self._watch(started)
        self.process = None
        text = _message(container, code, message, self.log(life))
        self.state.end(code, "Completed" if code == 0 else "Error", text)
        self._changed()
        return code

    async def _watch(self, started: Process) -> int:
        """Ask the probes until the process ends, and kill it when one says so; returns its exit code.

        Once the pod is deleted, only the readiness probe is asked (`StopLivenessAndStartup` in `pkg/kubelet/prober/prober_manager.go`).
        """
        if self.state.init and not self.state.sidecar:
            return await started.wait()
        probes = Probes(self.state, started, self._around.asker, self._changed, self.told.append)
        readiness, failure = asyncio.ensure_future(probes.follow_readiness()), asyncio.ensure_future(probes.failure())
        stopped, ended = asyncio.ensure_future(self._stopped.wait()), asyncio.ensure_future(started.wait())
        try:
            await asyncio.wait([failure, stopped, ended], return_when=asyncio.FIRST_COMPLETED)
            if failure.done() and not ended.done() and not self._stopped.is_set():
                await self._restart(started, *failure.result())
            failure.cancel()
            return await ended
        finally:
            for task in (readiness, failure, stopped):
                task.cancel()

    async def _restart(self, running: Process, kind: str, probe: Object) -> None:
        """Kill the process of a container because a probe has failed."""
        self.told.append(f"Container {self.state.name} failed {kind.lower()} probe, will be restarted")
        whole = self._around.pod["spec"].get("terminationGracePeriodSeconds", 30)
        await self._kill(running, probe.get("terminationGracePeriodSeconds", whole))

    async def _kill(self, running: Process, seconds: float) -> None:
        begun = time.monotonic()
        hook = (self.state.container.get("lifecycle") or {}).get("preStop")
        if hook and seconds > 0:
            wrong = await self._around.asker.ask(hook, self.state.container, running, seconds)
            if wrong is not None:
                self.told.append(f"PreStopHook failed: {wrong}")
        await running.stop(max(_SHORTEST_GRACE, seconds - (time.monotonic() - begun)))

    async def _plan(self, life: int, message: Path) -> Plan | None:
        """How to run the next life, as soon as its image and its configuration are there; None if the pod ends before."""
        while not self._stopped.is_set():
            container = self.state.container
            image = self._around.ground.images.get(container["image"])
            if image is None:
                await self._pull(container["image"])
                continue
            try:
                return await plan.make(self._around, container, image, self._folder / str(life), message)
            except environment.ConfigError as problem:
                self.state.wait("CreateContainerConfigError", str(problem))
                self._changed()
                await self._pause(_RETRY)
        return None

    async def _pull(self, image: str) -> None:
        """An image that no test gave: an error, and the wait until the next try."""
        now = time.monotonic()
        missing = f'failed to pull and unpack image "{image}": not found: no test gave it to the node'
        self.state.wait("ErrImagePull", f"rpc error: code = NotFound desc = {missing}")
        self._changed()
        await self._pause(min(1.0, self._around.ground.backoff))
        self._pulls.restarted(now, now)
        self.state.wait("ImagePullBackOff", f'Back-off pulling image "{image}": ErrImagePull: {missing}')
        self._changed()
        until = now + self._pulls.wait(now)
        while time.monotonic() < until and image not in self._around.ground.images and not self._stopped.is_set():
            await self._pause(0.1)

    async def _pause(self, seconds: float) -> None:
        """Sleep, unless the pod ends."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopped.wait()

    def _changed(self) -> None:
        if self.state.started:
            self.begun.set()
        self._around.changed()


def _message(container: Object, code: int, file: Path, log: Path) -> str:
    """The termination message: the file, or the end of the log if the policy says so and the container failed."""
    text = ""
    with contextlib.suppress(OSError):
        text = file.read_bytes()[: 2 * _MESSAGE_BYTES].decode(errors="replace")
    if text or not code or container.get("terminationMessagePolicy") != "FallbackToLogsOnError":
        return text
    lines = log.read_bytes().splitlines(keepends=True)[-_MESSAGE_LINES:]
    return b"".join(lines)[-_MESSAGE_BYTES:].decode(errors="replace")


def _duration(seconds: float) -> str:
    """Seconds as Go prints them.

    >>> _duration(10), _duration(80), _duration(300), _duration(0.5)
    ('10s', '1m20s', '5m0s', '500ms')
    """
    if seconds < 1:
        return f"{seconds * 1000:g}ms"
    minutes, rest = divmod(seconds, 60)
    return f"{minutes:g}m{rest:g}s" if minutes else f"{rest:g}s"
