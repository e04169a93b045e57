"""A profiling Job and its pods as the status of a request sees them."""

from __future__ import annotations

from typing import Any

from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render import labels
from krm_fn.syncer.status import request_profiling
from tests.support.cases import cases
from tests.syncer.status import asked
from tests.syncer.status.asked import COMPLETE, FAILED

JOB = ObjectKey("batch", "Job", "team-a", "profile-qwen")
JOBS = [
    # the conditions, complete or not, and the failure
    ("no condition", [], False, ""),
    ("complete", [COMPLETE], True, ""),
    ("failed", [FAILED], False, "Job has reached the specified backoff limit"),
    ("failed first", [FAILED, COMPLETE], False, "Job has reached the specified backoff limit"),
    ("complete first", [COMPLETE, FAILED], True, ""),
    ("about to fail", [{"type": "FailureTarget", "status": "True"}], False, ""),
    ("about to be complete", [{"type": "SuccessCriteriaMet", "status": "True"}], False, ""),
    ("suspended", [{"type": "Suspended", "status": "True"}], False, ""),
    ("not failed", [{**FAILED, "status": "False"}], False, ""),
    ("failed without a message", [{"type": "Failed", "status": "True", "reason": "DeadlineExceeded"}], False, "DeadlineExceeded"),
    ("failed without a word", [{"type": "Failed", "status": "True"}], False, "the Job failed"),
]


@cases(("told", "complete", "failure"), JOBS)
def test_the_first_final_condition_counts(told, complete, failure):
    found = asked.profiling(*told)
    assert (found.complete, found.failure) == (complete, failure)


def test_a_job_names_its_request():
    found = asked.profiling(suspend=True)
    assert (found.key, found.request, found.profile_hash, found.suspended) == (JOB, "qwen", asked.HASH, True)


def pod(
    status: Any, name: str = "p-1", since: str = "2026-03-01T11:00:00Z", policy: str = "File", label: str = labels.JOB_NAME
) -> request_profiling.ProfilingPod:
    """A pod of the Job. `policy` is where the message of the profiler comes from."""
    metadata = {"name": name, "namespace": "team-a", "labels": {label: "profile-qwen"}, "creationTimestamp": since}
    spec = {"initContainers": [{"name": "profiler", "terminationMessagePolicy": policy}]}
    return request_profiling.read_pod({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status})


def ended(code: int = 1, message: str = "", reason: str = "Error") -> dict[str, Any]:
    return {"terminated": {"exitCode": code, "reason": reason, "message": message}}


def failed(*statuses: tuple[str, dict[str, Any]], key: str = "initContainerStatuses", **more: Any) -> dict[str, Any]:
    """The status of a failed pod with the states of containers."""
    return {"phase": "Failed", key: [{"name": name, "state": state} for name, state in statuses], **more}


WAITING = {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}
DETAILS = [
    # the status of a pod, and its detail
    (
        "the profiler, an init container",
        failed(("profiler", ended(1, "CUDA out of memory"))),
        "Container: profiler, ExitCode: 1, Reason: Error, Message: CUDA out of memory",
    ),
    (
        "the profiler, as the operator has it",
        failed(("profiler", ended(137, "", "OOMKilled")), key="containerStatuses"),
        "Container: profiler, ExitCode: 137, Reason: OOMKilled",
    ),
    (
        "a container that ended well does not count",
        failed(("output-check", ended(0)), ("profiler", ended(2))),
        "Container: profiler, ExitCode: 2, Reason: Error",
    ),
    (
        "the copier",
        failed(("output-copier", ended(3, "the output is larger than 1 MiB\n")), key="containerStatuses"),
        "Container: output-copier, ExitCode: 3, Reason: Error, Message: the output is larger than 1 MiB",
    ),
    (
        "it cannot start",
        failed(("profiler", WAITING)),
        "Container: profiler, Waiting - Reason: ImagePullBackOff, Message: Back-off pulling image",
    ),
    (
        "evicted",
        {"phase": "Failed", "reason": "Evicted", "message": "The node was low on memory."},
        "Reason: Evicted, Message: The node was low on memory.",
    ),
    ("nothing is known", {"phase": "Failed"}, ""),
    ("it runs", {"phase": "Running"}, ""),
    (
        "it has no node",
        {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no GPU"}]},
        "Unschedulable: no GPU",
    ),
    (
        "it waits for its image",
        {"phase": "Pending", "initContainerStatuses": [{"name": "profiler", "state": WAITING}]},
        "ImagePullBackOff: container profiler, Back-off pulling image",
    ),
]


@cases(("status", "detail"), DETAILS)
def test_the_detail_of_a_pod(status, detail):
    """The words of the operator, for each container, and also for pods that have not failed yet."""
    assert pod(status).problem == (f"Pod: p-1, {detail}" if detail else "")


def test_the_end_of_a_log_is_not_shown():
    """Fewer people may read the log of a pod than the status of a request, and a log may hold a token."""
    said = failed(("profiler", ended(1, "token=hf_secret")))
    assert pod(said, policy="FallbackToLogsOnError").problem == "Pod: p-1, Container: profiler, ExitCode: 1, Reason: Error"


def test_a_long_message_is_cut():
    assert len(pod(failed(("profiler", ended(1, "x" * 5000)))).problem) < 1200


def test_the_newest_failed_pod_counts():
    """A Job tries again with another pod. A pod that waits counts only if none has failed."""
    first = pod(failed(("profiler", ended(1))), "p-1", "2026-03-01T11:00:00Z")
    second = pod(failed(("profiler", ended(2))), "p-2", "2026-03-01T12:00:00Z", label=labels.OLD_JOB_NAME)
    third = pod({"phase": "Pending", "initContainerStatuses": [{"name": "profiler", "state": WAITING}]}, "p-3", "2026-03-01T13:00:00Z")
    assert "ExitCode: 2" in request_profiling.pod_problem([third, second, first], JOB)
    assert "ImagePullBackOff" in request_profiling.pod_problem([third], JOB)
    assert request_profiling.pod_problem([pod({"phase": "Failed"})], JOB) == ""


def test_pods_of_other_jobs_do_not_count():
    found = pod(failed(("profiler", ended(1))))
    assert request_profiling.pod_problem([found], JOB._replace(name="profile-other")) == ""
    assert request_profiling.pod_problem([found], JOB._replace(namespace="team-b")) == ""
