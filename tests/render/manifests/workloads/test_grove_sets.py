"""A PodCliqueSet as release 1.5 makes it (reference: graph.go GenerateGrovePodCliqueSet, PCSNameForDGD, buildGroveScalingGroupConfig)."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.kubernetes import identity
from krm_fn.render import config, labels, workload_list
from krm_fn.render.workload_list import WorkloadEntry
from krm_fn.review import finished_builds
from tests.support import beta, given
from tests.support.cases import cases

SGLANG = {"command": ["python3"], "args": ["-m", "dynamo.sglang"]}
VOLCANO = config.GroveSettings(volcano_scheduler=config.VolcanoSchedulerSettings(enabled=True))
KAI = config.GroveSettings(kai_scheduler=config.KaiSchedulerSettings(enabled=True))
PACK = {"clusterTopologyName": "racks", "packDomain": "rack"}


def rendered(*components, config: Any = None, **graph):
    found = given.rendered(beta.graph(*components, **graph), orchestrator="grove", **(config or {}))
    return next(each for name, each in found.items() if name.startswith("PodCliqueSet/"))


def template(*components, **graph):
    return rendered(*components, **graph)["spec"]["template"]


def cliques(*components, **graph):
    return {clique["name"]: clique for clique in template(*components, **graph)["cliques"]}


def nodes(name="Decode", count=3, **fields):
    return beta.component(name, "decode", main=SGLANG, multinode={"nodeCount": count}, **fields)


NAMES = [
    ("a name that fits", "a" * 39, [beta.component("Worker")], "a" * 39),
    ("one character more", "a" * 40, [beta.component("Worker")], "a" * 34 + "-bc4d"),
    ("a scaling group counts twice, with the suffix of its leader", "a" * 30, [nodes()], "a" * 24 + "-b5c3"),
    ("so does one with a single node", "a" * 34, [beta.component("Worker", experimental={"grove": {"forceScalingGroup": True}})], None),
    ("the longest component decides", "a" * 40, [beta.component("W"), beta.component("w" * 20)], "a" * 20 + "-bc4d"),
    ("eight characters stay", "a" * 20, [beta.component("w" * 37)], "aaa-b6c9"),
]


@cases(("graph", "components", "name"), NAMES)
def test_a_long_name_is_cut_to_what_grove_takes(graph, components, name):
    """Objects that Grove does not make keep the graph's whole name."""
    found = given.rendered(beta.graph(*components, name=graph, namespace="n"), orchestrator="grove")
    (made,) = (each for each in found.values() if each["kind"] == "PodCliqueSet")
    assert made["metadata"]["name"] == (name or "a" * 28 + "-4897")
    assert f"Service/{graph}-{components[0]['name'].lower()}" in found
    (clique, *_) = made["spec"]["template"]["cliques"]
    assert clique["labels"][labels.GRAPH] == graph


def test_grove_refuses_a_component_whose_name_leaves_too_little():
    found = given.expanded(beta.graph(beta.component("w" * 38), name="a" * 20, namespace="n"), orchestrator="grove")
    (error,) = (each for each in found.results if each.severity == "error")
    assert (error.code, error.path) == ("DYN163", ("spec", "components", 0, "name"))
    assert error.message.endswith("although the name of the graph is cut to aaa-b6c9; shorten the component's name by 1")


def test_the_annotation_names_what_grove_makes_of_a_cut_name():
    """The name of the workload no longer tells the name of the graph, so the entry does."""
    source = given.rendered(beta.graph(name="a" * 40, namespace="n"), orchestrator="grove")[f"DynamoGraphDeployment/{'a' * 40}"]
    entries = [entry._replace(facts=None) for entry in workload_list.read(labels.annotations(source)[labels.WORKLOADS])]
    assert entries == [WorkloadEntry("Worker", "grove.io/v1alpha1", "PodClique", f"{'a' * 34}-bc4d-0-worker", 1, "a" * 40)]


