"""The server of the Model Context Protocol (https://modelcontextprotocol.io) on stdin and stdout.

The SDK moves stdout away while it serves, so nothing but the protocol is printed there (`mcp.server.stdio.stdio_server`).
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import mcp_types as types
from anyio import to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

import krm_fn
from krm_fn.base import escaping, report
from krm_fn.cli.mcp_tools import graph_tools, reference_tools
from krm_fn.cli.mcp_tools.allowed_paths import AllowedRoot, ToolError
from krm_fn.cli.mcp_tools.tool import Tool, ToolResult

_INSTRUCTIONS = """\
krm-fn renders NVIDIA Dynamo graphs (DynamoGraphDeployment) to Kubernetes objects and finds mistakes in them. To write a graph: read an \
example (examples), write, check, repair what check reports (codes has the pages), check again, render. Before a commit: diff. All tools \
only read, and only below the root of the server."""
_ANNOTATIONS = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

TOOLS = {tool.name: tool for tool in (*graph_tools.TOOLS, *reference_tools.TOOLS)}
"""The tools by name, in the order of the list."""


def serve(folder: Path) -> None:
    """Serves until stdin ends. `folder` is the root: the tools read nothing outside of it."""
    anyio.run(_serve, AllowedRoot(folder.resolve()))


async def _serve(root: AllowedRoot) -> None:
    logging.getLogger("mcp").setLevel(logging.ERROR)
    server = _server(root)
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


def _server(root: AllowedRoot) -> Server[Any]:
    """Returns the server. Calls of tools wait for each other, in the order in which they arrive; other requests are answered meanwhile."""
    turn = anyio.Lock()

    async def list_tools(_context: ServerRequestContext[Any], _parameters: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[*map(_describe_tool, TOOLS.values())])

    async def call_tool(_context: ServerRequestContext[Any], parameters: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            tool, arguments = _check_call(parameters.name, parameters.arguments or {})
            async with turn:
                return _result(await to_thread.run_sync(tool.call, root, arguments))
        except ToolError as problem:
            return types.CallToolResult(content=[types.TextContent(text=f"error: {problem}")], is_error=True)

    return Server("krm-fn", version=krm_fn.__version__, instructions=_INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool)


def _describe_tool(tool: Tool) -> types.Tool:
    return types.Tool(name=tool.name, title=tool.title, description=tool.description, input_schema=tool.schema(), annotations=_ANNOTATIONS)


def _check_call(name: str, arguments: dict[str, Any]) -> tuple[Tool, dict[str, Any]]:
    """Returns a tool and its arguments. Raises ToolError for an unknown tool, and for arguments that do not match its schema."""
    tool = TOOLS.get(name)
    if tool is None:
        raise ToolError(f"no tool has the name {report.visible(name)}; the tools are {', '.join(TOOLS)}")
    wrong = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(tool.schema()).iter_errors(arguments))
    if wrong is not None:
        where = f"the argument {'.'.join(map(str, wrong.absolute_path))}" if wrong.absolute_path else "the call"
        raise ToolError(f"{where} of {name} is wrong: {report.visible(wrong.message[:300])}")
    return tool, arguments


def _result(result: ToolResult) -> types.CallToolResult:
    """Returns the summary and the content, the latter also as text, because not every client shows structured content to its model."""
    texts = [result.summary, escaping.json_text(result.content)]
    return types.CallToolResult(content=[types.TextContent(text=text) for text in texts], structured_content=result.content)
