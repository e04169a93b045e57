"""Which numbers the syncer writes to the subresource `scale` of workloads."""

from __future__ import annotations

import pytest

from krm_fn.render import labels
from krm_fn.syncer.status import SyncFeatures, graph_status, replica_scaling
from tests.support.cases import cases
from tests.syncer.status.graphs import NOW, adapter, deployment, entry, graph, grove, index, leader_worker_set, pod_clique_set

ON = SyncFeatures()
CLIQUE, GROUP = "PodClique", "PodCliqueScalingGroup"


def orders(asked, *resources, adapters=(), features=ON):
    found = replica_scaling.scale_requests(
        asked, replica_scaling.adapters_by_component(adapters), index(*resources, graphs=(asked,)), features
    )
    return [(each.key.kind, each.key.name, each.before, each.replicas, each.adapter and each.adapter.name) for each in found]


SCALED = [("Deployment", deployment, 2, 4), ("Deployment", deployment, 2, 0), (CLIQUE, None, 2, 4), (GROUP, None, 3, 1)]
SET = entry("Decode", "LeaderWorkerSet", None, "demo-decode-0")


@pytest.mark.parametrize(("kind", "make", "was", "wanted"), SCALED)
def test_a_workload_follows_its_adapter(kind, make, was, wanted):
    live = make("Decode", was) if make else grove(kind, "Decode", was)
    listed = entry("Decode", kind)
    assert orders(graph(listed), live, adapters=[adapter("Decode", wanted)]) == [(kind, listed.name, was, wanted, "demo-decode")]


@pytest.mark.parametrize("wanted", [3, 0])
def test_a_set_with_all_replicas_of_a_service_follows_its_adapter(wanted):
    """A render leaves their number out if an autoscaler sets it."""
    found = orders(graph(SET), leader_worker_set("Decode"), adapters=[adapter("Decode", wanted)])
    assert found == [("LeaderWorkerSet", "demo-decode-0", 1, wanted, "demo-decode")]


@pytest.mark.parametrize("kind", [CLIQUE, GROUP])
def test_an_object_of_grove_follows_the_graph(kind):
    """Grove reads the number from its PodCliqueSet only when it creates the object."""
    asked = graph(entry("Decode", kind, 3))
    assert orders(asked, grove(kind, "Decode", 1)) == [(kind, "demo-0-decode", 1, 3, None)]
    assert orders(asked, grove(kind, "Decode", 3)) == []


NONE = [
    ("the number is right", [entry("Decode")], [deployment("Decode", 4)], [adapter("Decode", 4)], ON),
    ("the workload does not exist", [entry("Decode")], [], [adapter("Decode", 4)], ON),
    ("no adapter exists", [entry("Decode")], [deployment("Decode", 2)], [], ON),
    ("the adapter is deleted", [entry("Decode")], [deployment("Decode")], [adapter("Decode", 4, deletionTimestamp="t")], ON),
    ("the feature is off", [entry("Decode")], [deployment("Decode")], [adapter("Decode", 4)], SyncFeatures(scaling=False)),
    ("Git owns the number of a Deployment", [entry("Decode", replicas=3)], [deployment("Decode")], [adapter("Decode", 4)], ON),
    ("the feature for Grove is off", [entry("A", CLIQUE, 3)], [grove(CLIQUE, "A")], [], SyncFeatures(grove_counts=False)),
    ("Git makes a set for each replica", [entry("A", "LeaderWorkerSet", 1, "demo-a-0")], [leader_worker_set("A")], [adapter("A", 4)], ON),
    ("no pod under Grove", [entry("A", CLIQUE)], [grove(CLIQUE, "A")], [adapter("A", 0)], ON),
    ("no group under Grove", [entry("A", GROUP)], [grove(GROUP, "A")], [adapter("A", 0)], ON),
    ("fewer pods than must run", [entry("A", CLIQUE)], [grove(CLIQUE, "A", 4, minAvailable=3)], [adapter("A", 2)], ON),
    ("fewer groups than must run", [entry("A", GROUP, 1)], [grove(GROUP, "A", 4, minAvailable=2)], [], ON),
    ("no pod under Grove in Git", [entry("A", CLIQUE, 0)], [grove(CLIQUE, "A")], [], ON),
    ("a number that Kubernetes does not know", [entry("A", CLIQUE, 2**31)], [grove(CLIQUE, "A")], [], ON),
    ("a negative number", [entry("A", CLIQUE, -1)], [grove(CLIQUE, "A")], [], ON),
    ("a negative number of an adapter", [entry("A")], [deployment("A")], [adapter("A", -1)], ON),
]


