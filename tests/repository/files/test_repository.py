"""`krm-fn check --old REVISION` on repositories from elsewhere: nothing that they name is run, and a missing object is an error."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from krm_fn.repository.files import repository
from tests.cli import console
from tests.support.cases import cases

GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false")
GRAPH = console.GRAPH
SEVERAL = GRAPH.replace("      replicas: 2\n", "      replicas: 2\n      multinode: {nodeCount: 2}\n")


def git(folder, *arguments):
    return subprocess.run([*GIT, "-C", folder, *arguments], check=True, capture_output=True, text=True).stdout.strip()


def commit(folder):
    git(folder, "add", "--all")
    git(folder, "commit", "--message", "Change")


def lose(folder, name):
    """Deletes the content of a committed file."""
    hashed = git(folder, "rev-parse", f"HEAD:{name}")
    (folder / ".git" / "objects" / hashed[:2] / hashed[2:]).unlink()


@pytest.fixture
def clone(tmp_path):
    """A repository whose graph changed since its commit."""
    folder = tmp_path / "clone"
    (folder / "graphs").mkdir(parents=True)
    git(folder, "init")
    (folder / "graphs" / "chat.yaml").write_text(GRAPH)
    commit(folder)
    (folder / "graphs" / "chat.yaml").write_text(SEVERAL)
    return folder


PROMISOR = """
[core]
\trepositoryFormatVersion = 1
[extensions]
\tpartialClone = evil
[remote "evil"]
\tpromisor = true
"""
PROGRAMS = """\
\turl = .
\tuploadpack = "{program}"
[core]
\tfsmonitor = "{program}"
\thooksPath = "{hooks}"
\tpager = "{program}"
\talternateRefsCommand = "{program}"
\tattributesFile = "{attributes}"
\taskPass = "{program}"
[filter "x"]
\tsmudge = "{program}"
\tprocess = "{program}"
\trequired = true
[diff "x"]
\ttextconv = "{program}"
[credential]
\thelper = "!{program}"
[alias]
\tcat-file = "!{program}"
\tls-tree = "!{program}"
"""
HOSTILE = [
    # reason, the rest of the configuration; {pwned} is a file that a program of it would make
    ("a program for the other side of a fetch", '\turl = .\n\tuploadpack = "touch {pwned}; false"\n'),
    (
        "protocols that the repository allows",
        '\turl = .\n\tuploadpack = "touch {pwned}; false"\n[protocol]\n\tallow = always\n[protocol "file"]\n\tallow = always\n',
    ),
    ("a program in place of ssh", '\turl = ssh://localhost/x\n[core]\n\tsshCommand = "touch {pwned}; false"\n'),
    ("a program in place of a connection", '\turl = git://localhost/x\n[core]\n\tgitProxy = "{program}"\n'),
    ("a transport that is a program", '\turl = "ext::sh -c touch% {pwned}"\n[protocol "ext"]\n\tallow = always\n'),
    ("a configuration that includes another one", "\turl = .\n[include]\n\tpath = other\n"),
    ("programs for files and hooks", PROGRAMS),
]


@cases(("reason", "settings"), HOSTILE)
@pytest.mark.parametrize("lost", [True, False], ids=["with a missing object", "with all objects"])
def test_nothing_that_a_repository_configures_is_run(reason, settings, lost, clone, tmp_path):
    pwned, program, hooks = tmp_path / "pwned", tmp_path / "program", tmp_path / "hooks"
    program.write_text(f"#!/bin/sh\ntouch {pwned}\nexit 1\n")
    program.chmod(0o755)
    hooks.mkdir()
    for name in ("post-checkout", "reference-transaction", "post-index-change", "fsmonitor-watchman"):
        shutil.copy(program, hooks / name)
    (tmp_path / "attributes").write_text("*.yaml filter=x diff=x\n")
    filled = settings.format(pwned=pwned, program=program, hooks=hooks, attributes=tmp_path / "attributes")
    (clone / ".git" / "config").write_text(PROMISOR + filled)
    (clone / ".git" / "other").write_text(f'[remote "evil"]\n\tuploadpack = "touch {pwned}; false"\n')
    if lost:
        lose(clone, "graphs/chat.yaml")
    done = console.program("check", "--old", "HEAD", str(clone / "graphs"))
    assert not pwned.exists()
    assert done.code == (2 if lost else 1)
    assert ("missing in the repository" in " ".join(done.err.split())) if lost else "DYN401" in done.out


def test_a_folder_laid_out_as_a_bare_repository_is_a_folder(clone, tmp_path):
    """git would take `graphs` for the repository, since it holds HEAD, refs and objects; anybody can commit that."""
    planted = tmp_path / "planted"
    shutil.copytree(clone, planted)
    lose(planted, "graphs/chat.yaml")
    for name in ("HEAD", "refs", "objects"):
        place = planted / ".git" / name
        (shutil.copytree if place.is_dir() else shutil.copy)(place, clone / "graphs" / name)
    hostile = PROMISOR + HOSTILE[0][1].format(pwned=tmp_path / "pwned") + "[core]\n\tworktree = .\n"
    (clone / "graphs" / "config").write_text(hostile)
    (clone / "graphs" / "chat.yaml").write_text(GRAPH)
    commit(clone)
    (clone / "graphs" / "chat.yaml").write_text(SEVERAL)
    done = console.program("check", "--old", "HEAD", str(clone / "graphs"))
    assert not (tmp_path / "pwned").exists()
    assert (done.code, "DYN401" in done.out) == (1, True), done


def test_another_working_tree_that_the_configuration_names_is_not_read(clone, tmp_path):
    git(clone, "config", "core.worktree", str(tmp_path))
    assert "1 compared with HEAD" in console.run("check", "--old", "HEAD", clone / "graphs").err


def lose_commit(clone):
    hashed = git(clone, "rev-parse", "HEAD")
    (clone / ".git" / "objects" / hashed[:2] / hashed[2:]).unlink()


def lose_target(clone):
    (clone / "graphs" / "link.yaml").symlink_to("../other.txt")
    (clone / "other.txt").write_text(GRAPH.replace("chat", "other"))
    commit(clone)
    lose(clone, "other.txt")
    (clone / "graphs" / "link.yaml").unlink()


LOST = [
    # reason, damage to the repository, words in the message
    ("the content of a file", lambda clone: lose(clone, "graphs/chat.yaml"), "the content of graphs/chat.yaml is missing"),
    ("a folder", lambda clone: lose(clone, "graphs"), "git cannot read that revision"),
    ("the commit", lose_commit, "git cannot read that revision"),
    ("the target of a link", lose_target, "is missing"),
]


@cases(("reason", "damage", "said"), LOST)
def test_an_object_that_is_missing_is_an_error(reason, damage, said, clone):
    """Without the error a change would pass, because its old state cannot be read."""
    damage(clone)
    done = console.program("check", "--old", "HEAD", str(clone / "graphs"))
    assert (done.code, done.out) == (2, "")
    assert said in " ".join(done.err.split())


def test_a_damaged_object_is_an_error(clone):
    hashed = git(clone, "rev-parse", "HEAD:graphs/chat.yaml")
    place = clone / ".git" / "objects" / hashed[:2] / hashed[2:]
    place.chmod(0o644)
    place.write_bytes(b"nothing that git wrote")
    assert console.program("check", "--old", "HEAD", str(clone / "graphs")).code == 2


def test_an_excluded_file_may_be_missing(clone):
    (clone / "big.yaml").write_text("a: 1\n")
    commit(clone)
    lose(clone, "big.yaml")
    assert console.run("check", "--old", "HEAD~1", "--exclude", "big.yaml", clone).code == 1


def test_a_named_pipe_among_the_references_ends_after_a_while(clone, monkeypatch):
    monkeypatch.setattr(repository, "_SECONDS", 0.5)
    (clone / ".git" / "refs" / "heads" / "main").unlink()
    os.mkfifo(clone / ".git" / "refs" / "heads" / "main")
    done = console.run("check", "--old", "main", clone / "graphs")
    assert done.code == 2
    assert "did not answer" in done.err


@pytest.mark.parametrize("name", [".git", ".git/config", ".git/commondir", ".git/HEAD"])
def test_a_named_pipe_in_place_of_a_file_of_git_is_not_opened(name, clone):
    place = clone / name
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    done = console.program("check", "--old", "HEAD", str(clone / "graphs"), GIT_CEILING_DIRECTORIES=str(clone.parent))
    assert done.code in {1, 2}


def several(folder):
    return "DYN401" in console.run("check", "--old", "HEAD", folder / "graphs").out


def test_a_linked_working_tree(clone, tmp_path):
    git(clone, "worktree", "add", "--quiet", "-b", "feature", str(tmp_path / "linked"))
    (tmp_path / "linked" / "graphs" / "chat.yaml").write_text(SEVERAL)
    assert several(tmp_path / "linked")


def test_a_submodule(clone, tmp_path):
    commit(clone)
    git(clone, "checkout", "--quiet", "HEAD~1")
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(clone), "inner")
    (outer / "inner" / "graphs" / "chat.yaml").write_text(SEVERAL)
    assert several(outer / "inner")


def test_packed_references_and_objects_of_another_clone(clone, tmp_path):
    git(clone, "gc", "--quiet")
    git(tmp_path, "clone", "--quiet", "--shared", str(clone), "second")
    git(tmp_path / "second", "pack-refs", "--all")
    (tmp_path / "second" / "graphs" / "chat.yaml").write_text(SEVERAL)
    assert several(tmp_path / "second")


def test_hashes_of_256_bits(clone):
    shutil.rmtree(clone / ".git")
    git(clone, "init", "--object-format=sha256")
    (clone / "graphs" / "chat.yaml").write_text(GRAPH)
    commit(clone)
    (clone / "graphs" / "chat.yaml").write_text(SEVERAL)
    assert several(clone)


def test_references_in_the_reftable_format(clone):
    shutil.rmtree(clone / ".git")
    if subprocess.run([*GIT, "-C", clone, "init", "--ref-format=reftable"], capture_output=True, check=False).returncode:
        pytest.skip("this git does not know reftable; it needs 2.45 or newer")
    (clone / "graphs" / "chat.yaml").write_text(GRAPH)
    commit(clone)
    (clone / "graphs" / "chat.yaml").write_text(SEVERAL)
    assert several(clone)


@pytest.mark.parametrize("revision", ["@{upstream}", "main@{upstream}", "HEAD@{0}", "main@{0}", "origin/main", "HEAD^0", "HEAD^{/Change}"])
def test_every_way_to_name_a_revision(revision, clone, tmp_path):
    git(tmp_path, "clone", "--quiet", str(clone), "second")
    second = tmp_path / "second"
    (second / "graphs" / "chat.yaml").write_text(SEVERAL)
    assert "DYN401" in console.run("check", "--old", revision, second / "graphs").out


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_before_the_first_commit_head_has_no_files(form, clone):
    """A hook with `--old HEAD` then checks the first commit as any other: each file is new."""
    shutil.rmtree(clone / ".git")
    git(clone, "init", f"--object-format={form}")
    (clone / "graphs" / "chat.yaml").write_text(GRAPH)
    for path in (clone / "graphs", clone / "graphs" / "chat.yaml", clone):
        done = console.program("check", "--old", "HEAD", str(path))
        assert done.code == 0
        assert "1 resource, 0 compared with HEAD" in done.err
    assert "Deployment team/chat-worker: created" in console.run("diff", "--old", "HEAD", clone / "graphs" / "chat.yaml").out


def test_another_revision_still_needs_a_commit(clone):
    shutil.rmtree(clone / ".git")
    git(clone, "init")
    assert "git cannot read that revision" in " ".join(console.program("check", "--old", "main", str(clone / "graphs")).err.split())


def test_a_branch_whose_file_is_damaged_is_not_a_branch_without_commits(clone):
    (clone / ".git" / "refs" / "heads" / "main").write_text("damaged\n")
    assert "git cannot read that revision" in " ".join(console.program("check", "--old", "HEAD", str(clone / "graphs")).err.split())


def test_a_repository_of_another_user(clone):
    """git refuses to obey its configuration, and we do not obey it."""
    if os.geteuid():
        pytest.skip("only root may give files away")
    for place in [clone, *clone.rglob("*")]:
        os.chown(place, 65534, 65534)
    assert several(clone)
