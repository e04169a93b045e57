"""Graphs with prefill and decode workers of many shapes, in namespaces of their own, and the objects that their controllers make."""

from __future__ import annotations

from typing import Any, NamedTuple

from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render.schema import object_changes
from krm_fn.syncer.status.workload_index import WorkloadIndex
from tests.support import beta, disaggregated_faults, given
from tests.upgrades import live_pods
from tests.upgrades.generations import ROLES, SETS
from tests.upgrades.live_pods import DISAGGREGATED, LivePods

OLD, NEW = "registry.example/dynamo:1.6.0", "registry.example/dynamo:1.6.1"
GPUS = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}


class Shape(NamedTuple):
    """The replicas and the nodes of prefill and decode, and the steps of prefill: surge and unavailable."""

    prefill: int = 3
    decode: int = 2
    nodes: tuple[int, int] = (1, 1)
    steps: tuple[str, str] | None = None

    def graph(
        self, namespace: str, image: str = OLD, model: str = "acme/tiny", names: tuple[str, str] = ROLES, *, scaled: bool = False
    ) -> Any:
        """A graph of this shape. If `scaled`, its prefill workers have a scaling adapter."""
        main = {"image": image, "command": ["python3", "-m", "dynamo.sglang"], "args": ["--model-path", model], **GPUS}
        keys = (f"nvidia.com/deployment-rolling-update-max-{key}" for key in ("surge", "unavailable"))
        metadata = {"annotations": dict(zip(keys, self.steps, strict=True))} if self.steps else None
        nodes = [{"multinode": {"nodeCount": count}} if count > 1 else {} for count in self.nodes]
        adapter: dict[str, Any] = {"scalingAdapter": {}} if scaled else {}
        workers = (
            beta.component(names[0], "prefill", replicas=self.prefill, main=main, metadata=metadata, **adapter, **nodes[0]),
            beta.component(names[1], "decode", replicas=self.decode, main=main, **nodes[1]),
        )
        return beta.graph(beta.component("Frontend", "frontend"), *workers, namespace=namespace)


class Graph:
    """A graph in a namespace of its own: its workers in a DisaggregatedSet, or each in its own object."""

    def __init__(self, plane: Any, pods: LivePods, name: str, shape: Shape, *, joined: bool) -> None:
        self.plane, self.pods, self.namespace, self.shape = plane, pods, plane.namespace(name), shape
        self.settings = disaggregated_faults.SETTINGS if joined else {}
        self.now: live_pods.Workloads = {}

    def rendered(self, **edit: Any) -> live_pods.Workloads:
        """The workloads of a state of the graph."""
        return live_pods.workloads(given.rendered(self.shape.graph(self.namespace, **edit), **self.settings).values())

    def joined(self, **edit: Any) -> Any:
        """The DisaggregatedSet of a state of the graph."""
        return next(resource for key, resource in self.rendered(**edit).items() if key.kind == "DisaggregatedSet")

    def apply(self, **edit: Any) -> tuple[object_changes.ObjectChange, ...]:
        """Applies a state of the graph; returns its changes."""
        new = self.rendered(**edit)
        changes = object_changes.between_states(self.now, new)
        self.pods.move(self.now, new)
        self.now = new
        return changes

    def items(self, path: str) -> list[Any]:
        """The objects of a kind in the namespace."""
        return [entry for entry in self.plane.client.get(path)["items"] if entry["metadata"]["namespace"] == self.namespace]

    def replicas(self) -> dict[str, int]:
        """The replicas that the LeaderWorkerSets shall have, by revision and role."""
        return {entry["metadata"]["name"].removeprefix("chat-"): entry["spec"]["replicas"] for entry in self.items(SETS)}

    def status(self, service: str) -> Any:
        """The status that the syncer computes of a service."""
        index = WorkloadIndex.of([*self.items(SETS), *self.items(DISAGGREGATED)])
        return index.get(ObjectKey("disaggregatedset.x-k8s.io", "DisaggregatedSet", self.namespace, "chat"), service)
