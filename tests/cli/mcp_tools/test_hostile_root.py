"""`krm-fn mcp` below a root that an attacker wrote: nothing outside of the root is read, and nothing is written."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.cli import console
from tests.cli.mcp_tools import agent
from tests.support.cases import cases
from tests.testbed import programs

pytestmark = pytest.mark.xdist_group("mcp")

SECRET = "hunter2"  # noqa: S105 - a word to search for
SECRET_GRAPH = console.GRAPH.replace("replicas: 2", f"replicas: 2\n      {SECRET}: {SECRET}").replace("name: chat", f"name: {SECRET}")
_KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [graph.yaml, ../../secret/graph.yaml]\n"
_PROJECT = "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoProject\nmetadata: {name: project}\nspec: {namespace: hunter2}\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A repository around the root, with secrets beside the root, and a root that leads to them in each known way."""
    top = tmp_path_factory.mktemp("repository")
    root, secret = top / "root", top / "secret"
    for path in (root / "app", root / "many", secret):
        path.mkdir(parents=True)
    (secret / "graph.yaml").write_text(SECRET_GRAPH)
    (top / ".krm-fn.yaml").write_text(_PROJECT)
    subprocess.run(["git", "init", "-q", top], check=True, timeout=60)
    (root / "graph.yaml").write_text(console.GRAPH)
    (root / "app" / "graph.yaml").write_text(console.GRAPH)
    (root / "app" / "kustomization.yaml").write_text(_KUSTOMIZATION)
    (root / "linked.yaml").symlink_to(secret / "graph.yaml")
    (root / "linked").symlink_to(secret)
    (root / "app" / "linked").symlink_to("../../secret")
    (root / "loop.yaml").symlink_to("loop.yaml")
    (root / "device").symlink_to("/dev/zero")
    os.mkfifo(root / "pipe.yaml")
    for number in range(10_000):
        (root / "many" / f"{number}.yaml").touch()
    return root


@pytest.fixture(scope="module")
def attacked(folder):
    with agent.connected(folder) as connected:
        yield connected


PATHS = (
    ("above", "../secret/graph.yaml", "leads out of the root"),
    ("far above", "../../../../../etc/passwd", "leads out of the root"),
    ("above and back into a folder", "app/../../secret/graph.yaml", "leads out of the root"),
    ("absolute", "/etc/passwd", "leads out of the root"),
    ("a link to a file", "linked.yaml", "leads out of the root"),
    ("a link to a folder", "linked", "leads out of the root"),
    ("below a link", "app/linked/graph.yaml", "leads out of the root"),
    ("a loop", "loop.yaml", "cannot be read: Too many levels of symbolic links"),
    ("a named pipe", "pipe.yaml", "is a named pipe"),
    ("a device", "/dev/zero", "leads out of the root"),
    ("a link to a device", "device", "leads out of the root"),
    ("a process", "/proc/self/environ", "leads out of the root"),
    ("a NUL byte", "graph.yaml\0.txt", "contains a NUL byte"),
    ("stdin", "-", "cannot be read"),
    ("an option", "--config=/etc/passwd", "cannot be read"),
    ("a revision", "HEAD:secret/graph.yaml", "cannot be read"),
    ("a home", "~/.ssh/id_ed25519", "cannot be read"),
    ("missing", "missing.yaml", "cannot be read: No such file or directory"),
    ("long", "a" * 4000, "cannot be read: File name too long"),
)


@cases(("path", "says"), PATHS)
def test_a_path_is_refused_with_its_reason(attacked, path, says):
    """Each argument that is a path is refused before a command runs."""
    for tool, arguments in (
        ("check", {"paths": ["graph.yaml", path]}),
        ("render", {"paths": [path]}),
        ("needs", {"paths": ["graph.yaml"], "config": path}),
        ("diff", {"paths": ["graph.yaml"], "old": path}),
    ):
        answer = attacked.call(tool, **arguments)
        assert answer.is_error
        assert says in answer.text or (
            tool == "diff" and any(text in answer.text for text in ("not a git revision", "is not a file or folder"))
        )
        assert SECRET not in answer.text.replace(path, "")
        assert "Traceback" not in answer.text


@cases(
    ("old", "says"),
    (
        ("the repository above the root", "HEAD", "not a git repository"),
        ("an option", "--upload-pack=touch", "not a git revision"),
        ("a range", "main..HEAD", "not a git revision"),
        ("a path in a revision", "HEAD:secret", "not a git revision"),
    ),
)
def test_a_revision_never_reads_above_the_root(attacked, old, says):
    answer = attacked.call("diff", paths=["app"], old=old)
    assert answer.is_error
    assert says in answer.text


