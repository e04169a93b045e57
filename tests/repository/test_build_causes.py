"""The finding about a build that kustomize ends with an error names the patch that fits no resource, and what the base has instead."""

from __future__ import annotations

import json

from tests.cli import console
from tests.repository.clones import GRAPH, codes
from tests.support.cases import cases

LAYER = "namespace: prod\nresources: [base]\n"
TARGET = "target: {kind: DynamoGraphDeployment, name: chat}"
WORKER = "/spec/services/Worker"
SETTINGS = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {size: '3'}\n"
BETA = """\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: chat}
spec:
  components:
  - name: Frontend
    type: frontend
  - name: worker
    type: worker
"""


def merge(version: str = "v1alpha1", name: str = "chat", more: str = "") -> str:
    spec = "spec:\n  services:\n    Worker: {replicas: 3}\n"
    return f"apiVersion: nvidia.com/{version}\nkind: DynamoGraphDeployment\nmetadata:\n  name: {name}\n{more}{spec}"


def operation(name: str, path: str, value: str = "  value: 3\n") -> str:
    return f"- op: add\n  path: /metadata/labels\n  value: {{team: llm}}\n- op: {name}\n  path: {path}\n{value}"


def replacement(path: str) -> dict[str, str]:
    source = "replacements:\n- source: {kind: ConfigMap, name: settings, fieldPath: data.size}\n"
    text = f"{source}  targets:\n  - select: {{kind: DynamoGraphDeployment}}\n"
    return {"kustomization.yaml": f"{LAYER}{text}    fieldPaths:\n    - {path}\n", "base/settings.yaml": SETTINGS}


def file(text: str, target: str = "") -> dict[str, str]:
    return {"kustomization.yaml": f"{LAYER}patches:\n- path: fix.yaml\n{f'  {target}' if target else ''}\n", "fix.yaml": text}


def inline(text: str) -> dict[str, str]:
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    return {"kustomization.yaml": f"{LAYER}patches:\n- {TARGET}\n  patch: |-\n{lines}"}


PART = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamePrefix: eu-\n"


def generated(base: str, name: str = "engine", volume: str = "") -> dict[str, str]:
    """A base that generates a ConfigMap, and a layer that merges one. A file of the base reads the ConfigMap `volume`."""
    literal = "  literals: [a=b]\n"
    return {
        "kustomization.yaml": f"{LAYER}configMapGenerator:\n- name: {name}\n  behavior: merge\n{literal}",
        "base/kustomization.yaml": f"resources: [graph.yaml]\nconfigMapGenerator:\n- name: {base}\n{literal}",
        "base/graph.yaml": f"{GRAPH}      extraPodSpec: {{}}\n# name: {volume}\n" if volume else GRAPH,
    }


def layer(text: str, **files: str) -> dict[str, str]:
    """The Kustomization of the root, with a base; `part` is another folder."""
    return {"kustomization.yaml": f"{LAYER}{text}", **{f"{name}.yaml": content for name, content in files.items()}}


