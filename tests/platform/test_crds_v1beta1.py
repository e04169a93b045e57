"""A real API server that serves v1beta1: columns, subresources, defaults and merged lists."""

from __future__ import annotations

import json
from typing import Any

import pytest

from krm_fn.render import dynamo_api
from krm_fn.render.schema import table
from krm_fn.schemas.generate import crds
from tests.platform import test_crds
from tests.support import beta, documents, given
from tests.support.cases import cases
from tests.testbed import api

DEFINITIONS = crds.definitions("v1beta1")
MEGABYTE = 2**20


def item(kind, spec, name="shown"):
    return given.item(kind, name, api=dynamo_api.V1BETA1, namespace="default", spec=spec)


GRAPH = beta.graph(name="shown", namespace="default")
COMPONENT = item("DynamoComponentDeployment", {"type": "worker", "backendFramework": "vllm"})
REQUEST = item("DynamoGraphDeploymentRequest", {"model": "m"})
ADAPTER = item("DynamoGraphDeploymentScalingAdapter", {"replicas": 2, "dgdRef": {"name": "llm", "componentName": "Worker"}})


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda each: each["spec"]["names"]["kind"])
def test_definitions_are_accepted_without_complaint(definition, dynamo_v1beta1):
    answer = dynamo_v1beta1.apply(definition)
    assert (answer.ok, answer.warnings) == (True, ())
    conditions = dynamo_v1beta1.client.get(dynamo_v1beta1.client.path(definition))["status"]["conditions"]
    assert {each["type"]: each["status"] for each in conditions} == {"NamesAccepted": "True", "Established": "True"}


def test_definitions_are_smaller_than_a_megabyte():
    """etcd takes objects of up to 1.5 MB."""
    for version in crds.VERSIONS:
        assert max(len(json.dumps(each).encode()) for each in crds.definitions(version)) < MEGABYTE


TABLES = [
    (GRAPH, "NAME READY BACKEND AGE", "STATE SUMMARY", "shown"),
    (COMPONENT, "NAME AVAILABLE BACKEND AGE", "TYPE PODS", "shown vllm"),
    (REQUEST, "NAME MODEL BACKEND PHASE PROFILING REASON MESSAGE DGD AGE", "", "shown m auto"),
    (ADAPTER, "NAME DGD COMPONENT REPLICAS AGE", "WANTED READY", "shown llm Worker"),
]


@pytest.mark.parametrize(("shown", "columns", "wide", "begins"), TABLES, ids=[row[0]["kind"] for row in TABLES])
def test_columns(shown, columns, wide, begins, dynamo_v1beta1):
    assert dynamo_v1beta1.apply(shown, dry_run=False).ok
    head, row = dynamo_v1beta1.kubectl("get", shown["kind"], "shown").splitlines()
    assert head.split() == columns.split()
    assert " ".join(row.split()).startswith(begins)
    head, _ = dynamo_v1beta1.kubectl("get", shown["kind"], "shown", "-o", "wide").splitlines()
    assert head.split() == [*columns.split(), *wide.split()]


REPLICAS = {"componentKind": "Deployment", "componentNames": ["llm-worker"], "replicas": 1, "updatedReplicas": 1}
STATUS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (GRAPH, {"conditions": [test_crds.READY], "state": "successful", "components": {"Worker": REPLICAS}}),
    (COMPONENT, {"conditions": [test_crds.READY], "component": REPLICAS}),
    (REQUEST, {"conditions": [test_crds.READY], "phase": "Ready", "profilingResults": {"selectedConfig": GRAPH}}),
    (ADAPTER, {"replicas": 2, "selector": "a=b", "lastScaleTime": test_crds.TIME}),
]


@pytest.mark.parametrize(("told", "status"), STATUS, ids=[told["kind"] for told, _ in STATUS])
def test_status_is_its_own_subresource(told, status, dynamo_v1beta1):
    told = {**told, "metadata": {**told["metadata"], "name": "told"}}
    assert dynamo_v1beta1.apply({**told, "status": status}, dry_run=False).ok
    path = dynamo_v1beta1.client.path(told)
    assert "status" not in dynamo_v1beta1.client.get(path)
    said = {**status, "observedGeneration": 7}
    answer = dynamo_v1beta1.client.request("PATCH", f"{path}/status?fieldValidation=Strict", {"status": said}, api.MERGE)
    assert answer.ok, answer.message
    assert dynamo_v1beta1.client.get(path)["status"] == said


