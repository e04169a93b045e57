"""The setting `gangScheduling`: which objects and pod fields it makes for each orchestrator and release."""

from __future__ import annotations

from typing import Any

from krm_fn.render import config, labels, workload_list
from krm_fn.render.manifests import gangs, workloads
from tests.support import gang_faults, given, nodes
from tests.support.cases import cases

_ARGS: dict[str, Any] = {"args": ["python3 -m dynamo.sglang"]}


def _older(**settings: Any) -> dict[str, Any]:
    written = nodes.worker(**_ARGS, nodes=3, replicas=2)
    return given.rendered(given.graph({"Worker": written}), **settings)


def _templates(objects: dict[str, Any], name: str) -> list[Any]:
    template = objects[f"LeaderWorkerSet/{name}"]["spec"]["leaderWorkerTemplate"]
    return [template["leaderTemplate"], template["workerTemplate"]]


def _newer(gang_scheduling: str = "kubernetes", replicas: int = 2, **fields: Any) -> dict[str, Any]:
    return given.rendered(gang_faults.worker(replicas=replicas, **fields), gang_scheduling=gang_scheduling)


def _groups(objects: dict[str, Any]) -> dict[str, Any]:
    return {name.partition("/")[2]: value for name, value in objects.items() if name.startswith("PodGroup/")}


def _group_of(objects: dict[str, Any], name: str) -> str:
    """The PodGroup that all pods of a set name."""
    (found,) = {template["spec"]["schedulingGroup"]["podGroupName"] for template in _templates(objects, name)}
    return str(found)


def test_each_replica_is_a_gang_of_kubernetes():
    """`minCount` is the number of pods of one replica, and both roles name the group."""
    objects = _newer()
    names = [_group_of(objects, f"chat-worker-{index}") for index in range(2)]
    assert [*_groups(objects)] == names
    assert [name.rpartition("-")[0] for name in names] == ["chat-worker-0", "chat-worker-1"]
    group = _groups(objects)[names[1]]
    assert group["apiVersion"] == "scheduling.k8s.io/v1beta1"
    assert group["metadata"]["labels"][labels.INSTANCE] == "1"
    assert group["spec"] == {"schedulingPolicy": {"gang": {"minCount": 2}}, "disruptionMode": {"all": {}}}
    entries = workload_list.read(labels.annotations(objects["DynamoGraphDeployment/chat"])[labels.WORKLOADS])
    assert [(entry.name, entry.replicas) for entry in entries] == [("chat-worker-0", 1), ("chat-worker-1", 1)]
    assert [objects[f"LeaderWorkerSet/chat-worker-{index}"]["spec"]["replicas"] for index in range(2)] == [1, 1]


REPLICAS = [("none", 0, []), ("one", 1, ["0"]), ("three", 3, ["0", "1", "2"])]


@cases(("replicas", "indices"), REPLICAS)
def test_a_gang_of_kubernetes_for_each_replica(replicas, indices):
    objects = _newer(replicas=replicas)
    sets = sorted(name for name in objects if name.startswith("LeaderWorkerSet/"))
    assert sets == [f"LeaderWorkerSet/chat-worker-{index}" for index in indices]
    assert len(_groups(objects)) == replicas


def test_a_gang_has_the_priority_of_its_pods():
    """Otherwise the scheduler refuses the group."""
    objects = _newer(pod={"priorityClassName": "high"})
    assert {group["spec"]["priorityClassName"] for group in _groups(objects).values()} == {"high"}


GENERATIONS = [
    ("the same pods", {}, True),
    ("another number of replicas", {"replicas": 1}, True),
    ("another priority, which a PodGroup cannot change", {"pod": {"priorityClassName": "high"}}, False),
    ("another number of nodes", {"nodes": 4}, False),
    ("other pods", {"pod": {"nodeSelector": {"zone": "a"}}}, False),
]


@cases(("fields", "stays"), GENERATIONS)
def test_new_pods_form_a_new_gang(fields, stays):
    """The scheduler counts old pods that still end, so a new leader would start before its workers fit."""
    assert (_group_of(_newer(), "chat-worker-0") == _group_of(_newer(**fields), "chat-worker-0")) is stays


