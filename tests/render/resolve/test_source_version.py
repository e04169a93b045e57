"""The version of the API in which Dynamo resources stay and are generated."""

from __future__ import annotations

import pytest

from krm_fn.render import dynamo_api, labels
from krm_fn.render.config import Config
from tests.support import beta, given

ADAPTER = "DynamoGraphDeploymentScalingAdapter"
SCALED = {"v1alpha1": {"serviceName": "Worker"}, "v1beta1": {"componentName": "Worker"}}


def written(version):
    if version == "v1beta1":
        return beta.graph(beta.component("Worker", scalingAdapter={}))
    return given.graph({"Worker": beta.service(scalingAdapter={"enabled": True})})


@pytest.mark.parametrize("release", ["v0.9", "v1.5"])
@pytest.mark.parametrize("wanted", ["keep", "v1alpha1", "v1beta1"])
@pytest.mark.parametrize("version", ["v1alpha1", "v1beta1"])
def test_the_graph_and_its_adapters_have_one_version(version, wanted, release):
    """The adapter is in the version of its graph, because an API server serves one version of both."""
    made = given.rendered(written(version), behaviour=release, source_version=wanted)
    graph, adapter = made["DynamoGraphDeployment/chat"], made[f"{ADAPTER}/chat-worker"]
    expected = version if wanted == "keep" else wanted
    assert graph["apiVersion"] == adapter["apiVersion"] == f"{dynamo_api.GROUP}/{expected}"
    assert adapter["spec"]["dgdRef"] == {"name": "chat", **SCALED[expected]}
    assert ("components" in graph["spec"]) == (expected == "v1beta1")


def test_a_kept_graph_renders_the_same_again():
    """Under a fixed release, as with kpt, where the output of one run is the input of the next."""
    settings = Config(behaviour="v0.9", source_version="v1beta1")
    first = given.expanded(written("v1alpha1"), config=settings).resources
    second = given.expanded(*first, config=settings)
    assert second.resources == first


def test_adapters_of_the_user_stay_in_that_version_too():
    adapter = given.item(ADAPTER, "own", api=dynamo_api.V1ALPHA1, spec={"replicas": 1, "dgdRef": {"name": "chat", "serviceName": "Worker"}})
    made = given.rendered(adapter, source_version="v1beta1")
    assert made[f"{ADAPTER}/own"]["spec"]["dgdRef"] == {"name": "chat", "componentName": "Worker"}


def test_the_annotations_of_the_render_are_on_the_kept_graph():
    made = given.rendered(written("v1alpha1"), behaviour="v0.9", source_version="v1beta1")
    assert labels.WORKLOADS in labels.annotations(made["DynamoGraphDeployment/chat"])


def test_models_have_one_version():
    spec = {"modelName": "a/b", "baseModelName": "a/b", "modelType": "base"}
    model = given.item("DynamoModel", "m", api=dynamo_api.V1ALPHA1, spec=spec)
    assert given.expanded(model, source_version="v1beta1").resources[0]["apiVersion"] == dynamo_api.V1ALPHA1
