"""The edits of an upgrade in files: plain files, and layouts of kustomize, which are built again."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

import pytest

from krm_fn.migration.edits import upgrade_files
from krm_fn.migration.upgrade import fleet_parts, upgrade_planner, upgrade_steps
from krm_fn.migration.upgrade.upgrade_planner import UpgradeOptions
from krm_fn.repository.files import project_file
from krm_fn.review.inputs import Inputs, path_inputs
from tests.repository.clones import FUNCTION
from tests.support.cases import cases
from tests.testbed import programs

RUNTIME = "nvcr.io/nvidia/ai-dynamo/vllm-runtime"
GRAPH = f"""\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata:
  name: chat # the name
spec:
  services:
    Frontend:
      componentType: frontend
      extraPodSpec:
        mainContainer:
          image: {RUNTIME}:1.5.1 # the frontend
    Worker:
      componentType: worker
      extraPodSpec:
        mainContainer: {{image: '{RUNTIME}:1.5.1', command: [sleep]}}
"""
NAME = "# the name\n"
NAMED = f'{NAME}  annotations:\n    nvidia.com/dynamo-operator-origin-version: "1.5.0"\n'
AFTER = GRAPH.replace("1.5.1", "1.6.2").replace(NAME, NAMED)
RENDER = "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: render}\nspec:\n  behaviour: v1.5 # pinned\n"


def upgraded(*paths, to="1.6.2", number=1, config=None, api_version=""):
    """The files after a step, from the plan of the paths."""
    project = project_file.of_paths(paths)
    given = Inputs(paths, config or project.config, None, (), None, project)
    loaded = path_inputs.load(given)
    parts = [
        part
        for sources in loaded.parts
        for part in fleet_parts.parts("", sources.values, sources.config, is_configured=bool(sources.configs))
    ]
    target = upgrade_steps.target(to)
    assert target
    return upgrade_files.edit_files(given, loaded, upgrade_planner.plan(parts, target, UpgradeOptions(api_version)), number)


def written(*paths, **options):
    """Writes the files after a step, and returns the codes of the findings."""
    files = upgraded(*paths, **options)
    upgrade_files.save(files)
    return [finding.code for finding in files.findings]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(folder, files: dict[str, Any]):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def texts(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes().decode() for path in folder.rglob("*") if path.is_file()}


OTHER = "apiVersion: v1\nkind: ConfigMap # 1.5.1\nmetadata: {name: x}\ndata: {image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.5.1}\n"
PLAIN: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("one document", {"a.yaml": GRAPH}, {"a.yaml": AFTER}),
    ("several documents", {"a.yaml": f"{OTHER}---\n{GRAPH}---\n{OTHER}"}, {"a.yaml": f"{OTHER}---\n{AFTER}---\n{OTHER}"}),
    ("CRLF", {"a.yaml": GRAPH.replace("\n", "\r\n")}, {"a.yaml": AFTER.replace("\n", "\r\n")}),
    ("a byte order mark", {"a.yaml": b"\xef\xbb\xbf" + GRAPH.encode()}, {"a.yaml": "\ufeff" + AFTER}),
    ("a pinned release", {"a.yaml": GRAPH, "r.yaml": RENDER}, {"a.yaml": AFTER, "r.yaml": RENDER.replace("v1.5", "v1.6")}),
    ("no line break at the end", {"a.yaml": GRAPH.rstrip()}, {"a.yaml": AFTER.rstrip()}),
]


@cases(("reason", "before", "after"), PLAIN)
def test_plain_files(folder, reason, before, after):
    """Only the edited fields change: documents of others, comments, line ends and quotes stay. A second run changes nothing."""
    put(folder, before)
    assert written(".") == []
    assert texts(folder) == after
    assert upgraded(".").texts == {}


def test_a_list_of_kubectl(folder):
    """The items of an exported List are edited at their places in JSON."""
    pod = f'{{"spec": {{"containers": [{{"name": "main", "image": "{RUNTIME}:1.5.1"}}]}}}}'
    spec = f'{{"components": [{{"name": "W", "type": "worker", "podTemplate": {pod}}}]}}'
    head = '"apiVersion": "nvidia.com/v1beta1", "kind": "DynamoGraphDeployment", "metadata": {"name": "%s", "annotations": {}}'
    item = f'{{{head}, "spec": {spec}}}'
    put(folder, {"list.json": f'{{"apiVersion": "v1", "kind": "List",\n "items": [\n  {item % "a"},\n  {item % "b"}\n ]}}\n'})
    assert written("list.json") == []
    text = (folder / "list.json").read_text()
    assert text.count(f"{RUNTIME}:1.6.2") == 2
    assert text.count('{"nvidia.com/dynamo-operator-origin-version": "1.5.0"}') == 2
    assert text.count("\n") == 5


def test_two_steps(folder):
    """Each step can be written alone, and both together give the same files as one run after the other."""
    put(folder, {"a.yaml": GRAPH.replace("1.5.1", "0.9.1")})
    assert written(".", number=1) == []
    first = texts(folder)
    assert "vllm-runtime:1." in first["a.yaml"]
    while upgraded(".").texts:
        assert written(".") == []
    last = texts(folder)
    put(folder, {"a.yaml": GRAPH.replace("1.5.1", "0.9.1")})
    assert written(".", number=9) == []
    assert texts(folder) == last


NIXL = """'{"kv_connector":"NixlConnector","kv_role":"kv_both"}'"""
PREFILL = GRAPH.replace("1.5.1", "0.9.1").replace(
    "command: [sleep]", "command: [python3, -m, dynamo.vllm], args: [--model, m, --is-prefill-worker, --store-kv, etcd]"
)


def test_a_transfer_in_several_steps(folder):
    """The list of arguments changes in two steps, and one item of it in a third way. All steps together write the same files."""
    put(folder, {"a.yaml": PREFILL})
    while upgraded(".").texts:
        assert written(".") == []
    last = texts(folder)["a.yaml"]
    assert f"args: [--model, m, --disaggregation-mode, prefill, --discovery-backend, etcd, --kv-transfer-config, {NIXL}]" in last
    put(folder, {"a.yaml": PREFILL})
    assert written(".", number=9) == []
    assert texts(folder)["a.yaml"] == last


def test_items_that_cannot_be_written(folder):
    """Another container shares the list, so a person writes the items. The message has them as a shell reads them."""
    listed = "args: [--model, m, --is-prefill-worker, --store-kv, etcd]"
    shared = PREFILL.replace(listed, "args: &args [--is-prefill-worker]")
    put(folder, {"a.yaml": f"{shared}        containers: [{{name: side, image: busybox, args: *args}}]\n"})
    (finding,) = [finding for finding in upgraded(".", to="1.1").findings if finding.code == "DYN663"]
    assert f"write --kv-transfer-config {NIXL} at its end by hand" in finding.message


def test_arguments_in_a_patch(folder, kustomize_on_path):
    """The list of the patch takes the place of the one in the base, so only the patch is edited."""
    of_patch = "mainContainer: {image: 'own/dynamo:0.9.1', args: [--is-prefill-worker]}"
    put(
        folder,
        {
            "base/kustomization.yaml": "resources: [graph.yaml]\n",
            "base/graph.yaml": PREFILL.replace(", --is-prefill-worker", ""),
            "prod/kustomization.yaml": "resources: [../base]\npatches: [{path: args.yaml}]\n",
            "prod/args.yaml": "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: chat}\n"
            f"spec: {{services: {{Worker: {{extraPodSpec: {{{of_patch}}}}}}}}}\n",
        },
    )
    assert written(".", to="1.1") == []
    new = texts(folder)
    assert f"own/dynamo:1.1.1', args: [--is-prefill-worker, --kv-transfer-config, {NIXL}]" in new["prod/args.yaml"]
    assert "--kv-transfer-config" not in new["base/graph.yaml"]
    assert upgraded(".", to="1.1").texts == {}


def test_a_patch_for_git(folder):
    """The preview is a diff that git applies, and that gives the same files."""
    put(folder, {"a.yaml": GRAPH.rstrip(), "b/r.yaml": RENDER})
    patch = upgraded(".").patch
    subprocess.run(["git", "apply", "-"], input=patch.encode(), check=True, cwd=folder)
    assert texts(folder)["a.yaml"] == AFTER.rstrip()


def test_a_link_that_leads_out_is_not_written(folder, tmp_path_factory):
    """A file outside of PATH stays as it is."""
    outside = tmp_path_factory.mktemp("outside") / "a.yaml"
    outside.write_text(GRAPH)
    (folder / "a.yaml").symlink_to(outside)
    put(folder, {"b.yaml": GRAPH.replace("chat", "other")})
    written(".")
    assert outside.read_text() == GRAPH
    assert "1.6.2" in (folder / "b.yaml").read_text()


def test_an_anchor_that_another_field_needs(folder):
    """The field is named with its line and with the text to write; the others are written."""
    shared = GRAPH.replace("command: [sleep]", "env: [{name: X, value: *i}]").replace(f"'{RUNTIME}:1.5.1'", f"&i {RUNTIME}:1.5.1")
    put(folder, {"a.yaml": shared})
    files = upgraded(".")
    (finding,) = files.findings
    assert (finding.code, finding.severity, finding.line) == ("DYN663", "error", 15)
    assert f"write {RUNTIME}:1.6.2" in finding.message
    assert files.texts["a.yaml"].new.count("1.6.2") == 1


KUSTOMIZE: list[tuple[str, dict[str, str], dict[str, tuple[str, str]]]] = [
    (
        "the document",
        {"kustomization.yaml": "resources: [graph.yaml]\n", "graph.yaml": GRAPH},
        {"graph.yaml": (GRAPH, AFTER)},
    ),
    (
        "images",
        {
            "kustomization.yaml": "resources: [graph.yaml]\nconfigurations: [images.yaml]\n"
            f'images:\n- name: {RUNTIME}\n  newTag: "1.5.1" # tag\n',
            "images.yaml": "images:\n- {path: spec/services/Frontend/extraPodSpec/mainContainer/image, kind: DynamoGraphDeployment}\n"
            "- {path: spec/services/Worker/extraPodSpec/mainContainer/image, kind: DynamoGraphDeployment}\n",
            "graph.yaml": GRAPH.replace("1.5.1", "1.5.0"),
        },
        {"kustomization.yaml": ('newTag: "1.5.1" # tag', 'newTag: "1.6.2" # tag'), "graph.yaml": (NAME, NAMED)},
    ),
    (
        "a patch of an overlay, and its base",
        {
            "base/kustomization.yaml": "resources: [graph.yaml]\n",
            "base/graph.yaml": GRAPH,
            "prod/kustomization.yaml": "resources: [../base]\npatches: [{path: tag.yaml}]\n",
            "prod/tag.yaml": "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: chat}\nspec: {services: "
            "{Worker: {extraPodSpec: {mainContainer: {image: 'own/dynamo:1.5.0'}}}}}\n",
        },
        {"prod/tag.yaml": ("own/dynamo:1.5.0", "own/dynamo:1.6.2"), "base/graph.yaml": ("1.5.1 # the frontend", "1.6.2 # the frontend")},
    ),
    (
        "a JSON patch",
        {
            "kustomization.yaml": "resources: [graph.yaml]\npatches:\n- target: {kind: DynamoGraphDeployment}\n  patch: |-\n"
            "    - op: replace # why\n      path: /spec/services/Worker/extraPodSpec/mainContainer/image\n      value: own/dynamo:1.5.0\n",
            "graph.yaml": GRAPH,
        },
        {"kustomization.yaml": ("own/dynamo:1.5.0", "own/dynamo:1.6.2"), "graph.yaml": ("1.5.1 # the frontend", "1.6.2 # the frontend")},
    ),
    (
        "images beside patches in the same Kustomization",
        {
            "kustomization.yaml": f"resources: [graph.yaml]\nconfigurations: [images.yaml]\nimages: [{{name: {RUNTIME}, newTag: 1.5.1}}]\n"
            "patches:\n- target: {kind: DynamoGraphDeployment}\n  patch: |-\n"
            "    - {op: add, path: /spec/services/Worker/replicas, value: 2}\n"
            "- patch: |-\n    apiVersion: nvidia.com/v1alpha1\n    kind: DynamoGraphDeployment\n    metadata: {name: chat}\n"
            "    spec: {services: {Frontend: {replicas: 2}}}\n",
            "images.yaml": "images:\n- {path: spec/services/Frontend/extraPodSpec/mainContainer/image, kind: DynamoGraphDeployment}\n"
            "- {path: spec/services/Worker/extraPodSpec/mainContainer/image, kind: DynamoGraphDeployment}\n",
            "graph.yaml": GRAPH.replace("1.5.1", "1.5.0"),
        },
        {"kustomization.yaml": ("newTag: 1.5.1", "newTag: 1.6.2"), "graph.yaml": (NAME, NAMED)},
    ),
    (
        "a JSON patch in a file, beside objects with the same image",
        {
            "kustomization.yaml": "resources: [graph.yaml, job.yaml]\n"
            "patches: [{target: {kind: DynamoGraphDeployment}, path: patch.yaml}]\n",
            "patch.yaml": "# own/dynamo:1.5.0\n- op: replace\n  path: /spec/services/Worker/extraPodSpec/mainContainer/image\n"
            "  value: own/dynamo:1.5.0 # tag\n",
            "graph.yaml": GRAPH,
            "job.yaml": "apiVersion: v1\nkind: Pod # own/dynamo:1.5.0\nmetadata: {name: load}\n"
            "spec: {containers: [{name: a, image: 'own/dynamo:1.5.0'}]}\n",
        },
        {"patch.yaml": ("own/dynamo:1.5.0 # tag", "own/dynamo:1.6.2 # tag"), "graph.yaml": ("1.5.1 # the f", "1.6.2 # the f")},
    ),
    (
        "a component that a render follows",
        {
            "kustomization.yaml": "namespace: prod\nresources: [graph.yaml]\ncomponents: [../render]\n",
            "graph.yaml": GRAPH,
            "../render/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ntransformers: [render.yaml]\n",
            "../render/render.yaml": f"{FUNCTION}spec: {{behaviour: v1.5}}\n",
        },
        {"graph.yaml": (GRAPH, AFTER), "../render/render.yaml": ("v1.5", "v1.6")},
    ),
    (
        "a function inside of a Kustomization",
        {
            "kustomization.yaml": "namespace: prod\nresources: [graph.yaml]\ntransformers:\n- |-\n"
            + "".join(f"  {line}\n" for line in f"{FUNCTION}spec:\n  behaviour: v1.5".splitlines()),
            "graph.yaml": GRAPH,
        },
        {"graph.yaml": (GRAPH, AFTER), "kustomization.yaml": ("behaviour: v1.5", "behaviour: v1.6")},
    ),
]


@cases(("reason", "before", "edits"), KUSTOMIZE)
def test_layouts_of_kustomize(folder, kustomize_on_path, reason, before, edits):
    """Each field is written where it comes from; a new build then has the planned values, and a second run changes nothing."""
    put(folder, {f"apps/{name}": text for name, text in before.items()})
    old = texts(folder)
    assert written(".") == []
    expected = {f"apps/{name}".replace("apps/../", ""): change for name, change in edits.items()}
    new = texts(folder)
    assert {name for name in new if new[name] != old[name]} == set(expected)
    for name, (before_text, after_text) in expected.items():
        assert after_text in new[name]
        assert new[name].replace(NAMED, NAME) == old[name].replace(before_text, after_text).replace(NAMED, NAME)
    assert upgraded(".").texts == {}


def test_a_shared_base_moves_with_all_of_its_overlays(folder, kustomize_on_path):
    """A base is written once if all overlays are in the step."""
    overlay = "namespace: {0}\nresources: [../base]\n"
    put(folder, {"base/kustomization.yaml": "resources: [graph.yaml]\n", "base/graph.yaml": GRAPH})
    put(folder, {f"{name}/kustomization.yaml": overlay.format(name) for name in ("dev", "prod")})
    assert written(".") == []
    assert (folder / "base/graph.yaml").read_text() == AFTER


def test_a_base_outside_of_the_path(folder, kustomize_on_path):
    """PATH is one overlay: its base stays, and the finding names it."""
    subprocess.run(["git", "init", "--quiet", "."], check=True)
    put(folder, {"base/kustomization.yaml": "resources: [graph.yaml]\n", "base/graph.yaml": GRAPH})
    put(folder, {"prod/kustomization.yaml": "resources: [../base]\n"})
    files = upgraded("prod")
    assert {finding.code for finding in files.findings} == {"DYN663"}
    assert all("base/graph.yaml, which PATH does not contain" in finding.message for finding in files.findings)
    assert files.texts == {}


def test_a_base_of_a_graph_that_is_not_in_the_step(folder, kustomize_on_path):
    """Another overlay with the same base is already beyond the step, and would lose a field: nothing is written, and the error names it."""
    deprecated = GRAPH.replace("1.5.1", "0.9.1").replace(
        "      componentType: frontend\n", "      componentType: frontend\n      autoscaling: {}\n"
    )
    newer = "".join(
        f"    - {{op: replace, path: /spec/services/{name}/extraPodSpec/mainContainer/image, value: '{RUNTIME}:1.6.2'}}\n"
        for name in ("Frontend", "Worker")
    )
    put(folder, {"base/kustomization.yaml": "resources: [graph.yaml]\n", "base/graph.yaml": deprecated})
    put(folder, {"old/kustomization.yaml": "namespace: old\nresources: [../base]\n"})
    patches = f"patches:\n- target: {{kind: DynamoGraphDeployment}}\n  patch: |-\n{newer}"
    put(folder, {"new/kustomization.yaml": f"namespace: new\nresources: [../base]\n{patches}"})
    files = upgraded(".")
    assert {finding.code for finding in files.findings} == {"DYN663", "DYN664"}
    assert "in another way than planned" in files.findings[-1].message
    assert files.texts == {}


def test_a_patch_of_another_object_with_the_same_image(folder, kustomize_on_path):
    """A text that makes the image of a graph and that of a Pod cannot be edited for the graph alone: nothing is written."""
    patch = "- op: replace\n  path: /{0}/image\n  value: own/dynamo:1.5.0\n"
    graph = "spec/services/Worker/extraPodSpec/mainContainer"
    put(folder, {"graph.yaml": GRAPH, "one.yaml": patch.format(graph), "two.yaml": patch.format("spec/containers/0")})
    put(folder, {"pod.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: load}\nspec: {containers: [{name: a, image: x}]}\n"})
    targets = "{target: {kind: DynamoGraphDeployment}, path: one.yaml}, {target: {kind: Pod}, path: two.yaml}"
    put(folder, {"kustomization.yaml": f"resources: [graph.yaml, pod.yaml]\npatches: [{targets}]\n"})
    files = upgraded(".")
    assert [(finding.code, finding.path) for finding in files.findings] == [("DYN664", ("spec", "containers", 0, "image"))]
    assert files.texts == {}


def test_an_overlay_outside_of_the_path(folder, kustomize_on_path):
    """An overlay that PATH does not contain is built from the changed base: nothing is written. With both overlays, the base moves."""
    subprocess.run(["git", "init", "--quiet", "."], check=True)
    put(folder, {"base/kustomization.yaml": "resources: [graph.yaml]\n", "base/graph.yaml": GRAPH})
    put(folder, {f"{name}/kustomization.yaml": f"namespace: {name}\nresources: [../base]\n" for name in ("dev", "prod")})
    files = upgraded("base", "prod")
    assert [finding.code for finding in files.findings] == ["DYN664"]
    assert "dev is built from this file too" in files.findings[0].message
    assert (files.findings[0].file, files.texts) == ("base/graph.yaml", {})
    assert written("base", "dev", "prod") == []
    assert (folder / "base/graph.yaml").read_text() == AFTER


def test_a_replacement(folder, kustomize_on_path):
    """A value that a ConfigMap gives to a graph is written in the ConfigMap."""
    source = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: images\n  annotations: {config.kubernetes.io/local-config: 'true'}\n"
    target = "select: {kind: DynamoGraphDeployment}, fieldPaths: [spec.services.Worker.extraPodSpec.mainContainer.image]"
    put(folder, {"graph.yaml": GRAPH, "images.yaml": f"{source}data: {{worker: own/dynamo:1.5.0}} # here\n"})
    replacement = f"replacements:\n- source: {{kind: ConfigMap, name: images, fieldPath: data.worker}}\n  targets:\n  - {{{target}}}\n"
    put(folder, {"kustomization.yaml": f"resources: [graph.yaml, images.yaml]\n{replacement}"})
    assert written(".") == []
    assert "data: {worker: own/dynamo:1.6.2} # here" in (folder / "images.yaml").read_text()


CONVERTED = f"""\
# the file
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment # the kind
metadata:
  name: chat # the name
  annotations:
    nvidia.com/dynamo-operator-origin-version: "1.5.0"
