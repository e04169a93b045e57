"""The tools that run a command of the same name on graphs: check, render, diff, explain, upgrade and needs."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from krm_fn.base import report
from krm_fn.cli.mcp_tools import command_process
from krm_fn.cli.mcp_tools.allowed_paths import AllowedRoot, ToolError
from krm_fn.cli.mcp_tools.command_process import CommandCall, CommandReport
from krm_fn.cli.mcp_tools.result_limits import LEFT_OUT
from krm_fn.cli.mcp_tools.tool import PATH, PATHS, Arguments, Tool, ToolResult

_TEXT_FILE = "graph.yaml"
_PLURALS = {"error": "error", "warning": "warning", "info": "note"}


def _run(verb: str, options: Callable[[AllowedRoot, Arguments], Iterator[str]], root: AllowedRoot, arguments: Arguments) -> ToolResult:
    """Runs a command with the paths or the text of a call. Raises ToolError."""
    text = arguments.get("text")
    if text is not None and "paths" in arguments:
        raise ToolError("name either paths or text")
    paths = tuple(root.relative_path(path) for path in arguments.get("paths", (".",))) if text is None else ()
    words = [verb, *_format(arguments), *options(root, arguments)]
    if "config" in arguments:
        words.append(f"--config={root.folder / root.relative_path(arguments['config'])}")
    if "namespace" in arguments:
        words.append(f"--namespace={arguments['namespace']}")
    file = _TEXT_FILE if text is not None and arguments.get("patch") else ""
    named = paths or (file or "-",)
    return _result(command_process.run(CommandCall(root.folder, (*words, "--", *named), paths, text, file)))


def _format(arguments: Arguments) -> tuple[str, ...]:
    return ("--patch",) if arguments.get("patch") else (f"--output={arguments.get('format', 'json')}",)


def _result(done: CommandReport) -> ToolResult:
    """Returns the report of a command with a summary: the exit code, the findings by severity, what was left out, and the messages."""
    content: dict[str, Any] = {"exitCode": done.code, "report": done.report, **({"messages": done.messages} if done.messages else {})}
    parts = [f"exit code {done.code}", *([] if done.report else ["the report is empty: there is nothing to change"])]
    if isinstance(done.report, dict):
        findings = done.report.get("findings")
        if isinstance(findings, list):
            counts = Counter(finding["severity"] for finding in findings)
            parts.append(", ".join(report.pluralize(counts[key], word) for key, word in _PLURALS.items() if counts[key]) or "no findings")
        headline = (done.report.get("forecast") or {}).get("headline")
        parts += [headline] if headline else []
        left_out = done.report.get(LEFT_OUT, {})
        parts += [f"left out of {name}: {number}" for name, number in left_out.items()]
    return ToolResult("\n".join([f"{'; '.join(parts)}", *([done.messages.strip()] if done.messages else [])]), content)


def _old(root: AllowedRoot, arguments: Arguments) -> Iterator[str]:
    if "old" in arguments:
        yield f"--old={root.state(arguments['old'])}"


def _no_options(_root: AllowedRoot, _arguments: Arguments) -> Iterator[str]:
    yield from ()


def _explain_options(_root: AllowedRoot, arguments: Arguments) -> Iterator[str]:
    yield from (f"--{name}={arguments[name]}" for name in ("object", "field") if name in arguments)
    if "line" in arguments:
        yield f"--from={arguments['line']}"


def _upgrade_options(_root: AllowedRoot, arguments: Arguments) -> Iterator[str]:
    yield f"--to={arguments['to']}"
    yield from (f"--{name}={arguments[name]}" for name in ("step", "graph", "gpus") if name in arguments)
    yield from ("--downgrade",) if arguments.get("downgrade") else ()


_OLD = {**PATH, "description": "The state before the change: a git revision such as main, or a file or folder below the root."}
_NAME = {"type": "string", "minLength": 1, "maxLength": 1000}

CHECK = Tool(
    "check",
    "Check graphs",
    "Find mistakes in NVIDIA Dynamo graphs and in Kubernetes objects beside them. Use it after each change of a graph, before you report "
    "that it works. Each finding has a code, the line, the problem and the fix. Exit code 0: no errors; 1: errors.",
    {**PATHS, "old": {**_OLD, "description": f"{_OLD['description']} Also reports changes that a cluster would reject."}},
    functools.partial(_run, "check", _old),
)
RENDER = Tool(
    "render",
    "Render graphs",
    "Return the Kubernetes objects that a graph becomes, in the order in which they can be applied. Use it to see what a cluster gets. "
    "Nothing is returned for a graph with errors.",
    {**PATHS, "format": {"type": "string", "enum": ["json", "yaml"], "description": "The format of the objects. The default is json."}},
    functools.partial(_run, "render", _no_options),
)
DIFF = Tool(
    "diff",
    "Compare two states",
    "Show the effects of a change: objects that differ, pods that restart, GPUs, and changes that a cluster rejects. Use it before a "
    "commit. With text, old is the saved file.",
    {**PATHS, "old": _OLD},
    functools.partial(_run, "diff", _old),
    ("old",),
)
EXPLAIN = Tool(
    "explain",
    "Explain fields",
    "Say which line of a graph, which setting or which rule made each field of the generated objects. Name an object and a field: the "
    "whole report is long. For the code of a finding, use the tool codes.",
    {
        **PATHS,
        "object": {**_NAME, "description": "Only this object, for example Deployment/chat-worker."},
        "field": {**_NAME, "description": "Only this field and the fields below it, for example spec.replicas."},
        "line": {**_NAME, "description": "Only the fields that this line of a graph affects: FILE:LINE."},
    },
    functools.partial(_run, "explain", _explain_options),
)
UPGRADE = Tool(
    "upgrade",
    "Plan an upgrade",
    "Plan the move of graphs to another release of Dynamo: steps, restarts, GPUs, and what the new release refuses. With patch, return the "
    "edits as a unified diff for git apply. Nothing is written.",
    {
        **PATHS,
        "to": {"type": "string", "minLength": 1, "maxLength": 40, "description": "The release of Dynamo, such as 1.6 or 1.6.1."},
        "patch": {"type": "boolean", "description": "Return the edits as a patch in place of the plan."},
        "step": {"type": "integer", "minimum": 1, "description": "Only this step."},
        "graph": {**_NAME, "description": "Only this graph, with each cause and each edit."},
        "gpus": {"type": "integer", "minimum": 0, "description": "Order the graphs in waves that need at most this number of GPUs."},
        "downgrade": {"type": "boolean", "description": "Move graphs that are newer than the release back to it."},
    },
    functools.partial(_run, "upgrade", _upgrade_options),
    ("to",),
)
NEEDS = Tool(
    "needs",
    "List needed objects",
    "List the objects that must exist in the cluster beside the graphs: Secrets with their keys, claims, accounts, classes and "
    "definitions. Use it before you apply a graph.",
    PATHS,
    functools.partial(_run, "needs", _no_options),
)
TOOLS = (CHECK, RENDER, DIFF, EXPLAIN, UPGRADE, NEEDS)
