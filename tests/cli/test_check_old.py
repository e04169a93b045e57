"""`krm-fn check --old`: compares with an earlier state in files, folders or git, and reports changes at lines of the new state."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from tests.cli import console
from tests.support.cases import cases

GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false")
GRAPH = console.GRAPH.replace("      replicas: 2\n", '      replicas: 2\n      resources: {limits: {gpu: "1"}}\n').replace(
    '"registry.example/dynamo:1.5.0"', '"registry.example/dynamo:1.5.0", command: [python3], args: [-m, dynamo.vllm]'
)
SEVERAL = GRAPH.replace("      replicas: 2\n", "      replicas: 2\n      multinode: {nodeCount: 2}\n").replace(
    "[-m, dynamo.vllm]", '[-m, dynamo.vllm, --tensor-parallel-size, "2"]'
)
"""Line 15 has a change that a cluster refuses, and nothing else is wrong."""
REFUSED = ("error", "DYN401", "spec.services.Worker.multinode.nodeCount", 15)


def write(folder, **files):
    for name, text in files.items():
        path = (folder / name.replace("__", "/")).with_suffix(".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def git(folder, *arguments):
    return subprocess.run([*GIT, "-C", folder, *arguments], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def clone(tmp_path):
    """A repository with one commit: a graph, and another one in a folder."""
    folder = tmp_path / "clone"
    folder.mkdir()
    git(folder, "init")
    write(folder, graph=GRAPH, apps__other=GRAPH.replace("name: chat", "name: other"))
    commit(folder)
    return folder


def commit(folder):
    git(folder, "add", "--all")
    git(folder, "commit", "--message", "Change")


def found(done):
    return [(each["severity"], each["code"], each["field"], each["line"]) for each in json.loads(done.out)["findings"]]


@pytest.mark.parametrize("old", ["before.yaml", "before"])
def test_a_file_or_a_folder(old, tmp_path):
    write(tmp_path, before=GRAPH, before__graph=GRAPH, after=SEVERAL)
    done = console.run("check", "--format", "json", "--old", tmp_path / old, tmp_path / "after.yaml")
    assert done.code == 1
    assert found(done) == [REFUSED]


def test_the_line_is_shown_and_what_was_compared(tmp_path):
    write(tmp_path, before=GRAPH, after=GRAPH.replace("spec:\n", "spec:\n  backendFramework: vllm\n", 1))
    done = console.run("check", "--old", tmp_path / "before.yaml", tmp_path / "after.yaml")
    head, line, caret = done.out.splitlines()
    assert head.startswith(
        f"{tmp_path}/after.yaml:7:3: error DYN400 spec.backendFramework: backendFramework cannot change from unset to 'vllm'"
    )
    assert line.index("backendFramework") == caret.index("^")
    assert done.err == f"1 resource, 1 compared with {tmp_path}/before.yaml: 1 error\n"


def test_without_a_change_there_is_nothing_to_say(tmp_path):
    write(tmp_path, before=SEVERAL, after=SEVERAL)
    assert found(console.run("check", "--format", "json", "--old", tmp_path / "before.yaml", tmp_path / "after.yaml")) == []


def test_finished_builds_compare_too(tmp_path):
    """The check compares the graph in a finished build, and not the generated objects."""
    before, after = (console.run("render", "-", stdin=text).out for text in (GRAPH, GRAPH.replace("Worker", "Decode")))
    write(tmp_path, before=before)
    done = console.run("check", "--format", "json", "--old", tmp_path / "before.yaml", "-", stdin=after)
    assert {row[:3] for row in found(done)} == {
        ("warning", "DYN402", "spec.services.Decode"),
        ("warning", "DYN402", "spec.services"),
    }


def test_services_may_come_and_go_unless_they_are_fixed(tmp_path):
    write(tmp_path, before=GRAPH, after=GRAPH.replace("    Worker:", "    Decode:"))
    arguments = ("check", "--format", "json", "--old", tmp_path / "before.yaml", tmp_path / "after.yaml")
    assert (allowed := console.run(*arguments)).code == 0
    assert (refused := console.run(*arguments, "--fixed-services")).code == 1
    rows = [("DYN402", "spec.services.Decode", 12), ("DYN402", "spec.services", 7)]
    assert sorted(found(allowed)) == sorted(("warning", *row) for row in rows)
    assert sorted(found(refused)) == sorted(("error", *row) for row in rows)


def test_the_namespace_of_the_configuration_tells_what_is_one_resource(tmp_path):
    render = "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: r}\nspec: {namespace: team}\n"
    write(tmp_path, before=GRAPH.replace("  namespace: team\n", ""), after=SEVERAL, render=render)
    arguments = ("check", "--old", tmp_path / "before.yaml", tmp_path / "after.yaml")
    assert "DYN401" not in console.run(*arguments).out
    assert "DYN401" in console.run(*arguments, "--config", tmp_path / "render.yaml").out


def test_the_orchestrator_of_the_configuration_decides_which_changes_are_refused(tmp_path):
    """Grove cannot add a service to a graph that runs."""
    render = "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: r}\nspec: {orchestrator: grove}\n"
    write(tmp_path, before=GRAPH, after=GRAPH.replace("    Worker:\n", "    Added: {componentType: worker}\n    Worker:\n"), render=render)
    arguments = ("check", "--old", tmp_path / "before.yaml", tmp_path / "after.yaml")
    assert "DYN408" not in console.run(*arguments).out
    assert "warning DYN408 spec.services.Added" in console.run(*arguments, "--config", tmp_path / "render.yaml").out


BROKEN = [
    ("not YAML", "a: [\n", "DYN004"),
    ("a key twice", GRAPH.replace("  namespace: team\n", "  namespace: team\n  namespace: team\n"), "DYN007"),
]


@cases(("reason", "text", "code"), BROKEN)
def test_what_was_broken_before_is_a_warning_so_that_it_can_be_fixed(reason, text, code, tmp_path):
    write(tmp_path, before=text, after=GRAPH)
    done = console.run("check", "--old", tmp_path / "before.yaml", tmp_path / "after.yaml")
    assert done.code == 0
    assert f"{tmp_path}/before.yaml:" in done.out
    assert f"warning DYN073 the old file is not compared, because of {code}: " in done.out


def test_an_old_state_without_resources_is_a_warning(tmp_path):
    (tmp_path / "before").mkdir()
    write(tmp_path, after=GRAPH)
    done = console.run("check", "--old", tmp_path / "before", tmp_path / "after.yaml")
    assert (done.code, done.out.count("warning DYN073")) == (0, 1)


REVISIONS = [
    # reason, revision, paths; the working directory is the clone
    ("a branch, a file", "main", ["graph.yaml"]),
    ("a commit before, a folder", "HEAD~1", ["."]),
    ("a tag, an absolute path", "v1", ["{clone}/graph.yaml"]),
    ("a short hash, a path that goes up", "{hash}", ["apps/../graph.yaml"]),
]


@cases(("reason", "revision", "paths"), REVISIONS)
def test_a_git_revision(reason, revision, paths, clone, monkeypatch):
    git(clone, "tag", "v1")
    first = git(clone, "rev-parse", "--short", "HEAD")
    git(clone, "checkout", "--quiet", "-b", "feature")
    write(clone, graph=SEVERAL)
    commit(clone)
    monkeypatch.chdir(clone)
    arguments = [path.format(clone=clone) for path in paths]
    done = console.run("check", "--format", "json", "--old", revision.format(hash=first), *arguments)
    assert REFUSED in found(done)


def test_what_is_not_yet_committed_counts(clone):
    write(clone, apps__other=SEVERAL.replace("name: chat", "name: other"))
    done = console.run("check", "--old", "HEAD", clone)
    assert f"{clone}/apps/other.yaml:15:19: error DYN401" in done.out
    assert done.err.startswith("2 resources, 2 compared with HEAD: 1 error")
    assert git(clone, "status", "--short") == "M apps/other.yaml"


def test_a_resource_that_moves_to_another_file_is_still_the_same(clone):
    (clone / "graph.yaml").unlink()
    write(clone, apps__chat=SEVERAL)
    assert f"{clone}/apps/chat.yaml:15:19: error DYN401" in console.run("check", "--old", "HEAD", clone).out


def test_what_is_new_has_nothing_to_be_compared_with(clone):
    write(clone, new=GRAPH.replace("name: chat", "name: new"))
    done = console.run("check", "--old", "HEAD", clone / "new.yaml")
    assert (done.code, done.err) == (0, "1 resource, 0 compared with HEAD: no findings\n")


def test_only_what_a_folder_is_read_for_counts_in_a_revision_too(clone):
    """Nothing hidden and no other endings, as in folders today."""
    write(clone / ".hidden", graph=SEVERAL)
    (clone / ".draft.yaml").write_text(SEVERAL)
    (clone / "apps" / "notes.txt").write_text(SEVERAL)
    (clone / "broken.yaml").write_text("kind: DynamoModel\na: [\n")
    (clone / "template.yaml").write_text("a: {{ .Values.a }}\n")
    commit(clone)
    (clone / "broken.yaml").unlink()
    (clone / "template.yaml").unlink()
    done = console.run("check", "--old", "HEAD", clone)
    assert done.code == 0
    assert done.out.startswith("HEAD:broken.yaml:3:1: warning DYN073")
    assert done.out.count("DYN") == 2


def test_names_of_any_kind_and_links_within_the_repository(clone):
    (clone / "apps" / "ä b\t'c'.yaml").write_text(GRAPH.replace("name: chat", "name: odd"))
    (clone / "links").mkdir()
    (clone / "links" / "chat.yaml").symlink_to("../graph.yaml")
    (clone / "links" / "out.yaml").symlink_to("/etc/hostname.yaml")
    commit(clone)
    write(clone, graph=SEVERAL)
    (clone / "apps" / "ä b\t'c'.yaml").write_text(SEVERAL.replace("name: chat", "name: odd"))
    (clone / "links" / "out.yaml").unlink()
    done = console.run("check", "--old", "HEAD", clone / "apps", clone / "links", clone / "graph.yaml")
    assert done.out.count("error DYN401") == 2
    assert "3 compared with HEAD" in done.err


def test_a_submodule_is_another_repository(clone, tmp_path):
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init")
    write(library, x=GRAPH)
    commit(library)
    git(clone, "-c", "protocol.file.allow=always", "submodule", "add", str(library), "apps/library.yaml")
    commit(clone)
    done = console.run("check", "--old", "HEAD", clone / "apps")
    assert (done.code, done.err) == (0, "2 resources, 1 compared with HEAD: no findings\n")


def test_in_a_hook_the_paths_say_which_repository_it_is(clone, tmp_path, monkeypatch):
    """git sets these for its hooks, and they would win over the folder."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    assert console.run("check", "--old", "HEAD", clone).code == 0