def test_a_git_folder_outside_of_the_root_is_not_read(attacked, folder):
    """The file `.git` of a working tree can name any folder."""
    (folder / "app" / ".git").write_text(f"gitdir: {folder.parent / '.git'}\n")
    try:
        answer = attacked.call("diff", paths=["app"], old="HEAD")
    finally:
        (folder / "app" / ".git").unlink()
    assert answer.is_error
    assert "its git folder is outside" in answer.text


@cases(
    ("tool", "arguments"),
    (
        ("check", {"paths": ["app", "graph.yaml"]}),
        ("render", {"paths": ["graph.yaml"]}),
        ("explain", {"paths": ["app"]}),
        ("needs", {"paths": ["app"]}),
        ("upgrade", {"paths": ["app", "graph.yaml"], "to": "1.6"}),
    ),
)
def test_a_folder_with_links_reveals_nothing(attacked, folder, tool, arguments):
    """A walk follows no link out of the root, a Kustomization names no file above it, and the project file above it has no effect."""
    before = sorted(path.name for path in folder.parent.rglob("*"))
    answer = attacked.call(tool, **arguments)
    assert SECRET not in answer.text
    assert "Traceback" not in answer.text
    assert sorted(path.name for path in folder.parent.rglob("*")) == before


def test_too_many_files_are_refused_with_a_reason(attacked):
    for arguments in ({}, {"paths": ["many"]}):
        answer = attacked.call("check", **arguments)
        assert answer.is_error
        assert "has more than 5000 files; name a folder below it" in answer.text


def test_a_long_report_loses_its_last_entries(attacked):
    """The summary and the report say what was left out."""
    text = "---\n".join(console.MISSPELT.replace("name: chat", f"name: chat-{number}") for number in range(400))
    answer = attacked.call("check", text=text)
    left_out = answer.report["leftOut"]["findings"]
    assert left_out > 0
    assert f"left out of findings: {left_out}" in answer.text
    assert len(answer.report["findings"]) > 100


GUARDED = (
    ("a file outside", "open('{outside}')", False),
    ("a file inside", "open('{inside}')", True),
    ("a link that leads outside", "open('{root}/linked.yaml')", False),
    ("a folder outside", "os.listdir('/etc')", False),
    ("a folder inside", "os.listdir('{root}')", True),
    ("a write inside", "open('{inside}', 'a')", False),
    ("a write of a descriptor", "os.open('{inside}', os.O_WRONLY)", False),
    ("a new folder inside", "os.mkdir('{root}/new')", False),
    ("a removal inside", "os.remove('{inside}')", False),
    ("a removal by a relative path", "os.remove('graph.yaml')", False),
    ("a new name", "os.rename('{inside}', '{temporary}/stolen')", False),
    ("a temporary file", "open('{temporary}/copy', 'w')", True),
    ("a link in the temporary folder, to write", "(os.symlink('{inside}', '{temporary}/link'), open('{temporary}/link', 'w'))", False),
    ("a module", "__import__('tomllib')", True),
    ("a socket", "socket.create_connection(('127.0.0.1', 9))", False),
    ("a name on the network", "socket.getaddrinfo('example.com', 80)", False),
)


def test_the_process_of_a_call_is_confined(folder, tmp_path):
    """Behind the checks of paths, Python itself refuses each file outside of the root, each write and each connection."""
    names = {"root": folder, "inside": folder / "graph.yaml", "outside": folder.parent / "secret/graph.yaml", "temporary": tmp_path}
    lines = ["import os, socket, sys", "from pathlib import Path", "from krm_fn.cli.mcp_tools import confinement"]
    lines += [f"os.chdir('{folder}')", f"confinement.confine(Path('{folder}'), Path('{tmp_path}'))", "def allowed(work):"]
    lines += ["    try: eval(work)", "    except PermissionError: return False", "    return True"]
    lines += [f"print(allowed({work.format(**names)!r}))" for _, work, _ in GUARDED]
    command = [sys.executable, "-W", "ignore", "-c", "\n".join(lines)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env={"PYTHONPATH": str(programs.ROOT)})
    assert dict(zip([reason for reason, _, _ in GUARDED], done.stdout.split(), strict=True)) == {
        reason: str(is_allowed) for reason, _, is_allowed in GUARDED
    }
