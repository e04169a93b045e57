"""Five shapes of repositories of platform teams: what is found, what is built, and the verdict about a change."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from krm_fn import review
from tests.cli import console
from tests.repository.clones import APPLICATION, BUILD, FLUX, FUNCTION, GRAPH, RENDER, codes, graph_with_frontend
from tests.testbed import programs

OVERLAY = "namespace: {0}\nresources: [../../base]\ntransformers: [render.yaml]\npatches: [{{path: scale.yaml}}]\n"
SCALE = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: chat}\nspec: {services: {Worker: {replicas: %s}}}\n"
GPU = GRAPH.replace("      replicas: 2\n", '      replicas: 2\n      resources: {limits: {gpu: "1"}}\n')

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {template: {spec: {containers: [{name: web, image: "registry.example.com/web:1"}]}}}
"""


def overlay(namespace, replicas):
    return {"kustomization.yaml": OVERLAY.format(namespace), "render.yaml": FUNCTION, "scale.yaml": SCALE % replicas}


def monorepo(clone):
    """Applications with a base and overlays, clusters with the resources of Flux, and applications without Dynamo."""
    clone.put({"graph.yaml": GPU, "kustomization.yaml": "resources: [graph.yaml]\n"}, "apps/chat/base")
    clone.put(overlay("prod", 4), "apps/chat/overlays/prod").put(overlay("staging", 1), "apps/chat/overlays/staging")
    clone.put({"kustomization.yaml": "resources: [https://charts.example/web?ref=v1]\n"}, "apps/web")
    clone.put({"deployment.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"}, "apps/shop")
    for name in ("prod", "staging"):
        path = f"./apps/chat/overlays/{name}"
        clone.put({"chat.yaml": FLUX.format(name="chat", path=path, kind="GitRepository", more="")}, f"clusters/{name}")
        clone.put({"web.yaml": FLUX.format(name="web", path="./apps/none", kind="GitRepository", more="")}, f"clusters/{name}")
    return clone.commit()


def test_a_monorepo_with_clusters_and_applications(clone):
    """Both overlays are built, each once; what is not in the repository is named."""
    monorepo(clone)
    done = console.run("check")
    assert done.err.splitlines()[:2] == [
        "apps/chat/overlays/prod: built with kustomize: Flux Kustomization chat",
        "apps/chat/overlays/staging: built with kustomize: Flux Kustomization chat",
    ]
    assert (done.code, codes(done)) == (0, [])
    assert done.out.count("note DYN597") == 2
    assert "apps/web/kustomization.yaml:1:13: note DYN596" in done.out


def test_a_change_of_one_cluster_of_a_monorepo(clone):
    """Only the overlay with the change restarts, with its own number of GPUs."""
    monorepo(clone)
    patch = "spec: {services: {Worker: {replicas: 4, envs: [{name: A, value: b}]}}}"
    clone.edit("apps/chat/overlays/prod/scale.yaml", "spec: {services: {Worker: {replicas: 4}}}", patch)
    report = json.loads(console.run("diff", "--old", "main", "--format", "json").out)
    jsonschema.validate(report, json.loads((Path(review.__file__).parent / "schemas" / "diff.json").read_text()))
    prod, staging = report["roots"]
    assert prod["root"] == "apps/chat/overlays/prod"
    assert prod["forecast"]["verdict"][0] == "1 of 2 services restarts: Worker."
    assert prod["forecast"]["gpus"]["interrupted"] == 4
    assert staging["objects"] == []
    lines = {(line["file"], line["line"]) for entry in prod["objects"] for field in entry["fields"] for line in field["madeBy"]}
    assert ("apps/chat/overlays/prod/scale.yaml", 4) in lines  # the patch, not only the base
    text = console.run("diff", "--old", "main", "--fail-on", "interrupted")
    assert (text.code, "== apps/chat/overlays/staging\nThe states are the same: no object changes." in text.out) == (3, True)


def test_several_folders_of_a_monorepo_are_compared_as_their_roots(clone):
    """`diff` with several paths builds the roots of each, as `check` does, and compares other files beside them."""
    monorepo(clone)
    clone.put({"alone.yaml": GPU.replace("name: chat", "name: alone")}).commit()
    for name in ("prod", "staging"):
        clone.put({"scale.yaml": SCALE % 7}, f"apps/chat/overlays/{name}")
    clone.put({"alone.yaml": GPU.replace("name: chat", "name: alone").replace("replicas: 2", "replicas: 3")})
    done = console.run("diff", "-o", "json", "--old", "HEAD", "apps/chat/overlays/prod", "apps/chat/overlays/staging", "alone.yaml")
    roots = {root["root"]: root for root in json.loads(done.out)["roots"]}
    assert [*roots] == ["apps/chat/overlays/prod", "apps/chat/overlays/staging", "alone.yaml"]
    changed = {name: {change["object"]["namespace"] for change in root["objects"]} for name, root in roots.items()}
    assert changed == {"apps/chat/overlays/prod": {"prod"}, "apps/chat/overlays/staging": {"staging"}, "alone.yaml": {"default"}}
    assert done.code == 0