WRONG = [
    # reason, revision, words in the message
    ("no such revision", "no-such-branch", "no-such-branch is not a file or folder, and git cannot read that revision"),
    ("an option of git's", "--all", "--all is not a file or folder"),
    ("a file of a revision", "HEAD:graph.yaml", "HEAD:graph.yaml is not a file"),
    ("a tree", "HEAD^{tree}", "HEAD^{tree} is not a file"),
    ("nothing", "", " is not a file or folder"),
    ("more letters than a path can have", "x" * 5000, " is not a file or folder"),
]


@cases(("reason", "revision", "said"), WRONG)
def test_a_revision_that_there_is_not_is_wrong_usage(reason, revision, said, clone):
    done = console.program("check", f"--old={revision}", str(clone / "graph.yaml"))
    assert (done.code, done.out) == (2, "")
    assert said in " ".join(done.err.split())
    assert "Traceback" not in done.err


def test_outside_of_a_repository_a_revision_is_wrong_usage(tmp_path):
    write(tmp_path, graph=GRAPH)
    done = console.program("check", "--old", "main", str(tmp_path / "graph.yaml"))
    assert done.code == 2
    assert "not a git repository" in done.err


def test_without_git_a_revision_is_wrong_usage(clone):
    done = console.program("check", "--old", "main", str(clone / "graph.yaml"), PATH=str(clone))
    assert done.code == 2
    assert "git cannot be run" in done.err


def test_stdin_has_no_revisions(clone):
    done = console.program("check", "--old", "HEAD", "-", stdin=GRAPH, folder=clone)
    assert done.code == 2
    assert "stdin" in done.err


def test_a_path_wins_over_a_revision_of_its_name(clone, monkeypatch):
    write(clone, main__graph=SEVERAL)
    monkeypatch.chdir(clone)
    assert "DYN401" in console.run("check", "--old", "main", "graph.yaml").out
    assert "DYN401" not in console.run("check", "--old", "refs/heads/main", "graph.yaml").out


def test_fixed_services_without_an_old_state_is_wrong_usage(tmp_path):
    write(tmp_path, graph=GRAPH)
    assert console.run("check", "--fixed-services", tmp_path / "graph.yaml").code == 2


def test_nothing_of_the_users_git_is_needed(clone, tmp_path):
    """No identity, no configuration, no home."""
    assert "HOME" in os.environ
    write(clone, graph=SEVERAL)
    done = console.program("check", "--old", "HEAD", str(clone), HOME=str(tmp_path / "nowhere"), GIT_CONFIG_NOSYSTEM="1")
    assert done.code == 1
    assert "DYN401" in done.out
