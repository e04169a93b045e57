"""What a Kustomization changes before the function makes its objects: it changes none of them, and `krm-fn check` says so."""

from __future__ import annotations

import yaml

from tests.cli import console
from tests.repository.clones import FUNCTION, GRAPH, codes
from tests.support.cases import cases

JSON = "- {op: add, path: /spec/revisionHistoryLimit, value: 3}"
PATCH = {"target": {"kind": "Deployment"}, "patch": JSON}
OF_NAME = {"target": {"kind": "Deployment", "name": "chat-worker"}, "patch": JSON}
OF_OTHER = {"target": {"kind": "StatefulSet"}, "patch": JSON}
REPLACEMENT = {
    "source": {"kind": "DynamoGraphDeployment", "fieldPath": "spec.services.Worker.replicas"},
    "targets": [{"select": {"kind": "Deployment"}, "fieldPaths": ["spec.revisionHistoryLimit"]}],
}
AFTER = f"apiVersion: builtin\nkind: PatchTransformer\nmetadata: {{name: history}}\ntarget: {{kind: Deployment}}\npatch: '{JSON}'\n"
OWN = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {}\n"

ROWS = [
    # reason, the layer with the function, the layer below it, the layer around it, files, the locations of findings
    ("a kind", {"patches": [PATCH]}, {}, {}, {}, ["prod/kustomization.yaml"]),
    ("a kind and a name", {"patchesJson6902": [OF_NAME]}, {}, {}, {}, ["prod/kustomization.yaml"]),
    ("a replacement", {"replacements": [REPLACEMENT]}, {}, {}, {}, ["prod/kustomization.yaml"]),
    ("a patch below the function", {}, {"patches": [PATCH]}, {}, {}, ["base/kustomization.yaml"]),
    ("a patch around the function", {}, {}, {"patches": [PATCH]}, {}, []),
    ("a patch after the function", {"transformers": ["render.yaml", "after.yaml"]}, {}, {}, {"prod/after.yaml": AFTER}, []),
    ("a kind that the function does not make", {"patches": [OF_OTHER]}, {}, {}, {}, []),
    ("a Deployment of its own", {"patches": [PATCH]}, {"resources": ["graph.yaml", "web.yaml"]}, {}, {"base/web.yaml": OWN}, []),
    (
        "objects of a layer below, which the function makes anew",
        {"patches": [PATCH]},
        {"transformers": ["render.yaml"]},
        {},
        {"base/render.yaml": FUNCTION},
        ["prod/kustomization.yaml"],
    ),
]


@cases(("layer", "base", "around", "files", "expected"), ROWS)
def test_a_patch_of_objects_that_the_function_makes_later(layer, base, around, files, expected, clone):
    clone.put({"base/graph.yaml": GRAPH, "prod/render.yaml": FUNCTION, **files})
    clone.put({"base/kustomization.yaml": yaml.safe_dump({"resources": ["graph.yaml"], **base})})
    with_function = {"namespace": "prod", "resources": ["../base"], "transformers": ["render.yaml"]}
    clone.put({"prod/kustomization.yaml": yaml.safe_dump(with_function | layer)})
    clone.put({"around/kustomization.yaml": yaml.safe_dump({"resources": ["../prod"], **around})})
    done = console.run("check")
    assert [line.partition(":")[0] for line in done.out.splitlines() if "warning DYN676" in line] == expected, done.out
    assert ("DYN676" in codes(done)) == bool(expected)
    is_changed = "revisionHistoryLimit" in clone.shell("kustomize", "build", "--enable-alpha-plugins", "--enable-exec", "around")
    assert is_changed == (not expected and "StatefulSet" not in str(layer))


MERGE = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: chat-worker}\nspec: {revisionHistoryLimit: 3}\n"
CAUSES = [
    # reason, the layer with the function, the message
    (
        "a merge patch",
        {"patches": [{"patch": MERGE}]},
        "no Deployment has the name chat-worker here: krm-fn makes its objects after the patches of its layer",
    ),
    (
        "replicas",
        {"replicas": [{"name": "chat-worker", "count": 3}]},
        "no Deployment or StatefulSet has the name chat-worker here: krm-fn makes its objects later",
    ),
]


@cases(("layer", "message"), CAUSES)
def test_the_cause_of_a_build_that_fails(layer, message, clone):
    layer = {"resources": ["../base"], "transformers": ["render.yaml"], **layer}
    clone.put({"base/graph.yaml": GRAPH, "base/kustomization.yaml": "resources: [graph.yaml]\n", "prod/render.yaml": FUNCTION})
    clone.put({"prod/kustomization.yaml": yaml.safe_dump(layer)})
    done = console.run("check")
    assert codes(done) == ["DYN593"], done.out
    assert message in done.out


def test_a_patch_around_the_function_needs_the_namespace_of_the_object(clone):
    """A merge patch without a namespace is for an object without one, and the layer with the function sets one."""
    function = "namespace: prod\nresources: [../base]\ntransformers: [render.yaml]\n"
    clone.put({"base/graph.yaml": GRAPH, "base/kustomization.yaml": "resources: [graph.yaml]\n", "prod/render.yaml": FUNCTION})
    clone.put({"prod/kustomization.yaml": function, "around/more.yaml": MERGE})
    clone.put({"around/kustomization.yaml": "resources: [../prod]\npatches: [{path: more.yaml}]\n"})
    done = console.run("check")
    assert codes(done) == ["DYN593"], done.out
    assert "no Deployment chat-worker without a namespace is in the build: that of krm-fn is in prod" in done.out
    assert "; write metadata.namespace: prod, or name the object in a target" in done.out
    clone.put({"around/more.yaml": MERGE.replace("chat-worker", "chat-worker, namespace: prod")})
    assert console.run("check").code == 0
