"""`krm-fn check` finds entries of a Kustomization that change nothing, patches that change too much, and bases that do not exist."""

from __future__ import annotations

import re

import pytest
import yaml

from tests.cli import console
from tests.repository.clones import FUNCTION, codes
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
CLAIM = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: weights}\nspec: {accessModes: [ReadWriteMany]}\n"
JSON = "- {op: replace, path: /spec/components/1/replicas, value: 2}\n"
MERGE = "apiVersion: nvidia.com/v1beta1\nkind: DynamoGraphDeployment\nmetadata: {name: search}\nspec:\n"
BASE = {"resources": ["graph.yaml"]}
GRAPH_KIND = {"kind": "DynamoGraphDeployment"}


def replacing(kind: str) -> list[dict[str, object]]:
    """A replacement of a field of the graph whose target selects a kind."""
    source = {"kind": "PersistentVolumeClaim", "name": "weights", "fieldPath": "metadata.name"}
    path = "spec.components.[name=Worker].podTemplate.spec.containers.[name=main].workingDir"
    return [{"source": source, "targets": [{"select": {"kind": kind}, "fieldPaths": [path], "options": {"create": True}}]}]


def errors_of(done):
    return re.findall(r"error (DYN[0-9]{3})", done.out)


ENTRIES = [
    # reason, layer, base, the last part of the message; empty for no finding
    ("a kind in the plural", {"patches": [{"target": {"kind": "DynamoGraphDeployments"}, "patch": JSON}]}, BASE, "DynamoGraphDeployment"),
    ("a name with a slip", {"patches": [{"target": {"name": "serach"}, "patch": JSON}]}, BASE, "search"),
    ("the older field", {"patchesJson6902": [{"target": {"name": "serach"}, "patch": JSON}]}, BASE, "search"),
    ("the name of the base", {"patches": [{"target": {"name": "search"}, "patch": JSON}]}, {**BASE, "namePrefix": "eu-"}, ""),
    ("the name after a prefix", {"patches": [{"target": {"name": "eu-search"}, "patch": JSON}]}, {**BASE, "namePrefix": "eu-"}, ""),
    (
        "the only graph has another name",
        {"patches": [{"target": {"kind": "DynamoGraphDeployment", "name": "find-prod"}, "patch": JSON}]},
        BASE,
        "search",
    ),
    (
        "the only graph has another name, and krm-fn runs in the layer",
        {"patches": [{"target": {"kind": "DynamoGraphDeployment", "name": "find-prod"}, "patch": JSON}], "transformers": ["render.yaml"]},
        BASE,
        "search",
    ),
    (
        "a graph that a chart can have",
        {"patches": [{"target": {"kind": "DynamoGraphDeployment", "name": "find-prod"}, "patch": JSON}]},
        {**BASE, "transformers": ["rename.yaml"]},
        "",
    ),
    (
        "the only claim has another name",
        {"patches": [{"target": {"kind": "PersistentVolumeClaim", "name": "cache"}, "patch": JSON}]},
        {"resources": ["graph.yaml", "claim.yaml"]},
        "weights",
    ),
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
    ("an image with its tag", {"images": [{"name": f"{IMAGE}:1.5.0", "newTag": "1.6.1"}]}, BASE, IMAGE),
    ("the tag that the image has", {"images": [{"name": f"{IMAGE}:1.6.0", "newTag": "1.6.1"}]}, BASE, ""),
    (
        "the kind of a generated object",
        {"patches": [{"target": {"kind": "Deployment", "name": "sea.*"}, "patch": JSON}]},
        BASE,
        "DynamoGraphDeployment",
    ),
    ("the other version", {"patches": [{"target": {**GRAPH_KIND, "version": "v1alpha1"}, "patch": JSON}]}, BASE, "v1beta1"),
    (
        "the version in the group",
        {"patches": [{"target": {**GRAPH_KIND, "group": "nvidia.com/v1beta1"}, "patch": JSON}]},
        BASE,
        "nvidia.com",
    ),
    ("the version", {"patches": [{"target": {**GRAPH_KIND, "group": "nvidia.com", "version": "v1beta1"}, "patch": JSON}]}, BASE, ""),
    (
        "a replacement in another kind",
        {"replacements": replacing("Deployment")},
        {"resources": ["graph.yaml", "claim.yaml"]},
        GRAPH_KIND["kind"],
    ),
    ("a replacement in a graph", {"replacements": replacing("DynamoGraphDeployment")}, {"resources": ["graph.yaml", "claim.yaml"]}, ""),
    ("a component", {"kind": "Component", "images": [{"name": "vllm-runtime", "newTag": "1.6.1"}]}, BASE, ""),
]


