"""The status of a graph: state, conditions, counts of the services, and what it keeps."""

from __future__ import annotations

import time

import pytest

from krm_fn.render import labels, workload_list
from krm_fn.syncer import manager
from krm_fn.syncer.status import DEFAULT_FEATURES, graph_status
from krm_fn.syncer.status.workload_index import WorkloadIndex
from tests.support.cases import cases
from tests.syncer.status import given

FRONT, DECODE = given.entry("Frontend"), given.entry("Decode")
UP = given.deployment("demo-frontend")


def judged(*resources, entries=(FRONT, DECODE), now=given.NOW, **more):
    return given.status(given.graph(*entries, **more), given.children(*resources), now)


def test_all_ready():
    """The operator's reason and message; the generation and two more types are for kstatus."""
    found = judged(UP, given.deployment())
    assert (found["state"], found["observedGeneration"]) == ("successful", 3)
    assert found["conditions"] == [
        {
            "type": "Ready",
            "status": "True",
            "reason": "all_resources_are_ready",
            "message": "All resources are ready",
            "lastTransitionTime": given.NOW,
            "observedGeneration": 3,
        }
    ]


def test_one_of_two_is_missing():
    found = judged(UP)
    assert found["state"] == "pending"
    ready, reconciling = found["conditions"]
    assert (ready["status"], ready["reason"]) == ("False", "some_resources_are_not_ready")
    assert ready["message"] == "Resources not ready: demo-decode: resource not found"
    assert (reconciling["type"], reconciling["status"]) == ("Reconciling", "True")
    assert reconciling["message"] == "1 of 2 workloads are ready"
    assert set(found["services"]) == {"Frontend"}, "the CRD refuses an entry without a kind"


def test_reasons_are_sorted_and_grouped_by_the_object_that_a_user_knows():
    entries = [given.entry("Decode", "LeaderWorkerSet", f"demo-decode-{index}") for index in (1, 0)]
    grove = [given.entry("B", "PodClique", "demo-0-b"), given.entry("A", "PodCliqueScalingGroup", "demo-0-a")]
    said = given.ready(judged(entries=[*entries, *grove, FRONT]))["message"]
    assert said == (
        "Resources not ready: demo: pcsg/demo-0-a: resource not found; podclique/demo-0-b: resource not found; "
        "demo-decode: demo-decode-0: resource not found; demo-decode-1: resource not found; demo-frontend: resource not found"
    )


def test_a_set_whose_name_is_cut_is_named_as_it_is():
    """Grove limits names, so that a set may have another name than its graph."""
    found = judged(entries=[given.entry("B", "PodClique", "de-f00d-0-b")])
    assert given.ready(found)["message"] == "Resources not ready: de-f00d: podclique/de-f00d-0-b: resource not found"


def test_the_counts_of_each_kind():
    """The operator's fields: cliques have no available, scaling groups no ready replicas; the sets of one service are added."""
    counts = {"replicas": 2, "updatedReplicas": 1, "readyReplicas": 3, "availableReplicas": 4}
    kinds = {
        "Deployment": ["demo-a"],
        "LeaderWorkerSet": ["demo-b-0", "demo-b-1", "demo-b-2"],
        "PodClique": ["demo-0-c"],
        "PodCliqueScalingGroup": ["demo-0-d"],
    }
    entries = [given.entry(kind, kind, name) for kind, names in kinds.items() for name in names]
    living = [given.workload(kind, name, counts, replicas=9) for kind, names in kinds.items() for name in names if name != "demo-b-0"]
    assert judged(*living, entries=entries)["services"] == {
        "Deployment": {"componentKind": "Deployment", "componentName": "demo-a", **counts},
        "LeaderWorkerSet": {
            "componentKind": "LeaderWorkerSet",
            "componentName": "demo-b-1",
            "replicas": 4,
            "updatedReplicas": 2,
            "readyReplicas": 6,
        },
        "PodClique": {"componentKind": "PodClique", "componentName": "demo-0-c", "replicas": 2, "updatedReplicas": 1, "readyReplicas": 3},
        "PodCliqueScalingGroup": {
            "componentKind": "PodCliqueScalingGroup",
            "componentName": "demo-0-d",
            "replicas": 2,
            "updatedReplicas": 1,
            "availableReplicas": 4,
        },
    }


