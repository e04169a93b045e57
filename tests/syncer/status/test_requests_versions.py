"""Requests of v1beta1: they come to the same states as those of v1alpha1, and their status tells them in the words of v1beta1."""

from __future__ import annotations

import json
from typing import Any

from krm_fn.render import labels
from krm_fn.render.convert import versions
from krm_fn.render.schema import schema_check
from krm_fn.syncer.status import SyncFeatures, cached_request, conditions, request_deployment, request_status
from krm_fn.syncer.status.cached_request import RequestInputs
from tests.support.cases import cases
from tests.syncer.status import asked
from tests.syncer.status.asked import COMPLETE, FAILED, OTHER
from tests.testbed import api

AUTO = {"autoApply": True}
MANUAL = {"autoApply": False}
DONE = asked.profiling(COMPLETE)
OUT = RequestInputs(DONE, asked.written())
LIVES: list[tuple[str, dict[str, Any], RequestInputs, str, tuple[str, str]]] = [
    ("pending", MANUAL, RequestInputs(), "Pending", ("False", "Pending")),
    ("profiling", MANUAL, RequestInputs(asked.profiling()), "Profiling", ("False", "Profiling")),
    ("failed", MANUAL, RequestInputs(asked.profiling(FAILED)), "Failed", ("False", "Failed")),
    ("generated", MANUAL, OUT, "Ready", ("True", "SpecGenerated")),
    ("deploying", AUTO, OUT, "Deploying", ("False", "Deploying")),
    ("created", AUTO, OUT._replace(graph=asked.graph("pending")), "Deploying", ("False", "Deploying")),
    ("deployed", AUTO, OUT._replace(graph=asked.graph("successful")), "Deployed", ("True", "Deployed")),
    ("refused", AUTO, OUT._replace(rejected="no"), "Failed", ("False", "Failed")),
]
CASES = cases(("spec", "seen", "phase", "succeeded"), LIVES)


def status(resource: dict[str, Any], seen: RequestInputs, features: SyncFeatures = asked.ALL) -> dict[str, Any]:
    return asked.status(cached_request.read(resource), seen, features)


@CASES
def test_a_phase_says_how_far_a_request_has_come(spec, seen, phase, succeeded):
    found = status(asked.newer(**spec), seen)
    assert found["phase"] == phase
    told = asked.told(found)
    assert told["Succeeded"] == succeeded
    assert not found.keys() & {"state", "backend", "generatedDeployment", "deployment"}
    assert asked.message(found, "Succeeded") == asked.message(found, "Ready")
    assert (found.get("profilingJobName") is None) == (seen.job is None)
    wrong = list(schema_check.resource({**asked.newer(found, **spec), "status": found}, unknown="error"))
    assert wrong == []


@CASES
def test_both_versions_tell_the_same(spec, seen, phase, succeeded):
    """The phase is what a conversion makes of the state, and the conditions differ in the one that only v1beta1 has."""
    older, newer = status(asked.resource(**spec), seen), status(asked.newer(**spec), seen)
    converted = versions.to("v1beta1", asked.resource(older, **spec))["status"]
    assert {name: converted[name] for name in converted if name != "conditions"}.items() <= newer.items()
    said = {name: each for name, each in asked.told(newer).items() if name != "Succeeded"}
    assert said == asked.told(older)


@CASES
def test_a_server_stores_the_status_as_it_is(dynamo_v1beta1, spec, seen, phase, succeeded):
    resource = asked.newer(**spec)
    resource["metadata"] = {**resource["metadata"], "name": f"{phase}-{succeeded[1]}".lower(), "namespace": "default"}
    assert dynamo_v1beta1.client.apply(resource, dry_run=False).ok
    found = status(asked.newer(**spec), seen)
    path = f"{dynamo_v1beta1.client.path(resource)}/status?fieldManager=krm-fn&fieldValidation=Strict"
    answer = dynamo_v1beta1.client.request("PATCH", path, {"status": found}, api.MERGE)
    assert answer.ok, answer.message
    assert conditions.patch(answer.body["status"], found) is None


