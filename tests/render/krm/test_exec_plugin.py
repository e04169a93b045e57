"""kustomize's legacy exec plugins, which the kustomize inside kubectl can run without containers."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from io import BytesIO, StringIO

import pytest
import yaml

from krm_fn.render.krm import exec_plugin
from tests.support import beta, build_checks, builds, golden
from tests.support.cases import cases

LAYOUT = golden.EXAMPLES / "layout-f-legacy"
CONFIG = {"apiVersion": "dynamo.krm-fn.io/v1alpha1", "kind": "DynamoRender", "metadata": {"name": "render"}}
GRAPH = {
    "apiVersion": "nvidia.com/v1alpha1",
    "kind": "DynamoGraphDeployment",
    "metadata": {"name": "llm", "namespace": "prod"},
    "spec": {
        "services": {"Frontend": {"componentType": "frontend", "extraPodSpec": {"mainContainer": {"image": "example.com/dynamo:1.5.0"}}}}
    },
}
SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "mine", "namespace": "prod"}}


def run(tmp_path, settings, *resources, raw=None):
    """Exit code, objects on stdout, and stderr."""
    file = tmp_path / "settings"
    file.write_text(settings if isinstance(settings, str) else yaml.safe_dump(settings))
    stdin = BytesIO(raw if raw is not None else yaml.safe_dump_all(resources).encode())
    stdout, stderr = BytesIO(), StringIO()
    code = exec_plugin.run(str(file), stdin, stdout, stderr)
    return code, build_checks.read(stdout.getvalue().decode()), stderr.getvalue()


def test_a_transformer_gives_all_resources_back(tmp_path):
    code, objects, said = run(tmp_path, CONFIG | {"spec": {"natsAddress": "nats://nats:4222"}}, SERVICE, GRAPH)
    assert (code, said) == (0, "")
    assert objects[0] == SERVICE
    environment = builds.reach(builds.find(objects, "Deployment", "llm-frontend"), "spec/template/spec/containers/0/env")
    assert {"name": "NATS_SERVER", "value": "nats://nats:4222"} in environment
    assert builds.find(objects, "DynamoGraphDeployment", "llm")
    assert not [each for each in objects if each["kind"] == "DynamoRender"]


def test_a_generator_is_its_own_settings(tmp_path):
    metadata = {"name": "llm", "namespace": "prod", "annotations": {"config.dynamo.krm-fn.io/natsAddress": "nats://nats:4222"}}
    code, objects, said = run(tmp_path, GRAPH | {"metadata": metadata})
    assert (code, said) == (0, "")
    assert builds.find(objects, "DynamoGraphDeployment", "llm")
    environment = builds.reach(builds.find(objects, "Deployment", "llm-frontend"), "spec/template/spec/containers/0/env")
    assert {"name": "NATS_SERVER", "value": "nats://nats:4222"} in environment


def test_twice_is_once(tmp_path):
    _, once, _ = run(tmp_path, CONFIG, SERVICE, GRAPH)
    assert run(tmp_path, CONFIG, *once) == (0, once, "")


def test_resources_without_a_graph_pass(tmp_path):
    assert run(tmp_path, CONFIG, SERVICE) == (0, [SERVICE], "")


def test_warnings_are_said_and_stop_nothing(tmp_path):
    code, objects, said = run(tmp_path, CONFIG, GRAPH | {"metadata": {"name": "llm"}})
    assert code == 0
    assert objects
    assert "DYN057" in said


REFUSED = [
    # reason, settings, stdin, words in the message
    ("a mistake in a graph", CONFIG, yaml.safe_dump(GRAPH | {"spec": {"services": []}}).encode(), "DYN021 spec.services"),
    ("a mistake in the settings", CONFIG | {"spec": {"natsAdress": "x"}}, yaml.safe_dump(GRAPH).encode(), "DYN023 spec.natsAdress"),
    ("not YAML", CONFIG, b"a: [", "DYN004"),
    ("not UTF-8", CONFIG, b"a: \xff", "DYN002"),
    ("a document that is not a resource", CONFIG, b"- a\n", "DYN014"),
    ("a document without a name", CONFIG, b"kind: Service\napiVersion: v1\n", "DYN015"),
    ("two documents of one identity", CONFIG, yaml.safe_dump_all([SERVICE, SERVICE]).encode(), "DYN016"),
    ("a ResourceList", CONFIG, b"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n", "without arguments"),
    ("a transformer's settings under generators", CONFIG, b"", "DYN001"),
    ("comments only", CONFIG, b"# nothing\n---\n", "DYN001"),
    ("settings that are not YAML", "a: [", yaml.safe_dump(GRAPH).encode(), "DYN004"),
    ("settings that are a list", "[]", yaml.safe_dump(GRAPH).encode(), "DYN018"),
    ("settings in two documents", "a: 1\n---\nb: 1\n", yaml.safe_dump(GRAPH).encode(), "DYN018"),
    ("empty settings", "", yaml.safe_dump(GRAPH).encode(), "DYN018"),
    ("settings of another kind", SERVICE, yaml.safe_dump(GRAPH).encode(), "DYN040"),
]


@cases(("settings", "raw", "words"), REFUSED)
def test_an_error_leaves_stdout_empty(settings, raw, words, tmp_path):
    code, objects, said = run(tmp_path, settings, raw=raw)
    assert (code, objects) == (1, [])
    assert words in said
    assert "DYN019" not in said


def test_all_errors_are_said_at_once(tmp_path):
    _, _, said = run(tmp_path, CONFIG | {"spec": {"natsAdress": "x"}}, GRAPH | {"spec": {"services": []}}, SERVICE, SERVICE)
    assert {"DYN023", "DYN021", "DYN016"} <= {*said.split()}


def command(*arguments, text="", folder=None):
    asks = [sys.executable, "-m", "krm_fn", *map(str, arguments)]
    return subprocess.run(asks, input=text, capture_output=True, text=True, check=False, timeout=300, cwd=folder)


@pytest.fixture
def settings(tmp_path):
    """The absolute path of a settings file, as kustomize passes it."""
    file = tmp_path / "settings"
    file.write_text(yaml.safe_dump(CONFIG))
    return file


def test_the_full_path_of_a_file_makes_a_plugin(settings):
    done = command(settings, text=yaml.safe_dump(GRAPH))
    assert (done.returncode, done.stderr) == (0, "")
    assert "kind: Deployment" in done.stdout


COMMANDS = [
    ("a file beside it", ["settings"]),
    ("a file with more arguments", ["{}", "more"]),
    ("a file that is not there", ["{}.not"]),
    ("a folder", ["/"]),
]


@cases("arguments", COMMANDS)
def test_anything_else_is_a_command(arguments, settings):
    done = command(*(each.format(settings) for each in arguments), text=yaml.safe_dump(GRAPH), folder=settings.parent)
    assert (done.returncode, done.stdout) == (2, "")
    assert "No such command" in done.stderr


def test_a_person_who_names_a_file_is_told_of_the_commands(settings):
    """On a terminal the command exits with an error, and does not wait for stdin."""
    theirs, ours = pty.openpty()
    try:
        asks = [sys.executable, "-m", "krm_fn", str(settings)]
        done = subprocess.run(asks, stdin=ours, capture_output=True, text=True, check=False, timeout=300)
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 2
    assert "No such command" in done.stderr


def test_a_plugin_imports_no_more_than_the_function(settings):
    asks = [sys.executable, "-X", "importtime", "-m", "krm_fn", str(settings)]
    said = subprocess.run(asks, input=yaml.safe_dump(GRAPH), capture_output=True, text=True, check=True, timeout=300).stderr
    modules = {line.rpartition("|")[2].strip() for line in said.splitlines()}
    assert "krm_fn.render.krm.exec_plugin" in modules
    assert not {"click", "pydantic", "pathlib", "subprocess", "tempfile", "dataclasses", "inspect"} & modules


@pytest.fixture
def layout(tmp_path):
    """A copy of layout F, and a plugin folder with links to our command."""
    for kind in ("dynamo.krm-fn.io/v1alpha1/dynamorender/DynamoRender", "nvidia.com/v1beta1/dynamographdeployment/DynamoGraphDeployment"):
        (tmp_path / "plugins" / kind).parent.mkdir(parents=True)
        (tmp_path / "plugins" / kind).symlink_to(builds.COMMAND)
    return shutil.copytree(LAYOUT, tmp_path / "layout")


def kustomize(kubectl, folder, *flags):
    environment = {**os.environ, "KUSTOMIZE_PLUGIN_HOME": str(folder.parents[1] / "plugins")}
    asks = [kubectl, "kustomize", *flags, str(folder)]
    return subprocess.run(asks, env=environment, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize("overlay", ["prod", "generator"])
def test_kubectl_builds_the_layout_and_nothing_lies(overlay, layout, kubectl):
    built = kustomize(kubectl, layout / overlay, "--enable-alpha-plugins")
    assert (built.returncode, built.stderr) == (0, "")
    objects = build_checks.read(built.stdout)
    assert [each for each in objects if each["kind"] == "Deployment"]
    build_checks.assert_fit(objects)
    build_checks.assert_nothing_lies(objects)
    assert built.stdout == (LAYOUT / f"expected-{overlay}.yaml").read_text()


def test_kubectl_shows_our_error_and_builds_nothing(layout, kubectl):
    builds.edit(layout / "base" / "graph.yaml", lambda graph: beta.named(graph, "Worker").update(replcas=2))
    built = kustomize(kubectl, layout / "prod", "--enable-alpha-plugins")
    assert (built.returncode, built.stdout) == (1, "")
    assert "DYN023 spec.components[1].replcas: unknown field; write replicas" in built.stderr


def test_kubectl_without_the_flag_refuses(layout, kubectl):
    built = kustomize(kubectl, layout / "prod")
    assert built.returncode == 1
    assert "external plugins disabled" in built.stderr
