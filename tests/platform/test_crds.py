"""A real API server serves the kinds with their short names, columns, explanations and subresources."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
import yaml

from krm_fn.render import engines
from krm_fn.schemas.generate import __main__ as generate
from krm_fn.schemas.generate import crds
from tests.support import given, schema_mistakes
from tests.support.cases import cases
from tests.testbed import api

DEFINITIONS = crds.definitions()
ANNOTATIONS = 262_144  # bytes that all annotations of an object may have together
TIME = "2026-01-31T12:00:00Z"
READY = {"type": "Ready", "status": "True", "reason": "All", "message": "", "lastTransitionTime": TIME}
COMPONENT = schema_mistakes.other("DynamoComponentDeployment", {"serviceName": "Worker"})
ADAPTER = schema_mistakes.other("DynamoGraphDeploymentScalingAdapter", {"replicas": 2, "dgdRef": {"name": "llm", "serviceName": "Worker"}})
METADATA = schema_mistakes.other("DynamoWorkerMetadata", {"data": {"any": [1, {"thing": None}]}})


def kept(server, wanted):
    """A resource as the API server has it after it was applied."""
    answer = server.apply(wanted, dry_run=False)
    assert answer.ok, answer.message
    return answer.body


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda each: each["spec"]["names"]["kind"])
def test_definitions_are_accepted_without_complaint(definition, dynamo):
    answer = dynamo.apply(definition)
    assert (answer.ok, answer.warnings) == (True, ())
    conditions = dynamo.client.get(dynamo.client.path(definition))["status"]["conditions"]
    assert {each["type"]: each["status"] for each in conditions} == {"NamesAccepted": "True", "Established": "True"}


@pytest.mark.parametrize("version", crds.VERSIONS)
def test_definitions_fit_into_an_annotation(version):
    """Client-side apply keeps the whole definition in an annotation. A third is left for other annotations and new fields."""
    for definition in crds.definitions(version):
        assert len(json.dumps(definition, separators=(",", ":")).encode()) < ANNOTATIONS * 2 / 3


def test_client_side_apply_takes_them(dynamo):
    said = dynamo.kubectl("apply", "--dry-run=server", "-f", str(generate.CRDS["v1alpha1"] / "dynamographdeployments.yaml"))
    assert "dynamographdeployments.nvidia.com" in said


@pytest.mark.parametrize("version", crds.VERSIONS)
def test_the_folder_is_what_the_command_prints(version, kustomize):
    """Both ways install the same definitions."""
    built = subprocess.run([kustomize, "build", generate.CRDS[version]], capture_output=True, text=True, check=True).stdout
    by_name = {each["metadata"]["name"]: each for each in yaml.safe_load_all(built)}
    assert by_name == {each["metadata"]["name"]: each for each in crds.definitions(version)}


@pytest.mark.parametrize(
    ("short", "kind"),
    [
        ("dgd", "DynamoGraphDeployment"),
        ("dcd", "DynamoComponentDeployment"),
        ("dgdr", "DynamoGraphDeploymentRequest"),
        ("dgdsa", "DynamoGraphDeploymentScalingAdapter"),
        ("dm", "DynamoModel"),
        ("dmodel", "DynamoModel"),
        ("dwm", "DynamoWorkerMetadata"),
    ],
)
def test_short_names(short, kind, dynamo):
    assert f"KIND:       {kind}\n" in dynamo.kubectl("explain", short)


TABLES = [
    ("a graph", schema_mistakes.worker(), "NAME READY BACKEND AGE", "STATE SUMMARY", "shown"),
    ("a component", COMPONENT, "NAME DYNAMOCOMPONENT AVAILABLE BACKEND AGE", "TYPE PODS", "shown Worker"),
    ("a request", schema_mistakes.request(), "NAME MODEL BACKEND STATE DGD-STATE AGE", "", "shown m"),
    ("an adapter", ADAPTER, "NAME DGD SERVICE REPLICAS AGE", "WANTED READY", "shown llm Worker"),
    ("a model", schema_mistakes.model(), "NAME BASEMODEL TYPE READY TOTAL AGE", "", "shown b base"),
    ("metadata of a worker", METADATA, "NAME AGE", "", "shown"),
]


@cases(("reason", "shown", "columns", "wide", "begins"), TABLES)
def test_columns(reason, shown, columns, wide, begins, dynamo):
    kept(dynamo, {**shown, "metadata": {"name": "shown"}})
    head, row = dynamo.kubectl("get", shown["kind"], "shown").splitlines()
    assert head.split() == columns.split()
    assert " ".join(row.split()).startswith(begins)
    head, _ = dynamo.kubectl("get", shown["kind"], "shown", "-o", "wide").splitlines()
    assert head.split() == [*columns.split(), *wide.split()]


def test_the_wide_table_of_graphs_says_what_they_became(dynamo):
    """A render writes the summary as an annotation of the graph."""
    graph = given.graph({"Worker": given.service("worker", replicas=3)}, name="summed", namespace="default")
    rendered = given.rendered(graph)["DynamoGraphDeployment/summed"]
    kept(dynamo, rendered)
    assert rendered["metadata"]["annotations"]["dynamo.krm-fn.io/summary"] in dynamo.kubectl("get", "dgd", "summed", "-o", "wide")


EXPLAINED = [
    ("dgd.spec.services", "FIELD: services <map[string]Object>"),
    ("dgd.spec.services", "The components of the graph by name."),
    ("dgd.spec.services.sharedMemory.size", "The size limit"),
    ("dgd.spec.services.extraPodSpec.mainContainer.livenessProbe.httpGet", "port <Object> -required-"),
    ("dgd.spec.pvcs", "A PersistentVolumeClaim that services of the graph mount."),
    ("dgd.spec.backendFramework", f"ENUM: {' '.join(engines.names())}"),
    ("dgdsa", "kubectl scale dgdsa"),
    ("dgdr.spec.profilingConfig.resources.limits", "<map[string]Object>"),
]


@pytest.mark.parametrize(("path", "says"), EXPLAINED, ids=[f"{path}: {says}" for path, says in EXPLAINED])
def test_explanations_go_all_the_way_down(path, says, dynamo):
    assert says in " ".join(dynamo.kubectl("explain", path).split())


def test_kubectl_scales_an_adapter(dynamo):
    """A graph has many services. An autoscaler targets the adapter of one of them."""
    path = dynamo.client.path(kept(dynamo, {**ADAPTER, "metadata": {"name": "scaled"}}))
    dynamo.kubectl("scale", "dgdsa", "scaled", "--replicas=5")
    status = {"status": {"replicas": 4, "selector": "nvidia.com/selector=llm-worker"}}
    assert dynamo.client.request("PATCH", f"{path}/status", status, api.MERGE).ok
    scale = dynamo.client.get(f"{path}/scale")
    assert (scale["spec"], scale["status"]) == ({"replicas": 5}, {"replicas": 4, "selector": "nvidia.com/selector=llm-worker"})
    kept(dynamo, {**schema_mistakes.worker(), "metadata": {"name": "scaled"}})
    with pytest.raises(subprocess.CalledProcessError) as refused:
        dynamo.kubectl("scale", "dgd", "scaled", "--replicas=5")
    assert '"scaled" not found' in refused.value.stderr  # the graph exists, but has no scale subresource


STATUS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (schema_mistakes.worker(), {"conditions": [READY], "state": "successful", "restart": {"observedID": "1", "phase": "Completed"}}),
    (COMPONENT, {"conditions": [READY], "podSelector": {"a": "b"}}),
    (
        schema_mistakes.request(),
        {"conditions": [READY], "state": "Ready", "generatedDeployment": schema_mistakes.worker(envs=[{"name": "A"}])},
    ),
    (ADAPTER, {"replicas": 2, "selector": "a=b", "lastScaleTime": TIME}),
    (schema_mistakes.model(), {"readyEndpoints": 1, "totalEndpoints": 1, "endpoints": [{"address": "http://a", "ready": True}]}),
]


@pytest.mark.parametrize(("told", "status"), STATUS, ids=[told["kind"] for told, _ in STATUS])
def test_status_is_its_own_subresource_and_says_for_which_generation(told, status, dynamo):
    """kstatus, and with it Flux and Argo CD, waits for `observedGeneration`."""
    told = {**told, "metadata": {"name": "told"}}
    path = dynamo.client.path(kept(dynamo, {**told, "status": status}))
    assert "status" not in dynamo.client.get(path)
    said = {**status, "observedGeneration": 7}
    answer = dynamo.client.request("PATCH", f"{path}/status?fieldValidation=Strict", {"status": said}, api.MERGE)
    assert answer.ok, answer.message
    assert dynamo.client.get(path)["status"] == said
    assert dynamo.client.request("DELETE", path).ok


def test_metadata_of_workers_is_all_spec(dynamo):
    """Workers write it with one request, and it has no status."""
    metadata = kept(dynamo, {**METADATA, "metadata": {"name": "plain"}})
    assert metadata["spec"] == METADATA["spec"]
    assert dynamo.client.request("GET", f"{dynamo.client.path(metadata)}/status").status == 404
