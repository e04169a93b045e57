"""What a user wrote stays text in every output of every verb.

No control, bidirectional or invisible character leaves, no line of a log is a command to a CI system, and no text begins a line of its own.
"""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import unicodedata
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from tests.cli import console
from tests.testbed import programs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MARK = "pwned"
PAYLOADS = [
    # what it does to its reader, text
    ("begins a line with a command to GitHub", f"\n::set-output name=x::{MARK}"),
    ("is a command to GitHub at the start of a line", f"::stop-commands::{MARK}"),
    ("is a command to GitHub after blanks", f"\n  ::add-mask::{MARK}"),
    ("is an old command to GitHub", f"##[add-mask]{MARK}"),
    ("is a command to Azure Pipelines", f"##vso[task.setvariable variable=x]{MARK}"),
    ("clears a terminal", f"\x1b[2J{MARK}"),
    ("clears a terminal with a control character of ISO 8859", f"\x9b2J{MARK}"),
    ("writes over the line", f"\r{MARK}"),
    ("reorders the line", f"\u202e{MARK}"),
    ("isolates text", f"\u2066{MARK}"),
    ("begins a line in Unicode", f"\u2028{MARK}\u2029{MARK}\x85{MARK}"),
    ("is invisible", f"\u200b\u2060\ufeff\u00ad\u3164\u034f\ufe0f\U000e0041{MARK}"),
    ("begins a line", f"\n{MARK} "),
]
"""Each once, and all together: a text with all of them is longer than most names may be."""
WHOLE = "".join(text for _, text in PAYLOADS)

CHOSEN = ("owner", "tier", "note", "pool", "Frontend", "Worker", "text")
NO_SHAPE = "\u115f\u1160\u2800\u3164\u034f\ufe0f\uffa0"
COMMAND = re.compile(r"^\s*::(?!(?:error|warning|notice) )|##[A-Za-z]*\[", re.MULTILINE)
LINE = re.compile(rf"^{MARK}", re.MULTILINE)