@cases(("layer", "base", "name"), ENTRIES)
def test_an_entry_without_an_effect(clone, layer, base, name):
    is_component = layer.get("kind") == "Component"
    clone.put({"base/graph.yaml": GRAPH, "base/claim.yaml": CLAIM, "base/kustomization.yaml": yaml.safe_dump(base)})
    clone.put(
        {
            "prod/kustomization.yaml": yaml.safe_dump({"resources": [] if is_component else ["../base"], **layer}),
            "prod/render.yaml": FUNCTION,
        }
    )
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


@pytest.mark.parametrize("name", ["search", "sea.*", ""], ids=["the name", "a pattern", "the kind alone"])
def test_such_a_patch_with_a_target(clone, name):
    """kustomize then reads no name in the patch."""
    target = {"kind": "DynamoGraphDeployment", **({"name": name} if name else {})}
    patch = MERGE.replace("search", "any") + "  components: [{name: Worker, replicas: 2}]\n"
    clone.put({"graph.yaml": GRAPH, "fix.yaml": patch})
    for entry in ({"patch": patch}, {"path": "fix.yaml"}):
        clone.put({"kustomization.yaml": yaml.safe_dump({**BASE, "patches": [{**entry, "target": target}]})})
        done = console.run("check")
        assert (errors_of(done), "loses Frontend;" in done.out) == (["DYN591"], True), done.out


def test_a_part_of_a_component_is_an_error(clone):
    """The patch causes what a list without images lacks, so its finding has the severity, and the base has none."""
    patch = MERGE + "  components: [{name: Worker, replicas: 2}]\n"
    clone.put({"graph.yaml": GRAPH, "kustomization.yaml": yaml.safe_dump({**BASE, "patches": [{"patch": patch}]})})
    done = console.run("check")
    assert (done.code, errors_of(done)) == (1, ["DYN591"]), done.out
    whole = yaml.safe_load(GRAPH)["spec"]["components"][1:]
    patch = MERGE + f"  components: {whole}\n"
    clone.put({"kustomization.yaml": yaml.safe_dump({**BASE, "patches": [{"patch": patch}]})})
    done = console.run("check")
    assert (errors_of(done), "warning DYN591" in done.out) == ([], True), done.out


SERVICES = f"""\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {{name: search}}
spec:
  services:
    Frontend:
      componentType: frontend
      extraPodSpec: {{mainContainer: {{image: "{IMAGE}:1.6.0"}}}}
    VllmWorker:
      componentType: worker
      extraPodSpec:
        mainContainer: {{image: "{IMAGE}:1.6.0", command: [python3, -m, dynamo.vllm], args: [--model, Qwen/Qwen3-0.6B]}}
"""
MAIN = {"extraPodSpec": {"mainContainer": {"image": f"{IMAGE}:1.6.0"}}}
SLIPS = [
    # reason, the name and the fields of a service in a patch, the codes of errors
    ("another case", "VLLMWorker", {"replicas": 2}, ["DYN591"]),
    ("a word less", "Worker", {"replicas": 2}, ["DYN591"]),
    ("the name of the base", "VllmWorker", {"replicas": 2}, []),
    ("a new service", "VllmWorkers", {"componentType": "worker", **MAIN}, []),
    ("another name without an image", "Planner", {"replicas": 2}, ["DYN591"]),
    ("two whole services whose names collide", "VLLMWorker", {"componentType": "worker", **MAIN}, ["DYN101"]),
]