@cases(("entries", "live", "adapters", "features"), NONE)
def test_nothing_is_scaled_if(entries, live, adapters, features):
    assert orders(graph(*entries), *live, adapters=adapters, features=features) == []


def test_an_adapter_owns_the_number_of_an_object_of_grove():
    """The number in Git is only the first one, so the two features never write in turn."""
    asked = graph(entry("Decode", CLIQUE))
    for features in (ON, SyncFeatures(grove_counts=False)):
        assert orders(asked, grove(CLIQUE, "Decode", 4), adapters=[adapter("Decode", 4)], features=features) == []


def test_a_graph_that_is_deleted_or_unknown_scales_nothing():
    asked, live = graph(entry("Decode", CLIQUE, 3)), grove(CLIQUE, "Decode")
    assert orders(asked._replace(deleted=True), live) == []
    assert orders(asked._replace(entries=None), live) == []


def test_only_the_graph_that_a_workload_belongs_to_scales_it():
    """The list of another graph has no effect on it. The marks on the workload decide, which a render writes."""
    own, other = graph(entry("Decode", CLIQUE, 3)), graph(entry("Decode", CLIQUE, 5), name="other")
    live = index(grove(CLIQUE, "Decode"), graphs=(own, other))
    assert [request.replicas for request in replica_scaling.scale_requests(own, {}, live, ON)] == [3]
    assert replica_scaling.scale_requests(other, {}, live, ON) == []


def test_an_adapter_of_a_graph_that_lists_a_foreign_workload_says_so():
    other = graph(entry("Decode"), name="other")
    live = index(deployment("Decode"), graphs=(other,))
    read = adapter("Decode", 0)._replace(graph="other")
    assert replica_scaling.scale_requests(other, {"Decode": read}, live, ON) == []
    status = replica_scaling.adapter_status(read, live, NOW, other, ON)
    (ready, *_) = status["conditions"]
    assert (ready["status"], ready["reason"]) == ("False", "WorkloadOfAnotherOwner")
    assert ready["message"].startswith("Deployment demo-decode belongs to DynamoGraphDeployment demo, so krm-fn sync does not change it")


@pytest.mark.parametrize(
    "marks", [{}, {labels.GRAPH: "other"}, {labels.OWNER: "DynamoGraphDeployment/demo"}], ids=["none", "other", "label"]
)
def test_a_workload_without_the_marks_of_its_graph_is_not_scaled(marks):
    asked, live = graph(entry("Decode")), deployment("Decode")
    live["metadata"]["labels"] = marks
    found = index(live, graphs=(asked,))
    assert replica_scaling.scale_requests(asked, {"Decode": adapter("Decode", 5)}, found, ON) == []
    live["metadata"]["annotations"] = {labels.OWNER: "DynamoGraphDeployment/demo"}
    assert len(replica_scaling.scale_requests(asked, {"Decode": adapter("Decode", 5)}, index(live, graphs=(asked,)), ON)) == 1


def test_of_two_adapters_for_one_service_one_is_chosen():
    """The one with the name that a render gives, else the first by name: the choice does not change with the order of events."""
    rendered, other, third = adapter("Decode", 2), adapter("Decode", 9, name="a"), adapter("Decode", 7, name="b")
    for given in ([rendered, other, third], [third, other, rendered]):
        assert replica_scaling.adapters_by_component(given) == {"Decode": rendered}
    assert replica_scaling.adapters_by_component([third, other]) == {"Decode": other}
    assert replica_scaling.adapters_by_component([rendered._replace(deleted=True), third]) == {"Decode": third}


@pytest.mark.parametrize("desired", [0, 1])
def test_a_graph_with_0_replicas_under_grove_can_be_ready(desired):
    """Grove makes 1 pod of 0 replicas (DYN164). The syncer leaves it, so the status must not wait for 0."""
    asked = graph(entry("Frontend", CLIQUE, 0))
    found = graph_status.of_graph(asked, index(grove(CLIQUE, "Frontend", desired), graphs=(asked,)), NOW, ON)
    assert found["state"] == "successful"


# the numbers that a planner reads in the graph


