"""What the real Job controller does with a profiling Job when its containers end. The tests write the status of the pods."""

from __future__ import annotations

import pytest

from krm_fn.render.manifests.profiling import profiler_scripts
from tests.support import pods
from tests.testbed import api, server

CHECK, PROFILER, COPIER = "output-check", "profiler", "output-copier"
FINAL = [*profiler_scripts.CODES.values()]


def listed(space):
    return space.plane.client.get(f"/api/v1/namespaces/{space.name}/pods")["items"]


def pod_of(space, *known):
    """A pod of the Job that is not among `known`, as soon as there is one."""
    server.eventually(lambda: any(each["metadata"]["uid"] not in known for each in listed(space)))
    return next(each for each in listed(space) if each["metadata"]["uid"] not in known)


def fail(space, pod, container, code):
    """A container ends with this code, so the pod fails."""
    ended = {"terminated": {"exitCode": code, "reason": "Error", "finishedAt": "2026-01-01T00:00:00Z", "startedAt": "2026-01-01T00:00:00Z"}}
    status = {"name": container, "image": "a", "imageID": "", "ready": False, "restartCount": 0, "state": ended}
    field = "containerStatuses" if container == COPIER else "initContainerStatuses"
    path = f"/api/v1/namespaces/{space.name}/pods/{pod['metadata']['name']}/status"
    answer = space.plane.client.request("PATCH", path, {"status": {"phase": "Failed", field: [status]}}, api.MERGE)
    assert answer.ok, answer.message


def failure(space):
    """The reason why the Job has failed; empty while it has not."""
    conditions = space.job().get("status", {}).get("conditions", ())
    return next((each["reason"] for each in conditions if (each["type"], each["status"]) == ("Failed", "True")), "")


def test_a_job_whose_check_suspends_it_loses_its_pod_and_does_not_fail(space, controllers):
    request, job = space.request()
    space.create(request)
    assert [each.code for each in space.node.run(job, "echo 'a: 1' >config_with_planner.yaml")] == [0, 0, 0]
    space.create(job)
    pod_of(space)
    check = space.node.start(pods.containers(job)[0])
    server.eventually(lambda: all("deletionTimestamp" in each["metadata"] for each in listed(space)))
    assert pods.terminate(check)[0] == 143
    assert space.job()["spec"]["suspend"]
    assert failure(space) == ""


AT_ONCE = [(name, code) for name in (CHECK, COPIER) for code in (FINAL[0], FINAL[-1])]


@pytest.mark.parametrize(("container", "code"), AT_ONCE)
def test_a_final_code_of_our_containers_fails_the_job_at_once(container, code, space, controllers):
    _, job = space.request()
    space.create(job)
    fail(space, pod_of(space), container, code)
    server.eventually(lambda: failure(space) != "")
    assert failure(space) == "PodFailurePolicy"


def test_other_failures_are_tried_again(space, controllers):
    """A code of the profiler has no special meaning, even if it is one of ours. The Job of the test has one retry, to save time."""
    _, job = space.request()
    space.create({**job, "spec": {**job["spec"], "backoffLimit": 1}})
    first = pod_of(space)
    fail(space, first, PROFILER, FINAL[0])
    second = pod_of(space, first["metadata"]["uid"])
    assert failure(space) == ""
    fail(space, second, COPIER, 1)
    server.eventually(lambda: failure(space) != "")
    assert failure(space) == "BackoffLimitExceeded"
