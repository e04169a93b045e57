"""The Helm chart: its objects are those of the kustomizations, and Helm installs, upgrades and removes it."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
import yaml
from release import chart, chart_metadata, chart_templates

from tests.platform import installation
from tests.releases.installed import users
from tests.testbed import programs, server

NAMESPACE = chart_templates.NAMESPACE
NAME = "dynamo-krm-fn"
OFF = ("--set", "definitions.install=false,access.install=false,roles.install=false,admission.install=false,nats.install=false")
COMPONENTS = [name for name in chart.component_names(programs.ROOT) if name not in {*chart_metadata.DEFAULTS, chart.SCOPE}]


def helm(*arguments: object, check: bool = True, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run Helm with only these variables. A failure has its message in a note."""
    command = [str(programs.path("helm")), *map(str, arguments)]
    try:
        return subprocess.run(command, env=environment or {}, capture_output=True, text=True, check=check, timeout=300)
    except subprocess.CalledProcessError as failed:
        failed.add_note(failed.stderr)
        raise


@pytest.fixture(scope="module")
def package(built):
    """The archive of the chart."""
    return built.file(f"{NAME}-*.tgz")


@pytest.fixture
def templates(package, tmp_path):
    """A function that returns the objects of `helm template` with these options."""

    def rendered(*options: object) -> Any:
        text = helm("template", NAME, package, "--namespace", NAMESPACE, *options, environment={"HOME": str(tmp_path)}).stdout
        return by_name(filter(None, yaml.load_all(text, Loader=yaml.CSafeLoader)))

    return rendered


def by_name(objects):
    """The objects by kind, namespace and name. No two objects have the same."""
    objects = list(objects)
    keys = [(entry["kind"], entry["metadata"].get("namespace", ""), entry["metadata"]["name"]) for entry in objects]
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, objects, strict=True))


def kustomized(folder, resources, components=()):
    """The objects of a kustomization in the namespace of the platform, without that namespace."""
    overlay = installation.overlay(folder, namespace=NAMESPACE, resources=list(resources), components=list(components))
    return by_name([entry for entry in yaml.load_all(installation.build(overlay), Loader=yaml.CSafeLoader) if entry["kind"] != "Namespace"])


def test_helm_finds_no_mistake(package):
    linted = helm("lint", "--strict", package).stdout
    assert "0 chart(s) failed" in linted
    assert "[WARNING]" not in linted


def test_the_default_is_the_root_kustomization_and_the_syncer(templates):
    """No part of the platform is written twice, so all objects must be equal."""
    expected = {**by_name(installation.objects(programs.ROOT)), **by_name(installation.objects(programs.ROOT / "platform" / "syncer"))}
    expected.pop(("Namespace", "", NAMESPACE))
    objects = templates()
    assert len(objects) > 40
    assert objects.keys() == expected.keys()
    assert [key for key in objects if objects[key] != expected[key]] == []


def test_the_definitions_of_v1beta1_are_those_of_the_folder(templates):
    objects = templates("--set", "definitions.version=v1beta1")
    definitions = {key: entry for key, entry in objects.items() if key[0] == "CustomResourceDefinition"}
    assert definitions == by_name(installation.objects(programs.ROOT / "platform" / "crds-v1beta1"))


@pytest.mark.parametrize(
    ("version", "says"),
    [
        ("v1alpha1", "nvidia.com/v1alpha1. Graphs of v1beta1, such as the examples of krm-fn, need definitions.version=v1beta1."),
        ("v1beta1", "nvidia.com/v1beta1.\n"),
    ],
)
def test_the_notes_say_which_version_is_served(version, says, package, tmp_path):
    """A cluster keeps v1alpha1 by default, because stored graphs of it would lose their fields. So the notes name the other one."""
    options = () if version == "v1alpha1" else ("--set", f"definitions.version={version}")
    said = helm("install", NAME, package, "--dry-run=client", *options, environment={"HOME": str(tmp_path)}).stdout
    notes = said.partition("\nNOTES:\n")[2]
    assert f"The cluster serves graphs of {says}" in notes
    assert ("docs/upgrades.md#exchange-the-served-version" in notes) is (version == "v1alpha1")