def test_the_status_counts_the_replicas_of_the_graph():
    counts = {"Frontend": {"replicas": 1, "availableReplicas": 1}, "Worker": {"replicas": 3, "availableReplicas": 2}, "Other": None}
    for part in ("services", "components"):
        graph = asked.graph("pending")
        found = status(asked.newer(), OUT._replace(graph=graph._replace(status={**graph.status, part: counts})))
        assert found["deploymentInfo"] == {"replicas": 4, "availableReplicas": 3}


def test_a_deleted_graph_is_a_failure_and_stays_deleted():
    """v1beta1 has no phase for it. The name of the graph remains, so that nothing deploys it again."""
    before = status(asked.newer(), OUT._replace(graph=asked.graph("successful")))
    gone = asked.newer(before)
    after = status(gone, OUT)
    assert (after["phase"], after["dgdName"]) == ("Failed", "vllm-disagg")
    assert asked.told(after)["DeploymentReady"] == ("False", "DeploymentDeleted")
    assert "deploymentInfo" not in after
    assert status(asked.newer(after), OUT) == after
    assert [each.reason for each in request_status.events(before, after)] == ["DeploymentDeleted"]


def test_a_refused_change_keeps_the_phase():
    before = status(asked.newer(**MANUAL), OUT)
    changed = asked.newer(before, **MANUAL)
    changed["metadata"]["annotations"] = {labels.PROFILE_HASH: OTHER}
    after = status(changed, OUT)
    assert after["phase"] == "Ready"
    assert asked.told(after)["Ready"] == ("False", "SpecChangeRejected")


SPECS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("defaults", {"backend": None}, {"backend": "", "auto_apply": True, "mocker": False, "overrides": {}}),
    ("not to apply", {"autoApply": False}, {"auto_apply": False}),
    ("a mocker", {"features": {"mocker": {"enabled": True}}}, {"mocker": True}),
    ("a mocker that is off", {"features": {"mocker": {"enabled": False}}}, {"mocker": False}),
    ("a name", {"overrides": {"dgd": {"metadata": {"name": "a"}}}}, {"overrides": {"name": "a"}}),
    ("nonsense", {"features": 1, "overrides": [], "autoApply": "no"}, {"mocker": False, "overrides": {}, "auto_apply": True}),
]


@cases(("spec", "wanted"), SPECS)
def test_the_spec_is_read(spec, wanted):
    read = cached_request.read(asked.newer(**spec))
    assert {name: getattr(read, name) for name in wanted} == wanted


KEPT = [
    ("the form of now", json.dumps({"version": 1, "spec": {"deploymentOverrides": {"name": "kept"}}}), {"name": "kept"}),
    ("the older form", json.dumps({"deploymentOverrides": {"name": "kept"}}), {"name": "kept"}),
    ("no JSON", "{", {}),
    ("deep", "[" * 100_000, {}),
    ("no object", "[]", {}),
]


@cases(("text", "wanted"), KEPT)
def test_what_a_conversion_kept_is_read(text, wanted):
    resource = asked.newer()
    resource["metadata"]["annotations"][labels.PRESERVED_REQUEST] = text
    assert cached_request.read(resource).overrides == wanted
    resource["spec"]["overrides"] = {"dgd": {"metadata": {"name": "written"}}}
    assert cached_request.read(resource).overrides == {"name": "written"}


def test_a_converted_request_keeps_its_graph():
    """An exchange of the definitions must not deploy a graph again."""
    spec: dict[str, Any] = {**AUTO, "deploymentOverrides": {"name": "served"}}
    seen = OUT._replace(graph=asked.graph("successful", name="served"))
    older = asked.resource(status(asked.resource(**spec), seen), **spec)
    newer = cached_request.read(versions.to("v1beta1", older))
    assert newer.deployed == cached_request.read(older).deployed
    assert request_deployment.target(newer, asked.written()) == newer.deployed


def test_messages_name_the_fields_of_the_version():
    nameless = OUT._replace(output=asked.written(asked.TEXT.replace("metadata: {name: vllm-disagg}\n", "")))
    assert "set spec.overrides.dgd.metadata.name" in asked.message(status(asked.newer(), nameless), "DeploymentReady")
    found = asked.message(status(asked.newer(**MANUAL), OUT), "SpecGenerated")
    assert found == "Generated spec is available in status.profilingResults.selectedConfig"
