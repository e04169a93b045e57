"""`krm-fn diff --build`: the output of a real build, with the function as its plugin, and builds that fail."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pytest
import yaml

from tests.cli import console
from tests.support import beta, builds, golden
from tests.support.cases import cases

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


def line_of(file, text):
    """The number of the first line with a text."""
    return next(number for number, line in enumerate(file.read_text().splitlines(), 1) if text in line)


def kustomized(folder, overlay):
    return diff(folder, f"kustomize build {' '.join(builds.FLAGS)} apps/{overlay}")


def test_an_overlay_with_the_function_as_its_plugin(overlays):
    """The overlay around the function changes generated objects, so they are compared as the build prints them."""
    assert kustomized(overlays, "prod-tuned").out == SAME
    builds.edit(overlays / "apps" / "base" / "graph.yaml", lambda graph: beta.named(graph, "Worker").update(replicas=3))
    builds.edit(overlays / "apps" / "prod-tuned" / "kustomization.yaml", lambda layer: layer["replicas"][0].update(count=7))
    done = kustomized(overlays, "prod-tuned")
    assert done.code == 0
    layer = overlays / "apps" / "prod-tuned" / "kustomization.yaml"
    line = f"{layer}:{line_of(layer, 'count: 7')} "
    assert f"Deployment prod/prod-chat-frontend: updated\n  spec.replicas: 5 -> 7  ({line}" in done.out
    assert "restarts:" not in done.out
    assert (overlays / "apps" / "prod-tuned" / "kustomization.yaml").exists()


def test_a_build_without_the_function_is_rendered(overlays):
    builds.edit(overlays / "apps" / "base" / "graph.yaml", lambda graph: beta.named(graph, "Frontend").update(replicas=4))
    done = diff(overlays, "kustomize build apps/base")
    line = line_of(overlays / "apps" / "base" / "graph.yaml", "replicas: 4")
    origin = f"{overlays}/apps/base/graph.yaml:{line} spec.components[0].replicas"
    assert f"Deployment default/chat-frontend: updated\n  spec.replicas: 1 -> 4  ({origin})" in done.out


def test_rendered_and_other_graphs_in_one_output(plain):
    """Only what is not rendered yet is rendered."""
    rendered = console.run("render", plain / "graph.yaml").out.replace("dynamo:1.5.0", "dynamo:patched")
    (plain / "graph.yaml").write_text(f"{rendered}---\n{GRAPH.replace('name: chat', 'name: other')}")
    git(plain, "commit", "--all", "--message", "Both")
    (plain / "graph.yaml").write_text(
        (plain / "graph.yaml").read_text().replace("dynamo:patched", "dynamo:1.4.2").replace("front:1.5.0", "front:1.5.1")
    )
    found = json.loads(diff(plain, "cat graph.yaml", "--format", "json").out)["objects"]
    fields = {each["object"]["name"]: [(field["old"], field["new"]) for field in each["fields"]] for each in found}
    assert fields == {
        "chat-worker": [("registry.example/dynamo:patched", "registry.example/dynamo:1.4.2")],
        "chat-frontend": [("registry.example/front:1.5.0", "registry.example/front:1.5.1")],
        "other-frontend": [("registry.example/front:1.5.0", "registry.example/front:1.5.1")],
    }


def test_each_state_has_its_configuration(plain):
    for place in ("render.yaml", "graph.yaml"):
        (plain / place).write_text(GRAPH if place == "graph.yaml" else CONFIG % "then")
    repository(plain)
    (plain / "render.yaml").write_text(CONFIG % "now")
    assert '"nats://then:4222" -> "nats://now:4222"' in diff(plain, "cat graph.yaml", "--config", plain / "render.yaml").out
    printed = diff(plain, "sh -c 'cat graph.yaml; echo ---; cat render.yaml'").out
    assert '"nats://then:4222" -> "nats://now:4222"' in printed
    assert f"({plain}/render.yaml:4 spec.natsAddress)" in printed


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
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": live}).replace("dynamo:1.5.0", "dynamo:1.3.0")
    done = console.run("diff", "--live", "-", "--build", "cat graph.yaml", tmp_path, stdin=text)
    assert f'"registry.example/dynamo:1.3.0" -> "registry.example/dynamo:1.5.0"  ({tmp_path}/graph.yaml:16 ' in done.out
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


@cases(("reason", "command", "arguments", "code", "finding", "messages"), FAILED)
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
    assert f"{plain}/graph.yaml:14:7: error DYN023" in done.out


WRONG = [
    # reason, command, arguments, words of the message
    ("an empty command", "", ["."], "the command is empty"),
    ("a quote without an end", "a 'b", ["."], "No closing quotation"),
    ("a file", "true", ["graph.yaml"], "--build takes one PATH: the folder"),
    ("two folders", "true", [".", "."], "--build takes one PATH: the folder"),
    ("no revision", "true", ["--old", "nowhere", "."], "git cannot read that revision"),
]


@cases(("reason", "command", "arguments", "message"), WRONG)
def test_wrong_usage(reason, command, arguments, message, plain, monkeypatch):
    monkeypatch.chdir(plain)
    done = console.run("diff", *([] if "--old" in arguments else ["--old", "HEAD"]), "--build", command, *arguments)
    assert done.code == 2
    assert message in " ".join(done.err.split())


PATCH = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: chat, namespace: team}
spec: {services: {Worker: {replicas: 5}}}
"""
LAYERS = [
    # reason, kustomization of the overlay, further file of the overlay, old and new text of a file, the file with the line
    ("a field of the base", "resources: [../base]\n", "", ("base/graph.yaml", "replicas: 2", "replicas: 3"), "base/graph.yaml"),
    (
        "a patch",
        "resources: [../base]\npatches: [{path: patch.yaml}]\n",
        PATCH,
        ("prod/patch.yaml", "replicas: 5", "replicas: 6"),
        "prod/patch.yaml",
    ),
    (
        "a prefix",
        "namePrefix: a-\nnameSuffix: -b\nnamespace: prod\nresources: [../base]\n",
        "",
        ("base/graph.yaml", "replicas: 2", "replicas: 3"),
        "base/graph.yaml",
    ),
    (
        "an image of a transformer",
        "resources: [../base]\nconfigurations: [images.yaml]\nimages:\n- name: registry.example/dynamo\n  newTag: 1.4.1\n",
        "images: [{path: spec/services/Worker/extraPodSpec/mainContainer/image, kind: DynamoGraphDeployment}]\n",
        ("prod/kustomization.yaml", "1.4.1", "1.4.2"),
        "prod/kustomization.yaml",
    ),
]