PLANNER = {"Planner": {"componentType": "planner"}, "Decode": {"replicas": 2}, "Prefill": {}, "Frontend": {"replicas": 1}}
LISTED = (entry("Planner", replicas=1), entry("Decode"), entry("Prefill"), entry("Frontend", replicas=1))


def test_a_graph_with_a_planner_gets_the_numbers_of_its_adapters():
    """The operator writes them for every graph. The planner takes them for the present numbers."""
    asked = graph(*LISTED, services=PLANNER)
    given = replica_scaling.adapters_by_component(
        [adapter("Decode", 4), adapter("Prefill", 1), adapter("Frontend", 9), adapter("Other", 3)]
    )
    assert replica_scaling.replicas_for_planner(asked, given) == {"Decode": 4, "Prefill": 1}
    assert replica_scaling.replicas_for_planner(asked, replica_scaling.adapters_by_component([adapter("Decode", 2)])) == {}
    assert replica_scaling.replicas_for_planner(asked._replace(deleted=True), given) == {}


def test_a_planner_of_v1beta1_finds_the_default_in_the_graph():
    """It reads absent replicas as 0, and waits for ever if the component has a pod. A planner of v1alpha1 reads workers only."""
    listed = (*LISTED[:3], entry("Frontend", replicas=1))
    asked = graph(*listed, services={**PLANNER, "Frontend": {}})
    scaled = replica_scaling.adapters_by_component([adapter("Prefill", 3)])
    assert replica_scaling.replicas_for_planner(asked, scaled) == {"Prefill": 3}
    newer = asked._replace(version="v1beta1")
    assert replica_scaling.replicas_for_planner(newer, scaled) == {"Prefill": 3, "Frontend": 1, "Planner": 1}
    assert replica_scaling.replicas_for_planner(newer._replace(planned=()), scaled) == {}


def test_a_graph_without_a_planner_keeps_the_numbers_of_git():
    services = {name: service for name, service in PLANNER.items() if name != "Planner"}
    assert (
        replica_scaling.replicas_for_planner(
            graph(*LISTED[1:], services=services), replica_scaling.adapters_by_component([adapter("Decode", 4)])
        )
        == {}
    )


ROLLOUTS = [
    # reason, the strategy of the PodCliqueSet, its progress, true if its replicas may change
    ("all pods change together", "Coherent", {"updateStartedAt": NOW}, False),
    ("that update has ended", "Coherent", {"updateStartedAt": NOW, "updateEndedAt": NOW}, True),
    ("no update was made", "Coherent", None, True),
    ("one pod after the other changes", "RollingRecreate", {"updateStartedAt": NOW}, True),
    ("Grove chooses", None, {"updateStartedAt": NOW}, True),
    ("a progress that is no object", "Coherent", 5, True),
]


@pytest.mark.parametrize("kind", [CLIQUE, GROUP])
@cases(("strategy", "progress", "scales"), ROLLOUTS)
def test_no_replicas_change_while_grove_updates_all_pods_together(kind, strategy, progress, scales):
    """A number from Git and that of an adapter both wait, and the status says so."""
    rolled = pod_clique_set(decode=("Decode", ""))
    rolled["spec"] |= {"updateStrategy": {"type": strategy}} if strategy else {}
    rolled["status"] |= {"updateProgress": progress} if progress else {}
    listed, scaled, live = entry("Decode", kind, 3), entry("Decode", kind), [grove(kind, "Decode", 1), rolled]
    assert bool(orders(graph(listed), *live)) is scales
    assert bool(orders(graph(scaled), *live, adapters=[adapter("Decode", 3)])) is scales
    waiting = replica_scaling.adapter_status(adapter("Decode", 3), index(*live), NOW, graph(scaled), ON)
    (ready,) = [each for each in waiting["conditions"] if each["type"] == "Ready"]
    assert (ready["reason"] == "ScalingDeferred") is not scales
    newer = graph(listed)._replace(version="v1beta1")
    (ready,) = [each for each in graph_status.of_graph(newer, index(*live), NOW, ON)["conditions"] if each["type"] == "Ready"]
    assert (ready["reason"] == "ScalingDeferred") is not scales
    assert ("when Grove has updated all pods" in ready["message"]) is not scales
    older = graph_status.of_graph(graph(listed), index(*live), NOW, ON)
    assert [each["reason"] for each in older["conditions"] if each["type"] == "Ready"] == ["some_resources_are_not_ready"]
