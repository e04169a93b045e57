"""Copies of a revision and of the working tree: what is in them, what never runs, and that nothing stays behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from krm_fn.repository.files import checkouts
from krm_fn.repository.files.repository import RepositoryError
from tests.support.cases import cases
from tests.testbed import programs, server

GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false")


def git(folder, *arguments):
    return subprocess.run([*GIT, "-C", folder, *arguments], check=True, capture_output=True, text=True).stdout.strip()


def commit(folder):
    git(folder, "add", "--all")
    git(folder, "commit", "--message", "Change")


def files(folder):
    """The content of each file, and the target of each link."""
    found = [path for path in sorted(folder.rglob("*")) if path.is_symlink() or path.is_file()]
    return {str(path.relative_to(folder)): f"-> {path.readlink()}" if path.is_symlink() else path.read_text() for path in found}


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """The folder of temporary files, which must be empty after each test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    assert [*folder.iterdir()] == []


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    (folder / "overlay").mkdir(parents=True)
    git(folder, "init")
    (folder / ".gitignore").write_text("*.log\n")
    (folder / "overlay" / "kustomization.yaml").write_text("before\n")
    (folder / "gone.yaml").write_text("gone\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("run.sh")
    commit(folder)
    return folder


COMMON = {".gitignore": "*.log\n", "run.sh": "#!/bin/sh\n", "link": "-> run.sh"}


def test_the_old_state_has_the_files_of_the_commit(repository):
    (repository / "overlay" / "kustomization.yaml").write_text("after\n")
    with checkouts.open_checkouts("HEAD", repository / "overlay") as made, made.old_state() as folder:
        assert files(folder.parent) == {**COMMON, "gone.yaml": "gone\n", "overlay/kustomization.yaml": "before\n"}
        assert folder.name == "overlay"
        assert os.access(folder.parent / "run.sh", os.X_OK)


def test_the_new_state_has_edits_and_new_files_but_no_ignored_ones(repository):
    (repository / "overlay" / "kustomization.yaml").write_text("after\n")
    (repository / "overlay" / "new.yaml").write_text("new\n")
    (repository / "build.log").write_text("ignored\n")
    (repository / "gone.yaml").unlink()
    os.mkfifo(repository / "pipe")
    with checkouts.open_checkouts("HEAD", repository) as made, made.working_tree() as folder:
        assert files(folder) == {**COMMON, "overlay/kustomization.yaml": "after\n", "overlay/new.yaml": "new\n"}
        (folder / "run.sh").write_text("a build may write into its copy")
    assert (repository / "run.sh").read_text() == "#!/bin/sh\n"


def test_both_states_have_the_same_path(repository):
    with checkouts.open_checkouts("HEAD", repository) as made:
        with made.old_state() as before:
            pass
        with made.working_tree() as after:
            pass
    assert before == after


def test_a_folder_as_the_old_state(repository, tmp_path):
    old = shutil.copytree(repository, tmp_path / "old", symlinks=True)
    (repository / "gone.yaml").unlink()
    with checkouts.open_checkouts(str(old), repository) as made:
        with made.old_state() as folder:
            assert (folder / "gone.yaml").exists()
            assert not (folder / ".git").exists()
        with made.working_tree() as folder:
            assert files(folder) == {**COMMON, "overlay/kustomization.yaml": "before\n"}


def test_a_working_tree_without_a_commit(tmp_path):
    folder = tmp_path / "fresh"
    folder.mkdir()
    git(folder, "init")
    (folder / "a.yaml").write_text("a\n")
    with checkouts.open_checkouts("HEAD", folder) as made, made.working_tree() as copy:
        assert files(copy) == {"a.yaml": "a\n"}


def test_a_file_below_a_linked_folder_is_not_copied(repository, tmp_path):
    """The link replaced a folder after the commit. It must not lead the copy to other files of the user."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kustomization.yaml").write_text("secret\n")
    shutil.rmtree(repository / "overlay")
    (repository / "overlay").symlink_to(outside)
    with checkouts.open_checkouts("HEAD", repository) as made, made.working_tree() as folder:
        assert files(folder)["overlay"] == f"-> {outside}"


def test_hooks_filters_and_submodules_of_the_repository_do_not_run(repository, tmp_path):
    pwned, program = tmp_path / "pwned", tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {pwned}\ncat\n")
    program.chmod(0o755)
    (repository / ".gitattributes").write_text("*.yaml filter=x diff=x\n")
    (repository / ".gitmodules").write_text(f'[submodule "x"]\n\tpath = x\n\turl = ext::{program}\n\tupdate = !{program}\n')
    commit(repository)
    hooks = repository / ".git" / "hooks"
    for name in ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"):
        shutil.copy(program, hooks / name)
    settings = (
        f'[core]\n\tfsmonitor = "{program}"\n\thooksPath = "{hooks}"\n\tsshCommand = "{program}"\n\tpager = "{program}"\n'
        f'[filter "x"]\n\tsmudge = "{program}"\n\tclean = "{program}"\n\tprocess = "{program}"\n\trequired = true\n'
        f'[protocol "ext"]\n\tallow = always\n[submodule]\n\trecurse = true\n'
    )
    with (repository / ".git" / "config").open("a") as config:
        config.write(settings)
    with checkouts.open_checkouts("HEAD", repository) as made:
        with made.old_state() as folder:
            assert (folder / "gone.yaml").read_text() == "gone\n"
        with made.working_tree() as folder:
            assert (folder / "gone.yaml").read_text() == "gone\n"
    assert not pwned.exists()


def test_the_repository_of_the_user_does_not_change(repository):
    (repository / "overlay" / "kustomization.yaml").write_text("after\n")
    before = {path: path.stat().st_mtime_ns for path in (repository / ".git").rglob("*")}
    with checkouts.open_checkouts("HEAD", repository) as made:
        for copy in (made.old_state, made.working_tree):
            with copy():
                pass
    assert {path: path.stat().st_mtime_ns for path in (repository / ".git").rglob("*")} == before


def outside(repository):
    (repository / "overlay" / "kustomization.yaml").unlink()
    (repository / "overlay").rmdir()
    (repository / "overlay").symlink_to("/")
    commit(repository)
    (repository / "overlay").unlink()
    (repository / "overlay").mkdir()


WRONG = [
    # reason, the old state, damage, words in the message
    ("no revision", "nowhere", lambda _: None, "is not a folder, and git cannot read that revision"),
    ("an option in place of a revision", "--help", lambda _: None, "git cannot read that revision"),
    ("the folder is new", "HEAD~1", lambda repository: git(repository, "commit", "--allow-empty", "-m", "b"), "it has no folder new"),
    ("the folder was a link that leads out", "HEAD", outside, "leads out of the repository"),
]


@cases(("reason", "old", "damage", "message"), WRONG)
def test_an_old_state_that_cannot_be_copied(reason, old, damage, message, repository):
    damage(repository)
    (repository / "new").mkdir()
    place = repository / ("new" if "new" in reason else "overlay")
    with checkouts.open_checkouts(old, place) as made, pytest.raises(RepositoryError, match=message), made.old_state():
        pass


def test_a_folder_without_a_repository(tmp_path):
    with (
        checkouts.open_checkouts("HEAD", tmp_path) as made,
        pytest.raises(RepositoryError, match="not a git repository"),
        made.working_tree(),
    ):
        pass


def test_what_a_build_protects_against_writing_is_removed(repository):
    with checkouts.open_checkouts("HEAD", repository) as made, made.working_tree() as folder:
        (folder / "overlay" / "kustomization.yaml").chmod(0o400)
        (folder / "overlay").chmod(0o500)


SLEEPER = """
import sys, time
from pathlib import Path
from krm_fn.repository.files import checkouts
with checkouts.open_checkouts("HEAD", Path(sys.argv[1])) as made, made.working_tree():
    Path(sys.argv[2]).touch()
    time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_nothing_stays_behind_a_signal(number, repository, temporary, tmp_path):
    """The fixture `temporary` looks for what stays."""
    started = tmp_path / "started"
    command = [sys.executable, "-c", SLEEPER, str(repository), str(started)]
    environment = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(programs.ROOT)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        server.eventually(started.exists)
        process.send_signal(number)
        assert process.wait(60) != 0
    assert Path(started).exists()
