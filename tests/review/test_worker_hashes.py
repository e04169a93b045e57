"""A layer around the function that sets images, as the real kustomize applies it to workloads and graphs."""

from __future__ import annotations

import subprocess

import pytest
import yaml

from krm_fn.render.config import Config
from krm_fn.render.expand import expand
from krm_fn.review import finished_builds
from tests.support import given
from tests.support.cases import cases

RUNTIME = "nvcr.io/nvidia/ai-dynamo/vllm-runtime"
DIGEST = "sha256:" + "a" * 64
NODES = {"multinode": {"nodeCount": 2}, "resources": {"limits": {"gpu": "1"}}}


def v1alpha1(**fields):
    main = {"image": f"{RUNTIME}:1.5.1", "command": ["sh", "-c"], "args": ["python3 -m dynamo.vllm --model m"]}
    worker = given.service("worker", main=main, scalingAdapter={"enabled": True}, **fields)
    frontend = given.service("frontend", main={"image": f"{RUNTIME}:1.5.1"})
    return given.graph({"Frontend": frontend, "Worker": worker}, name="chat", namespace="team")


def v1beta1():
    components = [
        {"name": name, "type": name.lower(), "podTemplate": {"spec": {"containers": [{"name": "main", "image": f"{RUNTIME}:1.5.1"}]}}}
        for name in ("Frontend", "Worker")
    ]
    components[1]["scalingAdapter"] = {}
    metadata = {"name": "chat", "namespace": "team"}
    return {"apiVersion": "nvidia.com/v1beta1", "kind": "DynamoGraphDeployment", "metadata": metadata, "spec": {"components": components}}


@pytest.fixture
def layer(kustomize, tmp_path):
    """Builds rendered objects with a layer that sets images."""

    def built(objects, **image):
        (tmp_path / "objects.yaml").write_text(yaml.safe_dump_all(objects))
        images = [{"name": RUNTIME, **image}] if image else []
        (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump({"resources": ["objects.yaml"], "images": images}))
        text = subprocess.run([kustomize, "build", tmp_path], capture_output=True, text=True, check=True).stdout
        return list(yaml.safe_load_all(text))

    return built


GRAPHS = [
    ("v1beta1, whose images the layer changes too", v1beta1(), {}, "Deployment"),
    ("v1alpha1, whose images it does not change", v1alpha1(), {}, "Deployment"),
    ("a group of pods", v1alpha1(**NODES), {}, "LeaderWorkerSet"),
    ("Grove", v1alpha1(), {"orchestrator": "grove"}, "PodCliqueSet"),
]


@cases(("graph", "settings", "kind"), GRAPHS)
def test_an_image_of_a_later_layer_is_not_in_the_worker_hash(layer, graph, settings, kind):
    """Old and new workers would have one hash. Without another image, the build has no finding."""
    config = Config(behaviour="v1.5", **settings)
    objects = expand([graph], config).resources
    assert [*finished_builds.check(layer(objects), Config())] == []
    (finding,) = finished_builds.check(layer(objects, newTag="1.5.2"), Config())
    assert finding.ref
    assert (finding.code, finding.severity, finding.ref.kind) == ("DYN503", "warning", kind)
    assert "make the change in the graph, in the layer with the function or in one before it" in finding.message


def test_a_mirror_has_the_same_image(layer):
    objects = expand([v1alpha1()], Config(behaviour="v1.5")).resources
    assert [*finished_builds.check(layer(objects, newName="registry.example/mirror/vllm-runtime"), Config())] == []


def test_a_digest_alone_hides_the_version(layer):
    """The message names the way to keep it. The objects of the graph with the error, its adapter among them, have no finding."""
    objects = expand([v1beta1()], Config()).resources
    findings = expand(layer(objects, digest=DIGEST), Config()).results
    assert {finding.code for finding in findings} == {"DYN451"}
    assert all("newTag beside digest under images" in finding.message for finding in findings)
    with_tag = expand(layer(objects, newTag="1.5.1", digest=DIGEST), Config()).results
    assert [finding.code for finding in with_tag if finding.severity == "error"] == []
