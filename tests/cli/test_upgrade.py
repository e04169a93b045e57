"""`krm-fn upgrade`: its inputs, its formats and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from krm_fn import review
from tests.cli import console

SCHEMA = json.loads((Path(review.__file__).parent / "schemas" / "upgrade.json").read_text())
RENDER = "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: render}\nspec: {natsAddress: 'nats://nats:4222'}\n"
OLD = console.GRAPH.replace("1.5.0", "0.9.0")


@pytest.fixture
def graph(tmp_path, monkeypatch):
    """The folder of a graph with images of 0.9, which is the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graph.yaml").write_text(OLD)
    return tmp_path / "graph.yaml"


def test_the_table_has_a_row_for_each_graph_and_step(graph):
    done = console.run("upgrade", "--to", "1.6", "graph.yaml")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(
        "Upgrade to 1.6.2 in 4 steps.\n"
        "Step 1, images 1.1.1, release v0.9 -> v1.2: 2 of 2 services restart.\n"
        "Step 2, images 1.3.1, release v1.2 -> v1.3: 2 of 2 services restart.\n"
        "Step 3, images 1.5.1, release v1.3 -> v1.5: 2 of 2 services restart.\n"
        "Step 4, images 1.6.2, release v1.5 -> v1.6: 2 of 2 services restart.\n"
        "\n"
        "GRAPH      STEP  RESTARTS  GPUS  INTERRUPTED  PEAK  WAVE  CAUSED BY\n"
        "team/chat  1     2 of 2    0     0            0     -     release or image\n"
        "team/chat  2     2 of 2    0     0            0     -     image\n"
        "team/chat  3     2 of 2    0     0            0     -     image, for others release or image\n"
        "team/chat  4     2 of 2    0     0            0     -     image\n"
    )
    assert "Kubernetes" in done.out


def test_the_page_of_a_graph_has_each_cause_and_each_edit_with_its_line(graph):
    done = console.run("upgrade", "--to", "v1.6.2", "--graph", "team/chat", "--step", "4", "graph.yaml")
    assert done.code == 0
    assert "Step 1" not in done.out
    assert "Worker    restarts  0     0            0     stays    restarts  -               -            image\n" in done.out
    assert "With --api-version v1beta1, no further service restarts.\n" in done.out
    assert '  graph.yaml:11 spec.services.Frontend.extraPodSpec.mainContainer.image: "registry.example/front:1.5.1" -> ' in done.out


def test_json_follows_its_schema(graph):
    for arguments in ([], ["--graph", "chat"], ["--step", "1", "--gpus", "4"], ["--api-version", "v1beta1", "--new-origin"]):
        document = json.loads(console.run("upgrade", "--to", "1.6", "--format", "json", *arguments, "graph.yaml").out)
        jsonschema.validate(document, SCHEMA)
    last = document["steps"][-1]["graphs"][0]
    assert last["causes"] == ["release", "image", "originVersion", "apiVersion"]
    alone = {service["name"]: service["alone"] for service in last["services"]}
    assert alone["Frontend"] == {"release": False, "image": True, "originVersion": False, "apiVersion": False}
    assert alone["Worker"] == {"release": False, "image": True, "originVersion": True, "apiVersion": False}  # the hash has the origin
    assert last["edits"][0] == {
        "field": "spec.services.Frontend.extraPodSpec.mainContainer.image",
        "path": ["spec", "services", "Frontend", "extraPodSpec", "mainContainer", "image"],
        "old": "registry.example/front:1.5.1",
        "new": "registry.example/front:1.6.2",
        "cause": "image",
        "file": "graph.yaml",
        "line": 11,
    }


@pytest.mark.parametrize("style", ["text", "markdown"])
def test_a_step_says_what_to_do_with_the_platform_before(style, graph):
    """Since 1.4, Dynamo's chart does not install NATS by default, so a graph that uses it needs another step before."""
    settings = graph.with_name("render.yaml")
    settings.write_text(RENDER)
    done = console.run("upgrade", "--to", "1.5", "--format", style, "--config", settings.name, "graph.yaml")
    (line,) = (line for line in done.out.splitlines() if "global.nats.install" in line)
    assert line.strip(" -").startswith("NATS: the Helm chart dynamo-platform no longer installs NATS by default")


def test_markdown_is_the_text_of_a_comment(graph):
    done = console.run("upgrade", "--to", "1.6", "--format", "markdown", "graph.yaml")
    assert (done.code, done.out.splitlines()[0]) == (0, "### Upgrade to 1.6.2 in 4 steps.")
    assert "| `team/chat` | 1 | 2 of 2 | 0 | 0 | 0 |  | release or image |\n" in done.out
    page = console.run("upgrade", "--to", "1.6", "--format", "markdown", "--graph", "chat", "graph.yaml")
    assert "| `Worker` | restarts | 0 | 0 | 0 | restarts | restarts |  |  | release or image |\n" in page.out
    assert '- `graph.yaml:11 spec.services.Frontend.extraPodSpec.mainContainer.image: "registry.example/front:0.9.0" -> ' in page.out