def test_kubectl_scales_an_adapter(dynamo_v1beta1):
    scaled = {**ADAPTER, "metadata": {**ADAPTER["metadata"], "name": "scaled"}}
    assert dynamo_v1beta1.apply(scaled, dry_run=False).ok
    dynamo_v1beta1.kubectl("scale", "dgdsa", "scaled", "--replicas=5")
    assert dynamo_v1beta1.client.get(f"{dynamo_v1beta1.client.path(scaled)}/scale")["spec"] == {"replicas": 5}


def test_the_defaults_of_the_table_are_those_that_an_api_server_writes(dynamo_v1beta1):
    """The worker hash is computed over the form that an API server stores."""
    documents.serve(dynamo_v1beta1, "v1beta1")
    accepted = [document for document, verdict in documents.recorded() if verdict.accepted]
    mine = [*documents.judged_by("v1beta1", accepted), GRAPH, COMPONENT, REQUEST, ADAPTER, FULL]
    for written in mine:
        answer = dynamo_v1beta1.apply(written)
        assert answer.ok, answer.message
        assert table.with_defaults(written).get("spec") == answer.body.get("spec")
    assert [written for written in mine if table.with_defaults(written) is not written]


PORTS = {"ports": [{"containerPort": 1}, {"containerPort": 2, "protocol": "UDP"}], "livenessProbe": {"grpc": {"port": 3}}}
FILE = {"name": "A", "valueFrom": {"fileKeyRef": {"key": "a", "path": "b", "volumeName": "c"}}}
FULL = beta.graph(
    beta.component(
        "Worker",
        main={**PORTS, "env": [FILE], "envFrom": [{"secretRef": {}}]},
        pod={
            "volumes": [
                {"name": "iscsi", "iscsi": {"iqn": "i", "lun": 0, "targetPortal": "t"}},
                {"name": "rbd", "rbd": {"monitors": ["m"], "image": "i"}},
                {"name": "disk", "azureDisk": {"diskName": "d", "diskURI": "u"}},
                {"name": "io", "scaleIO": {"gateway": "g", "system": "s", "secretRef": {}}},
            ]
        },
        multinode={},
        experimental={"gpuMemoryService": {}, "failover": {}, "checkpoint": {"enabled": False}},
    ),
    name="full",
    namespace="default",
    experimental={"kvTransferPolicy": {"domain": "zone", "labelKey": "topology.kubernetes.io/zone"}},
)
"""A graph whose defaults come from many types."""


LISTS = [
    ("components", ("components",), lambda entries: {"components": entries}),
    (
        "containers",
        ("components", 0, "podTemplate", "spec", "containers"),
        lambda entries: {
            "components": [{"name": "W", "podTemplate": {"spec": {"containers": [{**each, "image": "i"} for each in entries]}}}]
        },
    ),
]


@cases(("reason", "path", "make"), LISTS)
def test_two_managers_share_a_list(reason, path, make, dynamo_v1beta1):
    """Each manager applies an entry of its own and leaves the other's alone."""
    whole = beta.graph({"name": "W"}, name="shared", namespace="default")
    where = dynamo_v1beta1.client.path(whole)
    for manager, name in (("one", "a"), ("other", "b")):
        applied = {**whole, "spec": {**whole["spec"], **make([{"name": name}])}}
        answer = dynamo_v1beta1.client.request("PATCH", f"{where}?fieldManager={manager}&fieldValidation=Strict", applied, api.APPLY)
        assert answer.ok, answer.message
    found = answer.body["spec"]
    for step in path:
        found = found[step]
    assert [entry["name"] for entry in found] == ["a", "b"]
    assert dynamo_v1beta1.client.request("DELETE", where).ok
