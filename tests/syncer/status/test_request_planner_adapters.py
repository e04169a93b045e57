"""The scaling adapters of the graphs that a profiler generates."""

from __future__ import annotations

import json

import pytest
import yaml

from krm_fn.render.config import Config
from krm_fn.render.expand import expand
from krm_fn.syncer.profiler_output import ProfilerOutput
from krm_fn.syncer.status import request_generation
from tests.cli import console
from tests.support import beta, given
from tests.syncer.status import asked

SERVICES = {
    "Frontend": given.service("frontend"),
    "Planner": given.service("planner"),
    "Prefill": given.service("worker", subComponentType="prefill"),
    "Decode": given.service("worker", subComponentType="decode", scalingAdapter={"enabled": False}),
}
V1ALPHA1 = given.graph(SERVICES, name="demo")
V1BETA1 = beta.graph(beta.component("Frontend", "frontend"), beta.component("Planner", "planner"), beta.component("Prefill", "prefill"))


@pytest.mark.parametrize("graph", [V1ALPHA1, V1BETA1], ids=["v1alpha1", "v1beta1"])
def test_the_engines_of_a_planner_get_adapters(graph):
    """Only those that have no field about an adapter. A render then makes the adapter that the planner scales."""
    enabled, changed = request_generation.with_planner_adapters(graph)
    assert changed == ["Prefill"]
    adapters = [item["metadata"]["name"] for item in expand([enabled], Config()).resources if item["kind"].endswith("ScalingAdapter")]
    assert adapters == [f"{graph['metadata']['name']}-prefill"]
    assert request_generation.with_planner_adapters(enabled) == (enabled, [])


WITHOUT = [{}, {"spec": []}, {"spec": {"services": {"A": None, "B": 1}}}, {"spec": {"components": [None, {"type": 1}]}}, beta.graph()]


@pytest.mark.parametrize("graph", WITHOUT, ids=str)
def test_a_graph_without_a_planner_stays(graph):
    assert request_generation.with_planner_adapters(graph) == (graph, [])


def test_the_graph_that_is_deployed_has_them_and_the_request_says_so():
    output = ProfilerOutput(graph=V1ALPHA1)
    deployed = request_generation.graph_to_deploy(output, asked.read())
    assert deployed["spec"]["services"]["Prefill"]["scalingAdapter"] == {"enabled": True}
    notes = request_generation.adapter_notes(V1ALPHA1)
    assert notes == ["the scaling adapters of Prefill are enabled, because the planner of the graph scales through them"]


def test_the_verb_prints_them_with_a_note():
    objects = [asked.resource(), asked.config_map(yaml.safe_dump(V1ALPHA1))]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    done = console.run("request", "get", asked.NAME, "-", stdin=text)
    assert yaml.safe_load(done.out)["spec"]["services"]["Prefill"]["scalingAdapter"] == {"enabled": True}
    assert "note: the scaling adapters of Prefill are enabled" in done.err