@pytest.mark.parametrize("name", ["chat", "a" * 40], ids=["whole", "cut"])
def test_a_finished_build_is_in_order(name):
    found = given.expanded(beta.graph(name=name, namespace="n"), orchestrator="grove").resources
    assert not list(finished_builds.check(found, config.Config()))


@pytest.mark.parametrize("name", ["chat", "a" * 40], ids=["whole", "cut"])
def test_a_later_layer_that_renames_the_graph_is_told(name):
    found = given.expanded(beta.graph(name=name, namespace="n"), orchestrator="grove").resources
    for each in found:
        each["metadata"] = {**each["metadata"], "name": f"prod-{each['metadata']['name']}"}
    assert {each.code for each in finished_builds.check(found, config.Config()) if each.severity == "error"}


def test_the_set_has_the_labels_and_annotations_of_its_graph():
    found = rendered(labels={"a": "1", labels.GRAPH: "mine"}, annotations={"of": "the resource itself"})
    assert found["metadata"]["labels"] == {"a": "1", labels.GRAPH: "chat", labels.MANAGED_BY: "krm-fn"}
    graph = beta.graph()
    graph["spec"]["annotations"] = {"b": "2"}
    assert given.rendered(graph, orchestrator="grove")["PodCliqueSet/chat"]["metadata"]["annotations"]["b"] == "2"


RACK = beta.component("Worker", topologyConstraint={"packDomain": "rack"})
GRAPHS: list[tuple[str, list[Any], dict[str, Any], dict[str, Any]]] = [
    ("a priority class", [], {"priorityClassName": "high"}, {"priorityClassName": "high"}),
    ("a topology", [], {"topologyConstraint": PACK}, {"topologyConstraint": {"topologyName": "racks", "pack": {"required": "rack"}}}),
    ("a topology whose domains components choose", [RACK], {"topologyConstraint": {"clusterTopologyName": "racks"}}, {}),
]


@cases(("components", "written", "made"), GRAPHS)
def test_fields_of_the_graph(components, written, made):
    found = template(*components, **written)
    assert {key: found[key] for key in ("priorityClassName", "topologyConstraint") if key in found} == made


@pytest.mark.parametrize("strategy", ["RollingRecreate", "OnDelete"])
def test_an_annotation_names_the_update_strategy(strategy):
    assert rendered(annotations={labels.GROVE_UPDATE_STRATEGY: strategy})["spec"]["updateStrategy"] == {"type": strategy}
    assert "updateStrategy" not in rendered()["spec"]


PLACES = [
    ("a clique", beta.component("Worker", topologyConstraint={"packDomain": "host"}), "cliques", PACK, {"pack": {"required": "host"}}),
    ("a scaling group", nodes(topologyConstraint={"packDomain": "host"}), "podCliqueScalingGroups", PACK, {"pack": {"required": "host"}}),
    (
        "the topology's name where the set has none",
        beta.component("Worker", topologyConstraint={"packDomain": "host"}),
        "cliques",
        {"clusterTopologyName": "racks"},
        {"topologyName": "racks", "pack": {"required": "host"}},
    ),
]


@cases(("component", "holder", "of_graph", "made"), PLACES)
def test_a_component_has_a_narrower_topology(component, holder, of_graph, made):
    found = template(component, topologyConstraint=of_graph)
    assert found[holder][0]["topologyConstraint"] == made
    others = [each for each in (*found["cliques"], *found.get("podCliqueScalingGroups", ())) if each is not found[holder][0]]
    assert not [each for each in others if "topologyConstraint" in each]