def test_a_workload_without_a_status_has_zeros():
    found = judged(given.workload("Deployment", "demo-decode", replicas=2), entries=[DECODE])["services"]["Decode"]
    assert [found[each] for each in ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")] == [0, 0, 0, 0]


def test_times_and_conditions_of_others_stay():
    """`lastTransitionTime` moves only when the status of a condition changes."""
    foreign = {"type": "Billed", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z", "color": "blue"}
    before = judged(UP, status={"conditions": [foreign], "billing": {"team": 7}})
    assert before["conditions"][0] == foreign
    assert before["billing"] == {"team": 7}
    again = judged(UP, status=before, now=given.LATER)
    assert again == before
    after = judged(UP, given.deployment(), status=before, now=given.LATER)
    assert after["conditions"][0] == foreign
    assert given.ready(after)["lastTransitionTime"] == given.LATER
    assert given.found(after, "Reconciling") is None


def test_services_that_are_gone_leave():
    assert set(judged(UP, given.deployment(), status={"services": {"Gone": {"componentKind": "Deployment"}}})["services"]) == {
        "Frontend",
        "Decode",
    }


def test_a_service_that_the_annotation_leaves_out():
    """Somebody edited the spec or the annotation. A service with 0 replicas of LeaderWorkerSets has no workload."""
    services = {"Frontend": {}, "Decode": {"replicas": 0}, "Prefill": {"replicas": 2}}
    found = judged(UP, entries=[FRONT], services=services)
    assert given.ready(found)["message"] == (
        "Resources not ready: demo-prefill: service Prefill is not in the annotation dynamo.krm-fn.io/workloads, render the graph again"
    )
    assert judged(UP, entries=[FRONT], services={"Frontend": {}, "Decode": {"replicas": 0}})["state"] == "successful"


def test_a_graph_without_the_annotation_keeps_its_status():
    """An operator may manage it."""
    managed = given.graph(status={"state": "whatever"})
    del managed["metadata"]["annotations"][labels.WORKLOADS]
    assert given.status(managed, WorkloadIndex(), given.NOW) == {"state": "whatever"}


LAST_WRITERS = [
    # reason, managedFields, the syncer wrote the status last
    ("the syncer", [given.managed(given.NOW)], True),
    ("nobody", [], False),
    ("an operator that took the graph over", [given.managed(given.NOW), given.managed(given.LATER, "manager")], False),
    ("an operator in the same second", [given.managed(given.NOW), given.managed(given.NOW, "manager")], False),
    ("the syncer that took the graph over", [given.managed(given.LATER), given.managed(given.NOW, "manager")], True),
    ("an author of the spec afterwards", [given.managed(given.NOW), given.managed(given.LATER, "kubectl", "")], True),
]


@cases(("fields", "is_ours"), LAST_WRITERS)
def test_a_graph_that_lost_the_annotation_is_unknown_if_the_syncer_wrote_its_status(fields, is_ours):
    """Else it would be `successful` for ever, whatever happens to its workloads."""
    before = given.status(given.graph(DECODE, restart={"id": "r1"}), given.children(given.deployment()), given.NOW)
    assert before["state"] == "successful"
    lost = given.graph(DECODE, status=before)
    del lost["metadata"]["annotations"][labels.WORKLOADS]
    lost["metadata"]["managedFields"] = fields
    after = given.status(lost, given.children(given.deployment()), given.LATER)
    if not is_ours:
        assert after == before
        return
    ready = given.ready(after)
    assert (after["state"], ready["status"], ready["reason"]) == ("initializing", "Unknown", "NotRendered")
    assert ready["message"].endswith("so its workloads are unknown; render it again")
    assert (ready["lastTransitionTime"], ready["observedGeneration"]) == (given.LATER, 3)
    assert (after["restart"], after["services"]) == (before["restart"], before["services"]), "an operator goes on from these"
    again = given.graph(DECODE, status=after)
    del again["metadata"]["annotations"][labels.WORKLOADS]
    again["metadata"]["managedFields"] = fields
    assert given.status(again, given.children(), given.LATER) == after, "it is written once"


def test_a_restart_that_waits_for_a_feature_says_so():
    asked = given.read(DECODE, annotations={labels.RESTART: "sync"}, restart={"id": "r1"})
    live = given.deployment()
    live["metadata"]["labels"] = {labels.GRAPH: "demo"}
    children = given.children(live)
    said = [
        given.ready(graph_status.of_graph(asked, children, given.NOW, DEFAULT_FEATURES._replace(restarts=on)))["message"]
        for on in (False, True)
    ]
    assert said == [
        "All resources are ready; restart r1 waits, because krm-fn sync runs without --restarts",
        "All resources are ready",
    ]


UNRENDERED = "restart r1 waits, because the pods of Decode, Frontend are not rendered with it; render the graph again"
RENDERED = [
    # reason, restarts in the templates of Decode and Frontend, available replicas of Decode, message
    ("in no template", ("", ""), 1, f"All resources are ready; {UNRENDERED}"),
    ("of another restart", ("r0", "r0"), 1, f"All resources are ready; {UNRENDERED}"),
    ("in one template", ("r1", ""), 1, f"All resources are ready; {UNRENDERED.replace('Decode, ', '')}"),
    ("in all templates, and pods start", ("r1", "r1"), 0, "Resources not ready: demo-decode: desired=1, available=0"),
    ("complete", ("r1", "r1"), 1, "All resources are ready"),
]


@cases(("restarts", "available", "message"), RENDERED)
def test_a_restart_that_was_not_rendered_says_so(restarts, available, message):
    """Somebody changed the graph in the cluster. Without a render it restarts nothing, and is in progress for ever."""
    deployments = [given.deployment(availableReplicas=available), given.deployment("demo-frontend")]
    for deployment, restart in zip(deployments, restarts, strict=True):
        deployment["spec"]["template"] = {"metadata": {"annotations": {labels.RESTART_AT: restart}}}
    found = given.status(given.graph(DECODE, given.entry("Frontend"), restart={"id": "r1"}), given.children(*deployments), given.NOW)
    assert given.ready(found)["message"].partition(", see kubectl")[0] == message
    assert found["restart"]["phase"] == ("Completed" if message == "All resources are ready" else "Restarting")


@pytest.mark.parametrize("kind", ["DynamoModel", "Deployment"])
def test_another_kind_keeps_its_status(kind):
    assert given.status({**given.graph(DECODE, status={"a": 1}), "kind": kind}, WorkloadIndex(), given.NOW) == {"a": 1}


def test_the_largest_graph_takes_a_fifth_of_a_second():
    """As many workloads as the syncer reads, with three pods each, of which none starts; `krm_fn.syncer.manager.SLOW` is the bound."""
    entries = [given.entry(f"W{number}") for number in range(workload_list.MOST)]
    workloads = [
        given.deployment(f"demo-w{number}", 1, given.condition("Progressing", False, "Failed", "x" * 2000))
        for number in range(len(entries))
    ]
    pods = [given.pod(f"w{number}-{replica}", f"W{number}") for number in range(len(entries)) for replica in range(3)]
    resource, index = given.graph(*entries), given.children(*workloads, *pods)
    taken = []
    for _ in range(3):
        began = time.thread_time()
        status = given.status(resource, index, given.NOW, given.PODS)
        taken.append(time.thread_time() - began)
    assert len(status["services"]) == len(entries)
    assert min(taken) < manager.SLOW