@cases(("name", "fields", "errors"), SLIPS)
def test_a_patch_that_adds_a_service_by_a_slip(clone, name, fields, errors):
    """What the new service lacks, and its collision with the one of the base, are consequences."""
    patch = MERGE.replace("v1beta1", "v1alpha1") + f"  services: {{{name}: {fields}}}\n"
    clone.put({"base/graph.yaml": SERVICES, "base/kustomization.yaml": "resources: [graph.yaml]\n"})
    clone.put({"prod/fix.yaml": patch, "prod/kustomization.yaml": "resources: [../base]\npatches: [{path: fix.yaml}]\n"})
    done = console.run("check")
    assert errors_of(done) == errors, done.out
    remedy = "; write one of Frontend, VllmWorker" if name == "Planner" else "; write VllmWorker"
    assert ("prod/fix.yaml:5:" in done.out, remedy in done.out) == ("DYN591" in errors,) * 2, done.out


@pytest.mark.parametrize("words", [["check", "--old", "HEAD"], ["diff", "--old", "HEAD"]], ids=["check", "diff"])
def test_a_renamed_component_that_a_patch_still_names_changes_no_other_component(clone, words):
    """The patch adds a component at the beginning of the list, so each place has another one than before."""
    schema = console.run("schema", "--for", "kustomize").out
    patch = MERGE + "  components: [{name: Worker, replicas: 2}]\n"
    layer = "namespace: team\nresources: [../base]\npatches: [{path: fix.yaml}]\ntransformers: [render.yaml]\nopenapi: {path: s.json}\n"
    clone.put({"base/graph.yaml": GRAPH, "base/kustomization.yaml": "resources: [graph.yaml]\n"})
    clone.put({"kustomization.yaml": layer, "fix.yaml": patch, "render.yaml": FUNCTION, "s.json": schema}, "prod").commit()
    clone.put({"base/graph.yaml": GRAPH.replace("name: Worker", "name: Engine")})
    output = console.run(*words).out
    assert ("DYN591" in output, [code for code in ("DYN402", "DYN484") if code in output]) == (True, []), output


PATCHES = [
    # reason, the component of the patch, true if the layer has the schema of components, what the finding says
    ("a slip", "Wroker", True, "prod/fix.yaml:5:16: error DYN591 spec.components[0]: this patch adds Wroker as a new component"),
    ("another name", "Encoder", True, "the base has no component of this name; write one of Frontend, Worker"),
    ("no schema", "Worker", False, "prod/fix.yaml:5:3: error DYN591 spec.components: this patch replaces the whole list of components"),
]


@cases(("name", "has_schema", "message"), PATCHES)
def test_a_patch_before_the_function(clone, name, has_schema, message):
    """The function makes the build fail, and the patch is the cause: the base, which is right, has no finding."""
    schema = console.run("schema", "--for", "kustomize").out
    layer = {"resources": ["../base"], "patches": [{"path": "fix.yaml"}], "transformers": ["render.yaml"]}
    layer |= {"openapi": {"path": "openapi.json"}} if has_schema else {}
    clone.put({"base/graph.yaml": GRAPH, "base/kustomization.yaml": yaml.safe_dump(BASE), "prod/openapi.json": schema})
    clone.put({"prod/fix.yaml": MERGE + f"  components: [{{name: {name}, replicas: 2}}]\n", "prod/render.yaml": FUNCTION})
    clone.put({"prod/kustomization.yaml": yaml.safe_dump(layer)})
    done = console.run("check")
    assert (done.code, errors_of(done)) == (1, ["DYN591"]), done.out
    assert message in done.out


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
    assert done.out.partition("DYN593")[2].partition("\n")[0].endswith("; write ../../base")
    clone.put({"overlays/us/kustomization.yaml": "resources: [../made]\n"})
    assert codes(console.run("check")) == []