def test_waves_keep_the_gpus_below_the_limit(graph):
    worker = "replicas: 2\n      resources: {limits: {gpu: '2'}}"
    graphs = [OLD.replace("name: chat", f"name: {name}").replace("replicas: 2", worker) for name in ("a", "b")]
    done = console.run("upgrade", "--to", "1.1", "--gpus", "10", "-", stdin="---\n".join(graphs))
    assert (done.code, "In 2 waves, 10 GPUs of all graphs at the peak." in done.out) == (0, True)
    assert "team/a  1     2 of 2    4     4            6     1     release or image\n" in done.out
    assert "team/b  1     2 of 2    4     4            6     2     release or image\n" in done.out
    few = console.run("upgrade", "--to", "1.1", "--gpus", "9", "-", stdin="---\n".join(graphs))
    assert (few.code, "error DYN666" in few.out) == (1, True)


def test_each_root_of_a_repository_is_built(graph):
    """An overlay sets the namespace and a tag of its own."""
    (graph.parent / "kustomization.yaml").write_text(
        "namespace: prod\nresources: [graph.yaml]\nimages: [{name: registry.example/dynamo, newTag: 1.4.2}]\n"
    )
    done = console.run("upgrade", "--to", "1.6", "--format", "json", ".")
    document = json.loads(done.out)
    keys = {
        (graph["root"], graph["resource"]["namespace"], graph["old"]["runtime"]) for step in document["steps"] for graph in step["graphs"]
    }
    assert keys == {(".", "prod", "0.9.0"), (".", "prod", "1.1.1"), (".", "prod", "1.3.1"), (".", "prod", "1.5.1")}


def test_a_graph_of_two_roots_has_the_lines_of_each(graph):
    """Two overlays for two clusters have a graph of the same name."""
    flag = '"registry.example/dynamo:0.9.0", command: [python3, -m, dynamo.vllm], args: [--calculate-kv-scales]'
    old = OLD.replace('"registry.example/dynamo:0.9.0"', flag)  # 1.5 does not know the flag
    for folder in ("east", "west"):
        (graph.parent / folder).mkdir()
        (graph.parent / folder / "graph.yaml").write_text(f"# {folder}\n" * (folder == "west") + old)
        (graph.parent / folder / "kustomization.yaml").write_text("resources: [graph.yaml]\n")
    graph.unlink()
    done = console.run("upgrade", "--to", "1.5", "--format", "json", ".")
    document = json.loads(done.out)
    assert {finding["file"] for finding in document["steps"][-1]["findings"]} == {"east/graph.yaml", "west/graph.yaml"}
    edits = [graph["edits"][0] for graph in document["steps"][0]["graphs"]]
    assert [(edit["file"], edit["line"]) for edit in edits] == [("east/graph.yaml", 11), ("west/graph.yaml", 12)]


def test_an_export_is_a_list_on_stdin(graph):
    rendered = console.run("render", "-o", "json", "graph.yaml").out
    done = console.run("upgrade", "--to", "1.6", "-", stdin=rendered)
    assert (done.code, done.out.count("\nteam/chat ")) == (0, 4)


@pytest.mark.parametrize(
    ("reason", "stdin", "code"),
    [
        ("no graph", json.dumps({"apiVersion": "v1", "kind": "List", "items": []}), "DYN655"),
        ("another kind", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "DYN655"),
        ("an error in the file", "apiVersion: nvidia.com/v1alpha1\nkind: [", "DYN004"),
    ],
)
def test_an_input_without_a_graph_is_an_error(graph, reason, stdin, code):
    done = console.run("upgrade", "--to", "1.6", "-", stdin=stdin)
    assert (done.code, code in done.out) == (1, True), done


@pytest.mark.parametrize(
    ("reason", "arguments", "message"),
    [
        ("an unknown release", ["--to", "1.8"], "'1.8' is not a release of Dynamo that krm-fn knows. It knows 0.9.0, "),
        ("no release", [], "Missing option '--to'."),
        ("an unknown graph", ["--to", "1.6", "--graph", "chta"], "no graph has the name 'chta'. Did you mean 'chat'?"),
        ("a step too many", ["--to", "1.6", "--step", "5"], "the plan has 4 steps."),
        ("two limits", ["--to", "1.6", "--gpus", "1", "--nodes", "graph.yaml"], "name either --gpus or --nodes"),
        ("a negative limit", ["--to", "1.6", "--gpus", "-1"], "-1 is not in the range x>=0."),
        ("stdin twice", ["--to", "1.6", "--nodes", "-", "-"], "only one of PATH and --nodes can be stdin"),
    ],
)
def test_wrong_usage_is_named(graph, reason, arguments, message):
    done = console.run("upgrade", *arguments, *([] if "-" in arguments else ["graph.yaml"]))
    assert (done.code, message in done.err) == (2, True), done


def test_a_plan_with_nothing_to_do_says_so(graph):
    graph.write_text(OLD.replace("0.9.0", "1.6.2"))
    done = console.run("upgrade", "--to", "1.6", "graph.yaml")
    assert (done.code, done.out) == (0, "Nothing to upgrade: no graph moves to 1.6.2.\nAt the target: team/chat.\n")


