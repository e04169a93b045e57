"""The status of scaling adapters."""

from __future__ import annotations

from krm_fn.syncer.status import SyncFeatures, conditions, replica_scaling
from tests.support.cases import cases
from tests.syncer.status.graphs import NOW, adapter, deployment, entry, graph, grove, index, leader_worker_set

ON = SyncFeatures()
LATER = "2026-02-03T11:00:00Z"
SELECTOR = "nvidia.com/dynamo-graph-deployment-name=demo,nvidia.com/dynamo-component=Decode"


def status(found, children, owner, features=ON, now=NOW):
    return replica_scaling.adapter_status(found, children, now, owner, features)


def told(written):
    """The conditions, as type, status and reason."""
    return [(each["type"], each["status"], each["reason"]) for each in written["conditions"]]


def test_an_adapter_whose_workload_has_its_number():
    written = status(adapter("Decode", 4), index(deployment("Decode", 4)), graph(entry("Decode")))
    (ready,) = written.pop("conditions")
    assert written == {"observedGeneration": 2, "replicas": 4, "selector": SELECTOR}
    assert ready["message"] == "service Decode has the number of replicas that the adapter asks for"
    assert told({"conditions": [ready]}) == [("Ready", "True", "Scaled")]
    assert (ready["observedGeneration"], ready["lastTransitionTime"]) == (2, NOW)


def test_replicas_are_the_observed_ones():
    """The operator writes the desired number, so that an autoscaler cannot see whether its request had an effect."""
    written = status(adapter("Decode", 4), index(deployment("Decode", 4, running=1)), graph(entry("Decode")))
    assert written["replicas"] == 1
    sets = [leader_worker_set("Decode", number) for number in range(3)]
    entries = [entry("Decode", "LeaderWorkerSet", 1, f"demo-decode-{number}") for number in range(3)]
    assert status(adapter("Decode", 3), index(*sets), graph(*entries))["replicas"] == 3


STATES = [
    ("the workload will follow", 4, [deployment("Decode", 2)], graph(entry("Decode")), ON, "Scaling", "Reconciling"),
    ("the workload is missing", 4, [], graph(entry("Decode")), ON, "WorkloadNotFound", "Reconciling"),
    ("the graph is missing", 4, [], None, ON, "GraphNotFound", "Reconciling"),
    ("the service is missing", 4, [], graph(entry("Other")), ON, "ServiceNotFound", "Reconciling"),
    ("the feature is off", 4, [deployment("Decode", 2)], graph(entry("Decode")), SyncFeatures(scaling=False), "ScalingDisabled", "Stalled"),
    ("Git owns the number", 4, [deployment("Decode", 2)], graph(entry("Decode", replicas=2)), ON, "AdapterNotEnabled", "Stalled"),
    ("no pod under Grove", 0, [grove("PodClique", "Decode")], graph(entry("Decode", "PodClique")), ON, "TooFewReplicas", "Stalled"),
    (
        "fewer pods than must run under Grove",
        2,
        [grove("PodClique", "Decode", 4, minAvailable=3)],
        graph(entry("Decode", "PodClique")),
        ON,
        "TooFewReplicas",
        "Stalled",
    ),
    (
        "one set for each replica",
        2,
        [leader_worker_set("Decode")],
        graph(entry("Decode", "LeaderWorkerSet", 1, "demo-decode-0")),
        ON,
        "ReplicasChangeInGit",
        "Stalled",
    ),
    (
        "a set with all replicas that Git decides",
        2,
        [leader_worker_set("Decode")],
        graph(entry("Decode", "LeaderWorkerSet", 3, "demo-decode-0")),
        ON,
        "ReplicasChangeInGit",
        "Stalled",
    ),
    (
        "a set with all replicas will follow",
        4,
        [leader_worker_set("Decode")],
        graph(entry("Decode", "LeaderWorkerSet", None, "demo-decode-0")),
        ON,
        "Scaling",
        "Reconciling",
    ),
    ("no set for no replica", 2, [], graph(services={"Decode": {"replicas": 0}}), ON, "ReplicasChangeInGit", "Stalled"),
    ("no number yet", None, [deployment("Decode", 1)], graph(entry("Decode")), ON, "Scaling", "Reconciling"),
    (
        "no number, and the feature is off",
        None,
        [deployment("Decode")],
        graph(entry("Decode")),
        SyncFeatures(scaling=False),
        "ScalingDisabled",
        "Stalled",
    ),
    ("a broken annotation", 2, [], graph()._replace(entries=None, problem="no JSON"), ON, "InvalidWorkloads", "Stalled"),
]