WORDS = [
    # reason, the operations of a patch on [--model, Qwen/Qwen3-0.6B, --max-model-len, "8192"], the number of errors, the flag that is named
    ("the index of a flag", [("replace", "2", "4096")], 1, "--max-model-len"),
    ("the index of the value", [("replace", "3", "4096")], 0, ""),
    ("an entry that is added before a flag", [("add", "2", "4096")], 1, ""),
    ("another flag", [("replace", "2", "--max-num-seqs")], 0, ""),
]


@cases(("operations", "errors", "flag"), WORDS)
def test_a_patch_that_replaces_a_flag(clone, operations, errors, flag):
    """The value of the flag has no error of its own."""
    graph = yaml.safe_load(GRAPH)
    main = graph["spec"]["components"][1]["podTemplate"]["spec"]["containers"][0]
    main["args"] += ["--max-model-len", "8192"]
    at = "/spec/components/1/podTemplate/spec/containers/0/args"
    patch = yaml.safe_dump([{"op": name, "path": f"{at}/{index}", "value": word} for name, index, word in operations])
    layer = {**BASE, "patches": [{"target": {"kind": "DynamoGraphDeployment"}, "patch": patch}]}
    clone.put({"graph.yaml": yaml.safe_dump(graph), "kustomization.yaml": yaml.safe_dump(layer)})
    done = console.run("check")
    assert errors_of(done) == ["DYN603"] * errors, done.out
    assert (f"in place of the flag {flag};" in done.out) == bool(flag), done.out


FILES = [
    # reason, the name in the Kustomization, the fix; empty if the root is passed over
    ("a slip", "grpah.yaml", "; write graph.yaml"),
    ("a slip below a folder", "./grpah.yaml", "; write ./graph.yaml"),
    ("another name, which a script can make", "generated.yaml", ""),
    ("a slip for a file of other objects", "setings.yaml", ""),
]


@cases(("name", "fix"), FILES)
def test_a_file_that_does_not_exist(clone, name, fix):
    """A root is only reported if the file that it means has a Dynamo resource."""
    clone.put({"app/graph.yaml": GRAPH, "app/kustomization.yaml": f"namespace: a\nresources:\n- {name}\n"})
    clone.put({"app/settings.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"})
    done = console.run("check")
    assert ("DYN593" in done.out, "DYN065" in done.out) == (bool(fix), not fix), done.out
    if fix:
        assert (done.code, "app/kustomization.yaml:3:3: error DYN593" in done.out) == (1, True), done.out
        assert done.out.partition("DYN593")[2].partition("\n")[0].endswith(fix)


OPERATIONS = [
    ("replace", "/spec/components/1/replicas", True),
    ("add", "/metadata/labels", True),
    ("remove", "/spec/components/1/type", False),
]


@pytest.mark.parametrize(("name", "path", "is_found"), OPERATIONS, ids=["replace", "add", "remove"])
def test_an_operation_without_a_value(clone, name, path, is_found):
    """The null that kustomize writes has no finding of its own."""
    graph = GRAPH.replace("    type: worker\n", "    type: worker\n    replicas: 1\n")
    clone.put({"graph.yaml": graph, "fix.yaml": f"- op: {name}\n  path: {path}\n"})
    patches = [{"path": "fix.yaml", "target": GRAPH_KIND}]
    clone.put({"kustomization.yaml": yaml.safe_dump({**BASE, "patches": patches})})
    output = console.run("check").out
    assert ("fix.yaml:2:" in output, "warning DYN761" in output, "DYN028" in output) == (is_found, is_found, False), output


def test_an_operation_with_a_null(clone):
    """Its author wrote the null."""
    clone.put({"graph.yaml": GRAPH, "fix.yaml": "- {op: add, path: /metadata/labels, value: null}\n"})
    clone.put({"kustomization.yaml": yaml.safe_dump({**BASE, "patches": [{"path": "fix.yaml", "target": GRAPH_KIND}]})})
    output = console.run("check").out
    assert "DYN761" not in output
