"""The tools that read no file of the user: the pages of codes, and the examples of the project."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from krm_fn.base import codes, report
from krm_fn.cli.mcp_tools.allowed_paths import AllowedRoot, ToolError
from krm_fn.cli.mcp_tools.tool import Arguments, Tool, ToolResult
from krm_fn.schemas import finding_pages

_MOST_CODES = 50
"""The codes that a search returns."""


def _codes(_root: AllowedRoot, arguments: Arguments) -> ToolResult:
    """Returns the page of a code, or the titles of the codes that match a search. Raises ToolError."""
    if ("code" in arguments) == ("search" in arguments):
        raise ToolError("name either code or search")
    if "code" in arguments:
        try:
            code = finding_pages.find(arguments["code"])
        except KeyError:
            shown = report.visible(arguments["code"])
            raise ToolError(f"{shown} is not the code of a finding, such as {codes.WRONG_TYPE}; use search to find one") from None
        page = finding_pages.page(code)
        return ToolResult(finding_pages.markdown(code), {"code": code, "url": finding_pages.url(code), **page._asdict()})
    words = arguments["search"].lower().split()
    pages = finding_pages.pages().items()
    matches = [(code, page) for code, page in pages if all(word in f"{page.title} {page.means}".lower() for word in words)]
    titles = {code: page.title for code, page in matches[:_MOST_CODES]}
    left_out = len(matches) - len(titles)
    count = f"{report.pluralize(len(matches), 'code')}{f', of which {left_out} are left out' if left_out else ''}"
    return ToolResult("\n".join([count, *(f"{code}: {title}" for code, title in titles.items())]), {"codes": titles, "leftOut": left_out})


def _examples(_root: AllowedRoot, arguments: Arguments) -> ToolResult:
    """Returns the files of an example, or the list of examples. Raises ToolError."""
    entries: list[dict[str, Any]] = json.loads(resources.files(__package__).joinpath("examples.json").read_text("utf-8"))
    if "name" in arguments:
        entry = next((entry for entry in entries if entry["name"] == arguments["name"]), None)
        if entry is None:
            raise ToolError(f"no example has the name {report.visible(arguments['name'])}; call the tool without a name for the list")
        texts = [f"# {name}\n{text}" for name, text in entry["files"].items()]
        return ToolResult("\n".join([f"{entry['name']}: {entry['shows']}", *texts]), entry)
    chosen = [
        {**entry, "files": [*entry["files"]]}
        for entry in entries
        if arguments.get("engine", "") in ("", *entry["engines"]) and arguments.get("topology", "") in ("", *entry["topology"])
    ]
    return ToolResult("\n".join(f"{entry['name']}: {entry['shows']}" for entry in chosen) or "no example matches", {"examples": chosen})


CODES = Tool(
    "codes",
    "Look up a finding",
    "Return the page of a finding's code: the meaning, the fix, and YAML with the mistake and without it. Use it for each code that check "
    "reports and that you cannot repair from its message. With search, list codes by words.",
    {
        "code": {"type": "string", "minLength": 1, "maxLength": 20, "description": f"A code, such as {codes.WRONG_TYPE}."},
        "search": {"type": "string", "minLength": 1, "maxLength": 200, "description": "Words in the title or the meaning of a code."},
    },
    _codes,
)
EXAMPLES = Tool(
    "examples",
    "Read example graphs",
    "List example graphs with their engine, topology and GPUs; with a name, return its files. Begin a new graph with an example.",
    {
        "name": {"type": "string", "minLength": 1, "maxLength": 100, "description": "The name of an example. Returns its files."},
        "engine": {"type": "string", "enum": ["vllm", "sglang", "trtllm"], "description": "Only examples with this engine."},
        "topology": {
            "type": "string",
            "enum": ["aggregated", "disaggregated", "multinode"],
            "description": "Only examples with this topology.",
        },
    },
    _examples,
)
TOOLS = (CODES, EXAMPLES)