ROWS = [
    ("a kind of no Kustomization", layer("kind: Kustomize\n"), "kustomization.yaml:3:", "Kustomize is not a kind", "write Kustomization"),
    (
        "a Component of the other kind",
        {
            "kustomization.yaml": f"{LAYER}components: [part]\n",
            "part/kustomization.yaml": PART.replace("kind: Component", "kind: Kustomization"),
        },
        "part/kustomization.yaml:2:",
        "is the version of a Component",
        "write kind: Component",
    ),
    ("a tag of images", layer("images:\n- {name: a, tag: b}\n"), "kustomization.yaml:4:", "no field tag", "write newTag"),
    (
        "a patch and its file",
        layer("patches:\n- {target: {kind: DynamoGraphDeployment}, path: fix.yaml, patch: '- {}'}\n", fix=merge()),
        "kustomization.yaml:4:",
        "and not both",
        "make an entry of its own of one of them",
    ),
    (
        "a base twice",
        {"kustomization.yaml": "resources: [base, ./base]\n"},
        "kustomization.yaml:1:",
        "base is in resources twice",
        "remove one",
    ),
    (
        "an action of Helm",
        {"kustomization.yaml": LAYER, "base/graph.yaml": f"{GRAPH}      annotations: {{{{ .Values.size }}}}\n"},
        "base/graph.yaml:",
        "`{{ .Values.size }}` is a placeholder",
        "substitute it before the build, with helm template",
    ),
    ("a slip in replicas", layer("replicas:\n- {name: a, coutn: 2}\n"), "kustomization.yaml:4:", "no field coutn", "write count"),
    (
        "a patch as a text",
        layer("patches:\n- fix.yaml\n", fix=merge()),
        "kustomization.yaml:4:",
        "an object, not a text",
        "write path: fix.yaml",
    ),
    ("labels as a map", layer("labels: {env: dev}\n"), "kustomization.yaml:3:", "a list of entries", "write labels: [{pairs: {env: dev}}]"),
    (
        "literals as a map",
        layer("configMapGenerator:\n- name: a\n  literals: [{size: 3}]\n"),
        "kustomization.yaml:5:",
        "one text with =",
        "write size=3",
    ),
    (
        "literals of a Secret as a map, whose values are not shown",
        layer("secretGenerator:\n- name: a\n  literals: [{size: 3}]\n"),
        "kustomization.yaml:5:",
        "one text with =",
        "write size=VALUE",
    ),
    (
        "a long literal",
        layer('configMapGenerator:\n- name: a\n  literals: [{a.yaml: "x: 1\\ny: 2"}]\n'),
        "kustomization.yaml:5:",
        "one text with =",
        "put the text into a file a.yaml, and list it in files",
    ),
    ("no slash", file(operation("replace", WORKER[1:]), TARGET), "fix.yaml:5:", "begins with a slash", f"write {WORKER}"),
    ("dots", file(operation("replace", "spec.services"), TARGET), "fix.yaml:5:", "begins with a slash", "write /spec/services"),
    ("another operation", file(operation("update", WORKER), TARGET), "fix.yaml:4:", "update is not an operation", "write replace"),
    ("a slip in an operation", inline(operation("replce", WORKER)), "kustomization.yaml:9:", "replce is not an operation", "write replace"),
    (
        "an operation without a dash",
        file("op: remove\npath: /spec\n", TARGET),
        "fix.yaml:1:",
        "this is one without a dash",
        "write a dash before op",
    ),
    (
        "the same in the text of a Kustomization",
        inline("op: remove\npath: /spec\n"),
        "kustomization.yaml:5:",
        "this is one without a dash",
        "write a dash before op",
    ),
    (
        "the source of a replacement",
        {**replacement("spec.services.Worker.replicas"), "base/settings.yaml": SETTINGS.replace("settings", "setting")},
        "kustomization.yaml:4:",
        "no ConfigMap of the build has the name settings",
        "write setting",
    ),
    (
        "a JSON patch in a file without a target",
        {"kustomization.yaml": f"{LAYER}patches:\n- path: a.yaml\n", "a.yaml": "- {op: remove, path: /spec}\n"},
        "kustomization.yaml:4:",
        "its entry has no target",
        "add a target with the kind of the resource that it changes",
    ),
    (
        "an inline JSON patch without a target",
        {"kustomization.yaml": f"{LAYER}patches:\n- patch: {json.dumps(GRAPH)}\n- patch: |\n    - op: remove\n      path: /spec\n"},
        "kustomization.yaml:5:",
        "its entry has no target",
        "add a target with the kind of the resource that it changes",
    ),
    (
        "a schema in another folder",
        {"prod/kustomization.yaml": "resources: [../base]\nopenapi: {path: ../shared/openapi.json}\n", "shared/openapi.json": "{}"},
        "prod/kustomization.yaml:2:",
        "kustomize reads no file of another folder",
        "write a kustomization.yaml of kind: Component with this entry into ../shared, and list ../shared in components",
    ),
    (
        "a graph in another folder",
        {"prod/kustomization.yaml": "resources: [../shared/graph.yaml]\n", "shared/graph.yaml": GRAPH},
        "prod/kustomization.yaml:1:",
        "kustomize reads no file of another folder",
        "list ../shared in its place, and write a kustomization.yaml with resources: [graph.yaml] there",
    ),
    (
        "a Component among the resources",
        {"kustomization.yaml": "resources: [base, part]\n", "part/kustomization.yaml": PART},
        "kustomization.yaml:1:",
        "part is a Component, and stands in resources",
        "move it to components",
    ),
    (
        "a base among the components",
        {"kustomization.yaml": "components: [base]\n"},
        "kustomization.yaml:1:",
        "base is no Component, and stands in components",
        "move it to resources",
    ),
    (
        "a generator that merges with nothing",
        generated("engines"),
        "kustomization.yaml:4:",
        "generates the ConfigMap engine,",
        "write engines",
    ),
    (
        "the same, whose name a file reads",
        generated("engines", volume="engine"),
        "base/kustomization.yaml:3:",
        "but engines",
        "write engine",
    ),
    # reason, files, the location of the finding, the cause, the fix
    (
        "a name of the base that is none",
        {**file(merge()), "base/graph.yaml": GRAPH.replace("name: chat", "name: chat prod")},
        "base/graph.yaml:",
        "'chat prod' is not a valid name",
        "write chat",
    ),
    ("a misspelt name", file(merge(name="chats")), "fix.yaml:4:", "has the name chats", "write chat"),
    ("another version", file(merge("v1beta1")), "fix.yaml:1:", "the patch has apiVersion nvidia.com/v1beta1", "write nvidia.com/v1alpha1"),
    (
        "the version of the base",
        {
            "kustomization.yaml": f"{LAYER}patches:\n- path: fix.yaml\n",
            "fix.yaml": merge(),
            "base/graph.yaml": GRAPH.replace("v1alpha1", "v1beta1"),
        },
        "base/graph.yaml:1:",
        "and the fields of nvidia.com/v1alpha1",
        "write nvidia.com/v1alpha1",
    ),
    (
        "a file that is no YAML",
        {"base/graph.yaml": GRAPH.replace("  services:", "  services:x\n  a:")},
        "base/graph.yaml:",
        "no blank stands behind the colon",
        "write services: x",
    ),
    ("another namespace", file(merge(more="  namespace: other\n")), "fix.yaml:3:", "another namespace", "write metadata.namespace"),
    ("a missing service", file(operation("replace", "/spec/services/Workr/replicas"), TARGET), "fix.yaml:5:", "no Workr", "write Worker"),
    (
        "more words",
        inline(operation("replace", "/spec/services/DecodeWorker/replicas")),
        "kustomization.yaml:10:",
        "no DecodeWorker",
        "write Worker",
    ),
    ("a removal", inline(operation("remove", f"{WORKER}/ingress", "")), "kustomization.yaml:10:", "no ingress", "remove this operation"),
    ("no object for it", file(operation("add", f"{WORKER}/a/b"), TARGET), "fix.yaml:5:", "no a", "add a with an operation of its own"),
    (
        "a slash in a key",
        file(operation("replace", f"{WORKER}/annotations/example.com/team"), TARGET),
        "fix.yaml:5:",
        "no annotations",
        "add annotations",
    ),
    (
        "a slash in a key of the base",
        {
            **file(operation("replace", "/metadata/annotations/example.com/team"), TARGET),
            "base/graph.yaml": GRAPH.replace("metadata:\n", "metadata:\n  annotations: {example.com/team: llm}\n"),
        },
        "fix.yaml:5:",
        "a slash in a key of a JSON pointer is ~1",
        "write /metadata/annotations/example.com~1team",
    ),
    (
        "an index that counts from 1",
        {**file(operation("replace", "/spec/components/2/replicas"), TARGET), "base/graph.yaml": BETA},
        "fix.yaml:5:",
        "has 0 (Frontend), 1 (worker)",
        "indexes count from 0, so write /spec/components/1",
    ),
    (
        "the path of a replacement",
        {**replacement("spec.components.[name=VllmWorker].replicas"), "base/graph.yaml": BETA},
        "kustomization.yaml:8:",
        "no entry of components of DynamoGraphDeployment chat has the name VllmWorker",
        "write [name=worker]",
    ),
    ("a field of it", replacement("spec.services.Workr.replicas"), "kustomization.yaml:8:", "has no Workr", "write Worker"),
    (
        "a missing file",
        {"kustomization.yaml": f"{LAYER}patches:\n- path: fixx.yaml\n", "fix.yaml": merge()},
        "kustomization.yaml:4:",
        "fixx.yaml",
        "write fix.yaml",
    ),
]


def test_a_misspelt_field_of_a_kustomization(clone):
    clone.put(
        {"base/graph.yaml": GRAPH, "base/kustomization.yaml": "resources: [graph.yaml]\n", "kustomization.yaml": f"{LAYER}patch: []\n"}
    )
    done = console.run("check")
    assert (done.code, codes(done)) == (1, ["DYN593"])
    assert done.out.startswith("kustomization.yaml:3:")
    assert "; write patches\n" in done.out


@cases(("files", "location", "cause", "fix"), ROWS)
def test_a_failed_build_names_the_patch_and_what_the_base_has(files, location, cause, fix, clone):
    resources = "resources: [graph.yaml, settings.yaml]\n" if "base/settings.yaml" in files else "resources: [graph.yaml]\n"
    clone.put({"base/graph.yaml": GRAPH, "base/kustomization.yaml": resources, **files})
    done = console.run("check")
    assert (done.code, codes(done)) == (1, ["DYN593"])
    assert done.out.startswith(location)
    problem, _, remedy = done.out.partition("\n")[0].partition("Error: ")
    assert cause in problem
    assert f"; {fix}" in remedy
