"""Commits in repositories of several shapes: each line that a comparison names is a line of the commit, and one is named."""

from __future__ import annotations

import json
import os
from typing import NamedTuple

import pytest

from tests.cli import console
from tests.repository import commit_lines
from tests.repository.clones import FUNCTION, graph_with_frontend

STEP = 2 if os.environ.get("KRM_FN_TOOLS") == "required" else 4
"""Every second commit is judged, and in a quick run every fourth."""

GRAPH = (
    graph_with_frontend("registry.example/ai-dynamo/vllm-runtime:1.6.0")
    + """\
  - name: Prefill
    type: prefill
    podTemplate:
      spec:
        containers:
        - name: main
          image: registry.example/ai-dynamo/vllm-runtime:1.6.0
          command: [python3, -m, dynamo.vllm]
          args: [--model, Qwen/Qwen3-8B, --disaggregation-mode, prefill,
            --kv-transfer-config, '{"kv_connector":"NixlConnector","kv_role":"kv_producer"}']
          resources: {limits: {nvidia.com/gpu: "1"}}
  - name: Decode
    type: decode
    replicas: 1
    podTemplate:
      spec:
        volumes: [{name: conf, configMap: {name: conf}}]
        containers:
        - name: main
          image: registry.example/ai-dynamo/vllm-runtime:1.6.0
          command: [python3, -m, dynamo.vllm]
          args: [--model, Qwen/Qwen3-8B, --disaggregation-mode, decode,
            --kv-transfer-config, '{"kv_connector":"NixlConnector","kv_role":"kv_consumer"}']
          env:
          - {name: LEVEL, value: low}
          - {name: REGION, value: unset}
          resources: {limits: {nvidia.com/gpu: "1"}}
# The last component.
"""
)
SCALE = """\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: chat}
spec:
  components:
  - name: Decode
    replicas: 2
"""
TUNING = """\
- op: add
  path: /spec/components/2/podTemplate/spec/containers/0/env/-
  value: {name: TUNED, value: "1"}
"""
PROD = """\
namespace: prod
namePrefix: p-
resources: [../base]
components: [../../components/tuning]
images:
- name: registry.example/ai-dynamo/vllm-runtime
  newTag: 1.6.1
labels:
- pairs: {team: chat}
configMapGenerator:
- name: region
  literals: [name=eu]
replacements:
- source: {kind: ConfigMap, name: region, fieldPath: data.name}
  targets:
  - select: {kind: DynamoGraphDeployment}
    fieldPaths: ["spec.components.[name=Decode].podTemplate.spec.containers.[name=main].env.[name=REGION].value"]
patches:
- target: {kind: DynamoGraphDeployment}
  patch: |-
    - op: replace
      path: /spec/components/2/podTemplate/spec/containers/0/env/0/value
      value: high
- path: scale.yaml
openapi: {path: dynamo.json}
transformers: [render.yaml]
"""
STAGING = "namespace: staging\nresources: [../base]\ntransformers: [render.yaml]\n"
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: canary, namespace: argocd}
spec:
  source:
    repoURL: https://git.example/team/fleet.git
    targetRevision: HEAD
    path: apps/canary
    kustomize: {namePrefix: c-}
  destination: {server: https://kubernetes.default.svc, namespace: canary}
"""
SETTINGS = FUNCTION + "spec:\n  natsAddress: nats://nats:4222\n"
CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: models}
spec:
  accessModes: [ReadWriteMany]
  resources: {requests: {storage: 10Gi}}
"""
LAST = "# The last component.\n"
MORE = "  - name: More\n" + GRAPH.partition("  - name: Decode\n")[2].replace("replicas: 1", "replicas: 3").removesuffix(LAST)
PREFILL = "  - name: Prefill\n" + GRAPH.partition("  - name: Prefill\n")[2].partition("  - name: Decode\n")[0]


class Edit(NamedTuple):
    """Texts that a commit replaces, each in a file, and whole files that it writes (None removes one)."""

    reason: str
    texts: tuple[tuple[str, str, str], ...] = ()
    files: dict[str, str | None] = {}


def one(reason: str, *text: str) -> Edit:
    file, old, new = text
    return Edit(reason, ((file, old, new),))


BASE, OVER = "apps/base/graph.yaml", "apps/prod/kustomization.yaml"
MONOREPO: dict[str, str] = {
    "apps/base/graph.yaml": GRAPH,
    "apps/base/pvc.yaml": CLAIM,
    "apps/base/engine.conf": "cache = 1\n",
    "apps/base/kustomization.yaml": "resources: [graph.yaml, pvc.yaml]\nconfigMapGenerator: [{name: conf, files: [engine.conf]}]\n",
    "components/tuning/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
    "patches: [{path: tuning.yaml, target: {kind: DynamoGraphDeployment}}]\n",
    "components/tuning/tuning.yaml": TUNING,
    OVER: PROD,
    "apps/prod/scale.yaml": SCALE,
    "apps/prod/render.yaml": SETTINGS,
    "apps/staging/kustomization.yaml": STAGING,
    "apps/staging/render.yaml": SETTINGS,
    "apps/canary/kustomization.yaml": "resources: [graph.yaml]\ntransformers: [render.yaml]\n",
    "apps/canary/graph.yaml": GRAPH,
    "apps/canary/render.yaml": FUNCTION,
    "clusters/canary.yaml": APPLICATION,
}
EDITS = [
    one("the tag of all images", OVER, "newTag: 1.6.1", "newTag: 1.6.0"),
    one("a number in a patch", "apps/prod/scale.yaml", "replicas: 2", "replicas: 4"),
    one("an inline patch", OVER, "value: high", "value: highest"),
    one("a patch of a component", "components/tuning/tuning.yaml", 'value: "1"', 'value: "2"'),
    one("a file of a generator", "apps/base/engine.conf", "cache = 1", "cache = 2"),
    one("a literal of a generator that a replacement reads", OVER, "name=eu", "name=us"),
    one("a setting", "apps/prod/render.yaml", "nats:4222", "nats.prod:4222"),
    one("a new setting", "apps/staging/render.yaml", "  nats", "  etcdAddress: http://etcd:2379\n  nats"),
    one("arguments in the base", BASE, "Qwen3-8B, --disaggregation-mode, decode", "Qwen3-14B, --disaggregation-mode, decode"),
    Edit("two workers in the base", ((BASE, "Qwen3-8B, --disagg", "Qwen3-32B, --disagg"), (BASE, 'gpu: "1"', 'gpu: "2"'))),
    one("a label", OVER, "team: chat", "team: search"),
    one("a prefix", OVER, "namePrefix: p-", "namePrefix: q-"),
    one("a namespace", "apps/staging/kustomization.yaml", "namespace: staging", "namespace: stage"),
    Edit(
        "a base and a patch",
        (
            (BASE, "{name: LEVEL", "{name: DEPTH, value: one}\n          - {name: LEVEL"),
            ("apps/prod/scale.yaml", "replicas: 4", "replicas: 3"),
        ),
    ),
    one("a component of the graph", BASE, LAST, MORE + LAST),
    Edit(
        "a patch for the new component",
        files={"apps/prod/more.yaml": SCALE.replace("Decode", "More").replace("2", "7")},
        texts=((OVER, "- path: scale.yaml", "- path: scale.yaml\n- path: more.yaml"),),
    ),
    one("a number of the new component", "apps/prod/more.yaml", "replicas: 7", "replicas: 6"),
    Edit("a patch that goes", files={"apps/prod/more.yaml": None}, texts=((OVER, "- path: more.yaml\n", ""),)),
    one("a setting of an Application", "clusters/canary.yaml", "namePrefix: c-", "namePrefix: canary-"),
    one("a graph behind an Application", "apps/canary/graph.yaml", "replicas: 1", "replicas: 2"),
    Edit(
        "a comment and a number",
        (("apps/canary/graph.yaml", "  backend", "  # vLLM\n  backend"), ("apps/canary/graph.yaml", "replicas: 2", "replicas: 3")),
    ),
    one("the size of a volume", "apps/base/pvc.yaml", "10Gi", "20Gi"),
    Edit(
        "a renamed patch with another number",
        files={"apps/prod/scale.yaml": None, "apps/prod/size.yaml": SCALE.replace("2", "5")},
        texts=((OVER, "scale.yaml", "size.yaml"),),
    ),
    one("another component", OVER, "components: [../../components/tuning]\n", ""),
    Edit("a replaced inline patch and an image", ((OVER, "value: highest", "value: lowest"), (OVER, "newTag: 1.6.0", "newTag: 1.6.1"))),
    Edit("a new overlay", files={"apps/test/kustomization.yaml": STAGING.replace("staging", "test"), "apps/test/render.yaml": FUNCTION}),
    Edit("an overlay that goes", files={"apps/test/kustomization.yaml": None, "apps/test/render.yaml": None}),
    one("a removed component of the graph", BASE, MORE, ""),
    Edit(
        "a moved component with another number",
        (
            ("apps/canary/graph.yaml", PREFILL, ""),
            ("apps/canary/graph.yaml", LAST, PREFILL + LAST),
            ("apps/canary/graph.yaml", "replicas: 3", "replicas: 4"),
        ),
    ),
]


def apply(clone, edit: Edit) -> None:
    """Commit an edit. A text that an edit replaces must be there."""
    for file, old, new in edit.texts:
        clone.edit(file, old, new)
    for file, text in edit.files.items():
        clone.put({file: text}) if text is not None else (clone.folder / file).unlink()
    clone.commit()


def test_a_monorepo_with_overlays_components_patches_generators_replacements_and_settings(clone):
    schema = console.run("schema", "--for", "kustomize").out
    clone.put(MONOREPO).put({"dynamo.json": schema}, "apps/prod").commit()
    wrong = {}
    for number, edit in enumerate(EDITS):
        apply(clone, edit)
        if number % STEP == 0 and (found := commit_lines.problems(clone)):
            wrong[edit.reason] = found
    assert not wrong


@pytest.fixture
def package(clone):
    kptfile = (
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: chat}\npipeline: {mutators: [{exec: krm-fn, configPath: render.yaml}]}\n"
    )
    settings = SETTINGS.replace(FUNCTION, "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: render}\n")
    clone.put({"chat/Kptfile": kptfile, "chat/graph.yaml": GRAPH, "chat/pvc.yaml": CLAIM, "chat/render.yaml": settings})
    clone.shell("kpt", "fn", "render", "--allow-exec", "chat")
    return clone.commit()


def test_a_kpt_package_with_committed_renders(package):
    """A commit has the change and the new render. The line is that of the change."""
    for edit in (
        one("a number", "chat/graph.yaml", "replicas: 1", "replicas: 2"),
        Edit("a setting and an argument", (("chat/render.yaml", "nats:4222", "nats:4223"), ("chat/graph.yaml", "Qwen3-8B", "Qwen3-14B"))),
    ):
        for file, old, new in edit.texts:
            package.edit(file, old, new)
        package.shell("kpt", "fn", "render", "--allow-exec", "chat")
        package.commit()
        assert commit_lines.problems(package) == []
        document = json.loads(console.run("diff", "--old", "HEAD~1", "--format", "json").out)
        assert {line.file for line in commit_lines.named(document)} == {file for file, _, _ in edit.texts}
