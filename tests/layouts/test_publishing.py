"""The scripts of examples/flux as a CI job runs them: real git with a remote, real kustomize, and two clusters whose folders have one name.

Each published object must come from the source that the path names. Otherwise a cluster gets the objects of another one.
"""

from __future__ import annotations

import os
import posixpath
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.repository.clones import graph_with_frontend
from tests.support import build_checks, golden, markdown
from tests.support.cases import cases
from tests.testbed import programs

FLUX, FLEET = golden.EXAMPLES / "flux", golden.EXAMPLES / "fleet"
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com")
GRAPH = graph_with_frontend("nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1")
RENDER = """\
apiVersion: dynamo.krm-fn.io/v1alpha1
kind: DynamoRender
metadata: {name: render, annotations: {config.kubernetes.io/function: "exec: {path: krm-fn}"}}
"""


class Repository:
    """A clone of an empty remote."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "clone"
        self.git("init", "--quiet", "--bare", "--initial-branch=main", folder / "remote.git", at=folder)
        self.git("clone", "--quiet", folder / "remote.git", self.folder, at=folder)

    def git(self, *arguments: str | Path, at: Path | None = None) -> str:
        """Runs git, and returns its output."""
        command = [*GIT, *map(str, arguments)]
        return subprocess.run(command, cwd=at or self.folder, check=True, capture_output=True, text=True).stdout

    def source(self, name: str, namespace: str) -> None:
        """Writes a folder with a graph in a namespace, which tells its objects from those of other folders. Then commits all files."""
        (self.folder / name).mkdir(parents=True)
        kustomization = f"namespace: {namespace}\nresources: [graph.yaml]\ntransformers: [render.yaml]\n"
        for file, text in (("graph.yaml", GRAPH), ("render.yaml", RENDER), ("kustomization.yaml", kustomization)):
            (self.folder / name / file).write_text(text)
        self.commit()

    def commit(self) -> None:
        """Commits all files."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "change")

    def run(self, script: str, *arguments: str, at: str = ".", **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs a script of examples/flux in a folder of the clone."""
        return self._run([str(FLUX / script), *arguments], at, variables)

    def shell(self, line: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs a line of a job in the root of the clone."""
        return self._run(["bash", "-euc", line], ".", variables)

    def _run(self, command: list[str], at: str, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
        environment = {**golden.environment("kustomize"), **variables}
        environment["PATH"] = f"{FLUX}{os.pathsep}{environment['PATH']}"
        return subprocess.run(command, cwd=self.folder / at, env=environment, capture_output=True, text=True, check=False, timeout=300)

    def publish(self, source: str, at: str = ".") -> subprocess.CompletedProcess[str]:
        """Publishes a folder to the branch `rendered`."""
        return self.run("publish-branch.sh", source, "rendered", at=at)

    def published(self) -> dict[str, set[str]]:
        """The files of the branch, each with the namespaces of its objects; empty without the branch."""
        if not self.git("ls-remote", "origin", "refs/heads/rendered"):
            return {}
        self.git("fetch", "--quiet", "origin", "rendered")
        names = self.git("ls-tree", "-rz", "--name-only", "FETCH_HEAD").split("\0")[:-1]
        return {name: namespaces(self.git("show", f"FETCH_HEAD:{name}")) for name in names}


def namespaces(text: str) -> set[str]:
    return {document["metadata"]["namespace"] for document in build_checks.read(text)}


@pytest.fixture
def repository(tmp_path, kustomize):
    return Repository(tmp_path)


@pytest.fixture
def clusters(repository):
    """Two clusters, each with a folder of the same team."""
    repository.source("clusters/dev/team-a", "dev")
    repository.source("clusters/prod/team-a", "prod")
    return repository


BOTH = {"clusters/dev/team-a/manifests.yaml": {"dev"}, "clusters/prod/team-a/manifests.yaml": {"prod"}}


def assert_published(done):
    assert done.returncode == 0, done.stderr


def test_each_cluster_gets_its_own_objects(clusters):
    """The path of a source names its folder on the branch, so two sources with one name stay apart, in each order."""
    for source in ("clusters/dev/team-a", "clusters/prod/team-a", "clusters/dev/team-a"):
        assert_published(clusters.publish(source))
    assert clusters.published() == BOTH


WRITTEN = [
    ("from the root", ".", "clusters/dev/team-a"),
    ("with a slash at the end", ".", "clusters/dev/team-a/"),
    ("as the current folder", "clusters/dev/team-a", "."),
    ("from a folder beside it", "clusters/prod", "../dev/team-a"),
    ("through other folders", ".", "clusters/prod/../dev/./team-a"),
]


@cases(("at", "source"), WRITTEN)
def test_a_source_has_one_folder_however_it_is_written(at, source, clusters):
    assert_published(clusters.publish(source, at))
    assert list(clusters.published()) == ["clusters/dev/team-a/manifests.yaml"]


def test_an_absolute_path_and_a_clone_behind_a_link(clusters, tmp_path):
    """A link above the repository changes no path in it."""
    (tmp_path / "link").symlink_to(clusters.folder)
    assert_published(clusters.publish(str(tmp_path / "link" / "clusters/dev/team-a")))
    assert list(clusters.published()) == ["clusters/dev/team-a/manifests.yaml"]


NAMES = [
    ("blanks", "team a/chat one"),
    ("a leading dash", "-team/-rf"),
    ("an option of git", "--orphan"),
    ("a glob", "team-*/[ab]?"),
    ("a variable", "$HOME/$(id)"),
    ("quotes", 'it\'s "a" \\name'),
    ("letters beyond ASCII", "équipe/推理"),
    ("a name like that of the output", "manifests.yaml"),
    ("a dash alone", "-"),
    ("dots", "..team"),
]


@cases("name", NAMES)
def test_hostile_names_are_names(name, repository):
    """A shell, git or kustomize must not read a part of a name as a pattern, an option or a command."""
    repository.source(name, "hostile")
    assert_published(repository.publish(name))
    assert repository.published() == {f"{name}/manifests.yaml": {"hostile"}}


REFUSED = [
    ("a line break", "a\nb", lambda _: None, "control character"),
    ("a link to another source", "clusters/alias", lambda folder: (folder / "clusters/alias").symlink_to("dev/team-a"), "through a link"),
    ("a link above the source", "other/team-a", lambda folder: (folder / "other").symlink_to("clusters/dev"), "through a link"),
    ("a folder outside of a repository", "/", lambda _: None, "not a git repository"),
    ("a folder that does not exist", "clusters/nowhere", lambda _: None, "No such file"),
]


@cases(("source", "prepare", "message"), REFUSED)
def test_a_source_without_a_path_of_its_own_is_refused(source, prepare, message, clusters):
    clusters.source("a\nb", "lines")
    prepare(clusters.folder)
    done = clusters.publish(source)
    assert done.returncode != 0
    assert message in done.stderr
    assert clusters.published() == {}


OVERLAPPING = [
    ("a source below another", ["clusters/dev", "clusters/dev/team-a"]),
    ("a source above another", ["clusters/dev/team-a", "clusters/dev"]),
    ("the root after a folder", ["clusters/prod/team-a", "."]),
    ("a folder after the root", [".", "clusters/prod/team-a"]),
]


@cases("sources", OVERLAPPING)
def test_a_folder_of_the_branch_is_for_one_source(sources, clusters):
    """A Kustomization of Flux applies all files below its path, so one source must not be above another."""
    for folder, namespace in (("clusters/dev", "above"), (".", "root")):
        for file in ("graph.yaml", "render.yaml"):
            (clusters.folder / folder / file).write_text((clusters.folder / "clusters/dev/team-a" / file).read_text())
        text = f"namespace: {namespace}\nresources: [graph.yaml]\ntransformers: [render.yaml]\n"
        (clusters.folder / folder / "kustomization.yaml").write_text(text)
    clusters.commit()
    assert_published(clusters.publish(sources[0]))
    before = clusters.published()
    refused = clusters.publish(sources[1])
    assert refused.returncode == 1
    assert "publish only one of the two" in refused.stderr
    assert clusters.published() == before


def test_a_branch_with_sources_is_not_overwritten(clusters):
    """The branch `main` has the Kustomization of the source in the same folder."""
    clusters.git("push", "--quiet", "origin", "HEAD:main")
    done = clusters.run("publish-branch.sh", "clusters/dev/team-a", "main")
    assert done.returncode == 1
    assert "the branch main has clusters/dev/team-a/graph.yaml" in done.stderr
    assert clusters.git("rev-parse", "HEAD") == clusters.git("ls-remote", "origin", "refs/heads/main")[:40] + "\n"


@pytest.mark.parametrize("branch", ["-f", "a..b", "", "a b", "refs/heads/*"])
def test_a_name_that_is_no_branch_is_refused(branch, clusters):
    done = clusters.run("publish-branch.sh", "clusters/dev/team-a", branch)
    assert done.returncode != 0
    assert clusters.git("ls-remote", "origin") == ""


def test_a_removed_source_is_named(clusters):
    """Nothing renders its folder any more, and Flux still applies it."""
    assert_published(clusters.publish("clusters/dev/team-a"))
    clusters.git("rm", "-r", "--quiet", "clusters/dev/team-a")
    clusters.commit()
    done = clusters.publish("clusters/prod/team-a")
    assert done.returncode == 0
    assert "has clusters/dev/team-a/manifests.yaml, but the repository has no such source" in done.stderr
    assert clusters.published() == BOTH


def test_nothing_is_written_into_the_clone(clusters):
    """The branch may have links and other files. None of them is checked out, and the clone stays as it is."""
    clusters.git("switch", "--quiet", "--orphan", "rendered")
    (clusters.folder / "clusters").symlink_to("/nowhere")
    clusters.commit()
    clusters.git("push", "--quiet", "origin", "rendered")
    clusters.git("switch", "--quiet", "main")
    done = clusters.publish("clusters/dev/team-a")
    assert done.returncode != 0
    assert clusters.git("status", "--porcelain") == ""


def test_a_remote_that_does_not_answer_is_an_error(clusters, tmp_path):
    """A missing branch and a missing remote differ: only the first begins a new branch."""
    (tmp_path / "remote.git").rename(tmp_path / "away.git")
    assert clusters.publish("clusters/dev/team-a").returncode not in (0, 2)


@pytest.mark.parametrize(
    ("repository_name", "is_published"),
    [
        ("oci://registry.example.com/clusters/dev/team-a", True),
        ("oci://registry.example.com/fleet/clusters/dev/team-a", True),
        ("oci://registry.example.com/fleet/team-a", False),
        ("oci://registry.example.com/fleet/clusters/prod/team-a", False),
        ("oci://registry.example.com/other-clusters/dev/team-a", False),
        ("registry.example.com/clusters/dev/team-a", False),
    ],
)
def test_an_artifact_has_the_path_of_its_source(repository_name, is_published, clusters, tmp_path):
    """Of two sources with one name of an artifact, each would move the tag `latest` to its own objects.

    The registry is none, so the script gets as far as the command `flux`, which is not installed here.
    """
    done = clusters.run("publish-oci.sh", "clusters/dev/team-a", repository_name)
    assert done.returncode != 0
    assert ("flux: command not found" in done.stderr) is is_published
    assert ("does not end with /clusters/dev/team-a" in done.stderr) is not is_published


def test_the_loop_of_the_fleet_page_writes_the_folder_that_its_flux_applies(repository):
    """docs/fleets.md renders all clusters of examples/fleet, and flux/eu.yaml names the folder of one of them."""
    shutil.copytree(FLEET, repository.folder, dirs_exist_ok=True)
    repository.commit()
    (loop,) = [block for _, block in markdown.fenced((programs.ROOT / "docs" / "fleets.md").read_text(), "sh") if "publish-branch" in block]
    assert_published(repository.shell(loop))
    folders = {posixpath.dirname(name) for name in repository.published()}
    assert folders == {"clusters/canary", "clusters/eu", "clusters/us"}
    _, kustomization = build_checks.read((FLEET / "flux" / "eu.yaml").read_text())
    assert posixpath.normpath(kustomization["spec"]["path"]) in folders


def test_the_steps_of_the_workflow_fit_the_scripts(repository):
    """examples/flux/workflow.yaml renders every push, and publishes the artifact that the step names. Here is no registry and no flux."""
    shutil.copytree(FLUX, repository.folder / "examples" / "flux")
    repository.commit()
    (job,) = yaml.safe_load((FLUX / "workflow.yaml").read_text())["jobs"].values()
    render, publish = (step["run"] for step in job["steps"] if "examples/flux/" in step.get("run", ""))
    done = repository.shell(render)
    assert_published(done)
    assert (repository.folder / "rendered" / "manifests.yaml").exists()
    (line,) = (line for line in publish.splitlines() if "publish-oci.sh" in line)
    done = repository.shell(line, GITHUB_REPOSITORY="team/fleet")
    assert "flux: command not found" in done.stderr, done.stderr


def test_scripts_may_be_run():
    assert [file for file in FLUX.glob("*.sh") if not os.access(file, os.X_OK)] == []