def problems(text: str, style: str = "text") -> list[str]:
    """The ways in which a text acts on its reader. YAML keeps letters without a shape: they are values."""
    acting = {
        f"U+{ord(character):04X}"
        for character in text
        if character != "\n"
        and (unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") or (character in NO_SHAPE and style != "yaml"))
    }
    return [*sorted(acting), *COMMAND.findall(text), *LINE.findall(text)]


V1ALPHA1 = yaml.safe_load("""
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata:
  name: older
  namespace: team
  labels: {tier: gold}
  annotations: {note: written by hand}
spec:
  backendFramework: vllm
  envs: [{name: LEVEL, value: info}]
  services:
    Frontend:
      componentType: frontend
      ingress: {enabled: true, host: chat, annotations: {owner: team}, labels: {owner: team}}
      extraPodSpec: {mainContainer: {image: "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.9.0"}}
    Worker:
      componentType: worker
      labels: {owner: team}
      annotations: {owner: team}
      envFromSecret: keys
      resources: {limits: {gpu: "1"}}
      volumeMounts: [{name: cache, mountPoint: /cache}]
      extraPodMetadata: {annotations: {owner: team}, labels: {owner: team}}
      extraPodSpec:
        nodeSelector: {pool: a}
        serviceAccountName: worker
        mainContainer:
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.9.0
          workingDir: /work
          command: [python3, -m, dynamo.vllm]
          args: [--model, Qwen/Qwen3-0.6B, --made-up]
          env: [{name: TOKEN, valueFrom: {secretKeyRef: {name: keys, key: token}}}]
""")
V1BETA1 = yaml.safe_load("""
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: newer, namespace: team}
spec:
  components:
  - name: Frontend
    type: frontend
    podTemplate: {spec: {containers: [{name: main, image: "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.0"}]}}
  - name: Worker
    type: worker
    replicas: 2
    podTemplate:
      metadata: {annotations: {owner: team}}
      spec:
        containers:
        - name: main
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.0
          args: [--model, Qwen/Qwen3-0.6B]
          env: [{name: LEVEL, value: info}]
          resources: {limits: {nvidia.com/gpu: "1"}}
""")
OTHERS = [
    *yaml.safe_load_all("""
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeploymentRequest
metadata: {name: request, namespace: team}
spec: {model: Qwen/Qwen3-0.6B, image: "nvcr.io/nvidia/ai-dynamo/dynamo-frontend:1.6.0", backend: vllm}
---
apiVersion: nvidia.com/v1alpha1
kind: DynamoModel
metadata: {name: model, namespace: team}
spec: {modelName: lora, baseModelName: Qwen/Qwen3-0.6B, modelType: lora, source: {uri: "hf://me/lora"}}
---
apiVersion: v1
kind: Pod
metadata: {name: pod, namespace: team, annotations: {owner: team}}
spec: {containers: [{name: main, image: "registry.example/tool:1.0"}]}
---
apiVersion: example.org/v1
kind: Widget
metadata: {name: widget, namespace: team}
spec: {text: a, list: [a]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: route, namespace: team}
spec: {hostnames: [chat.example], rules: [{backendRefs: [{kind: Service, name: older-frontend, port: 8000}]}]}
""")
]


def variants(resource: dict[str, Any], payload: str) -> Iterator[dict[str, Any]]:
    """Copies of a resource, each with the payload at the end of one text or key. Each has a name of its own."""
    for number, path in enumerate(paths(resource)):
        changed = copy.deepcopy(resource)
        changed["metadata"]["name"] += f"-{number}"
        *steps, last, is_key = path
        holder = changed
        for step in steps:
            holder = holder[step]
        if is_key:
            holder[f"{last}{payload}"] = holder.pop(last)
        else:
            holder[last] += payload
        yield changed


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all texts, and of the keys that a user chooses; the last step says whether it is a key."""
    if isinstance(value, str):
        yield *path, False
    for step, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if step in CHOSEN:
            yield *path, step, True
        yield from paths(inner, (*path, step))


def write(folder: Path, resources: list[Any]) -> None:
    """Writes each resource into a file of its own. JSON is YAML, and has no raw character."""
    folder.mkdir(parents=True)
    for number, resource in enumerate(resources):
        (folder / f"{number:03}.yaml").write_text(json.dumps(resource, indent=1) + "\n")


def checked(done: console.Done, style: str = "text") -> None:
    """Asserts that nothing acts on a reader, and that the output is of its format."""
    assert problems(done.out, style) == []
    assert problems(done.err) == []
    if not done.out:
        return
    if style in ("json", "sarif", "anonymous"):
        json.loads(done.out)
    elif style in ("yaml", "kustomize", "hauler", "zarf"):
        list(yaml.safe_load_all(done.out))
    elif style in ("junit", "svg"):
        ET.fromstring(done.out)  # noqa: S314 - krm-fn wrote it


@pytest.fixture(scope="module", params=[WHOLE, f"::set-output name=x::{MARK}"], ids=["all", "start"])
def folders(request, tmp_path_factory):
    """Three folders: the resources without a payload, each text with it, and of these the ones without an error."""
    top = tmp_path_factory.mktemp("hostile" if request.param == WHOLE else "short")
    resources = [V1ALPHA1, V1BETA1, *OTHERS]
    hostile = [variant for resource in resources for variant in variants(resource, request.param)]
    plain = [variant for resource in resources for variant in variants(resource, "")]
    write(top / "plain", plain)
    write(top / "hostile", hostile)
    findings = json.loads(console.run("check", "-o", "json", top / "hostile").out)["findings"]
    broken = {os.path.basename(finding["file"]) for finding in findings if finding["severity"] == "error"}  # noqa: PTH119
    write(top / "valid", [resource for number, resource in enumerate(hostile) if f"{number:03}.yaml" not in broken])
    assert len(list((top / "valid").iterdir())) > 20
    for name in ("plain", "valid"):
        (top / f"{name}.json").write_text(console.run("render", "-o", "json", top / name).out)
    return top


FOR_PROGRAMS = ("json", "sarif", "junit", "anonymous", "yaml", "hauler", "zarf", "svg")
RUNS = [
    # arguments, formats
    ("check {hostile}", ("text", "json", "github", "junit", "sarif")),
    ("check {valid}", ("text", "json", "github", "junit", "sarif")),
    ("render {hostile}", ("yaml", "json")),
    ("render {valid}", ("yaml", "json")),
    ("diff --old {plain} {hostile}", ("text", "markdown", "json")),
    ("diff --old {hostile} {plain}", ("text",)),
    ("diff --live {valid}.json {plain}", ("text", "markdown", "json")),
    ("verify {valid}.json", ("text", "json", "anonymous")),
    ("status {valid}.json", ("table", "yaml", "json")),
    ("status {hostile}", ("table",)),
    ("images {hostile}", ("text", "json")),
    ("images {valid}", ("text", "json", "hauler", "zarf")),
    ("needs {hostile}", ("text", "json")),
    ("needs {valid} --live {valid}.json", ("text", "json")),
    ("graph {valid}", ("mermaid", "dot", "svg")),
    ("graph --old {plain} {hostile}", ("mermaid", "dot")),
    ("explain {valid}", ("text", "yaml", "json")),
    ("explain --unused {hostile}", ("text",)),
    ("upgrade --to 1.6 {hostile}", ("text", "markdown", "json")),
    ("convert {hostile}", ("yaml",)),
    ("adopt --live {valid}.json --output-dir {hostile}-adopted", ()),
    ("adopt --live {valid}.json --all-namespaces --output-dir {hostile}-all", ()),
    ("prune --dry-run {valid}", ()),
    ("sync --estimate {valid}", ("text", "json")),
    ("schema --for names {valid}", ("yaml",)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "styles"), RUNS, ids=[row[0] for row in RUNS])
def test_texts_of_resources_stay_text(folders, arguments, styles):
    """Every format shows all payloads. The one that fits into names is a command to a CI system, so it is shown in formats for people."""
    words = arguments.format(**{name: folders / name for name in ("hostile", "valid", "plain")}).split(" ")
    for_people = tuple(style for style in styles if style not in FOR_PROGRAMS) or styles[:1]
    for style in (for_people if folders.name.startswith("short") else styles) or ("",):
        option = {"status": ["-o", style], "render": ["-o", style], "convert": []}.get(words[0], ["--format", style])
        done = console.run(*words, *(option if style else []))
        checked(done, style)
        assert done.out or done.err


HALVES = [WHOLE[: len(WHOLE) // 2], WHOLE[len(WHOLE) // 2 :], f"::set-output name=x::{MARK}", f"##[group]{MARK}"]


@pytest.mark.parametrize("payload", HALVES, ids=["first", "second", "start", "old"])
def test_names_of_files_and_folders_stay_text(payload, tmp_path, monkeypatch):
    """A name on Linux has any byte but a slash. The file has an error, so that findings and their lines are shown."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / payload
    folder.mkdir()
    (folder / f"{payload}.yaml").write_text(console.MISSPELT)
    (folder / "right.yaml").write_text(console.GRAPH.replace("chat", "right"))
    for style in ("text", "json", "github", "junit", "sarif"):
        checked(console.run("check", "-o", style, payload), style)
    for words in (
        ["render", payload],
        ["diff", "--old", payload, payload],
        ["images", payload],
        ["needs", payload],
        ["explain", payload],
        ["upgrade", "--to", "1.6", payload],
        ["upgrade", "--to", "1.6", "--format", "markdown", payload],
        ["convert", payload],
        ["prune", payload],
        ["status", payload],
        ["sync", "--estimate", payload],
        ["render", "--show-settings", payload],
    ):
        checked(console.run(*words))


BROKEN = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [graph.yaml]
patches:
- target: {kind: DynamoGraphDeployment}
  patch: %s
"""


def test_messages_of_kustomize_stay_text(tmp_path):
    """kustomize repeats the patch that it cannot read."""
    programs.path("kustomize")
    root = tmp_path / f"root{HALVES[1]}"
    root.mkdir()
    (root / "graph.yaml").write_text(console.GRAPH)
    (root / "kustomization.yaml").write_text(BROKEN % json.dumps(f"- {WHOLE}\n- op: {WHOLE}"))
    for style in ("text", "json", "github", "junit", "sarif"):
        done = console.run("check", "-o", style, tmp_path)
        assert done.code == 1
        checked(done, style)
    checked(console.run("images", tmp_path))


def test_messages_of_a_build_stay_text(tmp_path):
    for folder in (tmp_path, tmp_path / "old"):
        folder.mkdir(exist_ok=True)
        (folder / "message").write_bytes(WHOLE.encode())
    done = console.run("diff", "--old", tmp_path / "old", "--build", "sh -c 'cat message >&2; exit 1'", tmp_path)
    assert MARK in done.err
    assert set(problems(done.err)) == {MARK}  # a line of the build stays a line


def test_names_of_revisions_stay_text(tmp_path, monkeypatch):
    """git allows characters in a branch that reorder a line."""
    monkeypatch.chdir(tmp_path)
    branch = f"main\u202e{MARK}\u2066"
    (tmp_path / "graph.yaml").write_text(console.GRAPH)
    settings = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "--quiet", "-b", branch], ["add", "."], [*settings, "commit", "--quiet", "-m", "a"]):
        subprocess.run(["git", *words], check=True, cwd=tmp_path)
    (tmp_path / "graph.yaml").write_text(console.GRAPH.replace("replicas: 2", "replicas: 3"))
    for style in ("text", "markdown", "json"):
        done = console.run("diff", "--old", branch, "--format", style, "graph.yaml")
        assert done.code == 0
        checked(done, style)


USAGE = [
    [f"check{WHOLE}"],
    ["check", f"--{WHOLE}"],
    ["check", "--ignore", WHOLE, "graph.yaml"],
    ["check", f"graph{WHOLE}.yaml"],
    ["check", "--config", WHOLE, "graph.yaml"],
    ["check", "-n", WHOLE, "graph.yaml"],
    ["check", "--old", WHOLE, "graph.yaml"],
    ["diff", "--old", WHOLE, "graph.yaml"],
    ["diff", "--fail-on", WHOLE, "graph.yaml"],
    ["diff", "--live", WHOLE, "graph.yaml"],
    ["explain", WHOLE],
    ["explain", "--object", WHOLE, "graph.yaml"],
    ["explain", "--field", WHOLE, "graph.yaml"],
    ["explain", "--from", WHOLE, "graph.yaml"],
    ["images", "--why", WHOLE, "graph.yaml"],
    ["images", "--resolve", f"sh -c 'echo {HALVES[3]} {{}}; exit 1'", "graph.yaml"],
    ["upgrade", "--to", WHOLE, "graph.yaml"],
    ["upgrade", "--to", "1.6", "--graph", WHOLE, "graph.yaml"],
    ["status", "--kubeconfig", "graph.yaml", "--context", WHOLE],
    ["request", WHOLE],
    ["comment", "--name", WHOLE, "graph.yaml"],
    ["completion", WHOLE],
    ["adopt", "--live", "graph.yaml", "--output-dir", HALVES[0]],
    pytest.param(["install", HALVES[0] + "/no/folder"], marks=pytest.mark.slow),
]


@pytest.mark.parametrize("words", USAGE, ids=lambda words: " ".join(word for word in words if MARK not in word))
def test_arguments_stay_text(words, tmp_path, monkeypatch):
    """Each is refused or read; its message is one line."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graph.yaml").write_text(console.GRAPH)
    done = console.run(*words)
    checked(done)
    assert done.err or done.out