FORCED = {"grove": {"forceScalingGroup": True}}
COUNTS = [
    ("one node", beta.component("Worker", replicas=3), {"worker": (3, 1)}, None),
    ("pods that must run", beta.component("Worker", replicas=3, minAvailable=2), {"worker": (3, 2)}, None),
    ("several nodes", nodes(replicas=2), {"decode-ldr": (1, 1), "decode-wkr": (2, 2)}, (2, 1)),
    ("groups that must run", nodes(replicas=4, minAvailable=3), {"decode-ldr": (1, 1), "decode-wkr": (2, 2)}, (4, 3)),
    (
        "a scaling group of single nodes",
        beta.component("Worker", replicas=3, minAvailable=2, experimental=FORCED),
        {"worker": (1, 1)},
        (3, 2),
    ),
    ("replicas not written", nodes(), {"decode-ldr": (1, 1), "decode-wkr": (2, 2)}, (1, 1)),
]


@cases(("component", "pods", "groups"), COUNTS)
def test_how_many_pods_run_and_how_many_must(component, pods, groups):
    """A replica on several nodes works only with all its pods, so each of its cliques needs all of them."""
    found = template(component)
    assert {each["name"]: (each["spec"]["replicas"], each["spec"]["minAvailable"]) for each in found["cliques"]} == pods
    (group,) = found.get("podCliqueScalingGroups", [None])
    assert (group and (group["replicas"], group["minAvailable"])) == groups
    assert (group or {"cliqueNames": list(pods)})["cliqueNames"] == list(pods)


MINE = {"a": "pod", labels.COMPONENT: "mine", labels.SELECTOR: "mine", labels.COMPONENT_TYPE: "mine", labels.METRICS_ENABLED: "mine"}


def test_labels_of_dynamo_override_those_of_the_user():
    """Except for the mark of metrics. Labels of the component override those of the graph."""
    found = cliques(beta.component("Worker", metadata={"labels": MINE}), labels={"a": "graph", "b": "graph"})["worker"]["labels"]
    assert found == {
        "a": "pod",
        "b": "graph",
        labels.SELECTOR: "chat-worker",
        labels.GRAPH: "chat",
        labels.COMPONENT: "Worker",
        labels.NAMESPACE: "team-chat",
        labels.COMPONENT_TYPE: "worker",
        labels.METRICS_ENABLED: "mine",
        labels.DISCOVERY_BACKEND: "kubernetes",
        labels.DISCOVERY_ENABLED: "true",
        labels.WORKER_HASH: found[labels.WORKER_HASH],
    }


METRICS = [
    ("the graph switches them off", {labels.ENABLE_METRICS: "false"}, None, False),
    ("a component cannot", None, {"annotations": {labels.ENABLE_METRICS: "false"}}, True),
]


@cases(("of_graph", "of_component", "marked"), METRICS)
def test_metrics(of_graph, of_component, marked):
    found = cliques(beta.component("Worker", metadata=of_component), annotations=of_graph)["worker"]["labels"]
    assert (labels.METRICS_ENABLED in found) == marked


@pytest.mark.parametrize("kind", ["prefill", "decode"])
def test_a_type_of_disaggregated_serving_is_also_a_sub_type(kind):
    """A label of the user's does not bring back the type of older operators, as it does without Grove."""
    older = {"labels": {labels.COMPONENT_TYPE: "worker"}}
    found = cliques(beta.component("Worker", kind, metadata=older))["worker"]
    assert (found["labels"][labels.COMPONENT_TYPE], found["labels"][labels.SUB_COMPONENT_TYPE]) == (kind, kind)
    assert given.variables(found["spec"]["podSpec"]["containers"][0])["DYN_COMPONENT"] == kind


def test_workers_of_a_graph_with_an_endpoint_picker_are_marked():
    picker = beta.component("Picker", "epp", main={"image": given.CONFIGURED_PICKER}, eppConfig=given.picker()["eppConfig"])
    found = cliques(picker, beta.component("Worker"), beta.component("Frontend", "frontend"))
    assert [name for name, each in found.items() if labels.COMPONENT_CLASS in each["labels"]] == ["worker"]


