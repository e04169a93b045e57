"""`krm-fn check` finds graphs of several roots of one cluster whose frontends find the workers of each other."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.cli import console
from tests.support import faults, given

GRAPHS = {"foo": faults.serving("foo"), "foo-bar": given.graph(name="foo-bar")}


def write(folder: Path, name: str) -> None:
    folder.mkdir(parents=True)
    (folder / "graph.yaml").write_text(yaml.safe_dump(GRAPHS[name]))
    (folder / "kustomization.yaml").write_text("resources: [graph.yaml]\n")


def found(folder: Path) -> list[str]:
    return [line for line in console.run("check", folder).out.splitlines() if "DYN701" in line]


def test_roots_of_one_cluster_are_compared(tmp_path: Path):
    """The warning is at the frontend in the file of its root."""
    write(tmp_path / "clusters" / "eu" / "a", "foo")
    write(tmp_path / "clusters" / "eu" / "b", "foo-bar")
    (line,) = found(tmp_path)
    assert "clusters/eu/a/graph.yaml:" in line
    assert "graph foo-bar" in line


def test_roots_of_two_clusters_are_not_compared(tmp_path: Path):
    write(tmp_path / "clusters" / "eu" / "a", "foo")
    write(tmp_path / "clusters" / "us" / "b", "foo-bar")
    assert found(tmp_path) == []


def test_two_files_of_a_root_are_compared_once(tmp_path: Path):
    root = tmp_path / "clusters" / "eu"
    write(root, "foo")
    (root / "other.yaml").write_text(yaml.safe_dump(GRAPHS["foo-bar"]))
    (root / "kustomization.yaml").write_text("resources: [graph.yaml, other.yaml]\n")
    assert len(found(tmp_path)) == 1


def test_a_comparison_of_clusters_compares_the_roots_of_each(tmp_path: Path):
    for cluster in ("eu", "us"):
        write(tmp_path / cluster / "a", "foo")
    write(tmp_path / "eu" / "b", "foo-bar")
    done = console.run("diff", "--across", tmp_path / "eu", tmp_path / "us")
    (line,) = [line for line in (done.out + done.err).splitlines() if "DYN701" in line]
    assert "eu/a/graph.yaml" in line
