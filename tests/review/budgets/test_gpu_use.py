"""The GPUs of pods before, at the peak of and after a change, and the limits that select them."""

from __future__ import annotations

import copy

from krm_fn.kubernetes import identity
from krm_fn.render.schema import object_changes
from krm_fn.review.budgets import budget_report, gpu_use
from krm_fn.review.budgets.gpu_use import RootObjects
from krm_fn.review.budgets.limits import Budget, Limit
from tests.review.budgets import shapes
from tests.review.budgets.shapes import SHAPES, container, deployment, pod
from tests.support import disaggregated_faults, given
from tests.support.cases import cases

ALL = Limit("all", gpus=1000)


def measured(old, new, *limits, inputs=(), team_label="team"):
    states = ({identity.key(resource, "ai"): resource for resource in state} for state in (old, new))
    changes = tuple(object_changes.between_states(*states))
    return gpu_use.measure(Budget(limits or (ALL,), team_label), [RootObjects(changes, tuple(inputs), "ai")])


def used(old, new, *limits, **more):
    return [tuple(use.gpus[:3]) for use in measured(old, new, *limits, **more).uses]


@cases(("objects", "gpus"), SHAPES)
def test_the_gpus_of_each_shape(objects, gpus):
    """A scheduler counts the same number; the table was counted by hand."""
    given = copy.deepcopy(objects)
    assert used(objects, objects) == [(gpus, gpus, gpus)]
    assert used([], objects) == [(0, gpus, gpus)]
    assert used(objects, []) == [(gpus, gpus, 0)]
    assert objects == given, "the input is never changed"


CHANGES = [
    ("more replicas", deployment(pod(container(gpu=1)), 2), deployment(pod(container(gpu=1)), 3), (2, 3, 3)),
    ("a rollout with a surge of one", deployment(pod(container(gpu=2)), 2), deployment(pod(container("other", gpu=2)), 2), (4, 6, 4)),
    (
        "a rollout that stops the old pods first",
        deployment(pod(container(gpu=2)), 2),
        deployment(pod(container("other", gpu=2)), 2, strategy={"type": "Recreate"}),
        (4, 4, 4),
    ),
    ("fewer GPUs for each pod", deployment(pod(container(gpu=4)), 1), deployment(pod(container(gpu=1)), 1), (4, 5, 1)),
    ("another name", deployment(pod(container(gpu=1)), 2), deployment(pod(container(gpu=1)), 2, name="b"), (2, 4, 2)),
]


@cases(("old", "new", "gpus"), CHANGES)
def test_the_peak_of_a_change(old, new, gpus):
    assert used([old], [new]) == [gpus]


def test_the_services_of_one_object_are_named_apart():
    """A DisaggregatedSet has the pods of several services."""
    gpus = {"main": {"resources": {"limits": {"nvidia.com/gpu": "2"}}}}
    graph = disaggregated_faults.pair(prefill={"replicas": 3, **gpus}, decode=gpus)
    joined = given.rendered(graph, **disaggregated_faults.SETTINGS)["DisaggregatedSet/chat"]
    (use,) = measured([joined], [joined]).uses
    assert use.largest == (("team/chat/Prefill", 6), ("team/chat/Decode", 2))


H100 = {"nodeSelector": {"nvidia.com/gpu.product": "H100"}}
A100_TERM = {"matchExpressions": [{"key": "nvidia.com/gpu.product", "operator": "In", "values": ["A100"]}]}
A100 = {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [A100_TERM]}}}}
GRAPH = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "metadata": {"name": "chat", "labels": {"team": "search"}}}
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ai", "labels": {"team": "platform"}}}
FLEET = [
    deployment(pod(container(gpu=1), **H100), 2),
    deployment(pod(container(gpu=4), **A100), name="b", labels={"team": "ads"}),
    deployment(pod(container(mig=1)), 3, name="c", labels={}),
    deployment(shapes.claiming(0, template="t"), name="d", labels={}),
    shapes.claim(shapes.TEMPLATE, "t", shapes.request(count=8, device_class="gpu.b200.example")),
]
SELECTIONS = [
    ("all pods", Limit("a"), 17),
    ("a namespace", Limit("a", namespaces=("ai",)), 17),
    ("another namespace", Limit("a", namespaces=("other",)), 0),
    ("the team of the graph", Limit("a", teams=("search",)), 2),
    ("the team of the workload", Limit("a", teams=("ads",)), 4),
    ("the team of the namespace", Limit("a", teams=("platform",)), 11),
    ("several teams", Limit("a", teams=("ads", "search")), 6),
    ("the product of a node selector", Limit("a", products=("H100",)), 2),
    ("the product of a node affinity", Limit("a", products=("A100",)), 4),
    ("the class of a claim", Limit("a", products=("gpu.b200.example",)), 8),
    ("the name of a resource", Limit("a", resources=(shapes.MIG,)), 3),
    ("a team and a product that do not meet", Limit("a", teams=("ads",), products=("H100",)), 0),
]


@cases(("limit", "gpus"), SELECTIONS)
def test_what_a_limit_selects(limit, gpus):
    """A limit selects by namespace, team, product and resource. Each list that is empty selects all."""
    result = measured(FLEET, FLEET, limit, inputs=[GRAPH, NAMESPACE])
    assert [use.gpus.after for use in result.uses] == [gpus]
    assert result.others.after == 17 - gpus


def affinity(*terms):
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [*terms]}}}}


def term(operator, *products, key="nvidia.com/gpu.product"):
    return {"matchExpressions": [{"key": key, "operator": operator, **({"values": [*products]} if products else {})}]}


