"""The messages on docs/troubleshooting.md are those of the tools, and its commands show the cause of a restart."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from tests.platform import pages
from tests.repository import clones
from tests.repository.clones import BUILD
from tests.support import markdown
from tests.testbed import programs

PAGE = (pages.DOCS / "troubleshooting.md").read_text()
FILES = markdown.files((pages.DOCS / "kustomize.md").read_text())
MERGE_KEYS = (programs.ROOT / "platform" / "kustomize" / "openapi.json").read_text()


@pytest.fixture
def overlay(tmp_path, monkeypatch):
    """The repository of docs/kustomize.md."""
    return clones.Clone(tmp_path, monkeypatch).put({**FILES, "chat/prod/openapi.json": MERGE_KEYS}).commit()


def failure(overlay, *command, **environment):
    """The stderr of a command that must fail."""
    variables = {**os.environ, "PATH": overlay.path, **environment}
    ran = subprocess.run(command, cwd=overlay.folder, env=variables, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode != 0
    return ran.stderr


@pytest.mark.parametrize(
    ("message", "command", "without_krm_fn"),
    [
        ("external plugins disabled; unable to load external plugin 'DynamoRender'", ("kustomize", "build"), False),
        ("unknown flag: --enable-exec", ("kubectl", "kustomize", *BUILD[2:]), False),
        ('exec: "krm-fn": executable file not found in $PATH', BUILD, True),
    ],
    ids=["no flag", "kubectl", "no program"],
)
def test_a_message_of_kustomize_is_on_the_page(overlay, message, command, without_krm_fn):
    path = {"PATH": f"{programs.path('kustomize').parent}:/usr/bin:/bin"} if without_krm_fn else {}
    program = programs.path(command[0])
    assert message in failure(overlay, program, *command[1:], "chat/prod", **path)
    assert f"| `{message}` |" in PAGE


def test_a_patch_without_a_schema_has_the_codes_on_the_page(overlay):
    """Without `openapi`, the patch replaces the list of components."""
    overlay.edit("chat/prod/kustomization.yaml", "openapi: {path: openapi.json}\n", "")
    errors = failure(overlay, *BUILD, "chat/prod")
    assert "error DYN450" in errors
    assert "couldn't execute function: exit status 1" in errors
    assert "| `DYN450` after you added a patch" in PAGE
    assert "| `couldn't execute function: exit status 1` |" in PAGE


def test_the_commands_name_the_line_that_restarted_the_workers(overlay):
    """Both blocks compare a commit with the one before: that of the last merge, and the revert of it."""
    overlay.edit("chat/base/graph.yaml", "Qwen3-0.6B", "Qwen3-1.7B").commit()
    steps = pages.steps(PAGE)["The workers restarted after a merge"], pages.steps((pages.DOCS / "upgrades.md").read_text())["Roll back"]
    commit = overlay.git("rev-parse", "HEAD").strip()
    for (script,) in steps:
        named = overlay.shell("bash", "-euc", f"export {AUTHOR}; {script.replace('COMMIT', commit)}")
        assert "1 of 2 services restarts: Worker." in named
        assert re.search(r"chat/Worker +restarts .* chat/base/graph\.yaml:18\n", named)


AUTHOR = " ".join(f"GIT_{role}_NAME=A GIT_{role}_EMAIL=a@example.com" for role in ("AUTHOR", "COMMITTER"))
