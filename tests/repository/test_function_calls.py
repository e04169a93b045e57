"""Builds in which krm-fn answers from its own process, and kustomize gets short objects, equal those with krm-fn as a program.

The resources, their order, the order of their keys, their locations and the findings are compared.
"""

from __future__ import annotations

import os
import random
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from krm_fn.repository import function_calls, private_programs, states
from krm_fn.repository.files import short_objects
from krm_fn.repository.function_calls import FunctionCalls
from krm_fn.repository.states import RootOptions
from krm_fn.repository.tree import Tree
from tests.company.repositories import TeamRepository
from tests.repository.clones import FUNCTION, RENDER
from tests.support import golden
from tests.support.cases import cases

if TYPE_CHECKING:
    from collections.abc import Callable

COMPOSITIONS = int(os.environ.get("KRM_FN_COMPOSITIONS", "12"))
"""The number of random compositions of Kustomizations; 300 take 10 minutes."""


class Compared:
    """Reads folders with krm-fn as a program and from this process, and counts the short objects of the second."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._folder, self._patch, self._count = folder, patch, 0
        self.short = 0
        self.answered = 0

    def assert_equal(self, folder: Path) -> None:
        """Both ways of a build have the same result, down to the order of keys."""
        program = self._read(folder, lambda *_: None)
        answer, shorten = FunctionCalls._answer, short_objects.shorten

        def recorded(calls: FunctionCalls, settings: str) -> bytes | None:
            output = answer(calls, settings)
            self.answered += output is not None
            return output

        def counted(items: Any, rendered: Any, rest: dict[str, Any]) -> list[Any]:
            known = len(rest)
            shown = shorten(items, rendered, rest)
            self.short += len(rest) - known
            return shown

        with self._patch.context() as patch:
            patch.setattr(short_objects, "shorten", counted)
            assert self._read(folder, recorded) == program

    def _read(self, folder: Path, answer: Callable[..., bytes | None]) -> list[Any]:
        self._count += 1
        copy, programs = self._folder / "copy", self._folder / f"programs-{self._count}"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(".git"), symlinks=True)
        with self._patch.context() as patch:
            patch.setattr(function_calls.FunctionCalls, "_answer", answer)
            state = states.read(states.find(Tree(copy), RootOptions()), private_programs.create(programs, 60))
        listed: list[Any] = [repr(state.results).replace(programs.name, "programs")]
        for root in state.roots:
            resources = [source._replace(text="", patches=()) for source in root.sources.resources]
            texts = (root.line, root.is_known, resources, root.sources.results)
            listed.append([re.sub("0x[0-9a-f]{8,}", "0x", repr(text).replace(programs.name, "programs")) for text in texts])
        return listed


@pytest.fixture
def compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kustomize: Path) -> Compared:
    """A comparison with the kustomize of the tests."""
    monkeypatch.setenv("PATH", f"{kustomize.parent}{os.pathsep}{os.environ['PATH']}")
    return Compared(tmp_path / "scratch", monkeypatch)


LAYOUTS = [
    ("A: overlays", "layout-a-overlays", True),
    ("B: a component, whose objects a later layer changes", "layout-b-component", False),
    ("C: a generator, which other functions can follow", "layout-c-generator", False),
    ("E: a container", "layout-e-container", True),
    ("F: a plugin", "layout-f-legacy", True),
    ("Argo CD", "argocd", True),
    ("Flux", "flux", True),
    ("clusters of a fleet", "fleet", True),
]


@cases(("folder", "is_short"), LAYOUTS)
def test_layouts_are_built_alike(folder, is_short, compared):
    compared.assert_equal(golden.EXAMPLES / folder)
    assert compared.answered
    assert bool(compared.short) is is_short


def test_a_monorepo_is_built_alike(compared, tmp_path):
    """Prefixes, hashes, replacements, components, images and a schema of kustomize. Objects that name the renamed ConfigMap are whole."""
    TeamRepository("monorepo", tmp_path / "team", {**os.environ}).create(38)
    compared.assert_equal(tmp_path / "team")
    assert compared.short > 20


CHAT = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: chat}
spec:
  services:
    Frontend:
      componentType: frontend
      replicas: 1
      envFromSecret: token
      extraPodSpec:
        mainContainer:
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.5.1
          env:
          - {name: SETTING, valueFrom: {configMapKeyRef: {name: settings, key: a}}}
          - {name: TEXT, value: "a text"}
"""
BETA = """\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: search, labels: {team: a}}
spec:
  backendFramework: vllm
  components:
  - name: Frontend
    type: frontend
    podTemplate: {spec: {containers: [{name: main, image: "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.5.1"}]}}
  - name: Worker
    type: worker
    podTemplate:
      spec:
        containers:
        - {name: main, image: "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.5.1", command: [python3, -m, dynamo.vllm], args: [--model, a/b]}
        volumes: [{name: settings, configMap: {name: settings}}]
"""
SETTINGS = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b, a10: c, a2: d, A_B: e, AB: f}\n"
BASE = {
    "base/graphs.yaml": f"{CHAT}---\n{BETA}",
    "base/settings.yaml": SETTINGS,
    "base/kustomization.yaml": "resources: [graphs.yaml, settings.yaml]\n",
    "prod/render.yaml": FUNCTION,
}
START = "resources: [../base]\ntransformers: [render.yaml]\n"
SCALE = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: chat}
spec: {services: {Frontend: {replicas: 3}}}
"""
REFERENCES = """\
nameReference:
- kind: ConfigMap
  version: v1
  fieldSpecs: [{kind: KIND, path: PATH}]
