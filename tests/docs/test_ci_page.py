"""docs/ci.md: each command of a job as the page writes it, and the jobs that write comments, as a runner runs them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli import console
from tests.support import markdown
from tests.testbed import comment_server as forges
from tests.testbed import programs

ROOT = programs.ROOT
GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false")
PAGE = (ROOT / "docs" / "ci.md").read_text()
COMMANDS = [command.split()[1:] for command in re.findall(r"^\|.*?`(krm-fn [^`]+)` \|", PAGE, re.MULTILINE)]
JOBS = [yaml.safe_load(block[1]) for block in markdown.fenced(PAGE, "yaml")]


def job(key):
    (found,) = [each for each in JOBS if key in each]
    return found


def git(folder, *arguments):
    done = subprocess.run([*GIT, "-C", folder, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_the_job_of_github_has_the_least_rights():
    shown = job("permissions")
    assert shown["permissions"] == {"contents": "read", "pull-requests": "write"}
    (*_, step) = shown["jobs"]["review"]["steps"]
    known = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    assert {*step["with"]} <= {*known}
    assert step["with"]["comment"] is True


def test_the_check_of_github_has_inputs_of_the_action():
    known = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    (checked,) = [shown["jobs"]["check"] for shown in JOBS if "check" in shown.get("jobs", ())]
    assert {*checked["steps"][-1]["with"]} <= {*known}


def test_each_command_of_a_job_passes_in_a_clone(tmp_path, monkeypatch):
    """The commands of the first table need no further file. Those of the second table name their files."""
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    git(origin, "init")
    shutil.copy(ROOT / "examples" / "agg-vllm" / "graph.yaml", origin)
    git(origin, "add", "--all")
    git(origin, "commit", "--message", "Base")
    git(tmp_path, "clone", "--quiet", str(origin), str(clone))
    monkeypatch.chdir(clone)
    files: dict[str, str] = {}
    for page in ("review.md", "images.md", "budgets.md"):
        files |= markdown.files((ROOT / "docs" / page).read_text())
    named = [[name for name in command if name in files] for command in COMMANDS]
    assert [len(names) for names in named] == [0, 0, 0, 1, 1, 1]
    for command, names in zip(COMMANDS, named, strict=True):
        for name in names:
            (clone / name).write_text(files[name])
        done = console.run(*command)
        assert done.code == 0, (command, done.out, done.err)


@pytest.fixture
def merge(tmp_path):
    """A server with a merge request, and a clone of its repository."""
    folder = tmp_path / "clone"
    (folder / "graphs").mkdir(parents=True)
    git(folder, "init")
    (folder / "graphs" / "chat.yaml").write_text(console.GRAPH)
    git(folder, "add", "--all")
    git(folder, "commit", "--message", "Base")
    with forges.running() as forge:
        forge.is_job = False
        yield forge, folder


def run(forge, folder, base):
    """Runs the script as GitLab does: its lines in one shell, which ends at the first error."""
    shown = job("review")["review"]
    variables = {key: str(value) for key, value in shown["variables"].items()}
    path = programs.search_path(Path(sys.executable).parent)
    environment = {"PATH": path, "PYTHONPATH": str(ROOT), "CI_MERGE_REQUEST_DIFF_BASE_SHA": base, **variables, **forge.gitlab()}
    script = "\n".join(shown["script"])
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_job_of_gitlab_keeps_one_comment(merge):
    forge, folder = merge
    base = git(folder, "rev-parse", "HEAD")
    assert (run(forge, folder, base).returncode, forge.bodies) == (0, [])
    (folder / "graphs" / "chat.yaml").write_text(console.GRAPH.replace("dynamo:1", "dynamo:2"))
    for _ in range(2):
        done = run(forge, folder, base)
        assert done.returncode == 0, done
        (body,) = forge.bodies
        assert re.match(r"<!-- krm-fn diff -->\n### What the change does\n\n\*\*1 of 2 services restarts", body)
    (folder / "graphs" / "chat.yaml").write_text(console.GRAPH)
    assert run(forge, folder, base).returncode == 0
    assert "no object changes" in forge.bodies[0]


def test_the_job_of_gitlab_fails_without_the_base(merge):
    forge, folder = merge
    done = run(forge, folder, "0123456789abcdef")
    assert (done.returncode, forge.bodies) == (2, [])
    assert "git cannot read that revision" in " ".join(done.stderr.split())
