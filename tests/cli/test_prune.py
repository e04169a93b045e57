"""`krm-fn prune` removes what krm-fn generated for a graph that is gone, and nothing else."""

from __future__ import annotations

import subprocess

import pytest

from tests.cli import console
from tests.support import golden

OWN = "apiVersion: v1\nkind: Secret\nmetadata: {name: own, namespace: team, "
OWN += "annotations: {dynamo.krm-fn.io/owner: DynamoGraphDeployment/chat}}\n"
"""An object with one of the two marks."""


def files(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def folder(tmp_path):
    """A folder with the objects of the graph `chat`, in which the graph is now named `talk`."""
    console.run("render", write(tmp_path / "graph.yaml", console.GRAPH), "--output-dir", tmp_path / "app")
    write(tmp_path / "app" / "own.yaml", OWN)
    (tmp_path / "app" / "dynamographdeployment_chat.yaml").unlink()
    write(tmp_path / "app" / "graph.yaml", console.GRAPH.replace("name: chat", "name: talk"))
    return tmp_path / "app"


def write(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_a_renamed_graph_leaves_nothing_behind(folder):
    before = files(folder)
    dry = console.run("prune", "--dry-run", folder)
    assert (dry.code, files(folder)) == (0, before)
    done = console.run("prune", folder)
    assert (done.code, files(folder)) == (0, ["graph.yaml", "own.yaml"])
    assert done.out == dry.out.replace("would remove", "removed")
    assert f"removed Deployment team/chat-worker from {folder}/deployment_chat-worker.yaml\n" in done.out
    assert console.run("prune", folder).out == ""


def test_objects_with_their_owner_stay(folder):
    write(folder / "graph.yaml", console.GRAPH)
    before = files(folder)
    done = console.run("prune", folder)
    assert (done.code, done.out, files(folder)) == (0, "", before)


def test_the_same_name_in_another_namespace_is_another_owner(folder):
    write(folder / "graph.yaml", console.GRAPH.replace("namespace: team", "namespace: other"))
    assert console.run("prune", folder).code == 0
    assert files(folder) == ["graph.yaml", "own.yaml"]


@pytest.mark.parametrize(
    ("reason", "name", "text", "code"),
    [
        ("a file cannot be read, so its graph is not known", "broken.yaml", "kind: DynamoGraphDeployment\n  name: [", "DYN002"),
        ("no graph is among the files", "graph.yaml", OWN, "DYN066"),
    ],
)
def test_nothing_is_removed_if_the_owners_are_not_known(reason, name, text, code, folder):
    write(folder / name, text)
    (folder / "own.yaml").unlink()
    before = files(folder)
    done = console.run("prune", folder)
    assert (done.code, files(folder)) == (1, before)
    assert code == "DYN066" or "error" in done.err
    assert code != "DYN066" or "DYN066" in done.err


def test_other_documents_of_a_file_stay_byte_by_byte(folder):
    """Only the generated document is cut out."""
    generated = (folder / "deployment_chat-worker.yaml").read_text()
    write(folder / "mixed.yaml", f"{OWN}---\n{generated}--- # second\nkind: ConfigMap\napiVersion: v1\nmetadata: {{name: b}}\n")
    (folder / "own.yaml").unlink()
    (folder / "deployment_chat-worker.yaml").unlink()
    assert console.run("prune", folder).code == 0
    text = (folder / "mixed.yaml").read_text()
    assert text.startswith(OWN)
    assert text.endswith("--- # second\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: b}\n")
    assert "Deployment" not in text.replace(OWN, "")


def test_a_link_is_not_followed(folder, tmp_path):
    target = tmp_path / "elsewhere.yaml"
    (folder / "deployment_chat-worker.yaml").rename(target)
    (folder / "deployment_chat-worker.yaml").symlink_to(target)
    done = console.run("prune", folder)
    assert done.code == 1
    assert target.exists()


def test_a_kpt_package_with_a_renamed_graph_renders_without_warnings(tmp_path, kpt):
    """kpt itself leaves the files of the old name."""
    package = tmp_path / "package"
    subprocess.run(["cp", "-r", golden.RENDERED, package], check=True)
    graph = package / "graph.yaml"
    graph.write_text(graph.read_text().replace("  name: chat\n", "  name: talk\n", 1))
    golden.render(package)
    assert (package / "deployment_chat-worker.yaml").exists()
    assert console.run("prune", package).code == 0
    assert [path.name for path in package.glob("*_chat*")] == []
    assert (package / "deployment_talk-worker.yaml").exists()
    assert "DYN053" not in console.run("check", package).out