def test_colours_of_a_value_are_not_shown(tmp_path, monkeypatch):
    """On a terminal, only krm-fn colours its output."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    for name, value in (("old", "a"), ("new", f"\x1b[31m{MARK}\x1b[1m")):
        write(tmp_path / name, [{"apiVersion": "v1", "kind": "Widget", "metadata": {"name": value}, "text": value}, V1ALPHA1])
    shown = console.run("diff", "--old", tmp_path / "old", tmp_path / "new").out
    assert "\x1b[" in shown
    assert f"\\x1b[31m{MARK}" in shown
    assert f"\x1b[31m{MARK}" not in shown


LIVE = yaml.safe_load("""
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: older-worker, namespace: team, labels: {a: b}}
  spec: {replicas: 1}
  status:
    conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: MESSAGE}]
- apiVersion: v1
  kind: Pod
  metadata: {name: older-worker-1, namespace: team, labels: {nvidia.com/selector: older-worker}}
  spec: {containers: [{name: main, image: a}]}
  status:
    phase: Pending
    conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: MESSAGE}]
    containerStatuses: [{name: main, state: {waiting: {reason: MESSAGE, message: MESSAGE}}}]
""")


def test_messages_of_a_cluster_stay_text(tmp_path):
    """The kubelet repeats what a registry answers."""
    write(tmp_path / "graph", [V1ALPHA1])
    rendered = json.loads(console.run("render", "-o", "json", tmp_path / "graph").out)["items"]
    names = {resource["metadata"]["name"] for resource in LIVE}
    rendered = [resource for resource in rendered if resource["kind"] != "Deployment" or resource["metadata"]["name"] not in names]
    text = json.dumps([*rendered, *LIVE]).replace("MESSAGE", json.dumps(WHOLE)[1:-1])
    for style in ("table", "yaml", "json"):
        done = console.run("status", "-o", style, "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": json.loads(text)}))
        assert MARK in done.out
        checked(done, style)


EXCERPT = console.GRAPH.replace("replicas: 2", "::set-output name=x: 1")


def test_lines_of_a_file_stay_text(tmp_path):
    """The excerpt below a finding is indented, and GitHub skips blanks. The caret stays below the field."""
    (tmp_path / "graph.yaml").write_text(EXCERPT)
    done = console.run("check", tmp_path)
    assert "set-output" in done.out
    checked(done)
