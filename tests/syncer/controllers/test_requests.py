"""Requests on a real control plane, with the rights of platform/syncer: the whole life both ways, and every way in which one can fail."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest

from krm_fn.kubernetes import digest
from krm_fn.render import labels, names
from krm_fn.syncer.controllers.request_controller import OUTPUT_ARRIVES
from tests.support import given
from tests.testbed import server, syncer
from tests.testbed.place import GRAPH, Place, conditions
from tests.testbed.profiling_requests import REQUEST, ask, generated, request

COMPONENTS = ("requests", "auto-apply", "pods")
AUTO: dict[str, Any] = {"autoApply": True}


@pytest.fixture(scope="module")
def sync(dynamo, controllers, kubelet, kustomize, tmp_path_factory):
    """One syncer for all tests."""
    folder = tmp_path_factory.mktemp("syncer")
    account = syncer.installed(dynamo, kustomize, folder, *COMPONENTS)
    with syncer.running(account, folder, "--requests", "--auto-apply", "--pods", "--no-leader-election") as running:
        yield running


@pytest.fixture
def place(dynamo, sync, request):
    """A namespace of its own for each test."""
    words = re.findall(r"[a-z0-9]+", request.node.name.removeprefix("test_").lower())
    return Place(dynamo, dynamo.namespace(f"dgdr-{'-'.join(words)[:28]}-{digest.hexadecimal(request.node.name)[:6]}"))


def events(place):
    """The reasons and messages of the events in a namespace."""
    found = place.plane.client.get(f"/apis/events.k8s.io/v1/namespaces/{place.namespace}/events")["items"]
    return {each["reason"]: each["note"] for each in found if each["regarding"]["kind"] == REQUEST}


def told(place, *reasons):
    """Wait for events with these reasons."""
    server.eventually(lambda: events(place).keys() >= {*reasons})


def graphs(place):
    return [each["metadata"]["name"] for each in place.listed(GRAPH)]


def test_a_request_offers_its_graph(place):
    """Without autoApply: Pending, Profiling, Ready. The graph is in the status, and nothing is deployed."""
    asked = ask(place, request("llm"), job=False)
    asked.state("Pending")
    asked = ask(place, request("llm"))
    asked.state("Profiling")
    asked.profiled(generated())
    status = asked.state("Ready")
    assert status["generatedDeployment"]["metadata"]["name"] == "chat"
    assert (status["profilingResults"], status["backend"]) == ("configmap/dgdr-output-llm", "vllm")
    assert "deployment" not in status
    assert {each["type"]: each["status"] for each in status["conditions"]} == {
        "Profiling": "True",
        "SpecGenerated": "True",
        "Ready": "True",
    }
    told(place, "Initialized", "ProfilingJobCreated", "SpecGenerated")
    assert graphs(place) == []
    server.eventually(lambda: conditions(place.status("profile-llm", "Job")).keys() >= {"Complete"})


def test_a_request_deploys_its_graph(place):
    """With autoApply: Deploying, Ready, degraded and Ready again, and after the graph is deleted never deployed again."""
    asked = ask(place, request("llm", **AUTO, deploymentOverrides={"name": "served", "labels": {"team": "a"}}))
    asked.profiled(generated())
    status = asked.state("Ready")
    assert status["deployment"] == {"name": "served", "namespace": place.namespace, "state": "successful", "created": True}
    graph = place.get(GRAPH, "served")
    assert labels.of(graph)["team"] == "a"
    assert labels.WORKLOADS in labels.annotations(graph)
    owners = place.get("ConfigMap", "planner-profile-data")["metadata"]["ownerReferences"]
    assert [(each["kind"], each["uid"]) for each in owners] == [(GRAPH, graph["metadata"]["uid"])]
    told(place, "SpecGenerated", "DeploymentReady")
    image(place, "served-worker", "worker:ImagePullBackOff")
    asked.told("DeploymentReady", reason="DeploymentDegraded")
    told(place, "DeploymentDegraded")
    image(place, "served-worker", "worker:2")
    asked.state("Ready")
    place.kubectl("delete", "dgd", "served")
    status = asked.state("DeploymentDeleted")
    assert status["deployment"]["created"] is True
    told(place, "DeploymentDeleted")
    server.eventually(lambda: place.listed("Deployment") == [])
    kinds = "services,serviceaccounts,roles,rolebindings,configmaps"
    server.eventually(lambda: place.kubectl("get", kinds, "-l", f"{labels.MANAGED_BY}={labels.MANAGER}", "-o", "name").split() == PROFILING)
    asked.output(generated("other"))
    asked.wait(lambda status: status["generatedDeployment"]["metadata"]["name"] == "other")
    assert graphs(place) == []


def image(place, deployment, name):
    """Give the pods of a Deployment another image."""
    place.kubectl("set", "image", f"deployment/{deployment}", f"*={name}")


PROFILING = [f"serviceaccount/{names.PROFILING_ACCOUNT}", f"rolebinding.rbac.authorization.k8s.io/{names.binding(names.PROFILING_ACCOUNT)}"]
"""What a render makes for the Jobs of a namespace."""


def failed(asked, condition, reason, *parts):
    """Wait until the request has failed for that reason, and kstatus says that waiting does not help."""
    asked.told(condition, *parts, reason=reason)
    status = asked.state("Failed")
    assert conditions(status)["Stalled"]["reason"] == reason
    return status


def test_a_failed_profiler_is_named_and_another_job_may_succeed(place):
    asked = ask(place, request("llm"), retries=0)
    asked.end("", profiler=3)
    failed(
        asked, "Profiling", "ProfilingFailed", "profiling job failed: ", "Container: profiler, ExitCode: 3", "delete the Job profile-llm"
    )
    told(place, "ProfilingCheckFailed")
    place.kubectl("delete", "job", "profile-llm")
    failed(asked, "Profiling", "ProfilingFailed", 'jobs.batch "profile-llm" not found')
    asked = ask(place, request("llm"))
    asked.state("Profiling")
    asked.profiled(generated())
    asked.state("Ready")


def test_a_job_that_is_deleted_while_it_runs(place):
    asked = ask(place, request("llm"))
    asked.state("Profiling")
    place.kubectl("delete", "job", "profile-llm")
    failed(asked, "Profiling", "ProfilingFailed", 'jobs.batch "profile-llm" not found')
    ask(place, request("llm")).state("Profiling")


def test_an_output_that_the_server_refuses(place):
    """A ConfigMap holds 1 MiB. The copier says so, and the Job does not try again."""
    asked = ask(place, request("llm"))
    asked.state("Profiling")
    with pytest.raises(AssertionError, match="Too long: may not be more than 1048576 bytes"):
        asked.output("x" * 2**21)
    asked.end("The profiler's output has 2097152 bytes", output_copier=86)
    failed(asked, "Profiling", "ProfilingFailed", "Container: output-copier, ExitCode: 86", "The profiler's output has 2097152 bytes")


OUTPUTS = [
    # the output, and what the message says
    (None, "output ConfigMap dgdr-output-llm not found"),
    ("[: not YAML", "failed to extract DGD from config_with_planner.yaml"),
    ("a plain text", "no DynamoGraphDeployment found in YAML content"),
    ("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n", "no DynamoGraphDeployment found in YAML content"),
    (
        "kind: DynamoGraphDeployment\nmetadata: {name: chat}\nspec: {services: [1]}\n",
        "failed to convert to DynamoGraphDeployment: spec.services",
    ),
]


@pytest.mark.parametrize(("text", "said"), OUTPUTS, ids=["missing", "malformed", "no-resource", "other-kind", "list"])
def test_an_output_without_a_usable_graph(text, said, place):
    asked = ask(place, request("llm", **AUTO))
    if text is not None:
        asked.output(text)
    asked.end()
    failed(asked, "SpecGenerated", "GenerationFailed", said, "delete the Job profile-llm and the ConfigMap")
    told(place, "GenerationFailed")
    assert graphs(place) == []


def test_an_output_that_arrives_after_the_end_of_its_job(place):
    """The watches of Jobs and ConfigMaps know nothing of each other. A complete Job without an output is no failure at once."""
    asked = ask(place, request("llm"))
    asked.end()
    server.eventually(lambda: "Complete" in conditions(place.status("profile-llm", "Job")))
    began = time.monotonic()
    asked.output(generated())
    soon = time.monotonic() - began < OUTPUT_ARRIVES / 2
    asked.state("Ready")
    told(place, "SpecGenerated")
    assert not soon or "GenerationFailed" not in events(place)


def test_the_last_of_two_graphs_is_used_and_other_kinds_are_not_applied(place):
    """The condition says both."""
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "stolen"}, "stringData": {"a": "b"}}
    asked = ask(place, request("llm", **AUTO))
    asked.profiled(generated("first") + "---\n" + generated("second", secret))
    status = asked.state("Ready")
    assert status["deployment"]["name"] == "second"
    assert "the output has 2 graphs, and only the last is used" in conditions(status)["SpecGenerated"]["message"]
    assert graphs(place) == ["second"]
    assert place.kubectl("get", "secrets", "-o", "name") == ""


def test_an_output_that_was_edited_is_not_deployed(place):
    asked = ask(place, request("llm", **AUTO))
    asked.output(generated(), annotations={labels.PROFILE_HASH: asked.profile_hash, labels.OUTPUT_HASH: "0" * 64})
    failed(asked, "SpecGenerated", "GenerationFailed", "the ConfigMap dgdr-output-llm was changed after the profiler wrote it")
    assert graphs(place) == []
    asked.output(generated())
    asked.state("Ready")


def test_the_graph_of_before_stays_if_the_output_changes_or_goes(place):
    """The status has it, whatever becomes of the ConfigMap and of the Job."""
    asked = ask(place, request("llm"))
    asked.profiled(generated())
    before = asked.state("Ready")["generatedDeployment"]
    asked.output("kind: none", annotations={labels.PROFILE_HASH: asked.profile_hash, labels.OUTPUT_HASH: "0" * 64})
    asked.told("SpecGenerated", "the earlier graph stays", "was changed after the profiler wrote it")
    place.kubectl("delete", "configmap,job", "--all")
    server.eventually(lambda: "stays" not in conditions(asked.status())["SpecGenerated"]["message"])
    status = asked.state("Ready")
    assert status["generatedDeployment"] == before
    told(place, "SpecGenerated")
    assert "GenerationFailed" not in events(place)


def test_a_graph_with_errors_is_not_deployed(place):
    """The same rules hold as for a graph in Git. The message has the first error and the command that shows all."""
    wrong: dict[str, Any] = {"Frontend": given.service("frontend", replicas=-1), "Worker": given.service("worker", replicas=-1)}
    asked = ask(place, request("llm", **AUTO))
    asked.profiled(generated(**wrong))
    command = f"`krm-fn request get llm -n {place.namespace} | krm-fn check -`"
    failed(asked, "DeploymentReady", "DeploymentRefused", "DYN025", "(and 1 more)", command)
    told(place, "SpecGenerated", "DeploymentRefused")
    assert graphs(place) == []


@pytest.mark.parametrize("label", ["other", ""])
def test_a_job_of_somebody_else_has_the_name(label, place):
    """It is neither changed nor waited for. Without it, the rendered Job can be applied."""
    rendered = place.render(request("llm"))
    (job,) = [each for each in rendered if each["kind"] == "Job"]
    job["metadata"]["labels"] = {labels.REQUEST: label} if label else {"app": "other"}
    place.apply([job])
    asked = ask(place, request("llm"), job=False)
    failed(asked, "Profiling", "JobConflict", "the Job profile-llm is not the Job of this request", "label dgdr")
    told(place, "ProfilingJobFailed")
    if label:  # a Job without the label is asked for once a minute
        place.kubectl("delete", "job", "profile-llm")
        ask(place, request("llm")).state("Profiling")


def test_a_spec_that_changes_after_profiling_began_is_refused_and_nothing_freezes(place):
    """The profiled settings go on. Taken back, the request is as before."""
    asked = ask(place, request("llm", config={"sla": {"ttft": 1}}, **AUTO))
    asked.state("Profiling")
    ask(place, request("llm", config={"sla": {"ttft": 5}}, **AUTO), job=False)
    asked.told("Validation", "Cannot modify spec in state 'Profiling'", reason="SpecChangeRejected")
    told(place, "SpecChangeRejected")
    asked.profiled(generated())
    asked.told("DeploymentReady", reason="DeploymentReady")
    assert conditions(asked.status())["Validation"]["reason"] == "SpecChangeRejected"
    ask(place, request("llm", config={"sla": {"ttft": 1}}, **AUTO), job=False)
    server.eventually(lambda: "Validation" not in conditions(asked.status()))
    asked.state("Ready")


def test_a_job_that_finds_its_output_suspends_itself(place):
    """A Job that was created again ends without profiling. The request is as if the Job had never gone."""
    asked = ask(place, request("llm"))
    asked.profiled(generated())
    asked.state("Ready")
    place.kubectl("delete", "job", "profile-llm")
    ask(place, request("llm"))
    place.kubectl("patch", "job", "profile-llm", "--type=merge", "-p", '{"spec":{"suspend":true}}')
    server.eventually(lambda: "Suspended" in conditions(place.status("profile-llm", "Job")))
    asked.state("Ready")
    place.kubectl("delete", "configmap", "dgdr-output-llm")
    asked.state("Ready")


def test_a_suspended_job_without_output_says_what_to_do(place):
    asked = ask(place, request("llm"))
    place.kubectl("patch", "job", "profile-llm", "--type=merge", "-p", '{"spec":{"suspend":true}}')
    asked.told("Profiling", "the Job profile-llm is suspended; set its spec.suspend to false")


def test_a_graph_for_another_namespace_is_refused(place):
    """Who may write the request may have no rights there. Nothing is written there, and the message says what to do."""
    there = Place(place.plane, place.plane.namespace(f"{place.namespace}-b"))
    asked = ask(place, request("llm", **AUTO, deploymentOverrides={"namespace": there.namespace}))
    asked.profiled(generated())
    reason = f"the graph belongs into namespace {there.namespace}, but the request is in namespace {place.namespace}"
    ways = f"make the request in namespace {there.namespace}, remove spec.deploymentOverrides.namespace, or ask the administrator for"
    failed(asked, "DeploymentReady", "DeploymentRefused", f"{reason}; {ways} the flag --other-namespaces of krm-fn sync")
    told(place, "DeploymentRefused")
    assert graphs(place) == graphs(there) == []
    assert "planner-profile-data" not in {each["metadata"]["name"] for each in there.listed("ConfigMap")}
    ask(place, request("llm", **AUTO), job=False)
    assert asked.state("Ready")["deployment"]["namespace"] == place.namespace


def test_an_object_of_somebody_else_is_in_the_way(place):
    """It stays as it is. When it is gone, the graph is completed."""
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "planner-serviceaccount"}}
    place.apply([account])
    asked = ask(place, request("llm", **AUTO))
    asked.profiled(generated(Frontend=given.service("frontend"), Planner=given.service("planner")))
    failed(asked, "DeploymentReady", "DeploymentRefused", "ServiceAccount planner-serviceaccount exists and is not the one")
    place.kubectl("delete", "serviceaccount", "planner-serviceaccount")
    asked.state("Ready")


def test_a_graph_that_exists_is_reported_and_not_changed(place):
    """Somebody made it. The condition says that it is not the graph of the request."""
    place.deploy(given.graph(name="chat"))
    before = place.get(GRAPH, "chat")["spec"]
    asked = ask(place, request("llm", **AUTO))
    asked.profiled(generated())
    status = asked.state("Ready")
    assert "the graph was not made by this request" in conditions(status)["DeploymentReady"]["message"]
    assert place.get(GRAPH, "chat")["spec"] == before


def test_labels_by_which_the_graph_is_found_cannot_be_overridden(place):
    asked = ask(place, request("llm", **AUTO, deploymentOverrides={"labels": {labels.REQUEST_NAME: "other"}}))
    asked.profiled(generated())
    failed(asked, "DeploymentReady", "DeploymentRefused", "spec.deploymentOverrides.labels changes the labels")
    assert graphs(place) == []


def test_the_mocker_has_a_graph_of_its_own(place):
    asked = ask(place, request("llm", useMocker=True))
    asked.profiled(generated("real"), mocker=generated("simulated"))
    assert asked.state("Ready")["generatedDeployment"]["metadata"]["name"] == "simulated"


def test_a_request_that_no_render_wrote_is_left_alone(place, sync):
    """An operator may own it."""
    wanted = request("llm")
    place.apply([{**wanted, "metadata": {"name": "llm", "namespace": place.namespace}}])
    server.eventually(lambda: sync.metric("resources", kind=REQUEST, namespace=place.namespace, state="unmanaged") == 1)
    assert place.status("llm", REQUEST) == {}


def test_the_metrics_count_requests_by_state(place, sync):
    asked = ask(place, request("llm"))
    asked.state("Profiling")
    server.eventually(lambda: sync.metric("resources", kind=REQUEST, namespace=place.namespace, state="Profiling") == 1)


def test_nothing_went_wrong(sync):
    """No work of the tests before ended with a bug, and no right was missing."""
    assert sync.metric("reconcile_errors_total") == 0
    assert sync.metric("writes_total", result="forbidden") == 0
    assert "Traceback" not in sync.log()