"""


def with_value(text: str) -> dict[str, str]:
    """The base with another text as the value of a variable."""
    return {"base/graphs.yaml": CHAT.replace('"a text"', text)}


ENDS: list[tuple[str, str, dict[str, str], bool]] = [
    ("nothing follows", START, {}, True),
    ("a namespace", f"{START}namespace: prod\n", {}, True),
    ("a prefix: objects that name the ConfigMap are whole", f"{START}namePrefix: prod-\n", {}, True),
    ("a suffix", f"{START}nameSuffix: -prod\nnamespace: prod\n", {}, True),
    ("labels of the graph", f"{START}commonLabels: {{a: b}}\n", {}, True),
    ("a ConfigMap that gets a hash", f"{START}configMapGenerator: [{{name: settings, behavior: merge, literals: [c=d]}}]\n", {}, True),
    ("a Secret that gets a hash", f"{START}secretGenerator: [{{name: token, literals: [c=d]}}]\n", {}, True),
    (
        "generators without hashes",
        f"{START}secretGenerator: [{{name: token, literals: [c=d]}}]\ngeneratorOptions: {{disableNameSuffixHash: true}}\n",
        {},
        True,
    ),
    ("a variable", f"{START}vars: [{{name: A, objref: {{kind: ConfigMap, name: settings, apiVersion: v1}}}}]\n", with_value("$(A)"), False),
    ("origins for the author", f"{START}buildMetadata: [originAnnotations]\n", {}, True),
    ("transformations for the author", f"{START}buildMetadata: [transformerAnnotations, originAnnotations]\n", {}, True),
    ("a label of kustomize", f"{START}buildMetadata: [managedByLabel]\n", {}, True),
    ("the order of the files", f"{START}sortOptions: {{order: fifo}}\n", {}, True),
    (
        "another order",
        f"{START}sortOptions: {{order: legacy, legacySortOptions: {{orderFirst: [Service], orderLast: [Role]}}}}\n",
        {},
        True,
    ),
    (
        "a function in the base only",
        "resources: [../base]\nnamePrefix: prod-\n",
        {"base/kustomization.yaml": "resources: [graphs.yaml, settings.yaml]\ntransformers: [render.yaml]\n", "base/render.yaml": FUNCTION},
        False,
    ),
    (
        "a function in both layers",
        START,
        {"base/kustomization.yaml": "resources: [graphs.yaml, settings.yaml]\ntransformers: [render.yaml]\n", "base/render.yaml": FUNCTION},
        False,
    ),
    (
        "a transformer after the function",
        "resources: [../base]\ntransformers: [render.yaml, later.yaml]\n",
        {
            "prod/later.yaml": "apiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: a}\nlabels: {c: d}\n"
            "fieldSpecs: [{path: spec/template/metadata/labels, create: true, kind: Deployment}]\n"
        },
        False,
    ),
    (
        "a transformer before the function",
        "resources: [../base]\ntransformers: [earlier.yaml, render.yaml]\n",
        {
            "prod/earlier.yaml": "apiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: a}\nlabels: {c: d}\n"
            "fieldSpecs: [{path: metadata/labels, create: true}]\n"
        },
        True,
    ),
    (
        "a function in the text of the Kustomization",
        f"resources: [../base]\ntransformers:\n- |\n  {RENDER.strip().replace(chr(10), chr(10) + '  ')}\n",
        {},
        True,
    ),
    (
        "a folder of transformers",
        "resources: [../base]\ntransformers: [../functions]\n",
        {"functions/kustomization.yaml": "resources: [render.yaml]\n", "functions/render.yaml": FUNCTION},
        False,
    ),
    (
        "a validator",
        f"{START}validators: [later.yaml]\n",
        {"prod/later.yaml": "apiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: a}\nlabels: {}\n"},
        False,
    ),
    (
        "references of graphs",
        f"{START}namePrefix: prod-\nconfigurations: [names.yaml]\n",
        {"prod/names.yaml": REFERENCES.replace("KIND", "DynamoGraphDeployment").replace("PATH", "spec/a")},
        True,
    ),
    (
        "references of Deployments",
        f"{START}namePrefix: prod-\nconfigurations: [names.yaml]\n",
        {"prod/names.yaml": REFERENCES.replace("KIND", "Deployment").replace("PATH", "spec/template/spec/hostname")},
        False,
    ),
    ("an image", f"{START}images: [{{name: nvcr.io/nvidia/ai-dynamo/vllm-runtime, newTag: 1.5.2}}]\n", {}, True),
    ("a patch", f"{START}patches: [{{path: scale.yaml}}]\n", {"prod/scale.yaml": SCALE}, True),
    ("a graph with an error", START, {"base/graphs.yaml": CHAT.replace("replicas: 1", "replicas: many")}, True),
    (
        "a build that fails after the function",
        f"{START}vars: [{{name: A, objref: {{kind: ConfigMap, name: no, apiVersion: v1}}}}]\n",
        {},
        False,
    ),
    ("a build that fails before the function", f"{START}patches: [{{path: missing.yaml}}]\n", {}, False),
    (
        "a local object",
        START,
        {
            "base/settings.yaml": SETTINGS.replace(
                "name: settings", "name: settings, annotations: {config.kubernetes.io/local-config: 'true'}"
            )
        },
        True,
    ),
    (
        "objects of one name in two namespaces",
        START,
        {
            "base/settings.yaml": SETTINGS.replace("name: settings", "name: settings, namespace: a")
            + "---\n"
            + SETTINGS.replace("name: settings", "name: settings, namespace: b")
        },
        True,
    ),
    (
        "the annotation of short objects",
        START,
        {"base/settings.yaml": SETTINGS.replace("name: settings", f"name: settings, annotations: {{{short_objects.REST}: '0'}}")},
        False,
    ),
]
"""The end of a build, with other files, and whether kustomize gets short objects."""


@cases(("kustomization", "files", "is_short"), ENDS)
def test_ends_of_builds_are_alike(kustomization, files, is_short, compared, tmp_path):
    write(tmp_path / "team", {**BASE, "prod/kustomization.yaml": kustomization, **files})
    compared.assert_equal(tmp_path / "team")
    assert bool(compared.short) is is_short or not compared.answered


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files into a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


TEXTS = [
    "yes",
    "1e3",
    "0x1f",
    "1_000",
    "1:20",
    "2001-01-01",
    "'~'",
    "null",
    '""',
    "=",
    "<<",
    "' a'",
    "'a '",
    '"a\\tb"',
    '"a\\nb \\n"',
    '"\\n\\na"',
]
TEXTS += [
    "é",
    "'a: b'",
    "'# a'",
    "'- a'",
    "1.5.1",
    "'-'",
    "4e5",
    "012",
    "0o14",
    "'.5'",
    "'+1'",
    '"\\u2028"',
    '"a\\r\\nb"',
    "settings",
    "token",
    "'*'",
    "'{a}'",
]
TEXTS += [
    "'%a'",
    "'@a'",
    "'`a'",
    "'!a'",
    "'&a'",
    "'|'",
    "'>'",
    "'a #b'",
    "true",
    "'on'",
    "n",
    "'1.'",
    "12345678901234567890",
    "'0'",
    "'-0'",
    '"\\U0001F600"',
]


def test_texts_are_the_same_behind_kustomize(compared, tmp_path):
    """Texts that a reader of YAML can take for another type, and texts that Go's YAML prints in a form of its own."""
    listed = "".join(f"          - {{name: TEXT_{number}, value: !!str {text}}}\n" for number, text in enumerate(TEXTS))
    graph = CHAT.replace('          - {name: TEXT, value: "a text"}\n', listed)
    write(tmp_path / "team", {**BASE, "base/graphs.yaml": graph, "prod/kustomization.yaml": START})
    compared.assert_equal(tmp_path / "team")
    each = "---\n".join(
        CHAT.replace("name: chat", f"name: chat-{number}").replace('"a text"', f"!!str {text}") for number, text in enumerate(TEXTS)
    )
    write(tmp_path / "team", {"base/graphs.yaml": each})
    compared.assert_equal(tmp_path / "team")
    assert compared.short > len(TEXTS)