def test_release_0_9_uses_the_same_gangs_of_kubernetes():
    objects = _older(gang_scheduling="kubernetes")
    for index in range(2):
        group = _groups(objects)[_group_of(objects, f"chat-worker-{index}")]
        assert (group["apiVersion"], group["spec"]["schedulingPolicy"]["gang"]["minCount"]) == ("scheduling.k8s.io/v1beta1", 3)
    for template in _templates(objects, "chat-worker-0"):
        assert "schedulerName" not in template["spec"]
        assert labels.POD_GROUP not in template["metadata"].get("annotations", {})


SAME = [("volcano, as without the setting", "volcano", True), ("none", "none", False)]


@cases(("name", "same"), SAME)
def test_release_0_9_has_volcano_unless_the_setting_says_otherwise(name, same):
    default, written = _older(), _older(gang_scheduling=name)
    del default["DynamoGraphDeployment/chat"], written["DynamoGraphDeployment/chat"]  # its annotation has the settings
    assert (default == written) is same
    if not same:
        assert not _groups(written)
        assert {template["spec"].get("schedulerName") for template in _templates(written, "chat-worker-0")} == {None}


def test_newer_releases_leave_the_pod_groups_of_volcano_to_the_controller():
    objects = _newer("volcano")
    assert not _groups(objects)
    assert objects["LeaderWorkerSet/chat-worker-0"]["spec"]["replicas"] == 2
    assert [template["spec"]["schedulerName"] for template in _templates(objects, "chat-worker-0")] == ["volcano", "volcano"]


def test_none_changes_nothing_in_newer_releases():
    default, written = _newer(""), _newer("none")
    del default["DynamoGraphDeployment/chat"], written["DynamoGraphDeployment/chat"]  # its annotation has the settings
    assert default == written


_VOLCANO = config.GroveSettings(volcano_scheduler=config.VolcanoSchedulerSettings(enabled=True))
_KAI = config.GroveSettings(kai_scheduler=config.KaiSchedulerSettings(enabled=True))
OF_GROVE = [("KAI", "kai", {"grove": _KAI}), ("Volcano", "volcano", {"grove": _VOLCANO}), ("none", "none", {})]


@cases(("name", "same_as"), OF_GROVE)
def test_the_setting_is_that_of_grove(name, same_as):
    graph = gang_faults.worker(annotations={labels.VOLCANO_QUEUE_NAME: "gold"} if name == "volcano" else None)
    by_setting = given.rendered(graph, orchestrator="grove", gang_scheduling=name)
    assert by_setting["PodCliqueSet/chat"] == given.rendered(graph, orchestrator="grove", **same_as)["PodCliqueSet/chat"]


def test_a_component_on_one_node_stays_as_it_is():
    graph = gang_faults.worker(nodes=1)
    before, after = (given.rendered(graph, gang_scheduling=name) for name in ("", "kubernetes"))
    assert before["Deployment/chat-worker"] == after["Deployment/chat-worker"]
    assert not _groups(after)


def test_a_later_run_owns_the_objects_of_all_gang_schedulers():
    """So a run with another value of the setting removes the PodGroups of the one before."""
    assert {*gangs.objects()} <= workloads.objects()
    assert ("scheduling.k8s.io", "PodGroup") in gangs.objects()
    assert {*gangs.names()} == {"kai", "kubernetes", "none", "volcano"}


def test_a_disaggregated_set_has_the_scheduler_of_its_gangs():
    """The controller of LeaderWorkerSets makes its PodGroups, too."""
    graph = gang_faults.prefill_and_decode()
    roles = given.rendered(graph, orchestrator="disaggregatedSet", gang_scheduling="volcano")["DisaggregatedSet/chat"]["spec"]["roles"]
    templates = [role["spec"]["leaderWorkerTemplate"][name] for role in roles for name in ("leaderTemplate", "workerTemplate")]
    assert [template["spec"]["schedulerName"] for template in templates] == ["volcano"] * 4
