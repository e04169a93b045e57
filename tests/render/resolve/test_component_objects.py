"""The inventory of a graph under release 1.5: one DynamoComponentDeployment per component, with everything that the graph adds to it."""

from __future__ import annotations

import pytest

from krm_fn.render import dynamo_api, labels
from tests.support import beta, given

COMPONENT = f"{dynamo_api.COMPONENT}/chat-worker"


def test_a_component_has_what_its_graph_adds():
    written = beta.component("Worker", main={"env": [{"name": "OWN", "value": "b"}]})
    graph = beta.graph(written, env=[{"name": "SHARED", "value": "a"}], labels={"team": "a"}, backendFramework="vllm")
    made = given.rendered(graph, components=True)[COMPONENT]
    spec = made["spec"]
    assert (spec["name"], spec["backendFramework"], spec["replicas"]) == ("Worker", "vllm", 1)
    assert spec["podTemplate"]["metadata"]["labels"]["team"] == "a"
    (main,) = spec["podTemplate"]["spec"]["containers"]
    assert [entry["name"] for entry in main["env"]] == ["OWN", "SHARED"]
    assert made["metadata"]["labels"][labels.COMPONENT] == "Worker"


def test_the_name_is_that_of_the_workload():
    made = given.rendered(beta.graph(), components=True, worker_hash="names")
    (name,) = (name.partition("/")[2] for name in made if name.startswith(dynamo_api.COMPONENT))
    assert f"Deployment/{name}" in made
    assert name != "chat-worker"


@pytest.mark.parametrize("behaviour", ["v0.9", "v1.5"])
@pytest.mark.parametrize(
    ("graph", "version", "word"),
    [(beta.graph(), dynamo_api.V1BETA1, "type"), (given.graph({"Worker": beta.service()}), dynamo_api.V1ALPHA1, "componentType")],
    ids=["v1beta1", "v1alpha1"],
)
def test_it_is_in_the_version_of_its_graph_whatever_release_renders_it(graph, version, word, behaviour):
    made = given.rendered(graph, components=True, behaviour=behaviour)[COMPONENT]
    assert (made["apiVersion"], made["spec"][word]) == (version, "worker")


def test_grove_has_no_components():
    assert COMPONENT not in given.rendered(beta.graph(), components=True, orchestrator="grove")