def test_the_images_of_a_repository_are_those_of_its_roots(clone):
    """`images` in a folder with Kustomizations builds each root, so an image that an overlay sets is in the list."""
    monorepo(clone)
    images_of_overlay = "images: [{name: registry.example.com/web, newTag: '9'}]\n"
    kustomization = OVERLAY.format("prod").replace("../../base", "../../base, web.yaml") + images_of_overlay
    clone.put({"kustomization.yaml": kustomization, "web.yaml": WEB}, "apps/chat/overlays/prod")
    done = console.run("images", "-o", "json", ".")
    images = {image["image"]: image for image in json.loads(done.out)["images"]}
    assert "registry.example.com/web:9" in images
    assert "registry.example.com/web:1" not in images
    namespaces = {use["resource"]["namespace"] for image in images.values() for use in image["uses"] if "namespace" in use["resource"]}
    assert namespaces == {"prod", "staging"}
    assert "apps/chat/overlays/prod: built with kustomize: Flux Kustomization chat" in done.err.splitlines()
    assert done.code == 0


def test_a_comment_about_many_roots_fits_into_a_comment(clone):
    """The first line is about all roots; roots with equal effects are one block. Notes that the old state has too are left out."""
    clone.put({"graph.yaml": GPU, "kustomization.yaml": "resources: [graph.yaml]\n"}, "base")
    for number in range(12):
        clone.put(
            {"kustomization.yaml": f"namespace: team-{number}\nresources: [../../base]\ntransformers: [render.yaml]\n"}, f"o/{number}"
        )
        clone.put({"render.yaml": FUNCTION}, f"o/{number}")
    clone.put({"chat.yaml": FLUX.format(name="chat", path="./", kind="OCIRepository", more="")}, "cluster").commit()
    long = "x" * 3000
    clone.edit(
        "base/graph.yaml",
        "      replicas: 2\n",
        f"      replicas: 2\n      envs: [{{name: A, value: {long}}}]\n      annotations: {{a: {long}}}\n",
    )
    clone.edit("base/graph.yaml", "    Frontend:\n", f"    Frontend:\n      annotations: {{a: {long}, b: {long}}}\n")
    done = console.run("diff", "--old", "HEAD", "--format", "markdown")
    assert "24 of 24 services restart: Frontend, Worker." in done.out
    assert "#### 12 folders with equal effects: `o/0`, `o/1`" in done.out
    assert len(done.out) <= 60_000
    assert "DYN597" not in done.out


def test_a_change_of_the_base_of_a_monorepo_restarts_in_each_cluster(clone):
    monorepo(clone).edit("apps/chat/base/graph.yaml", "dynamo:1.5.0", "dynamo:1.5.1")
    roots = json.loads(console.run("diff", "--old", "main", "--format", "json").out)["roots"]
    assert [root["forecast"]["gpus"]["interrupted"] for root in roots] == [4, 1]
    (field,) = [field for root in roots[:1] for entry in root["objects"] for field in entry["fields"] if field["field"].endswith(".image")]
    assert field["madeBy"][0]["file"] == "apps/chat/base/graph.yaml"
    assert field["madeBy"][0]["line"] == 16


def test_settings_of_flux_are_part_of_the_build(clone):
    """Flux writes its target namespace into the Kustomization, where it comes before the function."""
    monorepo(clone)
    more = ", targetNamespace: elsewhere"
    clone.put({"chat.yaml": FLUX.format(name="chat", path="./apps/chat/overlays/prod", kind="GitRepository", more=more)}, "clusters/prod")
    done = console.run("diff", "--old", "HEAD")
    assert "Deployment elsewhere/chat-worker: created" in done.out
    assert "Deployment prod/chat-worker: deleted" in done.out


