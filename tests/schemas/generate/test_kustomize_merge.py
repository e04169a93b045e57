"""With the schema, the real kustomize merges our lists by their keys, and patches Kubernetes' kinds as without it."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
import yaml

from krm_fn.schemas.generate import kustomize_files, structural
from tests.support import schema_mistakes

SCHEMA = kustomize_files.schema()


@pytest.fixture
def build(kustomize, tmp_path):
    """The build of resources and patches, by kind and name; with our schema unless `openapi` is False."""

    def built(resources, patches, *, openapi=True, program=(kustomize, "build"), **more):
        (tmp_path / "openapi.json").write_text(json.dumps(SCHEMA))
        (tmp_path / "resources.yaml").write_text(yaml.safe_dump_all(resources))
        layer = {"resources": ["resources.yaml"], "patches": [{"patch": yaml.safe_dump(patch)} for patch in patches], **more}
        (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(layer | ({"openapi": {"path": "openapi.json"}} if openapi else {})))
        said = subprocess.run([*program, tmp_path], capture_output=True, text=True, check=True).stdout
        return {(each["kind"], each["metadata"]["name"]): each for each in yaml.safe_load_all(said)}

    return built


def changed(resource, spec):
    return {**{key: resource[key] for key in ("apiVersion", "kind", "metadata")}, "spec": spec}


def names(entries):
    return sorted(entry["name"] for entry in entries)


POD = {
    "containers": [{"name": "a", "image": "a:1", "env": [{"name": "A", "value": "1"}], "args": ["x"]}, {"name": "b", "image": "b:1"}],
    "tolerations": [{"key": "a"}],
    "volumes": [{"name": "v", "emptyDir": {}}],
}
OURS = schema_mistakes.graph(
    {
        "envs": [{"name": "A", "value": "1"}, {"name": "B", "value": "1"}],
        "pvcs": [{"name": "cache"}, {"name": "data"}],
        "services": {
            "Worker": {
                "envs": [{"name": "A", "value": "1"}, {"name": "B", "value": "1"}],
                "volumeMounts": [{"name": "cache", "mountPoint": "/c"}, {"name": "data", "mountPoint": "/d"}],
                "extraPodSpec": {
                    **POD,
                    "mainContainer": {"args": ["x"], "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "1"}]},
                },
            }
        },
    }
)
WORKER = ("services", "Worker")
POD_OF_WORKER = (*WORKER, "extraPodSpec")
ADDED = [{"name": "B", "value": "2"}, {"name": "C", "value": "3"}]
MERGED = {"A": "1", "B": "2", "C": "3"}


def at(value, path):
    for step in path:
        value = value[step]
    return value


def below(path, value):
    for step in reversed(path):
        value = {step: value}
    return value


@pytest.mark.parametrize("path", [("envs",), (*WORKER, "envs"), (*POD_OF_WORKER, "mainContainer", "env")], ids="/".join)
def test_variables_merge_by_name(path, build):
    patched = build([OURS], [changed(OURS, below(path, ADDED))])["DynamoGraphDeployment", "llm"]["spec"]
    assert {entry["name"]: entry["value"] for entry in at(patched, path)} == MERGED


@pytest.mark.parametrize(
    ("path", "entry"),
    [
        (("pvcs",), {"name": "data", "size": "1Gi"}),
        ((*WORKER, "volumeMounts"), {"name": "data", "mountPoint": "/e"}),
        ((*POD_OF_WORKER, "containers"), {"name": "b", "image": "b:2"}),
    ],
    ids=lambda value: value[-1] if isinstance(value, tuple) else "",
)
def test_entries_merge_by_name(path, entry, build):
    patched = build([OURS], [changed(OURS, below(path, [entry]))])["DynamoGraphDeployment", "llm"]["spec"]
    before = {each["name"]: each for each in at(OURS["spec"], path)}
    assert {each["name"]: each for each in at(patched, path)} == before | {entry["name"]: before[entry["name"]] | entry}


MAIN = {"name": "main", "image": "a:1", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "1"}], "args": ["x"]}
NEWER = {
    **schema_mistakes.graph(
        {
            "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "1"}],
            "components": [
                {"name": "Frontend", "replicas": 1},
                {"name": "Worker", "replicas": 1, "podTemplate": {"spec": {"containers": [{"name": "helper"}, MAIN]}}},
            ],
        }
    ),
    "apiVersion": "nvidia.com/v1beta1",
}


def test_components_and_containers_of_v1beta1_merge_by_name(build):
    """A patch names one component and one container, and leaves the others as they are."""
    edited = {"name": "main", "image": "a:2", "env": ADDED, "args": ["y"]}
    worker = {"name": "Worker", "podTemplate": {"spec": {"containers": [edited]}}}
    spec = build([NEWER], [changed(NEWER, {"env": ADDED, "components": [worker]})])["DynamoGraphDeployment", "llm"]["spec"]
    assert {each["name"]: each["value"] for each in spec["env"]} == MERGED
    components = {each["name"]: each for each in spec["components"]}
    assert components.keys() == {"Frontend", "Worker"}
    assert components["Worker"]["replicas"] == 1
    containers = {each["name"]: each for each in components["Worker"]["podTemplate"]["spec"]["containers"]}
    assert containers.keys() == {"helper", "main"}
    assert (containers["main"]["image"], containers["main"]["args"]) == ("a:2", ["y"])
    assert {each["name"]: each["value"] for each in containers["main"]["env"]} == MERGED


def test_an_entry_can_be_taken_out(build):
    patch = changed(OURS, below((*WORKER, "envs"), [{"name": "A", "$patch": "delete"}]))
    patched = build([OURS], [patch])["DynamoGraphDeployment", "llm"]["spec"]
    assert names(at(patched, (*WORKER, "envs"))) == ["B"]


@pytest.mark.parametrize(
    ("path", "entries"),
    [((*POD_OF_WORKER, "mainContainer", "args"), ["y"]), ((*POD_OF_WORKER, "tolerations"), [{"key": "b"}])],
    ids=lambda value: value[-1] if isinstance(value, tuple) else "",
)
def test_a_list_without_a_key_is_replaced(path, entries, build):
    patched = build([OURS], [changed(OURS, below(path, entries))])["DynamoGraphDeployment", "llm"]["spec"]
    assert at(patched, path) == entries


def test_without_the_schema_lists_are_wiped(build):
    """A patch that adds an entry keeps the others."""
    patched = build([OURS], [changed(OURS, {"envs": ADDED})], openapi=False)["DynamoGraphDeployment", "llm"]["spec"]
    assert names(patched["envs"]) == ["B", "C"]


def native(kind, version, **body):
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "it"}, **body}


TEMPLATE = {"spec": {"template": {"spec": POD}}}
EDITED = {
    "containers": [{"name": "a", "env": [{"name": "B", "value": "2"}], "args": ["y"], "ports": [{"containerPort": 1}]}, {"name": "c"}],
    "initContainers": [{"name": "first"}],
    "tolerations": [{"key": "b"}],
    "volumes": [{"name": "v", "emptyDir": None, "configMap": {"name": "m"}}, {"name": "w", "emptyDir": {}}],
    "imagePullSecrets": [{"name": "s"}],
}
PORTS = [{"port": 80, "name": "http"}, {"port": 81, "name": "more"}]
KUBERNETES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    *(
        (native(kind, version, **TEMPLATE), {"spec": {"template": {"spec": EDITED}}})
        for kind, version in (("Deployment", "apps/v1"), ("StatefulSet", "apps/v1"), ("DaemonSet", "apps/v1"), ("Job", "batch/v1"))
    ),
    (native("CronJob", "batch/v1", spec={"jobTemplate": TEMPLATE}), {"spec": {"jobTemplate": {"spec": {"template": {"spec": EDITED}}}}}),
    (native("Service", "v1", spec={"ports": PORTS}), {"spec": {"ports": [{"port": 81, "name": "x"}], "externalIPs": ["b"]}}),
    (native("ServiceAccount", "v1", secrets=[{"name": "a"}], imagePullSecrets=[{"name": "a"}]), {"imagePullSecrets": [{"name": "b"}]}),
    (native("ConfigMap", "v1", data={"a": "1", "b": "1"}), {"data": {"a": None, "b": "2", "c": "3"}}),
    (native("ClusterRole", "rbac.authorization.k8s.io/v1", rules=[{"verbs": ["get"]}]), {"rules": [{"verbs": ["list"]}]}),
    (native("Ingress", "networking.k8s.io/v1", spec={"rules": [{"host": "a"}]}), {"spec": {"rules": [{"host": "b"}]}}),
    (
        native("HorizontalPodAutoscaler", "autoscaling/v2", spec={"maxReplicas": 1, "metrics": [{"type": "Pods"}]}),
        {"spec": {"maxReplicas": 2, "metrics": [{"type": "Resource"}]}},
    ),
    (
        native("ValidatingWebhookConfiguration", "admissionregistration.k8s.io/v1", webhooks=[{"name": "a"}, {"name": "b"}]),
        {"webhooks": [{"name": "b", "timeoutSeconds": 1}]},
    ),
]  # fmt: skip


def test_kubernetes_kinds_merge_as_without_it(build):
    """Our schema replaces kustomize's own, but a Deployment in the same build is patched as before."""
    resources = [resource for resource, _ in KUBERNETES]
    patches = [{**patch, **{key: resource[key] for key in ("apiVersion", "kind", "metadata")}} for resource, patch in KUBERNETES]
    expected = build(resources, patches, openapi=False)
    assert len(expected) == len(KUBERNETES)
    assert names(expected["Deployment", "it"]["spec"]["template"]["spec"]["containers"]) == ["a", "b", "c"]
    found = build([*resources, OURS], [*patches, changed(OURS, {"envs": ADDED})])
    assert names(found.pop(("DynamoGraphDeployment", "llm"))["spec"]["envs"]) == ["A", "B", "C"]
    assert found == expected


