"""The generated graph as it is deployed or committed: the names, labels and annotations of the request."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.render import labels
from krm_fn.syncer.profiler_output import ProfilerOutput
from krm_fn.syncer.status import request_generation
from tests.syncer.status import asked

TEXT = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: data, namespace: elsewhere, labels: {a: b}, annotations: {c: d}, resourceVersion: "7", ownerReferences: [{name: x}]}
data: {k: v}
---
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata:
  name: vllm-disagg
  namespace: elsewhere
  labels: {origin: profiler, keep: "yes"}
  annotations: {a: profiler, c: "3"}
  finalizers: [x/y]
  ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u}]
spec: {backendFramework: vllm, services: {Frontend: {componentType: frontend}}}
"""
MARKS = {"dgdr.nvidia.com/name": "qwen", "dgdr.nvidia.com/namespace": "team-a", "nvidia.com/managed-by": "dynamo-operator"}
SPEC = {"backendFramework": "vllm", "services": {"Frontend": {"componentType": "frontend"}}}


def graph(text: str = TEXT, status: Any = None, **overrides: Any) -> Any:
    """The graph as the request wants it."""
    return request_generation.graph_to_deploy(asked.written(text), asked.read(status, deploymentOverrides=overrides))


def test_without_overrides():
    """The name is the generated one, the namespace that of the request. Nothing but labels and annotations stays of the metadata."""
    assert graph() == {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoGraphDeployment",
        "metadata": {
            "name": "vllm-disagg",
            "namespace": "team-a",
            "labels": {"origin": "profiler", "keep": "yes", **MARKS},
            "annotations": {"a": "profiler", "c": "3"},
        },
        "spec": SPEC,
    }


def test_overrides_win():
    """In the order of the operator: generated, then the marks of the request, then the overrides. `workersImage` is the profiler's."""
    metadata = graph(
        name="prod", namespace="serving", labels={"origin": "mine", "team": "search"}, annotations={"a": "mine", "b": "2"}, workersImage="w"
    )["metadata"]
    assert (metadata["name"], metadata["namespace"]) == ("prod", "serving")
    assert metadata["labels"] == {"origin": "mine", "keep": "yes", **MARKS, "team": "search"}
    assert metadata["annotations"] == {"a": "mine", "c": "3", "b": "2"}
    assert graph(labels={labels.REQUEST_NAME: "mine"})["metadata"]["labels"][labels.REQUEST_NAME] == "mine"


ABSURD = [{"labels": ["a"]}, {"labels": {"a": 7}}, {"annotations": "a"}, {"name": 7, "namespace": []}]


@pytest.mark.parametrize("overrides", ABSURD, ids=map(str, ABSURD))
def test_absurd_overrides_are_left_out(overrides):
    assert graph(**overrides) == graph()


def test_the_graph_in_the_status_stands_in_for_a_lost_or_changed_output():
    stored = {"generatedDeployment": asked.GRAPH}
    for output in (ProfilerOutput(), asked.written(TEXT, edited=True)):
        assert request_generation.graph_to_deploy(output, asked.read(stored))["spec"] == asked.GRAPH["spec"]
        assert request_generation.config_maps(output, asked.read(stored)) == []
    with pytest.raises(ValueError, match="no such thing"):
        request_generation.graph_to_deploy(ProfilerOutput(problem="no such thing"), asked.read())


def test_config_maps():
    """The namespace of the graph, the marks of the request, and the content; not the overrides of the graph's labels."""
    request = asked.read(deploymentOverrides={"namespace": "serving", "name": "prod", "labels": {"team": "search"}})
    assert request_generation.config_maps(asked.written(TEXT), request) == [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "data", "namespace": "serving", "labels": {"a": "b", **MARKS}, "annotations": {"c": "d"}},
            "data": {"k": "v"},
        }
    ]