@pytest.mark.parametrize("component", [None, *COMPONENTS, "all"])
@pytest.mark.parametrize("scope", [[], [chart.SCOPE]], ids=["cluster", "namespaced"])
def test_each_component_of_the_syncer_has_the_objects_of_its_folder(component, scope, templates, tmp_path):
    """The kustomize component and the value of the chart add the same objects and the same flags, in both scopes."""
    every = [name for name in COMPONENTS if name not in chart.INCLUDED]
    needed = {"loras": ["models"], "hold-namespaces": [chart.SCOPE]}.get(component, [])
    chosen = {None: [], "all": every}.get(component, [component])
    names = sorted({*chart_metadata.DEFAULTS, *chosen, *needed, *scope, *([chart.SCOPE] if component == "all" else [])}, key=chart.order)
    values = ",".join(f"syncer.components.{chart_templates.camel_case(name)}=true" for name in names)
    objects = templates(*OFF, "--set", values)
    folders = [f"platform/syncer/{name}" for name in names]
    assert objects == kustomized(tmp_path / "overlay", ["platform/syncer/core"], folders)


def test_without_the_defaults_it_is_the_core(templates, tmp_path):
    values = ",".join(f"syncer.components.{name}=false" for name in sorted(chart_metadata.DEFAULTS))
    objects = templates(*OFF, "--set", values)
    assert objects == kustomized(tmp_path / "overlay", ["platform/syncer/core"])


def test_the_chart_has_each_component_or_a_reason():
    """A new component in `platform/syncer` becomes a value of the chart, or `LEFT_OUT` has the reason."""
    folders = {file.parent.name for file in (programs.ROOT / "platform" / "syncer").glob("*/kustomization.yaml")}
    assert {*chart.component_names(programs.ROOT)} == folders - chart.LEFT_OUT.keys()


def test_an_installation_can_have_any_namespace(package):
    """Role bindings and admission rules name the namespace of the installation, too."""
    text = helm("template", NAME, package, "--namespace", "inference-platform").stdout
    assert "namespace: inference-platform" in text
    assert NAMESPACE not in text


def test_artifact_hub_shows_each_kind_and_the_image(package, built):
    """The annotations are texts with YAML, with the fields of Artifact Hub's documentation, "Helm annotations reference"."""
    (chart_file,) = yaml.safe_load_all(helm("show", "chart", package).stdout)
    annotations = {key.removeprefix("artifacthub.io/"): text for key, text in chart_file["annotations"].items()}
    kinds = {(entry["kind"], entry["version"]) for entry in yaml.safe_load(annotations["crds"])}
    assert {("DynamoGraphDeployment", "v1alpha1"), ("DynamoGraphDeployment", "v1beta1")} <= kinds
    (image,) = yaml.safe_load(annotations["images"])
    assert image["image"] == f"{built.release.names.image}:{built.release.version}-sync"
    assert annotations["license"] == "Apache-2.0"


