"""Rules about requests of v1beta2, their views, Runs and Candidates."""

from __future__ import annotations

from typing import Any

import hypothesis
import pytest

from krm_fn.base import results
from krm_fn.render import dynamo_api, expand
from krm_fn.render.config import Config
from tests.support import beta, given, searches
from tests.support.cases import cases
from tests.support.searches import STATIC, request, view

NATIVE = ("info", "DYN195", "spec")
VIEW = [("info", "DYN194", "spec.v1beta2")]
TRACE = {"source": {"uri": "s3://traces/a"}}


def static(**fields: Any) -> Any:
    """The field of a spec with a static workload. A field that is None is left out."""
    return {"static": {name: value for name, value in {**STATIC, **fields}.items() if value is not None}}


def said(resource):
    found = given.expanded(resource).results
    return sorted((finding.severity, finding.code, results.field(finding.path)) for finding in found)


REQUESTS = [
    # reason, request, findings beside the note that a render runs no search
    ("a complete request", request(), []),
    ("a trace in a bucket", request(workload={"trace": TRACE}), []),
    ("a search for several goals", request(objective={"mode": "pareto", "metrics": ["throughput", "goodput"]}), []),
    ("the SKU is open", request(hardware={"gpu": {"sku": "new", "budget": 1}}), []),
    ("free parameters", request(search={"budget": searches.BUDGET, "parameters": {"a": {"b": 1}}}), []),
    ("an unknown engine", request(backends=["vllm", "mlc"]), [("error", "DYN198", "spec.backends[1]")]),
    ("an unknown mode", request(objective={"mode": "best"}), [("error", "DYN198", "spec.objective.mode")]),
    ("an unknown metric", request(objective={"mode": "optimize", "metric": "speed"}), [("error", "DYN198", "spec.objective.metric")]),
    ("no engine", request(backends=[]), [("warning", "DYN199", "spec.backends")]),
    ("a field that later releases may have", request(overrides={}), [("warning", "DYN199", "spec.overrides")]),
    ("a number as text", request(workload=static(isl="1")), [("warning", "DYN199", "spec.workload.static.isl")]),
    ("no tokens", request(workload=static(osl=0)), [("warning", "DYN199", "spec.workload.static.osl")]),
    ("no GPU type", request(hardware={"gpu": {"budget": 8}}), [("warning", "DYN199", "spec.hardware.gpu.sku")]),
    ("a list in place of an object", request(search=[]), [("warning", "DYN199", "spec.search")]),
    (
        "a rate of nothing",
        request(workload=static(concurrency=None, requestRate=0)),
        [("warning", "DYN199", "spec.workload.static.requestRate")],
    ),
    ("a starred field is missing", request(modelRef=None), [("error", "DYN198", "spec.modelRef"), ("warning", "DYN199", "spec.modelRef")]),
    ("two workloads", request(workload={**static(), "trace": TRACE}), [("error", "DYN198", "spec.workload")]),
    ("two loads", request(workload=static(requestRate=1.5)), [("error", "DYN198", "spec.workload.static")]),
    ("no load", request(workload=static(concurrency=None)), [("error", "DYN198", "spec.workload.static")]),
    (
        "two ratios are for several goals",
        request(workload=static(concurrency=None, kvLoadRatio=[0.5, 0.9])),
        [("error", "DYN198", "spec.workload.static.kvLoadRatio")],
    ),
    ("a trace without a source", request(workload={"trace": {"source": {}}}), [("error", "DYN198", "spec.workload.trace.source")]),
    ("optimize without a metric", request(objective={"mode": "optimize"}), [("error", "DYN198", "spec.objective.metric")]),
    (
        "pareto with one metric",
        request(objective={"mode": "pareto", "metric": "goodput", "metrics": ["goodput", "throughput"]}),
        [("error", "DYN198", "spec.objective.metric")],
    ),
    (
        "one of two latencies",
        request(objective={"mode": "optimize", "metric": "goodput", "sla": {"ttftMs": 300}}),
        [("error", "DYN198", "spec.objective.sla")],
    ),
]