def test_a_rendered_branch(clone):
    """Each folder is the finished build of one environment. A change between two commits is compared object by object."""
    clone.put({"graph.yaml": GPU, "kustomization.yaml": "resources: [graph.yaml]\n"}, "base")
    for name in ("prod", "staging"):
        clone.put(overlay(name, 2), f"overlays/x/{name}")
        (clone.folder / f"overlays/x/{name}/kustomization.yaml").write_text(OVERLAY.format(name).replace("../../base", "../../../base"))
        clone.put({f"{name}.yaml": FLUX.format(name=name, path=f"./{name}", kind="GitRepository", more="")}, "flux")
        clone.save(f"{name}/objects.yaml", *BUILD, f"overlays/x/{name}")
    clone.shell("rm", "-r", "base", "overlays")
    clone.commit()
    done = console.run("check")
    assert (done.code, codes(done)) == (0, [])
    assert "prod: read as plain files: Flux Kustomization prod" in done.err
    assert "staging: read as plain files: Flux Kustomization staging" in done.err
    clone.edit("prod/objects.yaml", "dynamo:1.5.0", "dynamo:1.5.1")
    prod, staging = json.loads(console.run("diff", "--old", "HEAD", "--format", "json").out)["roots"]
    assert prod["forecast"]["verdict"][0] == "1 of 2 services restarts: Worker."
    assert staging["objects"] == []


def test_a_rendered_folder_beside_the_source(clone):
    """The source is judged. A render that nobody made again is an error, and the next render of it is not."""
    clone.put({"graph.yaml": GPU, "kustomization.yaml": "resources: [graph.yaml]\n"}, "source/base")
    render = {}
    for name in ("prod", "staging"):
        clone.put(overlay(name, 2), f"source/overlays/{name}")
        render[name] = f"{' '.join(BUILD)} source/overlays/{name} | krm-fn render - --output-dir rendered/{name} --prune"
        clone.shell("bash", "-c", render[name])
        clone.put({f"{name}.yaml": APPLICATION.format(name=name, path=f"rendered/{name}", namespace=name)}, "argocd")
    clone.put({"claim.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: hf-token, namespace: prod}\n"}, "rendered/prod").commit()
    done = console.run("check")
    assert (done.code, codes(done)) == (0, [])
    clone.edit("source/overlays/prod/scale.yaml", "replicas: 2", "replicas: 3")
    done = console.run("diff", "--old", "HEAD")
    assert codes(done) == ["DYN063"]
    assert "rendered/prod: error DYN063 the committed render of source/overlays/prod is out of date" in done.out
    assert f"run `{render['prod']}`" in done.out
    assert "4 -> 6" not in done.out
    assert "2 -> 3" in done.out
    clone.shell("bash", "-c", render["prod"])
    assert console.run("check").code == 0


def test_an_artifact_from_ci(clone):
    """Flux applies an artifact, and the repository has its source."""
    clone.put({"graph.yaml": GPU, "render.yaml": FUNCTION}, "deploy")
    clone.put({"kustomization.yaml": "namespace: prod\nresources: [graph.yaml]\ntransformers: [render.yaml]\n"}, "deploy")
    clone.put({"chat.yaml": FLUX.format(name="chat", path="./", kind="OCIRepository", more="")}, "cluster").commit()
    done = console.run("check")
    assert (done.code, codes(done)) == (0, [])
    assert "cluster/chat.yaml:1:1: note DYN597 Flux Kustomization chat applies an artifact" in done.out
    clone.edit("deploy/graph.yaml", "dynamo:1.5.0", "dynamo:1.5.1")
    assert "2 GPUs are interrupted." in console.run("diff", "--old", "main").out


def test_output_of_helm_beside_graphs(clone):
    """A chart is not read. Its committed output is compared object by object, and the graphs with the configuration above them."""
    deployment = (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: web, labels: {app.kubernetes.io/managed-by: Helm}}\n"
    )
    deployment += (
        "spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: c}]}}}\n"
    )
    clone.put({"Chart.yaml": "name: web\n", "templates/web.yaml": "kind: DynamoGraphDeployment\nname: {{ .x }}\n"}, "charts/web")
    clone.put({"web.yaml": deployment, "graph.yaml": GPU, "render.yaml": RENDER + "spec: {namespace: web}\n"}, "manifests")
    clone.put({"app.yaml": APPLICATION.format(name="web", path="manifests", namespace="web")}, "argocd").commit()
    done = console.run("check")
    assert (done.code, codes(done)) == (0, [])
    assert "2 in Helm charts" in done.err
    clone.edit("manifests/web.yaml", "image: c", "image: d").edit("manifests/graph.yaml", "dynamo:1.5.0", "dynamo:1.5.1")
    done = console.run("diff", "--old", "HEAD")
    assert "Deployment web/web: restarts" in done.out
    assert "Deployment web/chat-worker: restarts" in done.out