def test_annotations_tell_the_operator_and_the_discovery_backend():
    mine = {"annotations": {"a": "pod", labels.DISCOVERY_BACKEND: "etcd"}}
    graph = beta.graph(beta.component("Worker", metadata=mine), annotations={labels.ENABLE_METRICS: "true", "of": "the graph itself"})
    graph["spec"]["annotations"] = {"a": "graph", "b": "graph"}
    found = given.rendered(graph, orchestrator="grove", restart="render")
    clique = found["PodCliqueSet/chat"]["spec"]["template"]["cliques"][0]
    assert clique["annotations"] == {
        "a": "pod",
        "b": "graph",
        labels.ENABLE_METRICS: "true",
        labels.DISCOVERY_BACKEND: "kubernetes",
        labels.ORIGIN_VERSION: "1.5.0",
    }
    service = labels.annotations(found["Service/chat-worker"])
    assert {key: service[key] for key in service if key != labels.OWNER} == {"a": "pod", "b": "graph", labels.DISCOVERY_BACKEND: "etcd"}


SCHEDULED = [
    ("Volcano", VOLCANO, {}, None, "volcano", None, None),
    ("Volcano with a queue", VOLCANO, {labels.VOLCANO_QUEUE_NAME: " gold "}, None, "volcano", "gold", None),
    ("a blank queue", VOLCANO, {labels.VOLCANO_QUEUE_NAME: " "}, None, "volcano", None, None),
    ("named by the user as well", VOLCANO, {}, "volcano", "volcano", None, None),
    ("the user has another one", VOLCANO, {}, "default-scheduler", "default-scheduler", None, None),
    ("the queue without the scheduler", config.GroveSettings(), {labels.VOLCANO_QUEUE_NAME: "gold"}, None, None, None, None),
    ("KAI", KAI, {labels.KAI_QUEUE_NAME: "silver"}, None, "kai-scheduler", None, "silver"),
]


@cases(("grove", "annotations", "own", "scheduler", "of_set", "of_clique"), SCHEDULED)
def test_schedulers_and_their_queues(grove, annotations, own, scheduler, of_set, of_clique):
    written = beta.component("Worker", pod={"schedulerName": own} if own else {})
    found = rendered(written, annotations=annotations, config={"grove": grove})
    (clique,) = found["spec"]["template"]["cliques"]
    assert clique["spec"]["podSpec"].get("schedulerName") == scheduler
    assert clique["labels"].get(identity.KAI_QUEUE) == of_clique
    assert found["metadata"]["annotations"].get(identity.VOLCANO_QUEUE) == of_set


def test_the_older_release_knows_no_volcano():
    found = given.rendered(given.graph(), orchestrator="grove", grove=VOLCANO)["PodCliqueSet/chat"]
    assert "schedulerName" not in found["spec"]["template"]["cliques"][0]["spec"]["podSpec"]


SPREAD = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]
REFUSED = [
    ("pods on one node", [beta.component("W", pod={"nodeName": "n"})], ["DYN168"]),
    ("pods spread by the user", [beta.component("W", pod={"topologySpreadConstraints": SPREAD})], ["DYN168"]),
    ("two schedulers", [beta.component("V"), beta.component("W", pod={"schedulerName": "kai-scheduler"})], ["DYN167"]),
    ("a scheduler that Grove may not know", [beta.component("W", pod={"schedulerName": "mine"})], ["DYN191"]),
    ("a scheduler without a queue", [beta.component("W", pod={"schedulerName": "kai-scheduler"})], ["DYN192"]),
    ("no group", [nodes(replicas=0)], ["DYN164"]),
    ("no group of one node", [beta.component("W", replicas=0, experimental=FORCED)], ["DYN164"]),
]


@cases(("components", "codes"), REFUSED)
def test_what_only_grove_refuses_is_a_warning(components, codes):
    """The operator of this release accepts the graph, and the version of Grove in the cluster decides."""
    found = given.expanded(beta.graph(*components), orchestrator="grove").results
    assert [(each.severity, each.code) for each in found if each.code in codes] == [("warning", code) for code in codes]
    assert not [each for each in found if each.severity == "error"]