def test_values_change_what_they_name(templates, tmp_path):
    values = {
        "syncer": {
            "replicas": 3,
            "image": {"repository": "registry.example.com/krm-fn", "digest": f"sha256:{'a' * 64}", "pullPolicy": "Always"},
            "resources": {"limits": {"memory": "1Gi"}},
            "extraArgs": ["--log-format=json"],
            "podAnnotations": {"example.com/team": "platform"},
            "imagePullSecrets": [{"name": "registry"}],
            "nodeSelector": {"kubernetes.io/arch": "arm64"},
            "tolerations": [{"key": "cpu", "operator": "Exists"}],
            "priorityClassName": "system-cluster-critical",
        }
    }
    (file := tmp_path / "values.yaml").write_text(json.dumps(values))
    deployment = templates(*OFF, "--values", file)["Deployment", NAMESPACE, "krm-fn-sync"]
    assert deployment["spec"]["replicas"] == 3
    template = deployment["spec"]["template"]
    assert template["metadata"]["annotations"]["example.com/team"] == "platform"
    pod, container = template["spec"], template["spec"]["containers"][0]
    assert container["image"] == f"registry.example.com/krm-fn@sha256:{'a' * 64}"
    assert container["imagePullPolicy"] == "Always"
    assert container["resources"] == {"limits": {"memory": "1Gi"}, "requests": {"cpu": "50m", "memory": "96Mi"}}
    assert container["args"][-1] == "--log-format=json"
    assert {key: pod[key] for key in ("imagePullSecrets", "nodeSelector", "tolerations", "priorityClassName")} == {
        key: values["syncer"][key] for key in ("imagePullSecrets", "nodeSelector", "tolerations", "priorityClassName")
    }
    tagged = templates(*OFF, "--set", "syncer.image.tag=1.2")["Deployment", NAMESPACE, "krm-fn-sync"]
    assert tagged["spec"]["template"]["spec"]["containers"][0]["image"].endswith(":1.2")


@pytest.mark.parametrize(
    ("setting", "path"),
    [
        ("syncer.replicas=-1", "/syncer/replicas"),
        ("syncer.replicas=many", "/syncer/replicas"),
        ("syncer.replica=1", "replica"),
        ("syncer.image.tag=a b", "/syncer/image/tag"),
        ("syncer.image.digest=sha256:1", "/syncer/image/digest"),
        ("syncer.components.pod=true", "pod"),
        ("syncer.components.loras=true", "/syncer/components"),
        ("syncer.components.holdNamespaces=true", "/syncer/components"),
        ("syncer.resources.cpu=1", "cpu"),
        ("definitions.version=v1", "/definitions/version"),
        ("definition.install=true", "definition"),
    ],
)
def test_the_schema_refuses_wrong_values(setting, path, package):
    refused = helm("template", NAME, package, "--set", setting, check=False)
    assert refused.returncode != 0
    assert "values don't meet the specifications of the schema" in refused.stderr
    assert path in refused.stderr


def test_helm_installs_upgrades_and_uninstalls(package, cluster, tmp_path):
    """An uninstallation keeps the definitions and the graphs, and a later installation takes them over."""
    environment = {"HOME": str(tmp_path), "KUBECONFIG": str(cluster.kubeconfig)}
    where = ("--namespace", NAMESPACE)
    values = (*where, "--set", "definitions.version=v1beta1")  # that of the example
    helm("install", NAME, package, *values, "--create-namespace", environment=environment)
    server.eventually(lambda: cluster.client.request("GET", "/apis/nvidia.com/v1beta1/dynamographdeployments").ok)
    cluster.namespace("inference")
    cluster.kubectl("apply", "--server-side", "--filename", str(users.GRAPH))
    deployment = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/krm-fn-sync"
    assert cluster.client.get(deployment)["spec"]["replicas"] == 2
    helm("upgrade", NAME, package, *values, "--set", "syncer.replicas=1,syncer.components.models=true", environment=environment)
    upgraded = cluster.client.get(deployment)["spec"]
    assert upgraded["replicas"] == 1
    assert "--models" in upgraded["template"]["spec"]["containers"][0]["args"]
    assert cluster.client.get("/apis/rbac.authorization.k8s.io/v1/clusterroles/krm-fn-sync-models")
    helm("uninstall", NAME, *where, "--wait", environment=environment)
    assert not cluster.client.request("GET", deployment).ok
    assert not cluster.client.request("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/krm-fn-sync-models").ok
    assert "/chat" in cluster.kubectl("get", "dynamographdeployments", "--namespace=inference", "--output=name")
    helm("install", NAME, package, *values, environment=environment)
    assert cluster.client.get(deployment)["spec"]["replicas"] == 2
    helm("uninstall", NAME, *where, "--wait", environment=environment)
