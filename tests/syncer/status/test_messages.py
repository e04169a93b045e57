"""A service that is not ready says why, in words that a person can act on, and what waiting does not cure has failed."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.render import labels
from krm_fn.syncer.status import SyncFeatures, graph_status, replica_status
from tests.syncer.status import given

OVERDUE = given.condition("Progressing", False, "ProgressDeadlineExceeded", 'ReplicaSet "demo-decode-1" has timed out progressing.')
QUOTA = given.condition("ReplicaFailure", True, "FailedCreate", 'pods "demo-decode-1-" is forbidden: exceeded quota: gpus')
SMALL = given.deployment("demo-decode", 2, given.condition("Available", False), availableReplicas=1)
BROKEN: Any = {"containerStatuses": [given.waiting("ImagePullBackOff", 'Back-off pulling image "a:1"')]}
COMMAND = "see kubectl describe pods -n team-a -l nvidia.com/dynamo-graph-deployment-name=demo,nvidia.com/dynamo-component=Decode"


def status(*resources, features=given.PODS, now=given.NOW, kind="Deployment", name="", replicas=None):
    """The status of a graph with one service, Decode."""
    read = given.read(given.entry("Decode", kind, name, replicas))
    return graph_status.of_graph(read, given.children(*resources), now, features)


def message(*resources, **more):
    found = given.ready(status(*resources, **more))["message"]
    assert found.startswith("Resources not ready: demo-decode: ")
    return found.removeprefix("Resources not ready: demo-decode: ")


def test_without_pods_the_command_that_shows_them():
    assert message(SMALL, features=SyncFeatures()) == f"desired=2, available=1, {COMMAND}"


def test_pods_are_not_read_without_their_feature():
    assert message(SMALL, given.pod("demo-decode-1", **BROKEN), features=SyncFeatures()) == f"desired=2, available=1, {COMMAND}"


UNSCHEDULABLE = {**given.condition("PodScheduled", False, "Unschedulable", "0/5 nodes are available: 5 Insufficient nvidia.com/gpu.")}
ENDED = {"terminated": {"exitCode": 1, "reason": "Error", "message": "a line of the log"}}
KILLED = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
PODS = [
    (BROKEN, 'ImagePullBackOff: container main, Back-off pulling image "a:1"'),
    ({"containerStatuses": [given.waiting("ErrImagePull", "no such host")]}, "ImagePullBackOff: container main, no such host"),
    (
        {"containerStatuses": [given.waiting("CrashLoopBackOff", "back-off 5m", lastState=ENDED, restartCount=7)]},
        "CrashLoopBackOff: container main ended with exit code 1, restarts=7",
    ),
    (
        {"containerStatuses": [given.waiting("CrashLoopBackOff", lastState=KILLED, restartCount=2)]},
        "CrashLoopBackOff: container main ended with exit code 137 (OOMKilled), restarts=2",
    ),
    (
        {"containerStatuses": [{"name": "main", "ready": False, "state": {"running": {}}, "lastState": KILLED, "restartCount": 1}]},
        "OOMKilled: container main ended with exit code 137 (OOMKilled)",
    ),
    (
        {"containerStatuses": [{"name": "main", "ready": False, "state": {"running": {}}, "lastState": ENDED, "restartCount": 3}]},
        "CrashLoopBackOff: container main ended with exit code 1, restarts=3",
    ),
    (
        {"containerStatuses": [{"name": "side", "ready": True, "lastState": ENDED, "restartCount": 9}, given.waiting("ErrImagePull", "x")]},
        "ImagePullBackOff: container main, x",
    ),
    (
        {"containerStatuses": [given.waiting("CreateContainerConfigError", 'secret "token" not found')]},
        'CreateContainerConfigError: container main, secret "token" not found',
    ),
    (
        {
            "initContainerStatuses": [{**given.waiting("ImagePullBackOff", "gone"), "name": "fetch"}],
            "containerStatuses": [given.waiting("PodInitializing")],
        },
        "ImagePullBackOff: container fetch, gone",
    ),
    ({"conditions": [UNSCHEDULABLE]}, "Unschedulable: 0/5 nodes are available: 5 Insufficient nvidia.com/gpu."),
    ({"phase": "Failed", "reason": "Evicted", "message": "low on memory"}, "Evicted: low on memory"),
]


@pytest.mark.parametrize(("fields", "why"), PODS, ids=[row[1].split(":")[0] + str(index) for index, row in enumerate(PODS)])
def test_the_reason_of_a_pod(fields, why):
    """The message of a container that ended may be a part of its log, so it is not copied."""
    fields = {**fields, "conditions": list(fields.get("conditions", []))}
    assert message(SMALL, given.pod("demo-decode-1", **fields)) == f"desired=2, available=1, pod demo-decode-1: {why}"


SAID = SyncFeatures(pods=True, pod_messages=True)
LONG = {"terminated": {"exitCode": 2, "message": f"usage:\n\x1b[31m{'x' * 400}\n\n"}}
LAST_LINES = [
    (given.waiting("CrashLoopBackOff", lastState=ENDED, restartCount=7), 'restarts=7, last message "a line of the log"'),
    (given.waiting("CrashLoopBackOff", lastState=KILLED, restartCount=2), "(OOMKilled), restarts=2"),
    (given.waiting("CrashLoopBackOff", lastState=LONG, restartCount=3), f'restarts=3, last message "\\x1b[31m{"x" * 291}…"'),
    ({"name": "main", "ready": False, "state": ENDED}, 'exit code 1, last message "a line of the log"'),
]


@pytest.mark.parametrize(("container", "end"), LAST_LINES)
def test_the_last_line_of_a_container_that_failed(container, end):
    """Only with its feature: the last line that is not blank, shortened, its control characters visible."""
    pod = given.pod("demo-decode-1", containerStatuses=[container])
    assert message(SMALL, pod, features=SAID).endswith(end)
    assert "last message" not in message(SMALL, pod)


def test_a_pod_that_cannot_start_comes_before_a_newer_one_that_waits():
    pods = [
        given.pod("broken", since="2026-03-01T11:00:00Z", **BROKEN),
        given.pod("waits", since="2026-03-01T11:59:00Z", conditions=[UNSCHEDULABLE]),
        given.pod("older", since="2026-03-01T10:00:00Z", **BROKEN),
    ]
    assert "pod broken: " in message(SMALL, *pods)


def test_pods_that_do_not_count():
    """Pods of other services, pods that start, pods that are ready, and pods that are being deleted."""
    leaving = given.pod("leaving", **BROKEN)
    leaving["metadata"]["deletionTimestamp"] = given.NOW
    other, starting = (
        given.pod("other", "Frontend", **BROKEN),
        given.pod("starting", containerStatuses=[given.waiting("ContainerCreating")]),
    )
    good = given.pod("good", **BROKEN)
    good["status"]["conditions"][0]["status"] = "True"
    assert message(SMALL, leaving, other, starting, good) == f"desired=2, available=1, {COMMAND}"


def test_the_controller_of_a_deployment_says_why_it_cannot_create_pods():
    found = given.deployment("demo-decode", 2, QUOTA, availableReplicas=0)
    assert message(found) == f'pods "demo-decode-1-" is forbidden: exceeded quota: gpus, {COMMAND}'
    assert status(found)["state"] == "pending"


def test_an_update_beyond_its_deadline_has_failed():
    """kstatus, and with it Flux, reads Stalled as failed."""
    found = status(given.deployment("demo-decode", 2, OVERDUE, updatedReplicas=1), given.pod("demo-decode-1", **BROKEN))
    assert (found["state"], given.ready(found)["status"]) == ("failed", "False")
    stalled = given.found(found, "Stalled")
    assert stalled
    assert (stalled["status"], stalled["reason"]) == ("True", "ProgressDeadlineExceeded")
    assert stalled["message"] == (
        'demo-decode: ProgressDeadlineExceeded: ReplicaSet "demo-decode-1" has timed out progressing, '
        'pod demo-decode-1: ImagePullBackOff: container main, Back-off pulling image "a:1"'
    )
    assert given.found(found, "Reconciling") is None


def test_a_deadline_of_an_older_spec_has_not_failed():
    """The controller has not seen the fix yet."""
    older = given.deployment("demo-decode", 2, OVERDUE, generation=2, updatedReplicas=1)
    assert status(older)["state"] == "pending"
    assert replica_status.get("Deployment").read(older).failure is None


def test_a_ready_deployment_has_not_failed():
    assert status(given.deployment("demo-decode", 1, OVERDUE, given.condition("Available", True)))["state"] == "successful"


GROUP = given.workload("LeaderWorkerSet", "demo-decode-0", {"replicas": 1}, replicas=1)
SET: Any = {"kind": "LeaderWorkerSet", "name": "demo-decode-0"}


@pytest.mark.parametrize(
    ("now", "state"),
    [("2026-03-01T11:09:59Z", "pending"), ("2026-03-01T11:10:00Z", "failed"), ("2026-03-02T00:00:00Z", "failed")],
    ids=["before", "at once", "after"],
)
def test_a_pod_that_cannot_start_fails_a_set_after_ten_minutes(now, state):
    """LeaderWorkerSets and Grove have no progress deadline."""
    found = status(GROUP, given.pod("demo-decode-0-0", **BROKEN), now=now, **SET)
    assert found["state"] == state
    stalled = given.found(found, "Stalled")
    assert (stalled or {}).get("reason") == ("ImagePullBackOff" if state == "failed" else None)


def test_a_pod_that_may_still_start_never_fails_a_set():
    assert status(GROUP, given.pod("demo-decode-0-0", conditions=[UNSCHEDULABLE]), now="2027-01-01T00:00:00Z", **SET)["state"] == "pending"


def test_a_pod_never_fails_a_deployment():
    """Its own deadline decides."""
    assert status(SMALL, given.pod("demo-decode-1", **BROKEN), now="2027-01-01T00:00:00Z")["state"] == "pending"


@pytest.mark.parametrize(
    ("since", "features", "seconds"),
    [
        ("2026-03-01T11:55:00Z", given.PODS, 300),
        ("2026-03-01T11:50:00Z", given.PODS, None),
        ("2026-03-01T11:55:00Z", SyncFeatures(), None),
        ("soon", given.PODS, None),
    ],
    ids=["waits", "failed", "no pods", "no time"],
)
def test_the_moment_at_which_the_status_changes_by_itself(since, features, seconds):
    """No event tells the syncer that a time is over."""
    read = given.read(given.entry("Decode", **SET))
    children = given.children(GROUP, given.pod("demo-decode-0-0", since=since, **BROKEN), given.pod("later", since="2026-03-01T11:59:00Z"))
    assert graph_status.recheck(read, children, given.NOW, features) == seconds


@pytest.mark.parametrize(("kind", "command"), [("PodClique", "podclique"), ("PodCliqueScalingGroup", "podcliquescalinggroup")])
def test_a_number_that_grove_does_not_follow(kind, command):
    """Grove reads the numbers of a graph when it makes its objects, and never again."""
    counts = {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1}
    own = given.workload(kind, "demo-0-decode", counts, replicas=1, marks={labels.PART_OF: "demo"})
    asked = {"kind": kind, "name": "demo-0-decode", "replicas": 3}
    on, off = status(own, **asked), status(own, features=SyncFeatures(grove_counts=False), **asked)
    assert [each["state"] for each in (on, off)] == ["pending", "pending"]
    assert given.ready(on)["message"].endswith("/demo-0-decode: desired=1, in the graph=3")
    assert given.ready(off)["message"].endswith(
        "desired=1, in the graph=3, Grove does not follow the graph, "
        f"run krm-fn sync with --grove-counts or kubectl scale {command} -n team-a demo-0-decode --replicas=3"
    )
    assert status(own, **{**asked, "replicas": None})["state"] == "successful"


def test_a_workload_of_another_graph_is_named_and_the_list_of_another_graph_has_no_effect():
    own = given.read(given.entry("Decode"))
    other = own._replace(key=own.key._replace(name="other"))
    live = given.deployment()
    live["metadata"]["labels"] = {labels.GRAPH: "demo"}
    children = given.children(live)
    for graph in (own, other):
        children.put_graph(graph)
    status = {graph.key.name: graph_status.of_graph(graph, children, given.NOW, given.PODS) for graph in (own, other)}
    assert given.ready(status["demo"])["message"] == "All resources are ready"
    assert given.ready(status["other"])["message"] == (
        "Resources not ready: demo-decode: Deployment demo-decode belongs to DynamoGraphDeployment demo, "
        "so krm-fn sync does not change it; render DynamoGraphDeployment other again"
    )
    assert "services" not in status["other"], "the counts of another graph's workload are not shown"


def test_too_many_workloads():
    """A tenant writes the annotation, and each status of the graph reads all entries."""
    few, many = (given.read(*(given.entry(f"S{number}") for number in range(count))) for count in (1000, 1001))
    assert few.problem == ""
    status = graph_status.of_graph(many, given.children(), given.NOW, given.PODS)
    assert given.ready(status)["reason"] == "TooManyWorkloads"
    assert "has 1001 entries, and at most 1000 are read; divide the graph" in given.ready(status)["message"]