@pytest.mark.parametrize("annotated", ["", "buildMetadata: [originAnnotations]\n"], ids=["plain", "annotated"])
@cases(("kustomization", "other", "edit", "expected"), LAYERS)
def test_a_change_names_a_line_of_the_file_that_the_build_read(
    kustomization, other, edit, expected, annotated, tmp_path, monkeypatch, kustomize
):
    """The reader does not have the output of the build. Another overlay has a graph of the same name."""
    monkeypatch.setenv("PATH", golden.environment("kustomize")["PATH"])
    folder = tmp_path / "repository"
    for name, text in {
        "base/graph.yaml": GRAPH,
        "base/kustomization.yaml": f"resources: [graph.yaml]\n{annotated}",
        "other/graph.yaml": f"# another one\n{GRAPH}",
        "prod/kustomization.yaml": annotated + kustomization,
        "prod/patch.yaml": other,
        "prod/images.yaml": other,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    repository(folder)
    file, old, new = edit
    (folder / file).write_text((folder / file).read_text().replace(old, new))
    done = diff(folder, "kustomize build prod")
    assert done.code == 0, done.err
    assert f"{folder}/{expected}:{line_of(folder / expected, new)}" in done.out
    assert "<build>" not in done.out


def test_a_removed_field_has_its_line_in_the_old_state(plain):
    line = line_of(plain / "graph.yaml", "replicas: 2")
    (plain / "graph.yaml").write_text(GRAPH.replace("      replicas: 2\n", ""))
    assert f"(HEAD:graph.yaml:{line} spec.services.Worker.replicas)" in diff(plain, "cat graph.yaml").out


def test_a_change_that_no_file_makes_is_not_known(plain, tmp_path):
    """No file of the folder has the resource. The program prints another number of replicas in each state."""
    runs, outside = tmp_path / "runs", tmp_path / "outside.yaml"
    outside.write_text(GRAPH.replace("name: chat", "name: elsewhere"))
    done = diff(plain, f"sh -c 'echo >>{runs}; sed \"s/replicas: 2/replicas: $(wc -l <{runs})/\" {outside}'")
    assert "spec.replicas: 1 -> 2\n" in done.out
    assert re.search("elsewhere/Worker +updated +0 +not known\n", done.out)
