"""`krm-fn render --check`: exit 0 if committed renders are up to date, 1 if not, as formatters do. Nothing is written."""

from __future__ import annotations

from tests.cli import console
from tests.repository.clones import BUILD, GRAPH, README, codes


def test_a_committed_render_that_is_up_to_date(clone):
    clone.put(README).save("objects.yaml", *BUILD, ".").commit()
    done = console.run("render", "--check")
    assert (done.code, done.out) == (0, "")
    assert done.err == "1 committed render is up to date: objects.yaml\n"


def test_a_committed_render_that_is_out_of_date(clone):
    clone.put(README).save("objects.yaml", *BUILD, ".").commit()
    before = (clone.folder / "objects.yaml").read_bytes()
    clone.edit("graph.yaml", "replicas: 2", "replicas: 3")
    done = console.run("render", "--check", ".")
    assert (done.code, done.out, codes(done)) == (1, "", ["DYN063"])
    assert (clone.folder / "objects.yaml").read_bytes() == before


def test_a_source_that_cannot_be_built_fails(clone):
    """An unknown render is not an up-to-date one."""
    clone.put(README).save("objects.yaml", *BUILD, ".").edit("kustomization.yaml", "graph.yaml", "none.yaml")
    assert codes(console.run("render", "--check")) == ["DYN593"]


def test_without_a_committed_render_none_is_out_of_date(clone):
    """Most repositories are rendered when they are applied. The check says so, and names what it looked at."""
    clone.put(README, "prod")
    done = console.run("render", "--check")
    assert (done.code, done.out, codes(done)) == (0, "", [])
    assert done.err == "no committed render is here, so none is out of date; rendered when it is applied: prod\n"


def test_a_folder_without_dynamo_is_not_up_to_date(clone):
    """A job in CI that names the wrong folder must not be green."""
    clone.put({"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"})
    done = console.run("render", "--check")
    assert (done.code, codes(done)) == (1, ["DYN001"])


def test_a_committed_render_without_its_source_is_not_up_to_date(clone):
    """A branch of renders has nothing to compare with."""
    clone.put(README, "prod").save("objects.yaml", *BUILD, "prod")
    done = console.run("render", "--check", "--exclude", "prod")
    assert (done.code, codes(done)) == (1, ["DYN001"])
    assert "objects.yaml: error DYN001 the source of this render is not here" in done.err


def test_a_folder_is_compared_byte_by_byte(clone):
    clone.write(graph=GRAPH.replace("name: chat\n", "name: chat\n  namespace: team\n"))
    check = ("render", "graph.yaml", "--output-dir", "out", "--check")
    assert console.run(*check).code == 1
    assert not (clone.folder / "out").exists()
    assert console.run(*check[:-1]).code == 0
    assert console.run(*check).code == 0
    clone.edit("graph.yaml", "Worker:", "Other:")
    done = console.run(*check)
    assert (done.code, codes(done)) == (1, ["DYN063"])
    assert "out/deployment_chat-other.yaml: error DYN063 the file is missing" in done.err
    assert "out/deployment_chat-worker.yaml: error DYN063 the file is no longer rendered" in done.err
    assert "out/dynamographdeployment_chat.yaml: error DYN063 the file differs" in done.err


def test_the_check_of_committed_renders_takes_folders(clone):
    assert console.run("render", "--check", "-").code == 2