@cases(("replicas", "live", "owner", "features", "reason", "kind"), STATES)
def test_an_adapter_says_why_its_number_does_not_arrive(replicas, live, owner, features, reason, kind):
    """`Reconciling` means that it may still arrive, `Stalled` that somebody must act."""
    written = status(adapter("Decode", replicas), index(*live), owner, features)
    assert told(written) == [("Ready", "False", reason), (kind, "True", reason)]
    assert written["selector"] == SELECTOR


QUIET = [
    ("the feature is off", [deployment("Decode", 2)], graph(entry("Decode")), SyncFeatures(scaling=False)),
    ("one set for each replica", [], graph(*(entry("Decode", "LeaderWorkerSet", 1, f"demo-decode-{each}") for each in range(2))), ON),
    ("a set with all replicas", [leader_worker_set("Decode")], graph(entry("Decode", "LeaderWorkerSet", 2, "demo-decode-0")), ON),
]


@cases(("live", "owner", "features"), QUIET)
def test_an_adapter_that_nobody_scales_is_ready(live, owner, features):
    written = status(adapter("Decode", 2), index(*live), owner, features)
    assert conditions.find(written, "Ready").is_true


def test_the_adapter_of_a_graph_that_others_manage_keeps_its_status():
    """The graph has no annotation `workloads`, so an operator may write the status."""
    found = adapter("Decode", 2, {"replicas": 2, "selector": "other"})
    assert status(found, index(), graph()._replace(entries=None)) is found.status


def test_a_status_stays_as_it_is_while_nothing_changes():
    owner, children = graph(entry("Decode")), index(deployment("Decode", 4))
    first = {**status(adapter("Decode", 4), children, owner), "lastScaleTime": NOW}
    assert status(adapter("Decode", 4, first), children, owner, now=LATER) == first


def test_what_a_write_told_comes_before_what_is_observed():
    first, second = adapter("Decode", 4), adapter("Decode", 5, name="other")
    observed = status(second, index(deployment("Decode", 4)), graph(entry("Decode")))
    written = replica_scaling.with_readiness(observed, second, replica_scaling.second_adapter(first), NOW)
    assert told(written) == [("Ready", "False", "AdapterConflict"), ("Stalled", "True", "AdapterConflict")]
    assert written["conditions"][0]["message"] == "demo-decode scales service Decode; delete one of the two adapters"


def test_conditions_of_others_stay():
    foreign = {"type": "ScaledByPlanner", "status": "True", "reason": "Load", "message": "", "lastTransitionTime": LATER}
    found = adapter("Decode", 4, {"conditions": [foreign]})
    written = status(found, index(deployment("Decode", 4)), graph(entry("Decode")))
    assert [each["type"] for each in written["conditions"]] == ["ScaledByPlanner", "Ready"]


def test_absurd_counts_do_no_harm():
    live = [deployment("Decode", 4), deployment("Decode", 4)]
    live[0]["status"]["replicas"] = 2**40
    assert status(adapter("Decode", 4), index(live[0]), graph(entry("Decode")))["replicas"] == 2**31 - 1


# the operator's CRD has neither conditions nor observedGeneration


def without(written):
    return {key: value for key, value in written.items() if key not in replica_scaling.NOT_IN_OPERATOR_CRD}


def test_a_status_whose_conditions_the_server_drops_is_written_once():
    owner, children = graph(entry("Decode")), index(deployment("Decode", 4))
    first = status(adapter("Decode", 4), children, owner)
    assert replica_scaling.adapter_patch({}, first) == first
    again = status(adapter("Decode", 4, without(first)), children, owner, now=LATER)
    assert replica_scaling.adapter_patch(without(first), again) is None


def test_a_condition_that_asks_for_help_is_written_until_the_server_is_known_to_drop_it():
    found = adapter("Decode", 0, {"replicas": 1, "selector": SELECTOR})
    written = status(found, index(grove("PodClique", "Decode")), graph(entry("Decode", "PodClique")))
    assert replica_scaling.adapter_patch(found.status, written)
    assert replica_scaling.adapter_patch(found.status, written, conditions_stored=False) is None
    assert replica_scaling.adapter_patch({**found.status, "replicas": 3}, written, conditions_stored=False)
