"""An agent: the client of the official SDK, connected to `krm-fn mcp` as a process, over stdio."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
from anyio import from_thread
from mcp import Client, StdioServerParameters

from tests.testbed import programs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from anyio.from_thread import BlockingPortal

SECONDS = 300


class Answer(NamedTuple):
    """The result of a call. `content` is the structured content; empty for an error."""

    is_error: bool
    text: str
    content: dict[str, Any]

    @property
    def report(self) -> Any:
        """The report of the command."""
        return self.content["report"]

    @property
    def codes(self) -> list[str]:
        """The codes of the errors and warnings of a check."""
        return [finding["code"] for finding in self.report["findings"] if finding["severity"] != "info"]


class Agent(NamedTuple):
    """A connected client, for tests that are not asynchronous."""

    portal: BlockingPortal
    client: Client

    def call(self, tool: str, /, **arguments: Any) -> Answer:
        """Calls a tool."""
        answer: Answer = self.portal.call(self._answer, tool, arguments)
        return answer

    def at_once(self, calls: list[tuple[str, dict[str, Any]]]) -> tuple[list[Answer], int]:
        """Calls tools at the same time. Returns the answers, and the pings that were answered before the last of them."""
        answers: tuple[list[Answer], int] = self.portal.call(self._at_once, calls)
        return answers

    async def _answer(self, tool: str, arguments: dict[str, Any]) -> Answer:
        result = await self.client.call_tool(tool, arguments, SECONDS)
        return Answer(
            result.is_error, "\n".join(part.text for part in result.content if part.type == "text"), result.structured_content or {}
        )

    async def _at_once(self, calls: list[tuple[str, dict[str, Any]]]) -> tuple[list[Answer], int]:
        answers: dict[int, Answer] = {}
        pings = 0

        async def answer(number: int, tool: str, arguments: dict[str, Any]) -> None:
            answers[number] = await self._answer(tool, arguments)

        async with anyio.create_task_group() as group:
            for number, (tool, arguments) in enumerate(calls):
                group.start_soon(answer, number, tool, arguments)
            while len(answers) < len(calls):
                await self.client.session.send_ping()
                pings += len(answers) < len(calls)
                await anyio.sleep(0.05)
        return [answers[number] for number in range(len(calls))], pings


@contextlib.contextmanager
def connected(root: Path, mode: str = "legacy") -> Iterator[Agent]:
    """An agent whose server reads a folder. The server ends with the block.

    The mode `legacy` begins with a handshake, as versions of the protocol before 2026 do; `auto` takes the newest version.
    """
    arguments = ["-m", "krm_fn", "mcp", "--root", str(root)]
    server = StdioServerParameters(command=sys.executable, args=arguments, env={"PYTHONPATH": str(programs.ROOT)}, cwd=root)
    with from_thread.start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server, mode=mode)) as client:
        yield Agent(portal, client)
