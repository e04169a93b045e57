"""Graphs with scaling adapters whose replicas the tests change, without controllers and autoscalers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support import given
from tests.testbed import place
from tests.testbed.place import GRAPH, Place

if TYPE_CHECKING:
    import random

    from tests.testbed.control_plane import ControlPlane

ADAPTER = "DynamoGraphDeploymentScalingAdapter"
_MOST = 9


class ScaledGraphs:
    """Graphs in one namespace, each with a Deployment that its adapter scales. `changes` counts the changes of replicas."""

    def __init__(self, plane: ControlPlane, namespace: str, graphs: int) -> None:
        self.place = Place(plane, plane.namespace(namespace))
        self.changes = 0
        self._names = [f"scaled-{number}" for number in range(graphs)]
        worker = given.service("worker", replicas=1, scalingAdapter={"enabled": True})
        wanted = [given.graph({"Worker": worker}, name=name, namespace=namespace) for name in self._names]
        for rendered in place.render(*wanted):
            if rendered["kind"] in (GRAPH, ADAPTER, "Deployment"):
                answer = plane.apply(rendered, dry_run=False)
                assert answer.ok, answer.message

    def scale(self, chance: random.Random) -> None:
        """Gives an adapter another number of replicas, as an autoscaler does."""
        name = f"{chance.choice(self._names)}-worker"
        replicas = self.place.get(ADAPTER, name)["spec"].get("replicas")
        chosen = chance.choice([number for number in range(_MOST) if number != replicas])
        self.place.patch(ADAPTER, name, {"spec": {"replicas": chosen}})
        self.changes += 1

    def wrong(self) -> list[str]:
        """Names each adapter whose Deployment has another number of replicas, or whose condition Ready is not True."""
        return [text for name in self._names if (text := self._problem(f"{name}-worker"))]

    def _problem(self, name: str) -> str:
        adapter, workload = self.place.get(ADAPTER, name), self.place.get("Deployment", name)
        wanted, replicas = adapter["spec"].get("replicas"), workload["spec"]["replicas"]
        ready = place.conditions(adapter.get("status", {})).get("Ready", {})
        if wanted == replicas and ready.get("status") == "True":
            return ""
        return f"adapter {name}: replicas {wanted}, its Deployment {replicas}, {ready.get('reason')}: {ready.get('message')}"
