"""docs/editors.md: the settings of each editor start the command, and its limit is that of the server."""

from __future__ import annotations

import json
import tomllib

from krm_fn import cli
from krm_fn.review.inputs import document_checks, document_origins
from tests.support import markdown
from tests.testbed import programs

PAGE = (programs.ROOT / "docs" / "editors.md").read_text("utf-8")


def test_the_settings_start_the_command():
    """VS Code, Zed, Helix and Neovim start a program with arguments."""
    code, zed = [json.loads(block) for _, block in markdown.fenced(PAGE, "json")]
    assert [code["glspc.server.command"], *code["glspc.server.commandArguments"]] == [cli.PROGRAM, "lsp"]
    binary = zed["lsp"]["yaml-language-server"]["binary"]
    assert [binary["path"], *binary["arguments"]] == [cli.PROGRAM, "lsp"]
    ((_, helix),) = markdown.fenced(PAGE, "toml")
    server = tomllib.loads(helix)["language-server"]["krm-fn"]
    assert [server["command"], *server["args"]] == [cli.PROGRAM, "lsp"]
    ((_, neovim),) = markdown.fenced(PAGE, "lua")
    assert 'cmd = { "krm-fn", "lsp" }' in neovim


def test_the_page_has_the_limits():
    assert f"{document_origins.LARGEST:,} characters" in PAGE
    assert f"{document_checks.LARGEST // 1024**2} MiB" in PAGE
