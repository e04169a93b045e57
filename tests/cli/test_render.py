"""`krm-fn render`: its output and the order of objects; on an error it prints and writes no object."""

import itertools
import json

import pytest
import yaml

from krm_fn.render import expand, labels
from krm_fn.render.config import Config
from tests.cli import console
from tests.cli.console import GRAPH, MISSPELT
from tests.support.cases import cases

PLAIN = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: plain, namespace: team}
data:
  a: 'yes'
  b: "1e3"
  c: |-
    two
    lines
"""
FOREIGN = PLAIN.replace("ConfigMap", "Service").replace("plain", "chat-worker")


def read(text):
    return list(yaml.safe_load_all(text))


def names(resources):
    return [f"{item['kind']}/{item['metadata']['name']}" for item in resources]


def render(*arguments, stdin=GRAPH):
    done = console.run("render", *(arguments or ["-"]), stdin=stdin)
    assert done.code == 0, done
    return read(done.out)


def test_what_is_printed_is_what_the_core_expands():
    expected = expand.expand([yaml.safe_load(GRAPH)], Config()).resources
    assert sorted(render(), key=repr) == sorted(expected, key=repr)


def test_objects_come_in_the_order_of_applying():
    resources = f"{GRAPH}---\n{PLAIN}---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: team}}\n"
    assert names(render(stdin=resources)) == [
        "Namespace/team",
        "ServiceAccount/chat-k8s-service-discovery",
        "Role/chat-k8s-service-discovery-role",
        "RoleBinding/chat-k8s-service-discovery-binding",
        "ConfigMap/plain",
        "Service/chat-frontend",
        "Service/chat-worker",
        "Deployment/chat-frontend",
        "Deployment/chat-worker",
        "DynamoGraphDeployment/chat",
    ]


def test_other_resources_keep_their_values():
    assert next(item for item in render(stdin=f"{PLAIN}---\n{GRAPH}") if item["kind"] == "ConfigMap") == yaml.safe_load(PLAIN)


def test_a_render_of_a_render_changes_nothing():
    once = console.run("render", "-", stdin=GRAPH).out
    assert console.run("render", "-", stdin=once).out == once


def test_every_order_of_the_files_gives_the_same_objects(tmp_path):
    texts = {"a.yaml": GRAPH, "b.yaml": PLAIN, "c.yaml": GRAPH.replace("name: chat", "name: code")}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    printed = {repr(sorted(render(*(tmp_path / name for name in names)), key=repr)) for names in itertools.permutations(texts)}
    assert len(printed) == 1


SETTINGS = [
    ("a file that is named", ["graph.yaml"], ["--config", "render.yaml"]),
    ("among the files", ["graph.yaml", "render.yaml"], []),
    ("in the folder", ["."], []),
    ("a ConfigMap", ["graph.yaml"], ["--config", "map.yaml"]),
    ("on the graph itself", ["generator.yaml"], []),
]


@cases(("reason", "paths", "options"), SETTINGS)
def test_where_the_configuration_may_be(reason, paths, options, tmp_path):
    files = {
        "graph.yaml": GRAPH,
        "render.yaml": "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: r}\nspec: {natsAddress: 'nats://n:1'}\n",
    }
    other = {
        "map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: function-input}\ndata: {natsAddress: 'nats://n:1'}\n",
        "generator.yaml": GRAPH.replace(
            "  namespace: team\n",
            "  namespace: team\n  annotations:\n    config.kubernetes.io/function: 'exec: {path: krm-fn}'\n"
            "    config.dynamo.krm-fn.io/natsAddress: nats://n:1\n",
        ),
    }
    for name, text in {**files, **({} if "." in paths else other)}.items():
        (tmp_path / name).write_text(text)
    options = [tmp_path / option if option.endswith(".yaml") else option for option in options]
    resources = render(*(tmp_path / path for path in paths), *options)
    variables = next(item for item in resources if item["kind"] == "Deployment")["spec"]["template"]["spec"]["containers"][0]["env"]
    assert {"name": "NATS_SERVER", "value": "nats://n:1"} in variables


def test_a_configuration_is_not_printed(tmp_path):
    text = f"apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {{name: r}}\n---\n{GRAPH}"
    assert "DynamoRender" not in {item["kind"] for item in render(stdin=text)}


SOURCES = [("keep", True), ("local", False), ("drop", False)]


@pytest.mark.parametrize(("source", "there"), SOURCES)
def test_what_becomes_of_the_graph(source, there):
    text = f"apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {{name: r}}\nspec: {{source: {source}}}\n---\n{GRAPH}"
    kinds = {item["kind"] for item in render(stdin=text)}
    assert "Deployment" in kinds
    assert ("DynamoGraphDeployment" in kinds) is there


NOTES = {
    "internal.config.kubernetes.io/path": "graph.yaml",
    "internal.config.kubernetes.io/index": "0",
    "internal.config.kubernetes.io/package-path": "/package",
    "internal.config.kubernetes.io/seqindent": "compact",
    "internal.config.kubernetes.io/annotations-migration-resource-id": "1",
    "internal.config.k8s.io/kpt-resource-id": "3",
    "config.kubernetes.io/path": "graph.yaml",
    "config.kubernetes.io/index": "0",
    "config.k8s.io/id": "1",
    "kustomize.config.k8s.io/id": "x",
}
KEPT = {"config.kubernetes.io/origin": "path: graph.yaml\n", "config.kubernetes.io/depends-on": "/namespaces/a/Service/b", "team": "a"}


@pytest.mark.parametrize("text", [GRAPH, PLAIN], ids=["a graph and its objects", "another resource"])
def test_notes_of_kustomize_and_kpt_do_not_leak(text):
    item = yaml.safe_load(text)
    item["metadata"]["annotations"] = {**NOTES, **KEPT}
    stdin = yaml.safe_dump({"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [item]})
    resources = render("-", stdin=stdin)
    assert not [key for resource in resources for key in labels.annotations(resource) if key in NOTES]
    (same,) = [resource for resource in resources if resource["kind"] == item["kind"]]
    assert KEPT.items() <= labels.annotations(same).items()


def test_no_empty_annotations_stay_behind():
    item = yaml.safe_load(PLAIN)
    item["metadata"]["annotations"] = {"config.kubernetes.io/index": "0"}
    assert render("-", stdin=json.dumps(item)) == [yaml.safe_load(PLAIN)]


ERRORS = [
    ("a wrong field", MISSPELT),
    ("a broken document among sound ones", f"{GRAPH}---\na: [\n"),
    ("nothing at all", ""),
    ("only a configuration", "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: r}\n"),
    ("one object twice", f"{GRAPH}---\n{GRAPH}"),
    (
        "a foreign object in the place of a generated one",
        f"{GRAPH}---\n{FOREIGN}",
    ),
    ("a document without a name", f"{GRAPH}---\napiVersion: v1\nkind: Service\n"),
]


@cases(("reason", "text"), ERRORS)
def test_an_error_prints_findings_only_and_writes_nothing(reason, text, tmp_path):
    done = console.run("render", "-", stdin=text)
    assert (done.code, done.out) == (1, "")
    assert "error DYN" in done.err
    assert "nothing is rendered: 1 error" in done.err
    assert console.run("render", "-", "--output-dir", tmp_path / "out", stdin=text).code == 1
    assert not (tmp_path / "out").exists()


def test_a_note_goes_to_stderr_and_the_objects_are_printed():
    done = console.run("render", "-", stdin=GRAPH.replace("  namespace: team\n", ""))
    assert done.code == 0
    assert "<stdin>:3:1: note DYN057" in done.err
    assert read(done.out)


def files(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_one_file_for_each_object(tmp_path):
    out = tmp_path / "a" / "b"
    done = console.run("render", "-", "--output-dir", out, stdin=GRAPH)
    assert (done.code, done.out, done.err) == (0, "", f"8 files in {out}\n")
    assert set(files(out)) == {
        *("serviceaccount_chat-k8s-service-discovery.yaml", "role_chat-k8s-service-discovery-role.yaml"),
        *("rolebinding_chat-k8s-service-discovery-binding.yaml", "dynamographdeployment_chat.yaml"),
        *("deployment_chat-frontend.yaml", "deployment_chat-worker.yaml", "service_chat-frontend.yaml", "service_chat-worker.yaml"),
    }
    printed = render()
    assert sorted((item for text in files(out).values() for item in read(text)), key=repr) == sorted(printed, key=repr)


def test_a_second_render_writes_the_same_files(tmp_path):
    console.run("render", "-", "--output-dir", tmp_path, stdin=GRAPH)
    before = files(tmp_path)
    assert console.run("render", "-", "--output-dir", tmp_path, stdin=GRAPH).code == 0
    assert files(tmp_path) == before


def test_the_output_folder_below_the_input_is_not_read(tmp_path):
    (tmp_path / "graph.yaml").write_text(GRAPH)
    for _ in range(2):
        assert console.run("render", tmp_path, "--output-dir", tmp_path / "out").code == 0
    assert len(files(tmp_path / "out")) == 8


def test_a_rendered_folder_passes_the_check(tmp_path):
    console.run("render", "-", "--output-dir", tmp_path, stdin=GRAPH)
    assert console.run("check", tmp_path).code == 0


def test_files_of_others_stay_and_are_never_written_over(tmp_path):
    (tmp_path / "README.md").write_text("ours")
    (tmp_path / "service_other.yaml").write_text("kind: Service\n")
    assert console.run("render", "-", "--output-dir", tmp_path, "--prune", stdin=GRAPH).code == 0
    assert files(tmp_path)["README.md"] == "ours"
    assert files(tmp_path)["service_other.yaml"] == "kind: Service\n"
    (tmp_path / "service_chat-worker.yaml").write_text("kind: Service\n")
    before = files(tmp_path)
    done = console.run("render", "-", "--output-dir", tmp_path, stdin=GRAPH.replace("front:1", "front:2"))
    assert done.code == 1
    assert f"{tmp_path}/service_chat-worker.yaml was not written by krm-fn" in done.err
    assert files(tmp_path) == before


def test_files_of_an_earlier_render_are_named_and_pruned_on_request(tmp_path):
    console.run("render", "-", "--output-dir", tmp_path, stdin=GRAPH.replace("Worker:", "Engine:"))
    left = console.run("render", "-", "--output-dir", tmp_path, stdin=GRAPH)
    assert "no longer rendered, --prune removes them" in left.err
    assert "deployment_chat-engine.yaml service_chat-engine.yaml" in left.err
    assert "deployment_chat-engine.yaml" in files(tmp_path)
    gone = console.run("render", "-", "--output-dir", tmp_path, "--prune", stdin=GRAPH)
    assert "removed" in gone.err
    assert len(files(tmp_path)) == 8


@pytest.mark.parametrize(("reason", "path", "code"), [("a file", "file", 2), ("below a file", "file/out", 1)])
def test_a_folder_that_cannot_be_written(reason, path, code, tmp_path):
    (tmp_path / "file").write_text("")
    done = console.run("render", "-", "--output-dir", tmp_path / path, stdin=GRAPH)
    assert done.code == code
    assert "file" in done.err


def test_a_reader_that_leaves_early_is_no_crash(tmp_path):
    """`krm-fn render … | head -1`."""
    (tmp_path / "graph.yaml").write_text("---\n".join(GRAPH.replace("name: chat", f"name: chat{number}") for number in range(60)))
    done = console.program("render", "graph.yaml", folder=tmp_path, through="head -1")
    assert done.out == "apiVersion: v1\n"
    assert "Traceback" not in done.err


@pytest.mark.parametrize("seed", ["0", "1"])
def test_the_same_bytes_for_every_hash_seed(seed):
    assert console.program("render", "-", stdin=GRAPH, PYTHONHASHSEED=seed).out == console.run("render", "-", stdin=GRAPH).out


def test_text_beyond_ascii_is_printed_under_any_locale():
    text = PLAIN.replace("'yes'", "'Grüße, 世界'")
    done = console.program("render", "-", stdin=text, LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert read(done.out)[0]["data"]["a"] == "Grüße, 世界"
