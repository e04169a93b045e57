"""An API server stores the statuses of requests as they are, and the largest graph that a status may hold."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.kubernetes import values
from krm_fn.syncer.status import conditions, request_generation
from krm_fn.syncer.status.cached_request import RequestInputs
from tests.syncer.status import asked
from tests.syncer.status.asked import COMPLETE, FAILED, OTHER
from tests.testbed import api

DONE = asked.profiling(COMPLETE)
ODD = asked.TEXT.replace("{name: vllm-disagg}", '{name: Bad Name, labels: {"bad key!": "x y"}, annotations: {"a b": c}, finalizers: [x y]}')
STATUSES = [
    ("pending", {}, RequestInputs()),
    ("profiling", {}, RequestInputs(asked.profiling())),
    ("failed", {}, RequestInputs(asked.profiling(FAILED), pod="Pod: p\nMessage: \u2028\U0001f4a5")),
    ("a long message", {}, RequestInputs(asked.profiling({**FAILED, "message": "\u00e4" * 100_000}))),
    ("generated", {}, RequestInputs(DONE, asked.written())),
    ("a graph of another version", {}, RequestInputs(DONE, asked.written(asked.TEXT.replace("nvidia.com/v1alpha1", "a/b/c")))),
    ("a graph without a version", {}, RequestInputs(DONE, asked.written(asked.TEXT.replace("apiVersion: nvidia.com/v1alpha1\n", "")))),
    ("a graph that a server refuses", {}, RequestInputs(DONE, asked.written(ODD))),
    ("a graph without metadata", {}, RequestInputs(DONE, asked.written(asked.TEXT.replace("metadata: {name: vllm-disagg}\n", "")))),
    ("deployed", {"autoApply": True}, RequestInputs(DONE, asked.written(), asked.graph("successful"))),
    ("refused", {"autoApply": True}, RequestInputs(DONE, asked.written(), rejected="no")),
    ("changed", {}, RequestInputs(asked.profiling(hash_=OTHER))),
]


def write(plane, name, found) -> api.Answer:
    """Writes a status as the syncer does."""
    resource = asked.resource(name=name)
    resource["metadata"]["namespace"] = plane.namespace("request-statuses")
    assert plane.client.apply(resource, dry_run=False).ok
    path = f"{plane.client.path(resource)}/status?fieldManager=krm-fn&fieldValidation=Strict"
    answer: api.Answer = plane.client.request("PATCH", path, {"status": found}, api.MERGE)
    return answer


@pytest.mark.parametrize(
    ("number", "spec", "seen"), [(number, *row[1:]) for number, row in enumerate(STATUSES)], ids=[r[0] for r in STATUSES]
)
def test_a_status_is_stored_as_it_is(dynamo, number, spec, seen):
    found = asked.status(asked.read(**spec), seen)
    answer = write(dynamo, f"status-{number}", found)
    assert answer.ok, answer.message
    assert conditions.patch(answer.body["status"], found) is None


def test_the_largest_graph_of_a_status_is_stored(dynamo):
    """etcd stores 1.5 MiB for an object, and Kubernetes keeps the name of each field a second time: short fields are the worst."""
    services: dict[str, Any] = {f"s{number:05}": {"replicas": 1} for number in range(request_generation.LIMIT // 30)}
    graph = {**asked.GRAPH, "spec": {"services": services}}
    assert request_generation.LIMIT * 0.9 < values.json_size(graph, request_generation.LIMIT) <= request_generation.LIMIT
    seen = RequestInputs(DONE, asked.written()._replace(graph=graph))
    found = asked.status(asked.read(), seen)
    assert found["generatedDeployment"] == graph
    answer = write(dynamo, "large", found)
    assert answer.ok, answer.message