spec:
  components:
  # about the frontend
  - name: Frontend
    type: frontend
    podTemplate:
      spec:
        containers:
        - name: main
          image: {RUNTIME}:1.6.2 # the image
  - name: Worker
    type: worker # a worker
    replicas: 2 # two
    podTemplate:
      spec:
        containers:
        - name: main
          image: {RUNTIME}:1.6.2
          command:
          - sleep
          # forever
          - infinity
# the end
"""


def test_the_api_version_with_comments(folder):
    """A conversion writes the whole resource, and its comments move to the fields in the new version."""
    worker = "    Worker:\n      componentType: worker # a worker\n      replicas: 2 # two\n      extraPodSpec:\n        mainContainer:\n"
    command = "          command:\n          - sleep\n          # forever\n          - infinity\n# the end\n"
    head = (
        GRAPH.partition("    Worker:")[0]
        .replace("# the frontend", "# the image")
        .replace("    Frontend:", "    # about the frontend\n    Frontend:")
    )
    text = f"# the file\n{head.replace('Deployment', 'Deployment # the kind', 1)}{worker}          image: {RUNTIME}:1.5.1\n{command}"
    put(folder, {"a.yaml": text})
    assert written("a.yaml", api_version="nvidia.com/v1beta1") == []
    assert (folder / "a.yaml").read_text() == CONVERTED
    assert upgraded("a.yaml", api_version="nvidia.com/v1beta1").texts == {}


RELEASE = f"""\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: chat}}
spec:
  values:
    image: # of the workers
      repository: {RUNTIME}
      tag: 1.5.1 # tag
    frontend: {{image: "mirror.example/dynamo-frontend:1.5.0"}}
    other: {{repository: registry.example/web, tag: 1.5.1}}
    old: {{repository: {RUNTIME}, tag: 1.3.0}}
