"""examples/flux/render.sh decides about variables: which of them Flux would replace, and which stay for the pods.

With `postBuild`, Flux replaces `${NAME}` in each object without the annotation or label `kustomize.toolkit.fluxcd.io/substitute: disabled`.
"""

from __future__ import annotations

import subprocess

import yaml

from tests.support import build_checks, golden
from tests.support.cases import cases

KEY = "kustomize.toolkit.fluxcd.io/substitute"
CONFIG = """\
apiVersion: dynamo.krm-fn.io/v1alpha1
kind: DynamoRender
metadata: {name: render, annotations: {config.kubernetes.io/function: "exec: {path: krm-fn}"}}
"""
GROVE = CONFIG + "spec: {orchestrator: grove}\n"


def graph(line="python3 -m dynamo.vllm --model a", nodes=1, name="chat", **metadata):
    """A graph with a worker whose shell runs a line, on one node or on several."""
    image = "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1"
    main = {"name": "main", "image": image, "resources": {"limits": {"nvidia.com/gpu": "8"}}}
    worker = {**main, "command": ["sh", "-c"], "args": [line]}
    if nodes > 1:
        worker = {**main, "command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "a", "--tensor-parallel-size", "16"]}
    components = [
        {"name": "Frontend", "type": "frontend", "podTemplate": {"spec": {"containers": [{"name": "main", "image": image}]}}},
        {"name": "Worker", "type": "worker", "podTemplate": {"spec": {"containers": [worker]}}},
    ]
    if nodes > 1:
        components[1]["multinode"] = {"nodeCount": nodes}
    metadata = {"name": name, "namespace": "team", **metadata}
    spec = {"backendFramework": "vllm", "components": components}
    return yaml.safe_dump({"apiVersion": "nvidia.com/v1beta1", "kind": "DynamoGraphDeployment", "metadata": metadata, "spec": spec})


def other(kind, **fields):
    """An object beside the graph."""
    return yaml.safe_dump({"apiVersion": "v1", "kind": kind, "metadata": {"name": "other", "namespace": "team"}, **fields})


def render(folder, files, source="."):
    """Runs render.sh with the files of a folder, and returns the process and the objects."""
    for name, text in files.items():
        (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "source" / name).write_text(text)
    command = [str(golden.EXAMPLES / "flux" / "render.sh"), f"source/{source}", "rendered"]
    environment = golden.environment("kustomize")
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300)
    rendered = folder / "rendered" / "manifests.yaml"
    return done, build_checks.read(rendered.read_text()) if rendered.exists() else []


def folder_of(resources, config=CONFIG, **fields):
    """The files of a Kustomization with resources and the function."""
    named = {f"resource-{index}.yaml": text for index, text in enumerate(resources)}
    kustomization = {"resources": list(named), "transformers": ["render.yaml"], **fields}
    return {**named, "render.yaml": config, "kustomization.yaml": yaml.safe_dump(kustomization)}


def annotated(objects):
    """The kinds of the objects in which Flux replaces nothing."""
    return {entry["kind"] for entry in objects if entry["metadata"].get("annotations", {}).get(KEY) == "disabled"}


def with_variables(objects):
    """The kinds of the objects with a variable in braces."""
    return {entry["kind"] for entry in objects if "${" in yaml.safe_dump(entry)}


ANNOTATED, LABELLED = {"annotations": {KEY: "disabled"}}, {"labels": {KEY: "disabled"}}
GRAPHS = {"Deployment", "DynamoGraphDeployment"}
PATCH = [{"target": {"kind": "ConfigMap"}, "patch": f"- {{op: add, path: /metadata/annotations, value: {{{KEY}: disabled}}}}\n"}]
PUBLISHED = [
    ("the host of a leader on a LeaderWorkerSet", folder_of([graph(nodes=2)]), {"LeaderWorkerSet"}),
    ("the host of a leader under Grove", folder_of([graph(nodes=2)], GROVE), {"PodCliqueSet"}),
    ("names that a shell reads without braces", folder_of([graph("exec $RUN $(NAME)")]), set()),
    ("a graph with the annotation", folder_of([graph("exec ${RUN}", **ANNOTATED)]), GRAPHS),
    ("a graph on two nodes with the annotation", folder_of([graph(nodes=2, **ANNOTATED)]), {"LeaderWorkerSet", "DynamoGraphDeployment"}),
    (
        "an object with the annotation by a patch",
        folder_of([graph(), other("ConfigMap", data={"a": "${A}"})], patches=PATCH),
        {"ConfigMap"},
    ),
]


