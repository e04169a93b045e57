"""`krm-fn mcp` as a server: its tools, wrong arguments, many requests at once, its limits, and its streams."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import example_index
import pytest

from krm_fn.cli.mcp_tools import command_process, result_limits
from krm_fn.cli.mcp_tools.allowed_paths import ToolError
from krm_fn.cli.mcp_tools.command_process import CommandCall
from tests.cli import console
from tests.cli.mcp_tools import agent
from tests.support.cases import cases
from tests.testbed import programs

pytestmark = pytest.mark.xdist_group("mcp")

NAMES = ["check", "render", "diff", "explain", "upgrade", "needs", "codes", "examples"]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A git repository with a committed graph, which the working tree changes."""
    folder = tmp_path_factory.mktemp("root")
    (folder / "graph.yaml").write_text(console.GRAPH)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-C", str(folder)]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "First"]):
        subprocess.run([*git, *words], check=True, timeout=60)
    (folder / "graph.yaml").write_text(console.GRAPH.replace("replicas: 2", "replicas: 3"))
    return folder


@pytest.fixture(scope="module")
def helper(root):
    with agent.connected(root) as connected:
        yield connected


def test_each_tool_says_that_it_only_reads(helper):
    """Clients run such tools without asking. Each argument has a description."""
    tools = helper.portal.call(helper.client.list_tools).tools
    assert [tool.name for tool in tools] == NAMES
    for tool in tools:
        assert tool.annotations.read_only_hint
        assert not tool.annotations.open_world_hint
        assert tool.input_schema["additionalProperties"] is False
        assert all(argument["description"] for argument in tool.input_schema["properties"].values())


@cases(
    ("tool", "arguments"),
    (
        ("check", {}),
        ("render", {}),
        ("diff", {"old": "main"}),
        ("explain", {"object": "Deployment/chat-worker"}),
        ("upgrade", {"to": "1.6"}),
        ("needs", {}),
    ),
)
def test_a_tool_returns_the_report_of_its_command(helper, root, tool, arguments):
    """The report is the JSON of the command, and the text part has it too, for clients without structured content."""
    answer = helper.call(tool, **arguments)
    command = console.program(tool, "-o", "json", *(f"--{name}={value}" for name, value in arguments.items()), folder=root)
    assert answer.report == json.loads(command.out.replace(f'"{root}/', '"'))
    assert answer.content["exitCode"] == command.code
    assert json.loads(answer.text.splitlines()[-1]) == answer.content


def test_objects_as_yaml(helper):
    assert helper.call("render", format="yaml").report.startswith("apiVersion: ")


WRONG: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    ("no such tool", "apply", {}, "no tool has the name apply; the tools are check, render"),
    ("a path that is no list", "check", {"paths": "graph.yaml"}, "the argument paths of check is wrong"),
    ("a number as path", "check", {"paths": [5]}, "the argument paths.0 of check is wrong: 5 is not of type 'string'"),
    ("no paths", "check", {"paths": []}, "the argument paths of check is wrong"),
    ("an unknown argument", "check", {"path": "graph.yaml"}, "the call of check is wrong"),
    ("paths and text", "check", {"paths": ["graph.yaml"], "text": "a: b"}, "name either paths or text"),
    ("a missing argument", "diff", {}, "'old' is a required property"),
    ("an unknown release", "upgrade", {"to": "9.9"}, "is not a release of Dynamo that krm-fn knows"),
    ("an option as release", "upgrade", {"to": "--write"}, "is not a release of Dynamo that krm-fn knows"),
    ("a step that the plan lacks", "upgrade", {"to": "1.6", "step": 99}, "the plan has 1 step"),
    ("a wrong namespace", "check", {"namespace": "--strict"}, "is not a namespace"),
    ("an unknown object", "explain", {"object": "Deployment/nobody"}, "nobody"),
    ("an unknown code", "codes", {"code": "DYN998"}, "is not the code of a finding"),
    ("neither code nor search", "codes", {}, "name either code or search"),
    ("an unknown example", "examples", {"name": "../agg-vllm"}, "no example has the name ../agg-vllm"),
    ("a revision of a text", "diff", {"text": "a: b", "old": "main"}, "stdin has no revisions"),
    ("a text that does not render", "render", {"text": console.MISSPELT}, "nothing is rendered: 1 error"),
)


@cases(("tool", "arguments", "says"), WRONG)
def test_a_wrong_call_gets_a_plain_message(helper, tool, arguments, says):
    """The error is one of the tool, so that the model sees it."""
    answer = helper.call(tool, **arguments)
    assert answer.is_error
    assert says in answer.text
    assert "Traceback" not in answer.text
    assert "Usage:" not in answer.text


def test_a_hundred_requests_at_once(helper):
    """All are answered, each with its own report, and the server answers pings meanwhile."""
    calls = [
        ("check", {"text": console.MISSPELT.replace("name: chat", f"name: chat-{number}")}) if number % 2 else ("codes", {"code": "DYN021"})
        for number in range(100)
    ]
    answers, pings = helper.at_once(calls)
    assert pings > 0
    for number, answer in enumerate(answers):
        assert not answer.is_error
        if number % 2:
            assert {finding["resource"]["name"] for finding in answer.report["findings"]} == {f"chat-{number}"}
        else:
            assert answer.content["code"] == "DYN021"


def test_a_call_ends_after_its_time(root, monkeypatch):
    monkeypatch.setattr(result_limits, "SECONDS", 0)
    with pytest.raises(ToolError, match="did not end within 0 seconds; name fewer paths"):
        command_process.run(CommandCall(root, ("check", "-o", "json", "--", "."), (".",)))


def test_a_long_report_without_lists_is_refused():
    with pytest.raises(ToolError, match="is longer than 100000 characters; name fewer paths"):
        result_limits.shorten_report({"text": "a" * result_limits.LONGEST_RESULT})


def test_stdout_has_the_protocol_only(root):
    """Each line of stdout is a message of JSON-RPC, also if a setting asks for colours. stderr has no traceback."""
    first = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": first},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "check", "arguments": {"text": console.MISSPELT}}},
    ]
    command = [sys.executable, "-m", "krm_fn", "mcp", "--root", str(root)]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(programs.ROOT), "FORCE_COLOR": "1"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(b"not JSON\n")
        process.stdin.write(b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages))
        process.stdin.flush()
        lines: list[bytes] = []
        while not lines or json.loads(lines[-1]).get("id") != 2:
            lines.append(process.stdout.readline())
        process.stdin.close()
        rest, errors = process.stdout.read(), process.stderr.read()
    assert process.returncode == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in lines)
    assert rest == b""
    assert b"Traceback" not in errors


def test_only_this_command_needs_the_extra():
    """Other commands, and the help of this one, work without its packages. The command itself says what to install."""
    blocked = "import sys; sys.modules.update(dict.fromkeys(('anyio', 'jsonschema', 'mcp', 'mcp_types'))); from krm_fn import cli"
    script = f"{blocked}; [cli.group.get_command(None, name) for name in cli.group.list_commands(None)]; cli.main(['mcp'])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60, cwd=programs.ROOT)
    assert done.returncode == 2
    assert done.stderr == "error: krm-fn mcp needs more packages; run: pip install 'dynamo-krm-fn[mcp]'\n"


def test_the_index_of_examples_is_that_of_the_folder():
    """`make generate` writes it."""
    assert example_index.INDEX.read_text("utf-8") == example_index.text()
    assert example_index.PAGE.read_text("utf-8") == example_index.page()
