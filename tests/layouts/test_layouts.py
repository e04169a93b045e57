"""The kustomize layouts of examples/ with the real kustomize: changes of overlays reach the output, and references stay right."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.support import beta, build_checks, builds, golden
from tests.support.cases import cases

LAYOUTS = [recording for recording in golden.recordings() if recording.name.startswith("layout-")]


@pytest.fixture
def examples(tmp_path):
    """A copy of examples/."""
    return shutil.copytree(golden.EXAMPLES, tmp_path / "examples")


def test_every_kustomize_layout_is_here():
    assert {recording.name for recording in LAYOUTS} >= {
        *("layout-a-overlays-staging", "layout-a-overlays-prod", "layout-a-overlays-prod-tuned"),
        *("layout-b-component-staging", "layout-b-component-prod", "layout-c-generator"),
    }


@pytest.mark.parametrize("recording", LAYOUTS, ids=lambda recording: recording.name)
def test_the_build_is_as_recorded_and_nothing_lies(recording, kustomize):
    printed = golden.output(recording)
    assert printed == recording.expected.read_text()
    build_checks.assert_fit(build_checks.read(printed))
    build_checks.assert_nothing_lies(build_checks.read(printed))
    assert builds.check(build_checks.read(printed)).returncode == 0


A, B, C = "layout-a-overlays", "layout-b-component", "layout-c-generator"
VLLM, SGLANG = "nvcr.io/nvidia/ai-dynamo/vllm-runtime", "nvcr.io/nvidia/ai-dynamo/sglang-runtime"
MAIN, POD, LABELS = "spec/template/spec/containers/0", "spec/template/spec", "spec/template/metadata/labels"
ARRIVED = [
    ("A: namespace and prefix", f"{A}/staging", "Deployment/staging-chat-worker/metadata/namespace", "staging"),
    ("A: labels", f"{A}/prod", "DynamoGraphDeployment/prod-chat/metadata/labels/team", "assistants"),
    ("A: a patch of the graph", f"{A}/staging", f"Deployment/staging-chat-worker/{MAIN}/args/1", "Qwen/Qwen3-0.6B"),
    ("A: images", f"{A}/prod", f"Deployment/prod-chat-worker/{MAIN}/image", f"{VLLM}:1.6.2"),
    ("A: replicas", f"{A}/prod", "Deployment/prod-chat-frontend/spec/replicas", 3),
    ("A: replicas of an autoscaler", f"{A}/prod", "DynamoGraphDeployment/prod-chat/spec/components/1/replicas", 8),
    ("A: settings", f"{A}/prod", "Ingress/prod-chat-frontend/spec/rules/0/host", "prod-chat.chat.example.com"),
    ("A: replicas around", f"{A}/prod-tuned", "Deployment/prod-chat-frontend/spec/replicas", 5),
    ("A: labels around", f"{A}/prod-tuned", f"Deployment/prod-chat-worker/{LABELS}/cost-center", "4711"),
    ("A: patches around", f"{A}/prod-tuned", f"Deployment/prod-chat-worker/{POD}/priorityClassName", "serving"),
    ("B: namespace and prefix", f"{B}/prod", "RoleBinding/prod-chat-k8s-service-discovery-binding/metadata/namespace", "prod"),
    ("B: a patch of the graph", f"{B}/prod", f"Deployment/prod-chat-worker/{MAIN}/args/1", "Qwen/Qwen3-32B"),
    ("B: images", f"{B}/prod", f"Deployment/prod-chat-worker/{MAIN}/image", f"{SGLANG}:1.6.2"),
    ("B: replicas", f"{B}/prod", "Deployment/prod-chat-worker/spec/replicas", 6),
    ("B: labels", f"{B}/prod", f"Deployment/prod-chat-worker/{LABELS}/team", "assistants"),
    ("B: patches", f"{B}/prod", f"Deployment/prod-chat-worker/{POD}/nodeSelector/pool", "gpu"),
    ("B: settings", f"{B}/staging", f"Deployment/staging-chat-worker/{POD}/imagePullSecrets/0/name", "ngc-registry"),
    ("C: replicas", C, "Deployment/prod-chat-worker/spec/replicas", 8),
    ("C: labels", C, f"Deployment/prod-chat-worker/{LABELS}/team", "assistants"),
    ("C: patches", C, f"Deployment/prod-chat-worker/{POD}/nodeSelector/pool", "gpu"),
    ("C: settings", C, "Ingress/prod-chat-frontend/spec/rules/0/host", "prod-chat.example.com"),
]


@cases(("reason", "folder", "path", "value"), ARRIVED)
def test_what_an_overlay_says_arrives(reason, folder, path, value, kustomize):
    kind, name, inner = path.split("/", 2)
    assert builds.reach(builds.find(builds.kustomize(golden.EXAMPLES / folder), kind, name), inner) == value


def test_hashed_names_of_config_maps_reach_the_pods_of_a_generator(kustomize):
    """kustomize rewrites references in the output of its generators (layout C)."""
    objects = builds.kustomize(golden.EXAMPLES / "layout-c-generator")
    (config_map,) = [each for each in objects if each["kind"] == "ConfigMap"]
    assert config_map["metadata"]["name"] != "logging"
    variables = builds.reach(builds.find(objects, "Deployment", "prod-chat-worker"), f"{MAIN}/env")
    (variable,) = [each for each in variables if each["name"] == "DYN_LOGGING_CONFIG"]
    assert variable["valueFrom"]["configMapKeyRef"]["name"] == config_map["metadata"]["name"]


BASES = (f"{A}/prod", f"{B}/prod", C)
AROUND = [
    ("a namespace moves the generated objects", {"namespace": "elsewhere"}, "namespace"),
    ("a prefix renames the generated objects", {"namePrefix": "eu-"}, "namePrefix"),
    ("a suffix renames the generated objects", {"nameSuffix": "-v2"}, "changed the name of generated objects"),
]
HARMLESS = [
    ("images", {"images": [{"name": VLLM, "newTag": "1.1.0"}, {"name": SGLANG, "newTag": "1.1.0"}]}),
    ("labels", {"labels": [{"pairs": {"env": "prod"}, "includeTemplates": True}]}),
    ("labels in selectors too", {"labels": [{"pairs": {"env": "prod"}, "includeSelectors": True}]}),
    ("annotations", {"commonAnnotations": {"contact": "team@example.com"}}),
    ("replicas", {"replicas": [{"name": "prod-chat-frontend", "count": 9}]}),
    ("the same namespace", {"namespace": "prod"}),
    (
        "a patch",
        {"patches": [{"target": {"kind": "Deployment"}, "patch": '[{"op": "add", "path": "/spec/minReadySeconds", "value": 5}]'}]},
    ),
]


@pytest.mark.parametrize("base", BASES)
@cases(("reason", "settings", "said"), AROUND)
def test_a_layer_that_breaks_the_build_is_found(reason, settings, said, base, examples, kustomize):
    objects = builds.kustomize(builds.layer(examples / "around", base, **settings))
    assert [*build_checks.lies(objects)]
    found = builds.check(objects)
    assert found.returncode == 1
    assert said in found.stdout + found.stderr
    assert "transformers of the outermost layer" in found.stdout + found.stderr


@pytest.mark.parametrize("base", BASES)
@cases(("reason", "settings"), HARMLESS)
def test_a_layer_that_breaks_nothing_passes(reason, settings, base, examples, kustomize):
    objects = builds.kustomize(builds.layer(examples / "around", base, **settings))
    build_checks.assert_fit(objects)
    build_checks.assert_nothing_lies(objects)
    found = builds.check(objects)
    assert found.returncode == 0, found.stdout + found.stderr


def test_a_component_whose_own_layer_sets_the_namespace_is_found(kustomize):
    """The wrong use of layout B (examples/layout-b-component/broken)."""
    objects = builds.kustomize(golden.EXAMPLES / "layout-b-component" / "broken")
    assert [*build_checks.lies(objects)]
    found = builds.check(objects)
    assert found.returncode == 1
    assert "transformers of the outermost layer" in found.stdout + found.stderr


SOURCE = [
    ("keep: the graph is in the output", "keep", True),
    ("local: kustomize omits the graph", "local", False),
    ("drop: the function removes the graph", "drop", False),
]


@cases(("reason", "source", "there"), SOURCE)
def test_the_graph_of_a_generator(reason, source, there, examples, kustomize):
    folder = examples / "layout-c-generator"
    builds.edit(folder / "graph.yaml", lambda graph: graph["metadata"]["annotations"].update({"config.dynamo.krm-fn.io/source": source}))
    objects = builds.kustomize(folder)
    assert any(each["kind"] == "Deployment" for each in objects)
    graphs = [each for each in objects if each["kind"] == "DynamoGraphDeployment"]
    assert bool(graphs) is there
    for graph in graphs:
        assert not {"config.kubernetes.io/function", "config.kubernetes.io/local-config"} & graph["metadata"]["annotations"].keys()
        assert graph["metadata"]["annotations"]["dynamo.krm-fn.io/workloads"]


@cases(("reason", "source", "there"), SOURCE)
def test_the_graph_of_a_transformer(reason, source, there, examples, kustomize):
    folder = examples / "layout-a-overlays" / "prod"
    builds.edit(folder / "render.yaml", lambda render: render["spec"].update(source=source))
    objects = builds.kustomize(folder)
    assert any(each["kind"] == "Deployment" for each in objects)
    assert any(each["kind"] == "DynamoGraphDeployment" for each in objects) is there


def test_an_error_stops_the_build_with_our_words(examples, kustomize):
    folder = examples / "layout-a-overlays"
    builds.edit(folder / "base" / "graph.yaml", lambda graph: beta.named(graph, "Worker").update(replicas="two"))
    builds.edit(folder / "prod" / "scale.yaml", lambda patches: patches.pop())
    with pytest.raises(subprocess.CalledProcessError) as stopped:
        builds.kustomize(folder / "prod")
    assert "spec.components[1].replicas" in stopped.value.stderr
    assert stopped.value.stdout == ""