"""
APPLICATION = f"""\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: chat}}
spec:
  source:
    path: charts/chat
    kustomize: {{images: ["own/dynamo={RUNTIME}:1.5.1"]}}
    helm:
      values: |
        image: {RUNTIME}:1.5.1
"""


def test_values_of_helm(folder):
    """Tags of the images that NVIDIA publishes are edited if the step moves their version; other values stay."""
    put(folder, {"a.yaml": GRAPH, "release.yaml": RELEASE})
    assert written("a.yaml", "release.yaml") == []
    expected = RELEASE.replace("tag: 1.5.1 # tag", "tag: 1.6.2 # tag").replace("dynamo-frontend:1.5.0", "dynamo-frontend:1.6.2")
    assert (folder / "release.yaml").read_text() == expected


def test_values_of_helm_in_a_text(folder):
    """Values in a text are named with their line, and the images of kustomize are edited."""
    put(folder, {"a.yaml": GRAPH, "application.yaml": APPLICATION})
    files = upgraded("a.yaml", "application.yaml")
    assert [(finding.code, finding.line) for finding in files.findings] == [("DYN663", 9)]
    assert files.texts["application.yaml"].new == APPLICATION.replace(f"={RUNTIME}:1.5.1", f"={RUNTIME}:1.6.2")


BETA = f"""\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {{name: chat}}
spec:
  components:
  - name: Frontend
    type: frontend
    podTemplate: {{spec: {{containers: [{{name: main, image: "{RUNTIME}:1.6.1"}}]}}}}
