"""The numbers of scaling adapters in graphs with a planner, which reads them there."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from krm_fn.status import scaling
from krm_fn.status.subject import ADAPTER
from krm_fn.sync.controllers import GRAPHS, Controller

if TYPE_CHECKING:
    from krm_fn.kube.identity import ObjectKey
    from krm_fn.status.features import Features
    from krm_fn.sync.controllers import World

AGAIN = 30.0
"""Seconds until numbers that another program takes back are written again. A GitOps tool without the right setting may do that at once."""


class Planners(Controller):
    """Writes the number of each adapter into its graph, if the graph has a planner."""

    kind = GRAPHS

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._written: dict[ObjectKey, tuple[dict[str, int], float]] = {}
        """The last numbers of each graph, and when they were written."""

    @classmethod
    def enabled(cls, features: Features) -> bool:
        """A feature of its own."""
        return features.graph_replicas

    async def reconcile(self, key: ObjectKey) -> float | None:
        """Writes the numbers into one graph."""
        entry = self.world.cache.entry(key)
        if entry is None:
            self._written.pop(key, None)
            return None
        adapters = scaling.chosen(each for each in self.world.cache.members(key) if each.key.kind == ADAPTER)
        numbers = scaling.told(entry.value, adapters)
        if not numbers:
            return None
        last, when = self._written.get(key, ({}, 0.0))
        if last == numbers and (early := when + AGAIN - monotonic()) > 0:
            return early
        services = {name: {"replicas": replicas} for name, replicas in numbers.items()}
        body = {"metadata": {"resourceVersion": entry.resource_version, "uid": entry.uid}, "spec": {"services": services}}
        outcome = await self.world.writer.patch(self.kind, key, body)
        if outcome.resource is not None:
            self._written[key] = numbers, monotonic()
            self.world.learned(self.kind, outcome.resource, self)
        return outcome.pause


CONTROLLER = Planners
