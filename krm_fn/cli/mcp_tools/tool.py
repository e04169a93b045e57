"""A tool of the server: its description, the schema of its arguments, and its function; and the arguments that several tools have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from krm_fn.cli.mcp_tools import result_limits
from krm_fn.cli.mcp_tools.allowed_paths import AllowedRoot

Arguments = dict[str, Any]

PATH = {"type": "string", "minLength": 1, "maxLength": 4096}
PATHS: dict[str, Arguments] = {
    "paths": {
        "type": "array",
        "items": PATH,
        "minItems": 1,
        "maxItems": 100,
        "description": "Files and folders below the root of the server. The default is the root.",
    },
    "text": {
        "type": "string",
        "minLength": 1,
        "maxLength": result_limits.LONGEST_TEXT,
        "description": "The YAML of a graph, in place of paths: use it before the file is saved.",
    },
    "config": {**PATH, "description": "The file with the configuration, a DynamoRender or a ConfigMap."},
    "namespace": {"type": "string", "maxLength": 63, "description": "The namespace of Dynamo resources that do not set one."},
}
"""The arguments of each tool that reads graphs."""


class ToolResult(NamedTuple):
    """The result of a tool: a short text for people, and the content for programs."""

    summary: str
    content: dict[str, Any]


class Tool(NamedTuple):
    """A tool. `call` gets the root and arguments that match the schema, and raises ToolError for a call that it cannot answer."""

    name: str
    title: str
    description: str
    properties: dict[str, Arguments]
    call: Callable[[AllowedRoot, Arguments], ToolResult]
    required: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        """Returns the JSON Schema of the arguments."""
        return {"type": "object", "properties": self.properties, "required": [*self.required], "additionalProperties": False}
