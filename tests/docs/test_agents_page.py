"""docs/agents.md: its tools and limits are those of the server, and its AGENTS.md has commands with their exit codes."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from krm_fn import cli
from krm_fn.cli.mcp_tools import result_limits, server
from tests.cli import console
from tests.support import markdown
from tests.testbed import programs

PAGE = (programs.ROOT / "docs" / "agents.md").read_text("utf-8")


def test_the_page_lists_the_tools():
    """In the order of the server."""
    section = PAGE.partition("## The tools")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(server.TOOLS)


def test_the_page_has_the_limits():
    assert f"{result_limits.MOST_FILES:,} files" in PAGE
    assert f"{result_limits.LONGEST_RESULT:,} characters" in PAGE
    assert result_limits.SECONDS == 120  # "ends after two minutes"


def test_the_settings_of_clients_start_the_command():
    """A client runs `command` with `args`."""
    first, second = [json.loads(block) for _, block in markdown.fenced(PAGE, "json")]
    for settings in (first["mcpServers"]["krm-fn"], second["servers"]["krm-fn"]):
        assert settings["command"] == cli.PROGRAM
        assert settings["args"][:2] == ["mcp", "--root"]


@pytest.mark.slow  # ten processes
def test_the_commands_of_agents_md_end_as_it_says(tmp_path):
    """Each row names a command and its exit code, in a repository whose graph changed."""
    graph = tmp_path / "graph.yaml"
    graph.write_text(console.GRAPH)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-C", str(tmp_path)]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "First"]):
        subprocess.run([*git, *words], check=True, timeout=60)
    graph.write_text(console.GRAPH.replace("replicas: 2", "replicas: 3"))
    rows = re.findall(r"\| `krm-fn ([^`]+)` \| exit code (\d)", markdown.files(PAGE)["AGENTS.md"])
    assert len(rows) == 7
    for command, code in rows:
        assert console.program(*command.split(), folder=tmp_path).code == int(code), command
    graph.write_text(console.MISSPELT)
    assert [console.program(*words, folder=tmp_path).code for words in (["check"], ["render", "graph.yaml"], ["check", "--no"])] == [
        1,
        1,
        2,
    ]
