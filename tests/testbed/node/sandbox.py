"""The namespaces of a pod, held by a process that ends with the tests. With the process the namespaces end, and all that is in them.

Nothing outlives a killed test run: the process reads from a pipe that only the tests hold open. Its command line holds the word
`krm-fn-testbed` and the name of the pod, for people who look for it with `ps`.
"""

from __future__ import annotations

import asyncio
import contextlib
import shlex
from typing import TYPE_CHECKING

from tests.testbed.node.process import StartError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_TITLE = "krm-fn-testbed"


class Sandbox:
    """Network, mount, UTS and IPC namespaces. `pid` is the process that holds them."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        """The process id on the host."""
        return self._process.pid

    async def end(self) -> None:
        """Let the namespaces go. Containers must have ended before."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.communicate()


async def start(name: str, *steps: Sequence[str | Path]) -> Sandbox:
    """Make the namespaces and run `steps`, commands, in them. Raises StartError if one fails."""
    script = "\n".join(["set -e", *(shlex.join(map(str, step)) for step in steps), "echo made", "read _"])
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *("unshare", "--net", "--uts", "--ipc", "--mount", "--propagation", "private", "--"),
        *("sh", "-c", script, _TITLE, name),
        stdin=pipe,
        stdout=pipe,
        stderr=asyncio.subprocess.STDOUT,
    )
    made = Sandbox(process)
    assert process.stdout
    said = ""
    try:
        while line := (await process.stdout.readline()).decode(errors="replace"):
            if line == "made\n":
                return made
            said += line
    except BaseException:
        await made.end()
        raise
    await made.end()
    raise StartError(f"sandbox of {name}: {said.strip()}")
