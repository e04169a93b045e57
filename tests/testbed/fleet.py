"""Graphs whose Deployments' statuses the tests write, without controllers, so that each change is known and cheap."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn.syncer.status import DEFAULT_FEATURES
from tests.support import given
from tests.testbed import expected_statuses, place, server
from tests.testbed.place import GRAPH, Place

if TYPE_CHECKING:
    from krm_fn.syncer.status import SyncFeatures
    from tests.testbed.control_plane import ControlPlane

Object = dict[str, Any]

_TIME = "2026-11-22T01:21:06Z"


class Graph(NamedTuple):
    """One graph and its only workload, a Deployment."""

    place: Place
    name: str

    @property
    def deployment(self) -> str:
        """The name of the Deployment."""
        return f"{self.name}-worker"

    def state(self) -> str:
        """The state in the stored status; empty if it has none."""
        return str(self.place.status(self.name).get("state", ""))

    def turn(self, *, ready: bool) -> None:
        """Write the status of the Deployment: its only pod is ready or not."""
        live = self.place.get("Deployment", self.deployment)
        self.place.patch("Deployment", self.deployment, {"status": _status(live["metadata"]["generation"], int(ready))}, "/status")

    def delete(self, kind: str) -> None:
        """Delete the graph or its Deployment."""
        path = self.place.path(kind, self.name if kind == GRAPH else self.deployment)
        answer = self.place.plane.client.request("DELETE", f"{path}?propagationPolicy=Background")
        assert answer.ok, answer.message


class Fleet:
    """Graphs in several namespaces."""

    def __init__(self, plane: ControlPlane, prefix: str, namespaces: int, graphs: int) -> None:
        self.plane = plane
        self.namespaces = [plane.namespace(f"{prefix}-{number}") for number in range(namespaces)]
        places = [Place(plane, name) for name in self.namespaces]
        self.graphs = [Graph(each, f"g{number}") for each in places for number in range(graphs)]
        self.put(*self.graphs)

    def put(self, *graphs: Graph) -> None:
        """Create graphs and Deployments that do not exist. Their status is empty."""
        wanted = [given.graph(name=each.name, namespace=each.place.namespace) for each in graphs]
        for rendered in place.render(*wanted):
            if rendered["kind"] in (GRAPH, "Deployment"):
                answer = self.plane.apply(rendered, dry_run=False)
                assert answer.ok, answer.message

    def turn(self, *, ready: bool) -> None:
        """Turn all graphs."""
        for each in self.graphs:
            each.turn(ready=ready)

    def shuffle(self, chance: random.Random) -> None:
        """Turn one graph by chance."""
        chance.choice(self.graphs).turn(ready=chance.random() < 0.5)

    def settle(self, seconds: float = 180, features: SyncFeatures = DEFAULT_FEATURES) -> float:
        """Wait until every stored status of the fleet is right; returns the seconds. Raises TimeoutError with the differences."""
        began, found = time.monotonic(), [""]

        def right() -> bool:
            try:
                found[:] = expected_statuses.differences(self.plane.client, features, frozenset(self.namespaces))
            except LookupError as unready:
                found[:] = [str(unready)]
            return not found

        try:
            server.eventually(right, seconds)
        except TimeoutError:
            raise TimeoutError("\n".join([f"{len(found)} wrong after {seconds:.0f} s:", *found[:3]])) from None
        return time.monotonic() - began


def _status(generation: int, ready: int) -> Object:
    told = {
        "type": "Available",
        "status": str(bool(ready)),
        "reason": "Told",
        "message": "",
        "lastTransitionTime": _TIME,
        "lastUpdateTime": _TIME,
    }
    counts = {"replicas": 1, "updatedReplicas": 1, "readyReplicas": ready, "availableReplicas": ready, "unavailableReplicas": 1 - ready}
    return {**counts, "observedGeneration": generation, "conditions": [told]}
