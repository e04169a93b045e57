"""A tenant that writes the largest resources that an API server stores, and changes them all the time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from krm_fn.render import labels
from tests.support import given
from tests.testbed.place import GRAPH, Place

if TYPE_CHECKING:
    import random

    from tests.testbed.control_plane import ControlPlane

ADAPTER = "DynamoGraphDeploymentScalingAdapter"
_LARGEST = 3500
"""Entries of an annotation of 250 KB. The annotations of an object may have 256 KiB."""
_READ = 1000


class WorstTenant:
    """A namespace with three graphs that list far too many workloads, 20 that list as many as the syncer reads, and 200 adapters of one."""

    def __init__(self, plane: ControlPlane, name: str) -> None:
        self.place = Place(plane, plane.namespace(name))
        self.changes = 0
        sizes = [*[_LARGEST] * 3, *[_READ] * 20]
        self.graphs = [f"worst-{number}" for number in range(len(sizes))]
        for name_, size in zip(self.graphs, sizes, strict=True):
            self._apply(_graph(name_, self.place.namespace, size))
        for number in range(200):
            self._apply(_adapter(number, self.graphs[-1], self.place.namespace))

    def stir(self, chance: random.Random) -> None:
        """Requests another restart of one of the graphs."""
        self.changes += 1
        self.place.patch(GRAPH, chance.choice(self.graphs), {"spec": {"restart": {"id": f"r{self.changes}"}}})

    def _apply(self, resource: dict[str, Any]) -> None:
        answer = self.place.plane.apply(resource, dry_run=False)
        assert answer.ok, answer.message


def _graph(name: str, namespace: str, size: int) -> dict[str, Any]:
    entries = [{"service": "W", "apiVersion": "apps/v1", "kind": "Deployment", "name": f"w{number}"} for number in range(size)]
    annotations = {labels.WORKLOADS: json.dumps(entries, separators=(",", ":"))}
    return given.graph({"W": given.service("worker")}, name=name, namespace=namespace, annotations=annotations, restart={"id": "r0"})


def _adapter(number: int, graph: str, namespace: str) -> dict[str, Any]:
    return {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": ADAPTER,
        "metadata": {"name": f"a{number}", "namespace": namespace},
        "spec": {"replicas": 1, "dgdRef": {"name": graph, "serviceName": "W"}},
    }
