"""The scripts of examples/flux and examples/argocd without a controller: rendering, publishing, discovery of folders, parameters."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
import yaml

from tests.support import beta, build_checks, builds, golden
from tests.support.cases import cases

FLUX, ARGO = golden.EXAMPLES / "flux", golden.EXAMPLES / "argocd"
PLUGIN = ARGO / "plugin"
_NOTES = {("info", "DYN481", "apiVersion"), ("info", "DYN482", "apiVersion")}


def run(*command, folder, **variables):
    environment = {**golden.environment("kustomize"), **variables}
    return subprocess.run([*map(str, command)], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300)


# The graph of the walk-through


def test_the_walk_through_as_it_stands_yields_what_a_person_needs():
    """Findings: three images are missing, the namespace will be `default`, and the volume uses a deprecated field."""
    checked = run("krm-fn", "check", "--format", "json", FLUX / "verbatim" / "graph.yaml", folder=FLUX)
    assert checked.returncode == 1
    found = {(each["severity"], each["code"], each["field"]) for each in json.loads(checked.stdout)["findings"]}
    images = {
        ("error", "DYN205", f"spec.services.{name}.extraPodSpec.mainContainer.image") for name in ("Frontend", "Processor", "VllmWorker")
    }
    assert found == images | _NOTES | {("info", "DYN057", "metadata.namespace"), ("warning", "DYN038", "spec.services.VllmWorker.pvc")}


def test_the_walk_through_completed_renders(tmp_path):
    rendered = run(FLUX / "render.sh", FLUX / "llm-agg", tmp_path, folder=tmp_path)
    assert rendered.returncode == 0, rendered.stderr
    objects = build_checks.read((tmp_path / "manifests.yaml").read_text())
    build_checks.assert_fit(objects)
    build_checks.assert_nothing_lies(objects)
    assert {each["metadata"]["name"] for each in objects if each["kind"] == "Deployment"} == {
        "llm-agg-frontend",
        "llm-agg-processor",
        "llm-agg-vllmworker",
    }


# Rendering and publishing


@pytest.fixture
def repository(tmp_path):
    """A clone of a repository with the example."""
    run("git", "init", "--quiet", "--bare", tmp_path / "remote.git", folder=tmp_path)
    run("git", "clone", "--quiet", tmp_path / "remote.git", tmp_path / "clone", folder=tmp_path)
    shutil.copytree(FLUX / "llm-agg", tmp_path / "clone" / "llm-agg")
    return tmp_path / "clone"


def commit(folder):
    run("git", "add", "--all", folder=folder)
    made = run("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message", "change", folder=folder)
    assert made.returncode == 0, made.stderr


def published(repository):
    """The head of the branch, and its manifests."""
    log = run("git", "ls-remote", repository.parent / "remote.git", "rendered", folder=repository).stdout
    run("git", "fetch", "--quiet", "origin", "rendered", folder=repository)
    return log, run("git", "show", "FETCH_HEAD:llm-agg/manifests.yaml", folder=repository).stdout


def test_a_branch_gets_a_commit_for_each_change_and_none_otherwise(repository):
    commit(repository)
    assert run(FLUX / "publish-branch.sh", "llm-agg", "rendered", folder=repository).returncode == 0
    first = published(repository)
    assert run(FLUX / "publish-branch.sh", "llm-agg", "rendered", folder=repository).returncode == 0
    assert published(repository) == first
    builds.edit(
        repository / "llm-agg" / "graph.yaml",
        lambda graph: beta.main(graph, "Processor").update(image="processor:1.6.0"),
    )
    commit(repository)
    assert run(FLUX / "publish-branch.sh", "llm-agg", "rendered", folder=repository).returncode == 0
    assert "image: processor:1.6.0" in published(repository)[1]


REFUSED = [
    (
        "a mistake in the graph",
        "graph.yaml",
        lambda graph: beta.main(graph, "Frontend").pop("image"),
        "DYN205",
    ),
    ("the function is not listed", "kustomization.yaml", lambda file: file.update(transformers=[]), "krm-fn did not run"),
    (
        "a variable that Flux would replace",
        "graph.yaml",
        lambda graph: beta.main(graph, "Frontend")["env"].append({"name": "A", "value": "${HOME}"}),
        "must not reach Flux",
    ),
]


@cases(("reason", "file", "change", "said"), REFUSED)
def test_what_must_not_be_published(reason, file, change, said, repository):
    builds.edit(repository / "llm-agg" / file, change)
    commit(repository)
    refused = run(FLUX / "publish-branch.sh", "llm-agg", "rendered", folder=repository)
    assert refused.returncode != 0
    assert said in refused.stderr + refused.stdout
    assert published(repository)[0] == ""


def test_an_unrendered_request_is_not_published(repository):
    shutil.copy(golden.EXAMPLES / "request" / "request.yaml", repository / "llm-agg" / "graph.yaml")
    builds.edit(repository / "llm-agg" / "kustomization.yaml", lambda file: file.update(transformers=[]))
    refused = run(FLUX / "render.sh", "llm-agg", "rendered", folder=repository)
    assert refused.returncode != 0
    assert "krm-fn did not run" in refused.stderr


def test_a_refused_render_leaves_the_older_file(repository):
    """The output of the last successful render stays, and no other file is left."""
    target = repository / "rendered"
    assert run(FLUX / "render.sh", "llm-agg", "rendered", folder=repository).returncode == 0
    first = (target / "manifests.yaml").read_text()
    for file, change in (REFUSED[0][1:3], REFUSED[2][1:3], ("kustomization.yaml", lambda file: file.update(resources=["nowhere.yaml"]))):
        builds.edit(repository / "llm-agg" / file, change)
        assert run(FLUX / "render.sh", "llm-agg", "rendered", folder=repository).returncode != 0
        assert {each.name: each.read_text() for each in target.iterdir()} == {"manifests.yaml": first}


def test_no_example_holds_what_flux_would_substitute():
    """Flux replaces `${NAME}`. Our output holds `$(NAME)`, which Kubernetes expands, and `$NAME`, which shells expand.

    The container that waits for a leader is the exception: its line is the operator's, so that no pod restarts (docs/flux.md).
    """
    files = [file for file in golden.EXAMPLES.rglob("*.yaml") if file.name.startswith("expected") or "rendered" in file.parts]
    assert files
    assert [file for file in files if re.search(r"\$\{(?!LWS_LEADER_ADDRESS\})", file.read_text())] == []


def test_one_condition_per_kind_in_flux_and_argo():
    """Both have health rules for the same kinds. Argo CD also has rules for the children of a PodCliqueSet, which Flux does not apply."""
    (deploy,) = build_checks.read((FLUX / "cluster" / "deploy.yaml").read_text())
    flux = {f"{each['apiVersion'].partition('/')[0]}_{each['kind']}" for each in deploy["spec"]["healthCheckExprs"]}
    patches = [yaml.safe_load((ARGO / "health" / f"{name}.yaml").read_text()) for name in ("dynamo", "workloads")]
    argo = {key.removeprefix("resource.customizations.health.") for patch in patches for key in patch["data"]}
    assert argo - flux == {"grove.io_PodClique", "grove.io_PodCliqueScalingGroup"}
    assert flux - argo == set()


# The plugin of Argo CD

GRAPH = (ARGO / "llm-agg" / "graph.yaml").read_text()
PLAIN = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
CRD = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  names:\n    kind: DynamoGraphDeployment\n"
CHART = {"Chart.yaml": "name: a\n", "templates/graph.yaml": GRAPH}

DISCOVERED = [
    ("a graph", {"graph.yaml": GRAPH}, {}, True),
    ("a graph in a folder below", {"graphs/a.yml": GRAPH}, {}, True),
    ("a kind in quotes", {"a.yaml": GRAPH.replace("kind: DynamoGraphDeployment", 'kind: "DynamoGraphDeployment" # a graph')}, {}, True),
    ("an overlay with the configuration", {"render.yaml": "kind: DynamoRender\n"}, {}, True),
    ("an overlay that was claimed", {"kustomization.yaml": "resources: [../base]\n"}, {"ARGOCD_ENV_KRM_FN": "true"}, True),
    ("nothing of ours", {"a.yaml": PLAIN, "kustomization.yaml": "resources: [a.yaml]\n"}, {}, False),
    ("definitions of our kinds", {"crd.yaml": CRD}, {}, False),
    ("a Helm chart", CHART, {}, False),
    ("another kind that begins alike", {"a.yaml": "kind: DynamoDB\n"}, {}, False),
    ("words in a page", {"README.md": GRAPH}, {}, False),
    ("an empty folder", {}, {}, False),
]


def folder_of(files, place):
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return place


@cases(("reason", "files", "variables", "ours"), DISCOVERED)
def test_which_folders_are_ours(reason, files, variables, ours, tmp_path):
    found = run("bash", PLUGIN / "discover.sh", folder=folder_of(files, tmp_path), **variables)
    assert (found.returncode, found.stderr) == (0, "")
    assert bool(found.stdout) is ours


def generate(folder, **variables):
    return run("bash", PLUGIN / "generate.sh", folder=folder, ARGOCD_APP_NAMESPACE="team", **variables)


def parameters(**given):
    return {
        "ARGOCD_APP_PARAMETERS": json.dumps(
            [{"name": name, "map" if isinstance(value, dict) else "string": value} for name, value in given.items()]
        )
    }


def environment_of(text):
    (worker,) = [
        each for each in build_checks.read(text) if each["metadata"]["name"] == "llm-agg-vllmworker" and each["kind"] == "Deployment"
    ]
    return {each["name"]: each.get("value") for each in worker["spec"]["template"]["spec"]["containers"][0]["env"]}


RENDER = """
apiVersion: dynamo.krm-fn.io/v1alpha1
kind: DynamoRender
metadata: {name: render}
spec: {natsAddress: "nats://file:4222", namespace: own}
"""
KUSTOMIZED = {"graph.yaml": GRAPH, "kustomization.yaml": "namespace: fixed\nresources: [graph.yaml]\n"}

GENERATED = [
    ("the Application's namespace", {"graph.yaml": GRAPH}, {}, "team", None),
    ("settings, and its namespace", {"graph.yaml": GRAPH}, {"settings": {"natsAddress": "nats://n:4222"}}, "team", "nats://n:4222"),
    ("a namespace among the settings", {"graph.yaml": GRAPH}, {"settings": {"namespace": "other"}}, "other", None),
    ("a configuration in the folder", {"graph.yaml": GRAPH, "render.yaml": RENDER}, {}, "own", "nats://file:4222"),
    (
        "a configuration by name",
        {"graph.yaml": GRAPH, "conf/render.yaml": RENDER},
        {"config": "conf/render.yaml"},
        "own",
        "nats://file:4222",
    ),
    ("kustomize without the function", KUSTOMIZED, {}, "fixed", None),
]


@cases(("reason", "files", "given", "namespace", "nats"), GENERATED)
def test_what_parameters_do(reason, files, given, namespace, nats, tmp_path):
    made = generate(folder_of(files, tmp_path), **parameters(**given))
    assert made.returncode == 0, made.stderr
    environment = environment_of(made.stdout)
    assert (environment["DYN_PARENT_DGD_K8S_NAMESPACE"], environment.get("NATS_SERVER")) == (namespace, nats)


def test_an_application_that_only_names_the_plugin(tmp_path):
    """Argo CD then gives it the parameters null."""
    made = generate(folder_of({"graph.yaml": GRAPH}, tmp_path), ARGOCD_APP_PARAMETERS="null")
    assert made.returncode == 0, made.stderr
    assert environment_of(made.stdout)["DYN_PARENT_DGD_K8S_NAMESPACE"] == "team"


def test_what_a_layer_changed_after_the_function_stays(tmp_path):
    """If the function has run in kustomize, the plugin must not render again: it would overwrite the changes of the outer layer."""
    made = generate(golden.EXAMPLES / "layout-a-overlays" / "prod-tuned")
    assert made.returncode == 0, made.stderr
    expected = (golden.EXAMPLES / "layout-a-overlays" / "expected-prod-tuned.yaml").read_text()
    assert build_checks.read(made.stdout) == build_checks.read(expected)


FAILING = [
    ("an empty folder", {}, {}, "no resource in"),
    ("a mistake", {"graph.yaml": GRAPH.replace("replicas", "replica")}, {}, "replicas"),
    ("a mistake under kustomize", KUSTOMIZED | {"graph.yaml": GRAPH.replace("replicas", "replica")}, {}, "replicas"),
    ("a build that fails", {"kustomization.yaml": "resources: [nowhere.yaml]\n"}, {}, "nowhere.yaml"),
    ("a build of nothing", {"kustomization.yaml": "resources: []\n"}, {}, "no resource in"),
    ("only the configuration", {"render.yaml": RENDER}, {}, "no resource in"),
    ("an unknown parameter", {"graph.yaml": GRAPH}, {"setting": {}}, "unknown parameters: setting"),
    ("two configurations", {"graph.yaml": GRAPH}, {"config": "a", "settings": {"namespace": "b"}}, "exclude each other"),
    ("an unknown setting", {"graph.yaml": GRAPH}, {"settings": {"natsAdress": "x"}}, "natsAddress"),
]


@cases(("reason", "files", "given", "said"), FAILING)
def test_an_error_is_told_and_nothing_else(reason, files, given, said, tmp_path):
    """With automatic pruning, an empty output with exit code 0 would delete all objects of the Application."""
    failed = generate(folder_of(files, tmp_path), **parameters(**given))
    assert failed.returncode != 0
    assert failed.stdout == ""
    assert said in failed.stderr


def test_a_mistake_in_the_settings_names_the_parameter(tmp_path):
    """The message does not show the plugin's temporary file, nor follow-up warnings."""
    failed = generate(folder_of({"graph.yaml": GRAPH}, tmp_path), **parameters(settings={"natsAdress": "x"}))
    assert re.search(r"^parameter settings: error DYN023 data\.natsAdress: ", failed.stderr, re.MULTILINE)
    assert re.findall(r"DYN\d+", failed.stderr) == ["DYN023"]
    assert "settings.json" not in failed.stderr


