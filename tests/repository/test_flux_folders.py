"""Kustomizations of Flux whose folder has a function, which Flux rejects, or rendered objects whose variables Flux replaces.

kustomize is in Flux as a library without plugins. An error is only right if Flux reads these files: not those of another repository, and
not those of the branch with rendered objects, whose folders have the same names.
"""

from __future__ import annotations

import yaml

from tests.cli import console
from tests.repository.clones import FUNCTION, GRAPH, README, codes
from tests.support.cases import cases

KEY = "kustomize.toolkit.fluxcd.io/substitute"


def flux(path="./prod", source="flux-system", kind="GitRepository", **spec):
    """A Kustomization of Flux. Without a path, Flux applies the root."""
    reference = {"kind": kind, "name": source}
    fields = {"interval": "10m", "prune": True, "sourceRef": reference, **({"path": path} if path else {}), **spec}
    metadata = {"name": "chat", "namespace": "flux-system"}
    return yaml.safe_dump(
        {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": metadata, "spec": fields}, sort_keys=False
    )


def git(name, url="https://git.example.com/team/fleet", **ref):
    """A git repository that Flux fetches."""
    spec = {"interval": "1m", "url": url, **({"ref": ref} if ref else {})}
    metadata = {"name": name, "namespace": "flux-system"}
    return yaml.safe_dump({"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", "metadata": metadata, "spec": spec})


BASE = {f"prod/{name}": text for name, text in README.items()}
OWN = git("flux-system", "ssh://git@git.example.com/team/fleet", branch="main")
INNER = {**{f"base/{name}": text for name, text in README.items()}, "prod/kustomization.yaml": "resources: [../base]\n"}
INLINE = "namespace: prod\nresources: [graph.yaml]\ntransformers:\n- |\n" + "".join(f"  {line}\n" for line in FUNCTION.splitlines())
COMPONENT = {
    "prod/graph.yaml": console.GRAPH,
    "prod/kustomization.yaml": "resources: [graph.yaml]\ncomponents: [../render]\n",
    "render/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ntransformers: [render.yaml]\n",
    "render/render.yaml": FUNCTION,
}
FOLDER = {
    **BASE,
    "prod/kustomization.yaml": "namespace: prod\nresources: [graph.yaml]\ntransformers: [functions]\n",
    "prod/functions/kustomization.yaml": "resources: [render.yaml]\n",
    "prod/functions/render.yaml": FUNCTION,
}
REJECTED = [
    ("the folder has the function", {**BASE, "ks.yaml": flux()}),
    ("the folder includes one with the function", {**INNER, "ks.yaml": flux()}),
    ("the function is in a component", {**COMPONENT, "ks.yaml": flux()}),
    ("the function is in a folder of functions", {**FOLDER, "ks.yaml": flux()}),
    ("the function is inside of the Kustomization", {**BASE, "prod/kustomization.yaml": INLINE, "ks.yaml": flux()}),
    ("a path without a dot", {**BASE, "ks.yaml": flux("prod")}),
    ("a path from the root", {**BASE, "ks.yaml": flux("/prod/")}),
    ("no Kustomization in the folder, but in one below it", {**BASE, "ks.yaml": flux("./")}),
    ("no path at all", {**BASE, "ks.yaml": flux(None)}),
    ("the root has the function", {**README, "ks.yaml": flux("./")}),
    ("the source of the bootstrap is known", {**BASE, "ks.yaml": flux(), "source.yaml": OWN}),
    ("another name of the same repository", {**BASE, "ks.yaml": flux(source="apps"), "source.yaml": f"{OWN}---\n{git('apps')}"}),
    ("the bootstrap reads another branch, with these files", {**BASE, "ks.yaml": flux(), "source.yaml": git("flux-system", branch="dev")}),
    ("values after the build", {**BASE, "ks.yaml": flux(postBuild={"substitute": {"A": "b"}})}),
    ("a Kustomization lists that of Flux", {**BASE, "flux/ks.yaml": flux(), "flux/kustomization.yaml": "resources: [ks.yaml]\n"}),
]


@cases("files", REJECTED)
def test_a_folder_that_flux_rejects_is_an_error(files, clone):
    """Flux says "external plugins disabled", and applies nothing of the folder."""
    clone.put(files)
    done = console.run("check")
    assert (done.code, codes(done)) == (1, ["DYN722"])
    assert "examples/flux/render.sh" in done.out
    (name,) = (name for name in files if name.endswith("ks.yaml"))
    line = 1 + next((at for at, text in enumerate(files[name].splitlines()) if text.startswith("  path:")), 6)
    assert f"{name}:{line}:" in done.out or "path" not in files[name]


BUILT_IN = "apiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: labels}\nlabels: {a: b}\nfieldSpecs: []\n"
PLAIN = {**BASE, "prod/kustomization.yaml": "namespace: prod\nresources: [graph.yaml]\n"}
APPLIED = [
    ("no function", {**PLAIN, "ks.yaml": flux()}),
    (
        "a transformer of kustomize itself",
        {
            **PLAIN,
            "prod/kustomization.yaml": "namespace: prod\nresources: [graph.yaml]\ntransformers: [l.yaml]\n",
            "prod/l.yaml": BUILT_IN,
            "ks.yaml": flux(),
        },
    ),
    ("another folder has the function", {**BASE, "plain/graph.yaml": GRAPH, "ks.yaml": flux("./plain")}),
    ("a folder of another repository", {**BASE, "ks.yaml": flux("./deploy", "apps")}),
    ("the root of a source that is not known", {**BASE, "ks.yaml": flux("./", "apps")}),
    ("the branch with rendered objects", {**BASE, "ks.yaml": flux(source="apps"), "source.yaml": git("apps", branch="rendered")}),
    ("a tag", {**BASE, "ks.yaml": flux(source="apps"), "source.yaml": git("apps", tag="v1")}),
    (
        "another repository with the same folder",
        {**BASE, "ks.yaml": flux(source="apps"), "source.yaml": f"{OWN}---\n{git('apps', 'https://git.example.com/team/apps')}"},
    ),
    ("an artifact", {**BASE, "ks.yaml": flux(source="apps", kind="OCIRepository")}),
]


def test_a_source_that_is_not_known_is_a_note(clone):
    """The same folder may be in another repository."""
    clone.put({**BASE, "ks.yaml": flux(source="apps")})
    done = console.run("check", notes=True)
    assert (done.code, codes(done)) == (0, [])
    assert "note DYN722 spec.path: Flux runs no functions" in done.out


def test_only_the_check_fails(clone):
    """What Flux does changes nothing of what other commands read."""
    clone.put({**BASE, "ks.yaml": flux()}).commit()
    for command in (["diff", "--old", "HEAD"], ["images", "."], ["needs", "."]):
        assert console.run(*command).code == 0, command


@cases("files", APPLIED)
def test_a_folder_that_flux_applies_has_no_such_finding(files, clone):
    clone.put(files)
    done = console.run("check", notes=True)
    assert "DYN722" not in done.out + done.err


def test_the_files_of_the_examples_have_no_such_finding(clone):
    """Their Flux applies the branch or the artifact that CI publishes, with the same folders."""
    clone.put({**BASE, "ks.yaml": flux(source="apps"), "source.yaml": git("apps", branch="rendered")})
    done = console.run("check", notes=True)
    assert "applies ./prod of another branch or repository" in done.out
    assert "prod: built with kustomize" in done.err + done.out


MULTINODE = """\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {{name: chat, namespace: prod{metadata}}}
spec:
  backendFramework: vllm
  components:
  - name: Frontend
    type: frontend
    podTemplate: {{spec: {{containers: [{{name: main, image: "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1"}}]}}}}
  - name: Worker
    type: worker
    multinode: {{nodeCount: 2}}
    podTemplate:
      spec:
        containers:
        - name: main
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1
          command: [python3, -m, dynamo.vllm]
          args: [--model, Qwen/Qwen3-32B, --tensor-parallel-size, "16"]
          resources: {{limits: {{nvidia.com/gpu: "8"}}}}
"""
VALUES = {"substitute": {"CLUSTER": "eu"}}
SUBSTITUTED = [
    ("Flux substitutes", "", flux("./rendered", postBuild=VALUES), ["DYN723"]),
    ("Flux substitutes from a Secret", "", flux("./", postBuild={"substituteFrom": [{"kind": "Secret", "name": "a"}]}), ["DYN723"]),
    ("the graph has the annotation", f", annotations: {{{KEY}: disabled}}", flux("./rendered", postBuild=VALUES), []),
    ("Flux substitutes nothing", "", flux("./rendered"), []),
    ("Flux substitutes in another folder", "", flux("./graphs", postBuild=VALUES), []),
]


@cases(("metadata", "kustomization", "expected"), SUBSTITUTED)
def test_a_variable_of_pods_must_survive_flux(metadata, kustomization, expected, clone):
    """The container that waits for a leader reads `${LWS_LEADER_ADDRESS}`, which Flux does not know."""
    clone.put({"graphs/chat.yaml": MULTINODE.format(metadata=metadata), "clusters/ks.yaml": kustomization})
    clone.shell("krm-fn", "render", "graphs/chat.yaml", "--output-dir", "rendered")
    done = console.run("check")
    assert (done.code, codes(done)) == (int(bool(expected)), expected)
    assert ("leaderworkerset_chat-worker-0.yaml" in done.out) is bool(expected)