"""
SCALE = """\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: chat}
spec: {backendFramework: vllm}
"""
ORIGIN = "nvidia.com/dynamo-operator-origin-version"
OVERLAYS = [
    # reason, the tag of each overlay with its patch or without, codes, files with the origin version
    ("one overlay is behind, and has a patch", {"prod": ("1.5.1", True), "staging": ("1.6.1", False)}, [], ["prod/scale.yaml"]),
    ("one overlay is behind, and has none", {"prod": ("1.5.1", False), "staging": ("1.6.1", True)}, ["DYN663", "DYN664"], []),
    ("both are behind", {"prod": ("1.5.1", True), "staging": ("1.5.2", True)}, [], ["base/graph.yaml"]),
]


@cases(("overlays", "codes", "files"), OVERLAYS)
def test_the_origin_version_of_overlays_with_one_base(overlays, codes, files, folder, kustomize_on_path):
    """A base has one value. So an overlay with a version of its own has the origin version in its own patch."""
    put(folder, {"base/graph.yaml": BETA, "base/kustomization.yaml": "resources: [graph.yaml]\n"})
    for name, (tag, is_patched) in overlays.items():
        text = f"namespace: {name}\nresources: [../base]\nimages: [{{name: {RUNTIME}, newTag: {tag}}}]\ntransformers: [render.yaml]\n"
        text += "patches: [{path: scale.yaml}]\n" * is_patched
        put(folder, {f"{name}/kustomization.yaml": text, f"{name}/render.yaml": FUNCTION, f"{name}/scale.yaml": SCALE})
    assert written(".", to="1.6.1") == codes
    assert [name for name, text in texts(folder).items() if ORIGIN in text] == files
    assert all("newTag: 1.6.1" in texts(folder)[f"{name}/kustomization.yaml"] for name in overlays) == (not codes)


LAYOUTS = [
    ("a graph that is its own generator", "layout-c-generator", ["graph.yaml"]),
    ("a kpt package, which is rendered in place", "layout-d-kpt", ["package/graph.yaml", "rendered/graph.yaml"]),
    ("functions of older versions of kustomize", "layout-f-legacy", ["base/graph.yaml", "generator/graph.yaml"]),
]


@cases(("reason", "name", "expected"), LAYOUTS)
def test_layouts_that_render(folder, kustomize, kpt, monkeypatch, reason, name, expected):
    """Only the graphs change, not what a render writes beside them, and a second run changes nothing."""
    monkeypatch.setenv("PATH", programs.search_path(kustomize.parent, kpt.parent))
    shutil.copytree(programs.ROOT / "examples" / name, folder / name)
    old = texts(folder)
    assert written(name) == []
    new = texts(folder)
    assert sorted(file for file in new if new[file] != old[file]) == [f"{name}/{file}" for file in expected]
    for file in (f"{name}/{file}" for file in expected):
        lines = [line for line in new[file].splitlines() if "origin-version" not in line and line != "  annotations:"]
        before = [line for line in old[file].replace(":1.6.1", ":1.6.2").splitlines() if "origin-version" not in line]
        assert lines == [line for line in before if line != "  annotations:"]
    assert upgraded(name).texts == {}


def test_a_release_that_stays_pinned(folder, kustomize_on_path):
    """A generator pins the release of a rendered graph in a text that is not edited: the build would not follow the plan."""
    function = f"{FUNCTION}spec: {{'behaviour': 'v1.5'}}"
    text = "".join(f"  {line}\n" for line in function.splitlines())
    put(folder, {"kustomization.yaml": f"namespace: prod\nresources: [graph.yaml]\ntransformers:\n- |-\n{text}", "graph.yaml": GRAPH})
    files = upgraded(".")
    assert [finding.code for finding in files.findings] == ["DYN663", "DYN664"]
    assert "still follows v1.5" in files.findings[1].message
    assert files.texts == {}


def test_the_release_in_a_kptfile(folder, kustomize, kpt, monkeypatch):
    """The settings of a function in a Kptfile move with the graph."""
    monkeypatch.setenv("PATH", programs.search_path(kustomize.parent, kpt.parent))
    head = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: chat}\n"
    function = (
        "pipeline:\n  mutators:\n  - image: ghcr.io/dynamo-krm-fn/dynamo-krm-fn:0.1.0\n    configMap:\n      behaviour: v1.5 # pinned\n"
    )
    put(folder, {"Kptfile": head + function, "graph.yaml": GRAPH.replace("# the name", "# the name\n  namespace: prod")})
    assert written(".") == []
    assert (folder / "Kptfile").read_text() == head + function.replace("v1.5", "v1.6")
    assert upgraded(".").texts == {}