COMPONENTS = ["plugin", "build-options", "health"]
INSTALLATION = """
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: argocd-repo-server}
spec:
  template:
    spec:
      containers: [{name: argocd-repo-server, image: argocd}]
      volumes: [{name: var-files, emptyDir: {}}, {name: plugins, emptyDir: {}}]
"""


@pytest.mark.parametrize("component", COMPONENTS)
def test_components_fit_the_manifests_of_argo_cd(component, tmp_path, kustomize):
    """Every patch finds its target in an installation, and every mount has its volume."""
    shutil.copytree(ARGO / component, tmp_path / component)
    (tmp_path / "install.yaml").write_text(INSTALLATION)
    (tmp_path / "kustomization.yaml").write_text(f"resources: [install.yaml]\ncomponents: [{component}]\n")
    objects = builds.kustomize(tmp_path, ())
    spec = builds.find(objects, "Deployment", "argocd-repo-server")["spec"]["template"]["spec"]
    volumes = {each["name"] for each in spec["volumes"]}
    containers = [*spec["containers"], *spec.get("initContainers", [])]
    assert {mount["name"] for container in containers for mount in container.get("volumeMounts", [])} <= volumes
    maps = {each["metadata"]["name"] for each in objects if each["kind"] == "ConfigMap"}
    assert {each["configMap"]["name"] for each in spec["volumes"] if "configMap" in each} <= maps
    assert bool(builds.find(objects, "ConfigMap", "argocd-cm").get("data")) is (component != "plugin")