def test_an_application_set_names_folders_with_a_glob(clone):
    """Each folder is its own root, with the namespace of its name."""
    spec = APPLICATION.replace("Application\n", "ApplicationSet\n").format(name="apps", path="x", namespace="x")
    generator = "  generators: [{git: {directories: [{path: 'graphs/*'}, {path: graphs/old, exclude: true}]}}]\n  template:\n    spec:\n"
    head, _, body = spec.partition("spec:\n")
    body = "".join(f"    {line}\n" for line in body.splitlines()).replace("path: x", "path: '{{path}}'")
    text = head + "spec:\n" + generator + body.replace("namespace: x", "namespace: 'team-{{path.basename}}'")
    clone.put({"set.yaml": text, "graphs/a/graph.yaml": GPU, "graphs/b/graph.yaml": GPU, "graphs/old/graph.yaml": GPU}).commit()
    done = console.run("check", notes=True)
    assert "graphs/a: read as plain files: Argo CD ApplicationSet apps" in done.err
    clone.edit("graphs/a/graph.yaml", "dynamo:1.5.0", "dynamo:1.5.1")
    roots = {root["root"]: root for root in json.loads(console.run("diff", "--old", "HEAD", "--format", "json").out)["roots"]}
    assert [entry["object"]["namespace"] for entry in roots["graphs/a"]["objects"]] == ["team-a"] * len(roots["graphs/a"]["objects"])
    assert roots["graphs/a"]["objects"]
    assert roots["graphs/b"]["objects"] == []


def test_two_folders_are_compared_without_git(clone):
    """The old state can be a folder with the same roots, or a file, which is compared with the files of the folder."""
    monorepo(clone)
    clone.shell("cp", "-r", "apps/chat", "old")
    clone.edit("apps/chat/base/graph.yaml", "dynamo:1.5.0", "dynamo:1.5.1")
    roots = json.loads(console.run("diff", "--old", "old", "--format", "json", "apps/chat").out)["roots"]
    assert [root["forecast"]["gpus"]["interrupted"] for root in roots] == [4, 1]
    assert {line["file"] for root in roots for entry in root["objects"] for field in entry["fields"] for line in field["madeBy"]} == {
        "apps/chat/base/graph.yaml"
    }
    done = console.run("diff", "--old", "old/base/graph.yaml", "apps/chat/base")
    assert "1 of 2 services restarts: Worker." in done.out


BETA = (
    graph_with_frontend("registry.example/vllm:1.6.1")
    + """\
  - name: Worker
    type: worker
    podTemplate:
      spec:
        containers: [{name: main, image: "registry.example/vllm:1.6.1", command: [python3, -m, dynamo.vllm], args: [--model, x]}]
"""
)
TWO_WORKERS = BETA.partition("spec:")[0] + "spec: {components: [{name: Worker, replicas: 2}]}\n"


@pytest.fixture
def patched(clone):
    """An overlay whose patch names the second component. kustomize then moves this component to the front."""
    merge = Path(programs.ROOT / "platform" / "kustomize" / "openapi.json").read_text()
    layer = "namespace: prod\nresources: [../base]\npatches: [{path: two.yaml}]\nopenapi: {path: merge.json}\n"
    clone.put({"graph.yaml": BETA, "kustomization.yaml": "resources: [graph.yaml]\n"}, "base")
    return clone.put({"kustomization.yaml": layer, "two.yaml": TWO_WORKERS, "merge.json": merge}, "prod").commit()


def test_a_finding_in_a_moved_component_has_the_line_of_that_component(patched):
    """The line is that of the base, also if kustomize changed the order of the components."""
    patched.edit("base/graph.yaml", "--model", "--modle")
    assert "base/graph.yaml:14:117: error DYN600" in console.run("check").out
    kustomization = "prod/kustomization.yaml"
    patched.edit(kustomization, "namespace", "buildMetadata: [originAnnotations]\nnamespace").save("out.yaml", "kustomize", "build", "prod")
    assert "base/graph.yaml:14:117: error DYN600" in console.run("check", "out.yaml", "--root", "prod").out


def test_a_change_in_a_moved_component_has_the_line_of_that_component(patched):
    """`diff` names the line of the base, and that of the patch, with and without the command of a build."""
    patched.edit("base/graph.yaml", "[--model, x]", "[--model, y]").edit("prod/two.yaml", "replicas: 2", "replicas: 3")
    for options in ([], ["--build", "kustomize build prod"]):
        report = json.loads(console.run("diff", "--old", "main", "--format", "json", *options, "." if options else "prod").out)
        objects = report["roots"][0]["objects"] if "roots" in report else report["objects"]
        fields = [field for entry in objects if entry["object"]["kind"] == "Deployment" for field in entry["fields"]]
        lines = {str(field["path"][-1]): {(line["file"], line["line"]) for line in field["madeBy"]} for field in fields}
        assert (lines["1"], lines["replicas"]) == ({("base/graph.yaml", 14)}, {("prod/two.yaml", 4)})
