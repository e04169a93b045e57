"""`krm-fn diff --build`: the output of a real build, with the function as its plugin, and builds that fail."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest
import yaml

from tests.cli import console
from tests.support import builds, golden

GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false")
GRAPH = console.GRAPH
CONFIG = "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: render}\nspec: {natsAddress: 'nats://%s:4222'}\n"
SAME = "The states are the same: no object changes.\n"


def git(folder, *arguments):
    subprocess.run([*GIT, "-C", folder, *arguments], check=True, capture_output=True)


def repository(folder):
    git(folder, "init")
    git(folder, "add", "--all")
    git(folder, "commit", "--message", "Begin")
    return folder


@pytest.fixture
def overlays(tmp_path, monkeypatch, kustomize):
    """The examples of layout A in a repository, and the real kustomize on the path."""
    monkeypatch.setenv("PATH", golden.environment("kustomize")["PATH"])
    shutil.copytree(golden.EXAMPLES / "layout-a-overlays", tmp_path / "repository" / "apps")
    return repository(tmp_path / "repository")


@pytest.fixture
def plain(tmp_path):
    """A repository with one graph."""
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "graph.yaml").write_text(GRAPH)
    return repository(folder)


def diff(folder, command, *arguments, old="HEAD"):
    return console.run("diff", *([] if old is None else ["--old", old]), "--build", command, *arguments, folder)


def kustomized(folder, overlay):
    return diff(folder, f"kustomize build {' '.join(builds.FLAGS)} apps/{overlay}")


def test_an_overlay_with_the_function_as_its_plugin(overlays):
    """The overlay around the function changes generated objects, so they are compared as the build prints them."""
    assert kustomized(overlays, "prod-tuned").out == SAME
    builds.edit(overlays / "apps" / "base" / "graph.yaml", lambda graph: graph["spec"]["services"]["Worker"].update(replicas=3))
    builds.edit(overlays / "apps" / "prod-tuned" / "kustomization.yaml", lambda layer: layer["replicas"][0].update(count=7))
    done = kustomized(overlays, "prod-tuned")
    assert done.code == 0
    assert "Deployment prod/prod-chat-frontend: updated\n  spec.replicas: 5 -> 7  (<build>:" in done.out
    assert "restarts:" not in done.out
    assert (overlays / "apps" / "prod-tuned" / "kustomization.yaml").exists()


def test_a_build_without_the_function_is_rendered(overlays):
    builds.edit(overlays / "apps" / "base" / "graph.yaml", lambda graph: graph["spec"]["services"]["Frontend"].update(replicas=4))
    done = diff(overlays, "kustomize build apps/base")
    assert "Deployment default/chat-frontend: updated\n  spec.replicas: 1 -> 4  (<build>:" in done.out
    assert "spec.services.Frontend.replicas)" in done.out


def test_rendered_and_other_graphs_in_one_output(plain):
    """Only what is not rendered yet is rendered."""
    rendered = console.run("render", plain / "graph.yaml").out.replace("engine:1.4.0", "engine:patched")
    (plain / "graph.yaml").write_text(f"{rendered}---\n{GRAPH.replace('name: chat', 'name: other')}")
    git(plain, "commit", "--all", "--message", "Both")
    (plain / "graph.yaml").write_text(
        (plain / "graph.yaml").read_text().replace("engine:patched", "engine:1.4.2").replace("front:1.4.0", "front:1.4.1")
    )
    found = json.loads(diff(plain, "cat graph.yaml", "--format", "json").out)["objects"]
    fields = {each["object"]["name"]: [(field["old"], field["new"]) for field in each["fields"]] for each in found}
    assert fields == {
        "chat-worker": [("registry.example/engine:patched", "registry.example/engine:1.4.2")],
        "chat-frontend": [("registry.example/front:1.4.0", "registry.example/front:1.4.1")],
        "other-frontend": [("registry.example/front:1.4.0", "registry.example/front:1.4.1")],
    }


def test_each_state_has_its_configuration(plain):
    for place in ("render.yaml", "graph.yaml"):
        (plain / place).write_text(GRAPH if place == "graph.yaml" else CONFIG % "then")
    repository(plain)
    (plain / "render.yaml").write_text(CONFIG % "now")
    assert '"nats://then:4222" -> "nats://now:4222"' in diff(plain, "cat graph.yaml", "--config", plain / "render.yaml").out
    printed = diff(plain, "sh -c 'cat graph.yaml; echo ---; cat render.yaml'").out
    assert '"nats://then:4222" -> "nats://now:4222"' in printed
    assert "(<build>:" in printed


def test_the_working_tree_stays_as_it_is_and_counts_as_it_stands(plain):
    (plain / "graph.yaml").write_text(GRAPH.replace("replicas: 2", "replicas: 3"))
    (plain / "extra.yaml").write_text(GRAPH.replace("name: chat", "name: extra"))
    done = diff(plain, "sh -c 'for file in *.yaml; do cat $file; echo ---; done; rm *.yaml; echo broken > graph.yaml'")
    assert "spec.replicas: 2 -> 3" in done.out
    assert "Deployment team/extra-worker: created" in done.out
    assert sorted(path.name for path in plain.glob("*.yaml")) == ["extra.yaml", "graph.yaml"]
    assert (plain / "graph.yaml").read_text() != "broken\n"


def test_a_folder_below_the_top_and_a_folder_as_the_old_state(plain, tmp_path):
    (plain / "apps").mkdir()
    shutil.move(plain / "graph.yaml", plain / "apps" / "graph.yaml")
    git(plain, "add", "--all")
    git(plain, "commit", "--message", "Move")
    before = shutil.copytree(plain / "apps", tmp_path / "before")
    (plain / "apps" / "graph.yaml").write_text(GRAPH.replace("replicas: 2", "replicas: 3"))
    for old in ("HEAD", before):
        assert "spec.replicas: 2 -> 3" in diff(plain / "apps", "cat graph.yaml", old=old).out


def test_a_build_is_compared_with_a_cluster(tmp_path):
    """No repository is needed, because nothing but the folder as it is now is built."""
    (tmp_path / "graph.yaml").write_text(GRAPH)
    live = [each for each in yaml.safe_load_all(console.run("render", tmp_path).out) if each["kind"] != "DynamoGraphDeployment"]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": live}).replace("engine:1.4.0", "engine:1.3.0")
    done = console.run("diff", "--live", "-", "--build", "cat graph.yaml", tmp_path, stdin=text)
    assert '"registry.example/engine:1.3.0" -> "registry.example/engine:1.4.0"  (<build>:' in done.out
    assert "Deployment team/chat-frontend" not in done.out


def python(script):
    return f'{sys.executable} -c "{script}"'


FAILED = [
    # reason, command, further arguments, code, words of the finding, words of the messages
    (
        "an exit code",
        python("import sys; sys.exit('a\\x1b[31mreason')"),
        [],
        "DYN516",
        "of HEAD ended with exit code 1",
        "a\\x1b[31mreason",
    ),
    ("no program", "krm-fn-no-such-program x", [], "DYN516", "cannot be run: No such file", ""),
    ("nothing printed", "true", [], "DYN517", "has no resource", ""),
    ("no YAML", "echo '{a: ['", [], "DYN517", "is not YAML (DYN004: ", ""),
    ("no resource", "echo built 3 objects", [], "DYN517", "has no resource", ""),
    ("no end", "sleep 600", ["--build-timeout", "1"], "DYN518", "did not end within 1 seconds", ""),
]


@pytest.mark.parametrize(("reason", "command", "arguments", "code", "finding", "messages"), FAILED, ids=[row[0] for row in FAILED])
def test_a_build_that_fails(reason, command, arguments, code, finding, messages, plain):
    done = diff(plain, command, *arguments)
    assert (done.code, done.out) == (1, "")
    assert f"error {code} " in done.err
    assert finding in done.err
    assert messages in done.err
    assert "\x1b" not in done.err


def test_a_build_that_only_the_new_state_breaks(plain):
    (plain / "graph.yaml").unlink()
    done = diff(plain, "cat graph.yaml")
    assert done.code == 1
    assert "cat: graph.yaml: No such file or directory\n" in done.err
    assert "the build of the working tree ended with exit code 1" in done.err


def test_an_error_of_a_graph_in_the_output_is_one_of_the_new_state(plain):
    (plain / "graph.yaml").write_text(console.MISSPELT)
    done = diff(plain, "cat graph.yaml")
    assert done.code == 1
    assert "<build>:14:7: error DYN023" in done.out


WRONG = [
    # reason, command, arguments, words of the message
    ("an empty command", "", ["."], "the command is empty"),
    ("a quote without an end", "a 'b", ["."], "No closing quotation"),
    ("a file", "true", ["graph.yaml"], "--build takes one PATH: the folder"),
    ("two folders", "true", [".", "."], "--build takes one PATH: the folder"),
    ("no revision", "true", ["--old", "nowhere", "."], "git cannot read that revision"),
]


@pytest.mark.parametrize(("reason", "command", "arguments", "message"), WRONG, ids=[row[0] for row in WRONG])
def test_wrong_usage(reason, command, arguments, message, plain, monkeypatch):
    monkeypatch.chdir(plain)
    done = console.run("diff", *([] if "--old" in arguments else ["--old", "HEAD"]), "--build", command, *arguments)
    assert done.code == 2
    assert message in " ".join(done.err.split())