GLOBAL = [path["get"][kustomize_files.GVK] for path in SCHEMA["paths"].values()]


def test_kinds_of_no_namespace_get_none(build):
    every = [native(each["kind"], f"{each['group']}/{each['version']}".strip("/")) for each in GLOBAL if each["kind"] != "Namespace"]
    built = build([*every, native("ConfigMap", "v1"), OURS], [], namespace="team")
    assert {"Node", "ClusterRole", "CustomResourceDefinition", "ValidatingAdmissionPolicy", "DeviceClass"} <= {
        each["kind"] for each in every
    }
    assert {key for key, each in built.items() if "namespace" in each["metadata"]} == {
        ("ConfigMap", "it"),
        ("DynamoGraphDeployment", "llm"),
    }


def test_kubectl_takes_it_too(build, kubectl):
    patch = changed(OURS, {"envs": ADDED})
    assert build([OURS], [patch], program=(kubectl, "kustomize")) == build([OURS], [patch])


def test_every_reference_leads_somewhere():
    named = {part for definition in SCHEMA["definitions"].values() for part in _references(definition)}
    assert named
    assert named <= {f"#/definitions/{name}" for name in SCHEMA["definitions"]}


def _references(value):
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for inner in value.values():
            yield from _references(inner)


def test_every_kind_that_is_served_is_there():
    every = [each for found in SCHEMA["definitions"].values() for each in found.get(kustomize_files.GVK, ())]
    there = {(f"{each['group']}/{each['version']}", each["kind"]) for each in every}
    assert {structural.address(kind) for kind in structural.kinds()} <= there
