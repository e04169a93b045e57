"""The statuses fit the definitions of Dynamo's kinds, so that an API server accepts them."""

from __future__ import annotations

import json

import jsonschema
import pytest

from krm_fn.render import labels
from krm_fn.schemas.generate import crds
from krm_fn.syncer.status import cached_object
from tests.syncer.status import given

SCHEMAS = {
    each["spec"]["names"]["kind"]: each["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"].get("status")
    for each in crds.definitions()
}
ENTRIES = [
    given.entry("Frontend"),
    given.entry("Decode", "LeaderWorkerSet", "demo-decode-0"),
    given.entry("Prefill", "PodClique", "demo-0-prefill", 3),
    given.entry("Encode", "PodCliqueScalingGroup", "demo-0-encode"),
    given.entry("Lost"),
]
HUGE = {"replicas": 2**62, "updatedReplicas": 2**62, "readyReplicas": -1, "availableReplicas": "x"}
LIVING = [
    given.deployment(
        "demo-frontend", 1, given.condition("Progressing", False, "ProgressDeadlineExceeded", "late" * 10_000), updatedReplicas=0
    ),
    given.workload("LeaderWorkerSet", "demo-decode-0", HUGE),
    given.workload("PodClique", "demo-0-prefill", HUGE, marks={labels.PART_OF: "demo"}),
    given.workload("PodCliqueScalingGroup", "demo-0-encode", HUGE, marks={labels.PART_OF: "demo"}),
]
GRAPHS = {
    "unready": given.graph(*ENTRIES, restart={"id": "r1"}),
    "ready": given.graph(),
    "unreadable": given.graph(annotations={labels.WORKLOADS: "["}),
}
ADAPTER = {"kind": cached_object.ADAPTER, "spec": {"replicas": 2, "dgdRef": {"name": "demo", "serviceName": "Decode"}}}


def accepted(resource, owner=None):
    found = given.status(resource, given.children(*LIVING), given.NOW, graph=owner)
    schema = SCHEMAS[resource["kind"]]
    jsonschema.validate(found, schema)
    assert set(found) <= set(schema["properties"]), "an API server would drop the others"
    return json.dumps(found)


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_a_graph_its_component_and_its_adapter(graph):
    owner = cached_object.read(graph)
    place = {**graph["metadata"], "annotations": {}, "labels": {labels.GRAPH: "demo", labels.COMPONENT: "Decode"}}
    accepted(graph)
    accepted({**graph, "kind": cached_object.COMPONENT, "metadata": place}, owner)
    accepted({**graph, **ADAPTER, "metadata": place}, owner)


def test_the_schema_is_one_that_refuses():
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"services": {"A": {"componentKind": "", "componentName": "", "replicas": 0}}}, SCHEMAS[cached_object.GRAPH])
