"""`krm-fn check` finds entries of a Kustomization that change nothing, patches that change too much, and bases that do not exist."""

from __future__ import annotations

import pytest
import yaml

from tests.cli import console
from tests.repository.clones import codes
from tests.support.cases import cases

IMAGE = "nvcr.io/nvidia/ai-dynamo/vllm-runtime"
GRAPH = f"""\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {{name: search}}
spec:
  components:
  - name: Frontend
    type: frontend
    podTemplate: {{spec: {{containers: [{{name: main, image: "{IMAGE}:1.6.0"}}]}}}}
  - name: Worker
    type: worker
    podTemplate:
      spec:
        containers:
        - name: main
          image: {IMAGE}:1.6.0
          command: [python3, -m, dynamo.vllm]
          args: [--model, Qwen/Qwen3-0.6B]
          resources: {{limits: {{nvidia.com/gpu: "1"}}}}
"""
JSON = "- {op: replace, path: /spec/components/1/replicas, value: 2}\n"
MERGE = "apiVersion: nvidia.com/v1beta1\nkind: DynamoGraphDeployment\nmetadata: {name: search}\nspec:\n"
BASE = {"resources": ["graph.yaml"]}
ENTRIES = [
    # reason, layer, base, the last part of the message; empty for no finding
    ("a kind in the plural", {"patches": [{"target": {"kind": "DynamoGraphDeployments"}, "patch": JSON}]}, BASE, "DynamoGraphDeployment"),
    ("a name with a slip", {"patches": [{"target": {"name": "serach"}, "patch": JSON}]}, BASE, "search"),
    ("the older field", {"patchesJson6902": [{"target": {"name": "serach"}, "patch": JSON}]}, BASE, "search"),
    ("the name of the base", {"patches": [{"target": {"name": "search"}, "patch": JSON}]}, {**BASE, "namePrefix": "eu-"}, ""),
    ("the name after a prefix", {"patches": [{"target": {"name": "eu-search"}, "patch": JSON}]}, {**BASE, "namePrefix": "eu-"}, ""),
    ("a pattern", {"patches": [{"target": {"name": "sea.*"}, "patch": JSON}]}, BASE, ""),
    ("an object that another layer has", {"patches": [{"target": {"kind": "Deployment", "name": "web"}, "patch": JSON}]}, BASE, ""),
    ("the last part of an image", {"images": [{"name": "vllm-runtime", "newTag": "1.6.1"}]}, BASE, IMAGE),
    ("an image with a slip", {"images": [{"name": IMAGE.replace("runtime", "runtmie"), "newTag": "1.6.1"}]}, BASE, IMAGE),
    ("an image", {"images": [{"name": IMAGE, "newTag": "1.6.1"}]}, BASE, ""),
    ("an image that another layer has", {"images": [{"name": "nginx", "newTag": "1"}]}, BASE, ""),
    (
        "an image with the name of the base",
        {"images": [{"name": "registry.example/vllm-runtime", "newTag": "1.6.1"}]},
        {**BASE, "images": [{"name": IMAGE, "newName": "registry.example/vllm-runtime"}]},
        "",
    ),
    ("a component", {"kind": "Component", "images": [{"name": "vllm-runtime", "newTag": "1.6.1"}]}, BASE, ""),
]


@cases(("layer", "base", "name"), ENTRIES)
def test_an_entry_without_an_effect(clone, layer, base, name):
    is_component = layer.get("kind") == "Component"
    clone.put({"base/graph.yaml": GRAPH, "base/kustomization.yaml": yaml.safe_dump(base)})
    clone.put({"prod/kustomization.yaml": yaml.safe_dump({"resources": [] if is_component else ["../base"], **layer})})
    if is_component:
        clone.put({"app/kustomization.yaml": "resources: [../base]\ncomponents: [../prod]\n"})
    output = console.run("check").out
    assert ("DYN590" in output, f"; write {name}\n" in output) == (bool(name), bool(name)), output


@pytest.mark.parametrize("names", [["Worker"], ["Frontend", "Worker"]], ids=["one component", "all components"])
def test_a_patch_that_replaces_the_list_of_components(clone, names):
    components = [{"name": name, "replicas": 2} for name in names]
    patch = MERGE + f"  components: {components}\n"
    clone.put({"graph.yaml": GRAPH, "kustomization.yaml": yaml.safe_dump({**BASE, "patches": [{"patch": patch}]})})
    output = console.run("check").out
    assert ("DYN591" in output, "loses Frontend;" in output) == (len(names) == 1, len(names) == 1), output


def test_a_patch_with_the_schema_of_components(clone):
    schema = console.run("schema", "--for", "kustomize").out
    patch = MERGE + "  components: [{name: Worker, replicas: 2}]\n"
    layer = {**BASE, "openapi": {"path": "openapi.json"}, "patches": [{"patch": patch}]}
    clone.put({"graph.yaml": GRAPH, "openapi.json": schema, "kustomization.yaml": yaml.safe_dump(layer)})
    assert "DYN591" not in console.run("check").out


def test_a_base_that_does_not_exist(clone):
    """The other root has its base, and a root of other objects may have paths that a script makes."""
    clone.put({"base/graph.yaml": GRAPH, "base/kustomization.yaml": yaml.safe_dump(BASE)})
    clone.put({"overlays/eu/kustomization.yaml": "resources: [../../base]\n"})
    clone.put({"overlays/us/kustomization.yaml": "resources: [../base]\n"})
    done = console.run("check")
    assert (done.code, "overlays/us/kustomization.yaml:1:13: error DYN593" in done.out) == (1, True), done.out
    clone.put({"overlays/us/kustomization.yaml": "resources: [../made]\n"})
    assert codes(console.run("check")) == []
