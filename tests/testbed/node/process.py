"""A container's process: started by `launch.py` in the sandbox of its pod, and killed with the tests.

podman could run the process too. It is not used: a start takes 250 ms instead of 40 (measured with `--rootfs /:O`), it needs a machine-wide
store, and it does not work in a plain user namespace. The network and the volumes would be made by this package all the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_PROGRAM = Path(__file__).with_name("launch.py")


class StartError(Exception):
    """The command of a container cannot run. The message says why."""


class Mount(NamedTuple):
    """A file or folder of the host in a container."""

    source: Path
    target: str
    read_only: bool = False


class Plan(NamedTuple):
    """How to run a container. `folder` is an empty folder for this life of the container; `sandbox` is a process id.

    `groups` begins with the group of the user.
    """

    folder: Path
    sandbox: int
    hostname: str
    words: list[str]
    environment: dict[str, str]
    workdir: str
    user: int
    groups: list[int]
    folders: list[str]
    mounts: list[Mount]
    read_only_root: bool

    def text(self) -> str:
        """The JSON that `launch.py` reads."""
        mounts = [{"source": str(each.source), "target": each.target, "readOnly": each.read_only} for each in self.mounts]
        own = self._asdict() | {"folder": str(self.folder), "mounts": mounts, "readOnlyRoot": self.read_only_root}
        return json.dumps(own)


class Process:
    """A running container. `pid` is that of its command on the host."""

    def __init__(self, plan: Plan, launcher: asyncio.subprocess.Process, pid: int) -> None:
        self.pid = pid
        self._plan = plan
        self._launcher = launcher
        self._ended = asyncio.ensure_future(self._end())

    async def wait(self) -> int:
        """The exit code: 128 and the number of the signal if a signal ended it, as container runtimes say it."""
        return await asyncio.shield(self._ended)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the command, unless it has ended."""
        if not self._ended.done():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    async def stop(self, seconds: float) -> None:
        """SIGTERM, and SIGKILL after some seconds."""
        self.signal(signal.SIGTERM)
        await asyncio.wait([self._ended], timeout=seconds)
        self.signal(signal.SIGKILL)
        await self.wait()

    def entering(self, words: Sequence[str]) -> list[str]:
        """The command line that runs another command in the container, with its user."""
        user, group = self._plan.user, self._plan.groups[0]
        own = ["--setuid", str(user), "--setgid", str(group)] if user or group else []
        namespaces = ["--mount", "--uts", "--ipc", "--net", "--pid", "--root", "--wd"]
        return ["nsenter", "--target", str(self.pid), *namespaces, *own, "--", *words]

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of the container."""
        return self._plan.environment

    async def execute(self, words: Sequence[str], seconds: float) -> tuple[int, str]:
        """Run another command in the container; returns its exit code and its output. Raises TimeoutError after killing it."""
        return await run(self.entering(words), seconds, self.environment)

    async def _end(self) -> int:
        assert self._launcher.stdout
        status = signal.SIGKILL.value
        async for line in self._launcher.stdout:
            status = json.loads(line)["status"]
        await self._launcher.wait()
        code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else 128 - code


async def start(plan: Plan, log: Path) -> Process:
    """Start a container with its output in `log`. Raises StartError."""
    plan.folder.mkdir(parents=True)
    file = plan.folder / "plan.json"
    file.write_text(plan.text())
    with log.open("ab") as sink:
        command = [sys.executable, "-I", "-S", str(_PROGRAM), str(file)]
        launcher = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=sink, env={}
        )
    assert launcher.stdout
    try:
        line = await launcher.stdout.readline()
    except BaseException:
        launcher.kill()
        await launcher.communicate()
        raise
    said: dict[str, Any] = json.loads(line or '{"error": "launch.py ended"}')
    if "pid" in said:
        return Process(plan, launcher, said["pid"])
    await launcher.communicate()
    raise StartError(said["error"])


async def run(words: Sequence[str], seconds: float, environment: dict[str, str] | None = None, text: str = "") -> tuple[int, str]:
    """Run a command with `text` on stdin; returns its exit code and its output. Raises TimeoutError after killing it and its children."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *words, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.STDOUT, env=environment, start_new_session=True
    )
    try:
        async with asyncio.timeout(seconds):
            said, _ = await process.communicate(text.encode())
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.communicate()
        raise
    assert process.returncode is not None
    return process.returncode, said.decode(errors="replace")
