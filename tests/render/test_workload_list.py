"""The annotation `workloads` is a contract: what one module writes it also reads, and it refuses every other text with a clear message."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.kubernetes.gpu_demand import ClaimUse, GPUDemand
from krm_fn.render import workload_list
from krm_fn.render.workload_list import StatusFacts, WorkloadEntry
from tests.support.cases import cases

WORKER = {"service": "Worker", "apiVersion": "apps/v1", "kind": "Deployment", "name": "chat-worker"}
COUNTS = st.integers(0, 9)
CLAIMS = st.builds(ClaimUse, st.sampled_from(["ResourceClaim", "ResourceClaimTemplate"]), st.text(), st.lists(st.text()).map(tuple), COUNTS)
DEMANDS = st.builds(GPUDemand, COUNTS, st.lists(CLAIMS).map(tuple))
FACTS = st.builds(StatusFacts, DEMANDS, DEMANDS, st.text(), st.text(), st.text(), st.none() | COUNTS)
REPLICAS = st.none() | st.integers(-(2**63), 2**63 - 1)
ENTRIES = st.builds(WorkloadEntry, st.text(), st.text(), st.text(), st.text(), REPLICAS, st.text(), facts=st.none() | FACTS)


@given(st.lists(ENTRIES))
def test_what_is_written_is_read_back(entries):
    assert workload_list.read(workload_list.write(entries)) == entries


NAMES = {"servedModelName": "llama", "runtimeComponentName": "decode", "gpuPowerLimitWatts": 300}


def fact(facts):
    return WorkloadEntry("Worker", "apps/v1", "Deployment", "chat-worker", facts=facts)


WRITTEN: list[tuple[str, list[WorkloadEntry], list[dict[str, Any]]]] = [
    ("a graph without workloads has an empty list", [], []),
    (
        "replicas that Git decides are listed",
        [WorkloadEntry("Worker", "apps/v1", "Deployment", "chat-worker", 2)],
        [{**WORKER, "replicas": 2}],
    ),
    ("a count of 0 is listed", [WorkloadEntry("Worker", "apps/v1", "Deployment", "chat-worker", 0)], [{**WORKER, "replicas": 0}]),
    ("replicas that an autoscaler owns are left out", [WorkloadEntry("Worker", "apps/v1", "Deployment", "chat-worker")], [WORKER]),
    (
        "a graph that the name does not contain is listed",
        [WorkloadEntry("Worker", "apps/v1", "Deployment", "chat-worker", graph="chat-of-the-team")],
        [{**WORKER, "graph": "chat-of-the-team"}],
    ),
    (
        "the facts of its pods are listed",
        [fact(StatusFacts(GPUDemand(8), GPUDemand(9), "", "llama", "decode", 300))],
        [{**WORKER, **NAMES, "gpusPerEngine": 8, "gpusPerReplica": 9}],
    ),
    (
        "claims that a render does not know are listed",
        [
            fact(
                StatusFacts(GPUDemand(1), GPUDemand(0, (ClaimUse("ResourceClaim", "c"), ClaimUse("ResourceClaimTemplate", "t", ("r",), 2))))
            )
        ],
        [
            {
                **WORKER,
                "gpusPerEngine": 1,
                "gpusPerReplica": 0,
                "claimsPerReplica": [{"claim": "c"}, {"template": "t", "requests": ["r"], "times": 2}],
            }
        ],
    ),
    ("a reason is listed in place of numbers", [fact(StatusFacts(gpu_problem="why"))], [{**WORKER, "gpuProblem": "why"}]),
]


@cases(("entries", "listed"), WRITTEN)
def test_each_workload_is_one_object_of_compact_json(entries, listed):
    text = workload_list.write(entries)
    assert json.loads(text) == listed
    assert ": " not in text
    assert ", " not in text


def test_unknown_keys_are_ignored():
    """A newer render may add keys; an older reader still finds what it knows."""
    (entry,) = workload_list.read(json.dumps([{**WORKER, "added": {"later": True}}]))
    assert entry == WorkloadEntry("Worker", "apps/v1", "Deployment", "chat-worker")


def claims(value):
    return json.dumps([{**WORKER, "gpusPerEngine": 1, "claimsPerEngine": value}])


UNREADABLE = [
    ("an empty annotation", "", "the annotation is not JSON"),
    ("half an annotation", '[{"service":', "the annotation is not JSON"),
    ("endless nesting", "[" * 100_000, "the annotation is nested too deeply"),
    ("an object in place of the list", json.dumps(WORKER), "the annotation is not a JSON list"),
    ("an entry that is not an object", json.dumps([WORKER, 1]), "entry 1 is not a JSON object"),
    ("an entry without a kind", json.dumps([{**WORKER, "kind": None}]), "entry 0 has no text under kind"),
    ("an entry with a number as name", json.dumps([{**WORKER, "name": 3}]), "entry 0 has no text under name"),
    ("a graph that is a number", json.dumps([{**WORKER, "graph": 3}]), "entry 0 has no text under graph"),
    ("replicas of 64 digits", json.dumps([{**WORKER, "replicas": 10**64}]), "entry 0 has no whole number under replicas"),
    ("replicas of 5,000 digits", f'[{{"replicas": {"9" * 5000}}}]', "the annotation is not JSON"),
    ("1,001 entries", json.dumps([WORKER] * 1001), "the annotation has 1001 entries, and at most 1000 are read"),
    ("replicas that are text", json.dumps([{**WORKER, "replicas": "2"}]), "entry 0 has no whole number under replicas"),
    ("a model that is a number", json.dumps([{**WORKER, "servedModelName": 3}]), "entry 0 has no text under servedModelName"),
    ("half a GPU", json.dumps([{**WORKER, "gpusPerEngine": 0.5}]), "entry 0 has no whole number under gpusPerEngine"),
    ("watts below zero", json.dumps([{**WORKER, "gpuPowerLimitWatts": -1}]), "entry 0 has no whole number under gpuPowerLimitWatts"),
    ("a claim in place of claims", claims({"claim": "c"}), "entry 0 has no list under claimsPerEngine"),
    ("a claim without a name", claims([{"requests": []}]), "entry 0 has no claims under claimsPerEngine"),
    ("a claim with two names", claims([{"claim": "c", "template": "t"}]), "entry 0 has no claims under claimsPerEngine"),
    ("a request that is a number", claims([{"claim": "c", "requests": [1]}]), "entry 0 has no claims under claimsPerEngine"),
    ("a claim that is a text", claims(["c"]), "entry 0 has no claims under claimsPerEngine"),
    ("replicas that are a truth value", json.dumps([{**WORKER, "replicas": True}]), "entry 0 has no whole number under replicas"),
]


@cases(("text", "message"), UNREADABLE)
def test_any_other_text_is_refused_with_the_place_of_the_fault(text, message):
    with pytest.raises(ValueError, match=message):
        workload_list.read(text)
