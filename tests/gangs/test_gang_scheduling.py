"""The scheduler of Kubernetes 1.37 starts all pods of a rendered gang or none. Each pod fills one node."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from tests.gangs.scheduled_pods import render_gangs
from tests.support.cases import cases
from tests.testbed import control_plane as planes
from tests.testbed import server

if TYPE_CHECKING:
    from pathlib import Path

    from tests.gangs.scheduled_pods import ScheduledPods
    from tests.testbed.control_plane import ControlPlane, Programs

_SETTLED = 3  # seconds in which a scheduler that binds pods one by one binds them; it takes 0.1


def test_a_gang_that_does_not_fit_starts_no_pod_until_it_fits(scheduled_pods: ScheduledPods) -> None:
    """Two of three pods would fit. With a third node, all three start."""
    scheduled_pods.begin("grows", nodes=2)
    scheduled_pods.apply(render_gangs("grows", "kubernetes", nodes=3))
    scheduled_pods.wait_for_pods(3, bound=0)
    server.eventually(lambda: [*scheduled_pods.conditions().values()] == ["Unschedulable"], 60)
    time.sleep(_SETTLED)
    assert [*scheduled_pods.pods().values()] == ["", "", ""]
    scheduled_pods.add_node(2)
    scheduled_pods.wait_for_pods(3, bound=3)
    assert sorted(scheduled_pods.pods().values()) == ["grows-0", "grows-1", "grows-2"]
    assert [*scheduled_pods.conditions().values()] == [""]


def test_without_gangs_a_part_of_a_group_holds_its_nodes(scheduled_pods: ScheduledPods) -> None:
    """The same graph without the setting: what the setting prevents."""
    scheduled_pods.begin("alone", nodes=2)
    scheduled_pods.apply(render_gangs("alone", "none", nodes=3))
    scheduled_pods.wait_for_pods(3, bound=2)


REPLICAS = [
    ("three nodes hold one of two replicas", 3, 2),
    ("four nodes hold both replicas", 4, 4),
    ("one node holds none", 1, 0),
]


@cases(("nodes", "bound"), REPLICAS)
def test_each_replica_is_a_gang_of_its_own(scheduled_pods: ScheduledPods, nodes: int, bound: int) -> None:
    """Two replicas of two pods never hold a part of each other's nodes."""
    test = f"replicas-{nodes}"
    scheduled_pods.begin(test, nodes)
    scheduled_pods.apply(render_gangs(test, "kubernetes", replicas=2))
    scheduled_pods.wait_for_pods(4, bound)
    time.sleep(_SETTLED)
    pods = scheduled_pods.pods()
    assert sum(map(bool, pods.values())) == bound
    for replica in ("chat-worker-0-0", "chat-worker-1-0"):
        assert len({bool(node) for name, node in pods.items() if name.startswith(replica)}) == 1, pods


OWNERS = [
    ("a PodGroup of their own: the new leader waits for its worker", "own", 0),
    ("the PodGroup of the old pods: the new leader starts alone", "shared", 1),
]


@cases(("group", "bound"), OWNERS)
def test_new_pods_wait_for_each_other_while_an_old_one_ends(scheduled_pods: ScheduledPods, group: str, bound: int) -> None:
    """This is why the name of a PodGroup has a hash of its pods. The PodGroup of the old pods stays until they have ended."""
    scheduled_pods.begin(group, nodes=2)
    old, new = render_gangs(group, "kubernetes"), render_gangs(group, "kubernetes", pod={"terminationGracePeriodSeconds": 90})
    before, after = old[0]["metadata"]["name"], new[0]["metadata"]["name"]
    if group == "shared":
        new = json.loads(json.dumps(new[1:]).replace(after, before))
    scheduled_pods.apply(old)
    scheduled_pods.wait_for_pods(2, bound=2)
    scheduled_pods.apply(new)
    if group == "own":
        scheduled_pods.delete("PodGroup", before)
    server.eventually(lambda: scheduled_pods.ending_pods() == ["chat-worker-0-0"], 60)
    scheduled_pods.end("chat-worker-0-0")
    server.eventually(lambda: scheduled_pods.ending_pods() == ["chat-worker-0-0-1"], 60)
    scheduled_pods.wait_for_pods(1, bound)
    time.sleep(_SETTLED)
    scheduled_pods.wait_for_pods(1, bound)
    assert before in scheduled_pods.conditions()
    scheduled_pods.end("chat-worker-0-0-1")
    scheduled_pods.wait_for_pods(2, bound=2)
    if group == "own":
        server.eventually(lambda: [*scheduled_pods.conditions()] == [after], 60)


def test_a_server_without_the_feature_gate_refuses_a_gang(next_programs: Programs, tmp_path: Path) -> None:
    """It does not serve PodGroups, so nothing starts without its gang unnoticed."""
    group = render_gangs("gate", "kubernetes")[0]
    with planes.running(tmp_path, next_programs, "--runtime-config=scheduling.k8s.io/v1beta1=true") as plane:
        assert not plane.client.knows(group["apiVersion"], group["kind"])
        assert not _serves(plane)


def _serves(plane: ControlPlane) -> bool:
    """True if the server has the APIService that `krm-fn needs` lists."""
    return plane.client.request("GET", "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.scheduling.k8s.io").ok


def test_the_api_service_shows_the_feature_gate(next_plane: ControlPlane) -> None:
    assert _serves(next_plane)