@cases(("resource", "found"), REQUESTS)
def test_native_requests(resource, found):
    assert said(resource) == sorted([NATIVE, *found])


OTHERS = [
    # reason, resource, findings
    ("a view", view(searches.SPEC), VIEW),
    ("a view in v1alpha1", view(searches.SPEC, dynamo_api.V1ALPHA1), VIEW),
    ("nothing in a view is checked", view({"backends": ["mlc"], "x": 1}), VIEW),
    ("defaults of an API server beside a view", view(searches.SPEC, backend="auto", searchStrategy="rapid", autoApply=True), VIEW),
    ("a view and a field", view(searches.SPEC, model="acme/tiny"), [("error", "DYN198", "spec.v1beta2")]),
    ("a view of no object", view("x"), [("error", "DYN198", "spec.v1beta2")]),
    ("a request of v1beta1 in v1beta2", view({"model": "m"}, dynamo_api.V1BETA2), [("info", "DYN194", "spec.v1beta1")]),
    (
        "both forms at once in v1beta2",
        view({"model": "m"}, dynamo_api.V1BETA2, backends=["vllm"]),
        [("error", "DYN198", "spec.v1beta1")],
    ),
    ("no spec", given.item(dynamo_api.REQUEST, "a", api=dynamo_api.V1BETA2), [("error", "DYN198", "spec")]),
    ("a Run", searches.run("a"), [("warning", "DYN196", "kind")]),
    ("a Candidate", searches.candidate("a"), [("info", "DYN197", "kind")]),
    (
        "a Candidate whose spec is no graph",
        searches.candidate("a", spec={"services": {}}),
        [("error", "DYN023", "spec.services"), ("error", "DYN100", "spec.components"), ("info", "DYN197", "kind")],
    ),
    (
        "a Candidate with an unknown engine",
        searches.candidate("a", spec={**beta.graph()["spec"], "backendFramework": "mlc"}),
        [("error", "DYN024", "spec.backendFramework"), ("info", "DYN197", "kind")],
    ),
    ("a graph has no v1beta2", {**beta.graph(), "apiVersion": dynamo_api.V1BETA2}, [("error", "DYN020", "apiVersion")]),
]


@cases(("resource", "found"), OTHERS)
def test_views_runs_and_candidates(resource, found):
    assert said(resource) == sorted(found)


@pytest.mark.parametrize("resource", [request(), view(searches.SPEC), searches.run("a"), searches.candidate("a")])
def test_the_output_has_the_resource_as_it_is(resource):
    assert given.expanded(resource).resources == [resource]
    assert expand.plans([resource], Config()) == []


def test_a_misspelt_field_has_its_name_in_the_message():
    found = given.expanded(request(search={"budget": {"maxRounds": 1, "parallelEvaluations": 1, "maxRound": 2}})).results
    assert [finding.message for finding in found if finding.code == "DYN199"] == [
        "krm-fn does not know this field of v1beta2; write maxRounds"
    ]


@hypothesis.given(searches.SPECS, searches.GRAPHS)
def test_valid_requests_and_candidates_have_notes_only(spec, graph):
    findings = given.expanded(searches.request(**spec), searches.candidate("a", spec=graph)).results
    assert {finding.code for finding in findings} == {"DYN195", "DYN197"}


@hypothesis.given(searches.SPECS, hypothesis.strategies.data())
def test_any_value_gives_findings_and_no_exception(spec, data):
    """A spec with one value of any type has no internal error."""
    from tests.support import strategies  # noqa: PLC0415 - only this test draws any JSON

    path = data.draw(hypothesis.strategies.sampled_from(sorted(spec)))
    findings = given.expanded(searches.request(**{**spec, path: data.draw(strategies.JSON)})).results
    assert "DYN019" not in {finding.code for finding in findings}