ZONE = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}
SEVERAL = [
    # reason, the fields of the pod, the budgets A100, H100 and T4 that count it, the words of the note
    ("several values", affinity(term("In", "A100", "H100")), ["A100", "H100"], "A100 or H100"),
    ("one value", affinity(term("In", "A100")), ["A100"], ""),
    ("several terms: one of them must match", affinity(term("In", "A100"), term("In", "T4")), ["A100", "T4"], "A100 or T4"),
    (
        "several requirements of a term: all must match",
        affinity({"matchExpressions": [*term("In", "A100", "H100")["matchExpressions"], *term("NotIn", "H100")["matchExpressions"]]}),
        ["A100"],
        "",
    ),
    (
        "a term with a zone, too",
        affinity({"matchExpressions": [*term("In", "A100", "T4")["matchExpressions"], ZONE]}),
        ["A100", "T4"],
        "A100 or T4",
    ),
    (
        "another term leaves the product open",
        affinity(term("In", "A100"), {"matchExpressions": [ZONE]}),
        ["A100", "H100", "T4"],
        "several products",
    ),
    ("all but one", affinity(term("NotIn", "T4")), ["A100", "H100"], "all products but T4"),
    ("each product", affinity(term("Exists")), ["A100", "H100", "T4"], "several products"),
    ("nodes without a product", affinity(term("DoesNotExist")), [], ""),
    ("a number, which no product is", affinity(term("Gt", "40")), [], ""),
    ("the memory", affinity(term("Gt", "40000", key="nvidia.com/gpu.memory")), ["A100", "H100", "T4"], "several products"),
    ("the family in a node selector", {"nodeSelector": {"nvidia.com/gpu.family": "hopper"}}, ["A100", "H100", "T4"], "several products"),
    ("a node selector", {"nodeSelector": {"nvidia.com/gpu.product": "T4"}}, ["T4"], ""),
    (
        "a node selector and an affinity",
        {"nodeSelector": {"nvidia.com/gpu.product": "T4"}, **affinity(term("In", "T4", "A100"))},
        ["T4"],
        "",
    ),
    ("that contradict each other", {"nodeSelector": {"nvidia.com/gpu.product": "T4"}, **affinity(term("In", "A100"))}, [], ""),
    ("an empty term matches no node", affinity({}, term("In", "A100")), ["A100"], ""),
    ("only a zone", affinity({"matchExpressions": [ZONE]}), [], ""),
    (
        "a product that is preferred only",
        {
            "affinity": {
                "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": term("In", "A100")}]}
            }
        },
        [],
        "",
    ),
]


@cases(("fields", "products", "words"), SEVERAL)
def test_a_pod_counts_in_each_product_where_it_may_run(fields, products, words):
    workload = deployment(pod(container(gpu=2), **fields))
    limits = [Limit(name, number, products=(name,)) for number, name in enumerate(("A100", "H100", "T4"))]
    result = measured([workload], [workload], *limits)
    assert [use.limit.name for use in result.uses if use.gpus[:3] == (2, 2, 2)] == products
    assert [use.limit.name for use in result.uses if any(use.gpus)] == products
    assert result.others.after == (0 if products else 2)
    notes = [*budget_report.findings({"apiVersion": "config.dynamo.krm-fn.io/v1alpha1", "kind": "DynamoBudget"}, result)]
    assert [(note.code, note.severity, f"({words})" in note.message) for note in notes] == [("DYN748", "info", True)] * bool(words) * len(
        products
    )
    (together,) = measured([workload], [workload], Limit("big", products=("H100", "A100"))).uses
    assert together.gpus.after == (2 if {"A100", "H100"} & {*products} else 0)


def test_roots_count_together():
    """A budget is for the whole fleet: a peak of one root adds to the GPUs of another."""
    (change,) = object_changes.between_states({}, {identity.key(FLEET[0], "ai"): FLEET[0]})
    other = gpu_use.as_unchanged([deployment(pod(container(gpu=3)), name="z")], "ai")
    (use,) = gpu_use.measure(Budget((ALL,)), [RootObjects((change,)), RootObjects(other)]).uses
    assert use.gpus[:3] == (3, 5, 5)
    assert use.largest == (("ai/chat/Worker", 5),)


def test_a_claim_of_unknown_size_is_a_warning():
    result = measured(
        [],
        [
            deployment(shapes.claiming(0, template="t")),
            shapes.claim(shapes.TEMPLATE, "t", {"name": "a", "exactly": {"deviceClassName": "gpu.nvidia.com", "allocationMode": "All"}}),
        ],
    )
    (finding,) = result.findings
    assert (finding.code, finding.severity) == ("DYN642", "warning")
    assert "no fixed number" in finding.message


EXCEEDED = [
    ("at the limit", Limit("a", gpus=2), False),
    ("above the limit", Limit("a", gpus=1), True),
    ("a limit of zero", Limit("a", gpus=0), True),
    ("the cost at the limit", Limit("a", price=2.5, cost=5), False),
    ("the cost above the limit", Limit("a", price=2.5, cost=4.99), True),
]


@cases(("limit", "is_exceeded"), EXCEEDED)
def test_a_limit_is_exceeded_above_its_number(limit, is_exceeded):
    result = measured([], FLEET[:1], limit)
    errors = [*budget_report.findings({"apiVersion": "config.dynamo.krm-fn.io/v1alpha1", "kind": "DynamoBudget"}, result)]
    assert [use.is_exceeded for use in result.uses] == [is_exceeded]
    assert [finding.code for finding in errors] == ["DYN640"] * is_exceeded
    assert all("ai/chat/Worker (2)" in finding.message for finding in errors)