SOURCE = "source: {kind: ConfigMap, name: settings}"
FIELDS = "fieldPaths: [metadata.labels.settings], options: {create: true}"
PARTS = [
    "namespace: prod\n",
    "namePrefix: prod-\n",
    "nameSuffix: -prod\n",
    "commonAnnotations: {a: b}\n",
    "sortOptions: {order: fifo}\n",
    "labels: [{pairs: {a: b}, includeSelectors: true}]\n",
    "configMapGenerator: [{name: more-LAYER, literals: [a=b]}]\n",
    "secretGenerator: [{name: token-LAYER, literals: [a=b]}]\n",
    "configMapGenerator: [{name: settings, behavior: merge, literals: [LAYER=b]}]\n",
    "images: [{name: nvcr.io/nvidia/ai-dynamo/vllm-runtime, newTag: 1.5.2}]\n",
    'patches: [{target: {kind: DynamoGraphDeployment}, patch: \'[{"op":"add","path":"/metadata/annotations","value":{"c":"d"}}]\'}]\n',
    f"replacements: [{{{SOURCE}, targets: [{{select: {{kind: DynamoGraphDeployment}}, {FIELDS}}}]}}]\n",
    "components: [../component]\n",
]
"""Fields of Kustomizations. kustomize applies them before the function of their layer, and to the objects of a layer below."""


def compose(seed: int) -> dict[str, str]:
    """Two to four layers of random parts, each with or without the function, around the base."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    files = {
        **BASE,
        "component/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n" + chance.choice(PARTS[:6]),
    }
    below = "base"
    for layer in [f"layer-{number}" for number in range(chance.randint(1, 3))] + ["prod"]:
        parts = chance.sample(PARTS, chance.randint(0, 4))
        runs = chance.random() < (0.9 if layer == "prod" else 0.1)
        fields = {part.partition(":")[0]: part for part in parts}  # a field stands once
        text = f"resources: [../{below}]\n" + "".join(fields.values()).replace("LAYER", layer) + "transformers: [render.yaml]\n" * runs
        files |= {f"{layer}/kustomization.yaml": text, f"{layer}/render.yaml": FUNCTION}
        below = layer
    return files


@pytest.mark.parametrize("part", range(4))
def test_compositions_are_built_alike(part, compared, tmp_path):
    for seed in range(part, COMPOSITIONS, 4):
        folder = tmp_path / f"{seed}"
        write(folder, compose(seed))
        compared.assert_equal(folder)
    assert compared.short