@cases(("files", "kinds"), PUBLISHED)
def test_variables_for_pods_are_published(files, kinds, tmp_path, kustomize):
    """Each object with a variable in braces has the annotation, so Flux replaces none of them. No pod template has it."""
    done, objects = render(tmp_path, files)
    assert done.returncode == 0, done.stderr
    assert annotated(objects) == kinds
    assert with_variables(objects) <= kinds
    assert KEY not in yaml.safe_dump([entry.get("spec") for entry in objects])


def test_a_label_counts_as_the_annotation(tmp_path, kustomize):
    """Flux reads both."""
    done, objects = render(tmp_path, folder_of([graph("exec ${RUN}", **LABELLED)]))
    assert done.returncode == 0, done.stderr
    assert annotated(objects) == {"Deployment"}


def test_only_the_annotation_is_added(tmp_path, kustomize):
    """The pods stay equal to those of the operator, so none restarts when a graph moves to Flux."""
    _, objects = render(tmp_path, folder_of([graph(nodes=2)]))
    command = [kustomize, "build", "--enable-alpha-plugins", "--enable-exec", tmp_path / "source"]
    built = subprocess.run(command, env=golden.environment("kustomize"), capture_output=True, text=True, check=True, timeout=300).stdout
    for entry in objects:
        if entry["kind"] == "LeaderWorkerSet":
            del entry["metadata"]["annotations"][KEY]
    assert objects == build_checks.read(built)


HIDDEN = "hunter${2"
LOOKALIKE = f"metadata:\n  annotations:\n    {KEY}: disabled\nvalue: ${{A}}\n"
SCRIPT = "ping ${LWS_LEADER_ADDRESS}"
REFUSED = [
    ("a variable of the user", folder_of([graph("exec ${RUN}")]), ["Deployment chat-worker", "DynamoGraphDeployment chat"]),
    (
        "a variable of the user beside that of a leader",
        folder_of([graph("", 2).replace("- a\n", "- ${MODEL}\n")]),
        ["LeaderWorkerSet chat-worker-0"],
    ),
    ("a default value", folder_of([graph("exec ${RUN:-true}")]), ["Deployment chat-worker"]),
    ("an annotation with another value", folder_of([graph("exec ${RUN}", annotations={KEY: "enabled"})]), ["Deployment chat-worker"]),
    ("a text that looks like the annotation", folder_of([graph(), other("ConfigMap", data={"a": LOOKALIKE})]), ["ConfigMap other"]),
    ("a script beside the graph", folder_of([graph(), other("ConfigMap", data={"a": SCRIPT})]), ["ConfigMap other"]),
    ("a Secret", folder_of([graph(), other("Secret", stringData={"a": HIDDEN})]), ["Secret other"]),
]


@cases(("files", "names"), REFUSED)
def test_a_variable_that_flux_would_replace_is_refused(files, names, tmp_path, kustomize):
    """The message names the object, and shows no text of it."""
    done, objects = render(tmp_path, files)
    assert (done.returncode, objects) == (1, [])
    for name in names:
        assert f"{name}: a ${{VARIABLE}} in line " in done.stderr
    assert HIDDEN not in done.stderr + done.stdout


def test_each_graph_must_be_rendered(tmp_path, kustomize):
    """The function runs in one layer. A graph that a layer around it adds is not rendered, and its pods would never start."""
    files = {f"base/{name}": text for name, text in folder_of([graph()]).items()}
    layer = {"graph.yaml": graph(name="later"), "kustomization.yaml": "resources: [base, graph.yaml]\n"}
    done, objects = render(tmp_path, {**files, **layer})
    assert (done.returncode, objects) == (1, [])
    assert "DynamoGraphDeployment later: krm-fn did not run" in done.stderr
    assert "DynamoGraphDeployment chat:" not in done.stderr


def test_a_name_with_a_dash_is_a_folder(tmp_path, kustomize):
    done, objects = render(tmp_path, {f"-o/{name}": text for name, text in folder_of([graph()]).items()}, "../source/-o")
    assert done.returncode == 0, done.stderr
    assert objects
