"""The status of resources in v1beta1: the same judgement in other fields, with what only v1beta1 tells."""

from __future__ import annotations

import json

import jsonschema
import pytest

from krm_fn.render import labels
from krm_fn.schemas.generate import crds
from krm_fn.syncer.status import cached_object
from tests.support.cases import cases
from tests.syncer.status import given

SCHEMAS = {
    each["spec"]["names"]["kind"]: each["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]
    for each in crds.definitions("v1beta1")
    if each["spec"]["names"]["kind"] in (cached_object.GRAPH, cached_object.COMPONENT, cached_object.ADAPTER)
}
HASHED = {labels.NAMESPACE: "team-a-demo", labels.WORKER_HASH: "0a1b2c3d"}
DECODE = given.entry("Decode")
GROUP = given.entry("Decode", "PodCliqueScalingGroup", "demo-0-decode")
CLIQUE = given.entry("Prefill", "PodClique", "demo-0-prefill")


def newer(resource, **spec):
    """The same resource in v1beta1, with these components."""
    names = [{"name": name} for name in resource["spec"].pop("services", {})]
    return {**resource, "apiVersion": "nvidia.com/v1beta1", "spec": {"components": names, **resource["spec"], **spec}}


def graph(*entries, **more):
    return newer(given.graph(*entries, **more))


def judged(resource, *living, owner=None):
    found = given.status(resource, given.children(*living), given.NOW, graph=owner)
    schema = SCHEMAS[resource["kind"]]
    jsonschema.validate(found, schema)
    assert set(found) <= set(schema["properties"]), "an API server would drop the others"
    return found


def deployment(marks=None, **more):
    found = given.deployment(**more)
    found["spec"]["template"] = {"metadata": {"labels": HASHED if marks is None else marks}}
    return found


def of_grove(kind, name, **counts):
    return given.workload(kind, name, {"observedGeneration": 1, **counts}, marks={labels.PART_OF: "demo"}, replicas=2)


def test_the_counts_of_a_component_are_under_components():
    found = judged(graph(DECODE), deployment())
    assert found["state"] == "successful"
    assert found["components"] == {
        "Decode": {
            "componentKind": "Deployment",
            "componentNames": ["demo-decode"],
            "replicas": 1,
            "updatedReplicas": 1,
            "readyReplicas": 1,
            "availableReplicas": 1,
            "runtimeNamespace": "team-a-demo-0a1b2c3d",
        }
    }


def test_all_workloads_of_a_component_are_named():
    entries = [given.entry("Decode", "LeaderWorkerSet", f"demo-decode-{index}") for index in (0, 1)]
    found = judged(graph(*entries), *(given.workload("LeaderWorkerSet", each.name, {"replicas": 1}) for each in entries))
    assert found["components"]["Decode"]["componentNames"] == ["demo-decode-0", "demo-decode-1"]


@pytest.mark.parametrize(
    ("marks", "runtime"),
    [({labels.NAMESPACE: "dynamo"}, "dynamo"), (HASHED, "team-a-demo-0a1b2c3d"), ({}, None)],
    ids=["without a hash", "with a hash", "without labels"],
)
def test_the_runtime_namespace_is_that_of_the_pods(marks, runtime):
    assert judged(graph(DECODE), deployment(marks))["components"]["Decode"].get("runtimeNamespace") == runtime


def test_the_runtime_namespace_stays_until_the_pods_of_the_new_template_run():
    stored = {"components": {"Decode": {"runtimeNamespace": "team-a-demo-old"}}}
    late = deployment(updatedReplicas=0)
    assert judged(graph(DECODE, status=stored), late)["components"]["Decode"]["runtimeNamespace"] == "team-a-demo-old"
    assert judged(graph(DECODE, status=stored), deployment())["components"]["Decode"]["runtimeNamespace"] == "team-a-demo-0a1b2c3d"
    assert "runtimeNamespace" not in judged(graph(DECODE), late)["components"]["Decode"]


FULL = {"replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2, "scheduledReplicas": 2}
GROVE = [
    # reason in the status, counts of the scaling group, counts of the clique
    ("all_resources_are_ready", FULL, FULL),
    ("insufficient_capacity", {**FULL, "availableReplicas": 1, "scheduledReplicas": 1}, FULL),
    ("pods_not_ready", {**FULL, "availableReplicas": 1}, {**FULL, "readyReplicas": 0}),
    ("updating", {**FULL, "updatedReplicas": 1}, FULL),
    ("mixed_not_ready_reasons", {**FULL, "updatedReplicas": 1}, {**FULL, "readyReplicas": 1}),
]


@cases(("reason", "group", "clique"), GROVE)
def test_grove_tells_why_a_graph_is_not_ready(reason, group, clique):
    living = [of_grove("PodCliqueScalingGroup", "demo-0-decode", **group), of_grove("PodClique", "demo-0-prefill", **clique)]
    found = judged(graph(GROUP, CLIQUE), *living)
    assert given.ready(found)["reason"] == reason
    assert found["components"]["Prefill"]["scheduledReplicas"] == clique["scheduledReplicas"]
    older = given.status(given.graph(GROUP, CLIQUE), given.children(*living), given.NOW)
    assert given.ready(older)["reason"] in ("all_resources_are_ready", "some_resources_are_not_ready")
    assert "scheduledReplicas" not in json.dumps(older)


def test_a_missing_workload_has_the_reason_of_every_graph():
    assert given.ready(judged(graph(GROUP)))["reason"] == "some_resources_are_not_ready"


def test_a_component_and_an_adapter():
    owner = cached_object.read(graph(DECODE))
    metadata = {"name": "demo-decode", "namespace": "team-a", "labels": {labels.GRAPH: "demo", labels.COMPONENT: "Decode"}}
    base = {"apiVersion": "nvidia.com/v1beta1", "metadata": metadata}
    component = judged({**base, "kind": cached_object.COMPONENT, "spec": {"name": "Decode"}}, deployment(), owner=owner)
    assert component["component"]["componentNames"] == ["demo-decode"]
    target = {"name": "demo", "componentName": "Decode"}
    adapter = {**base, "kind": cached_object.ADAPTER, "spec": {"replicas": 1, "dgdRef": target}}
    assert given.ready(judged(adapter, deployment(), owner=owner))["reason"] == "Scaled"
    lost = {**adapter, "spec": {"replicas": 1, "dgdRef": {**target, "componentName": "Lost"}}}
    assert "correct spec.dgdRef.componentName" in given.ready(judged(lost, deployment(), owner=owner))["message"]
    fixed = cached_object.read(graph(given.entry("Decode", replicas=2)))
    assert "set scalingAdapter: {} in service Decode" in given.ready(judged(adapter, deployment(), owner=fixed))["message"]


def test_components_are_read_in_the_order_of_the_spec():
    parts = [{"name": "b", "replicas": 0}, {"name": "a", "type": "planner", "modelRef": {"name": "m"}}]
    read = cached_object.read(newer(given.graph(), components=parts))
    assert (read.components, read.idle, read.models) == (("b", "a"), ("b",), ("m",))
    assert [(each.name, each.replicas, each.position) for each in read.planned] == [("b", 0, 0), ("a", None, 1)]


@pytest.mark.parametrize("components", [None, 5, "a", {"a": {}}, [None, 5, {}, {"name": 5}, {"name": "a", "modelRef": 5}]])
def test_components_of_any_shape_are_read(components):
    read = cached_object.read(newer(given.graph(), components=components))
    assert set(read.components) <= {"a"}