@pytest.mark.parametrize(
    ("reason", "present", "target"),
    [
        ("a newer patch is at the target of a minor version", "1.6.7", "1.6"),
        ("a newer patch than the target", "1.6.7", "1.6.2"),
        ("a newer patch than the target, which krm-fn does not know", "1.6.7", "1.6.3"),
        ("a newer minor version", "1.6.2", "1.5"),
        ("a much newer one", "1.6.2", "v0.9.1"),
    ],
)
def test_no_graph_goes_back_without_downgrade(graph, reason, present, target):
    newer, older = OLD.replace("0.9.0", present), OLD.replace("name: chat", "name: older").replace("0.9.0", "0.9.0")
    for text in (newer, f"{newer}---\n{older}"):
        graph.write_text(text)
        console.run("upgrade", "--to", target, "--write", "graph.yaml")
        written = graph.read_text()
        assert written.count(f":{present}") == 2
        again = console.run("upgrade", "--to", target, "--write", "graph.yaml")
        assert (again.err, graph.read_text()) == ("", written)


def test_a_downgrade_says_that_it_is_one(graph):
    graph.write_text(OLD.replace("0.9.0", "1.6.2"))
    done = console.run("upgrade", "--to", "1.5", "--downgrade", "graph.yaml")
    assert (done.code, done.out.splitlines()[:2]) == (
        0,
        ["Downgrade to 1.5.1 in 1 step.", "This is a downgrade: images and releases go back to older versions."],
    )
    assert "warning DYN745 spec: --downgrade moves the graph back, from images 1.6.2 of release v1.6 to images 1.5.1" in done.out
    assert "DYN492" not in done.out  # the edits add no origin version
    console.run("upgrade", "--to", "1.5", "--downgrade", "--write", "graph.yaml")
    assert graph.read_text() == OLD.replace("0.9.0", "1.5.1")


def test_each_patch_of_a_known_minor_version_is_a_target(graph):
    done = console.run("upgrade", "--to", "1.6.9", "--write", "graph.yaml")
    assert (done.code, graph.read_text().count(":1.6.9")) == (0, 2)
    assert "warning DYN746 krm-fn does not know the patch 1.6.9, and checks command lines with the flags of 1.6.2" in done.out
    again = console.run("upgrade", "--to", "1.6.9", "graph.yaml")
    assert again.out.startswith("Nothing to upgrade: no graph moves to 1.6.9.\nAt the target: team/chat.\n")


def test_a_graph_without_a_plan_is_not_edited(graph):
    """An image without a version beside one of 1.5.1 is an error before the upgrade."""
    other = OLD.replace("name: chat", "name: other")
    broken = OLD.replace("replicas: 2", "replicas: many")
    graph.write_text(f"{broken}---\n{other}")
    done = console.run("upgrade", "--to", "1.6", "--write", "graph.yaml")
    assert (done.code, done.out.count("error DYN651")) == (1, 1)
    assert graph.read_text().startswith(f"{broken}---\n")
    assert graph.read_text().count(":1.6.2") == 2


def test_a_graph_with_errors_does_not_hide_the_others(graph):
    broken = OLD.replace("name: chat", "name: broken").replace("replicas: 2", "replicas: many")
    done = console.run("upgrade", "--to", "1.5", "-", stdin=f"{OLD}---\n{broken}")
    assert done.code == 1
    assert "No plan, because of errors before the upgrade: team/broken.\n" in done.out
    assert "team/chat    1     2 of 2" in done.out
    line = 1 + f"{OLD}---\n{broken}".splitlines().index("      replicas: many")
    assert f"<stdin>:{line}:7: error DYN651 spec.services.Worker.replicas: " in done.out


def test_write_makes_the_edits_of_the_plan_and_a_second_run_changes_nothing(graph):
    expected = OLD.replace("0.9.0", "1.6.2")
    done = console.run("upgrade", "--to", "1.6", "--write", "graph.yaml")
    assert (done.code, done.err) == (0, "wrote graph.yaml\n")
    written = graph.read_text()
    assert [line for line in written.splitlines() if "annotations" not in line and "origin-version" not in line] == expected.splitlines()
    again = console.run("upgrade", "--to", "1.6", "--write", "graph.yaml")
    assert (again.code, again.err, graph.read_text()) == (0, "", written)


def test_the_steps_are_written_one_after_the_other(graph):
    for image in ("1.1.1", "1.3.1", "1.5.1", "1.6.2"):
        console.run("upgrade", "--to", "1.6", "--step", "1", "--write", "graph.yaml")
        assert graph.read_text().count(f":{image}") == 2


def test_a_patch_has_the_edits_and_writes_nothing(graph):
    done = console.run("upgrade", "--to", "1.6", "--step", "1", "--patch", "graph.yaml")
    assert (done.code, graph.read_text()) == (0, OLD)
    assert '+        mainContainer: {image: "registry.example/front:1.1.1"}\n' in done.out
    assert console.run("upgrade", "--to", "1.6", "--patch", "-", stdin=OLD).code == 2
