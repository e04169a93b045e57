"""`krm-fn status` with requests (DGDR): a table of their own, and the status that `krm-fn sync` would write."""

from __future__ import annotations

import json

from tests.cli import console
from tests.cli.console import status
from tests.support import searches
from tests.syncer.status import asked
from tests.syncer.status.asked import COMPLETE, FAILED


def written(*resources):
    """The status of the request among the resources."""
    (found,) = [each for each in json.loads(status(*resources, arguments=["-o", "json"]))["items"] if each["kind"].endswith("Request")]
    return found["status"]


def graph(state):
    """The graph that the request deployed."""
    metadata = {**asked.GRAPH["metadata"], "namespace": "team-a", "labels": asked.MARKS}
    return {**asked.GRAPH, "metadata": metadata, "status": {"state": state}}


def test_a_request_has_a_row_in_a_table_of_its_own():
    """Without graphs, only that table is printed."""
    head, row, *_ = status(asked.resource(), asked.job_resource()).splitlines()
    assert head.split() == ["REQUEST", "STATE", "JOB", "GRAPH", "WHY"]
    assert row.split(maxsplit=4) == ["team-a/qwen", "Profiling", "profile-qwen", "-", "Profiling is in progress"]


def test_the_tables_of_graphs_and_requests():
    found = status(asked.resource(autoApply=True), asked.job_resource(COMPLETE), asked.config_map(), graph("successful"))
    graphs, requests, _ = found.split("\n\n")
    assert [line.split()[0] for line in graphs.splitlines()] == ["GRAPH", "team-a/vllm-disagg"]
    assert requests.splitlines()[1].split() == ["team-a/qwen", "Ready", "profile-qwen", "team-a/vllm-disagg", "-"]


def test_the_row_says_why_a_request_is_not_ready():
    row = status(asked.resource(), asked.job_resource(FAILED)).splitlines()[1]
    assert row.split()[1] == "Failed"
    assert "profiling job failed: Job has reached the specified backoff limit; correct the cause, " in row


def test_the_whole_status():
    found = written(asked.resource(autoApply=True), asked.job_resource(COMPLETE), asked.config_map(), graph("pending"))
    assert found["state"] == "Deploying"
    assert found["generatedDeployment"] == asked.GRAPH
    assert found["deployment"] == {"name": "vllm-disagg", "namespace": "team-a", "state": "pending", "created": True}


def test_a_failed_pod_in_the_input_gives_its_detail():
    metadata = {"name": "p-1", "namespace": "team-a", "labels": {"job-name": "profile-qwen"}}
    ended = {"terminated": {"exitCode": 1, "reason": "Error", "message": "CUDA out of memory"}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "status": {"phase": "Failed", "initContainerStatuses": [{"name": "profiler", "state": ended}]},
    }
    said = asked.message(written(asked.resource(), asked.job_resource(FAILED), pod), "Profiling")
    assert ". Details: Pod: p-1, Container: profiler, ExitCode: 1, Reason: Error, Message: CUDA out of memory; " in said


def test_a_request_that_no_render_wrote_is_judged_too():
    """As a graph that an operator manages."""
    found = written(asked.resource(hash_=None), asked.job_resource(COMPLETE, hash_=""), asked.config_map(hash_=""))
    assert found["state"] == "Ready"


def test_a_spec_that_is_refused():
    """The rules of the render, because no operator is there to check the spec."""
    found = written({**asked.resource(hash_=None), "spec": {"model": "m", "backend": "vllm"}})
    assert found["state"] == "Failed"
    assert asked.told(found)["Validation"] == ("False", "ValidationFailed")
    assert asked.message(found, "Ready").startswith("Validation failed: DYN022 spec.profilingConfig: ")


def test_a_rendered_request_and_its_job_belong_together():
    """A render writes the same profile hash on both, so a changed spec shows."""
    request = asked.resource(hash_=None)
    rendered = console.run("render", "-o", "json", "-", stdin=json.dumps(request)).out
    items = {each["kind"]: each for each in json.loads(rendered)["items"]}
    job = items["Job"]
    assert written(items["DynamoGraphDeploymentRequest"], job)["state"] == "Profiling"
    assert "Validation" not in asked.told(written(request, job))
    changed = {**request, "spec": {**request["spec"], "model": "another"}}
    assert asked.told(written(changed, job))["Validation"] == ("False", "SpecChangeRejected")


def test_a_search_has_no_row_and_keeps_its_status():
    """Only Dynamo's operator runs a search, so krm-fn computes nothing for it, and waits for no Job."""
    given = [searches.request({"activeRunRef": {"name": "find-1"}}), searches.run("a"), searches.candidate("a")]
    stdin = json.dumps({"apiVersion": "v1", "kind": "List", "items": given})
    done = console.run("status", "-", stdin=stdin)
    assert (done.code, len(done.out.splitlines())) == (0, 1)
    assert done.err.startswith("note: the table has no requests of v1beta2, Runs and Candidates")
    assert json.loads(console.run("status", "-o", "json", "-", stdin=stdin).out)["items"] == given
