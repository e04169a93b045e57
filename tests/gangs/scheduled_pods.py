"""Applies rendered gangs to a cluster whose nodes are objects only, and reads on which nodes the scheduler puts their pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support import gang_faults, given
from tests.testbed import api, server

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kubernetes.types import Resource
    from tests.testbed.control_plane import ControlPlane

_APPLIED = ("PodGroup", "LeaderWorkerSet")
_NODES = "/api/v1/nodes"
_TEST = "test"  # the label of nodes with the name of their test, whose pods select them
GPUS = 4
"""The GPUs of a node, and of each pod of `gang_faults.worker`: one pod fills a node."""


def render_gangs(test: str, gang_scheduling: str, *, pod: Any = None, **fields: Any) -> list[Resource]:
    """The PodGroups and the LeaderWorkerSets of a graph with one worker for the nodes of a test, in the order of an apply."""
    worker = gang_faults.worker(pod={"nodeSelector": {_TEST: test}, **(pod or {})}, **fields)
    objects = given.rendered(worker, gang_scheduling=gang_scheduling).values()
    return sorted((value for value in objects if value["kind"] in _APPLIED), key=lambda value: _APPLIED.index(value["kind"]))


class ScheduledPods:
    """The pods of one namespace, and the nodes on which a real scheduler puts them. No kubelet runs, so no pod starts or ends by itself."""

    def __init__(self, plane: ControlPlane) -> None:
        self._client = plane.client

    def begin(self, test: str, nodes: int) -> None:
        """Makes a namespace for a test, and nodes, which only its pods select."""
        self._client.namespace(test)
        self._namespace = test
        for index in range(nodes):
            self.add_node(index)

    def add_node(self, index: int) -> None:
        """Adds a node with room for one pod. An API server taints a new node as not ready, which a controller of nodes would undo."""
        amounts = {"cpu": "64", "memory": "512Gi", "pods": "100", "nvidia.com/gpu": f"{GPUS}"}
        name = f"{self._namespace}-{index}"
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {_TEST: self._namespace}}}
        answers = [
            self._client.request("POST", _NODES, node),
            self._client.request("PATCH", f"{_NODES}/{name}/status", {"status": {"capacity": amounts, "allocatable": amounts}}, api.MERGE),
            self._client.request("PATCH", f"{_NODES}/{name}", {"spec": {"taints": None}}, api.MERGE),
        ]
        assert all(answer.ok for answer in answers), [answer.message for answer in answers]

    def apply(self, objects: Iterable[Resource]) -> None:
        """Applies objects in their order."""
        for value in objects:
            placed = {**value, "metadata": {**value["metadata"], "namespace": self._namespace}}
            answer = self._client.apply(placed, dry_run=False)
            assert answer.ok, answer.message

    def pods(self) -> dict[str, str]:
        """The node of each pod, or an empty text, by the name of the pod. Pods that end are left out."""
        pods = self._client.get(f"/api/v1/namespaces/{self._namespace}/pods")["items"]
        return {pod["metadata"]["name"]: pod["spec"].get("nodeName", "") for pod in pods if "deletionTimestamp" not in pod["metadata"]}

    def wait_for_pods(self, count: int, bound: int) -> None:
        """Waits until this number of pods exists, and this number of them has a node."""
        try:
            server.eventually(lambda: self._has(count, bound), 60)
        except TimeoutError as late:
            late.add_note(f"{self.pods()} {self.conditions()}")
            raise

    def _has(self, count: int, bound: int) -> bool:
        nodes = [*self.pods().values()]
        return (len(nodes), sum(map(bool, nodes))) == (count, bound)

    def end(self, name: str) -> None:
        """Lets a pod end that is being deleted, as its kubelet would."""
        path = f"/api/v1/namespaces/{self._namespace}/pods/{name}?gracePeriodSeconds=0"
        assert self._client.request("DELETE", path).ok

    def ending_pods(self) -> list[str]:
        """The names of the pods that end, sorted."""
        pods = self._client.get(f"/api/v1/namespaces/{self._namespace}/pods")["items"]
        return sorted(pod["metadata"]["name"] for pod in pods if "deletionTimestamp" in pod["metadata"])

    def conditions(self) -> dict[str, str]:
        """The reason why a gang is not scheduled, or an empty text if it is, by the name of its PodGroup."""
        groups = self._client.get(f"/apis/scheduling.k8s.io/v1beta1/namespaces/{self._namespace}/podgroups")["items"]
        return {group["metadata"]["name"]: _reason(group) for group in groups}

    def delete(self, kind: str, name: str) -> None:
        """Deletes an object in the background."""
        folder = {"PodGroup": "scheduling.k8s.io/v1beta1", "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1"}[kind]
        path = f"/apis/{folder}/namespaces/{self._namespace}/{kind.lower()}s/{name}?propagationPolicy=Background"
        assert self._client.request("DELETE", path).ok


def _reason(group: Resource) -> str:
    conditions = group.get("status", {}).get("conditions", [])
    last = next(
        (condition for condition in conditions if condition["type"] == "PodGroupInitiallyScheduled"), {"status": "", "reason": "New"}
    )
    return "" if last["status"] == "True" else str(last["reason"])
