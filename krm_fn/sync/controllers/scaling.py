"""The replicas of Grove's objects, which follow the graph only if somebody scales them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.status import adapter, scaling
from krm_fn.sync import logs
from krm_fn.sync.controllers import GRAPHS, Controller

if TYPE_CHECKING:
    from krm_fn.kube.identity import ObjectKey
    from krm_fn.status.features import Features
    from krm_fn.status.scaling import Order
    from krm_fn.sync.controllers import World


class GroveCounts(Controller):
    """Scales PodCliques and PodCliqueScalingGroups to the numbers in the annotation `workloads`."""

    kind = GRAPHS

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._once = logs.Once()

    @classmethod
    def enabled(cls, features: Features) -> bool:
        """A feature of its own."""
        return features.grove_counts

    async def reconcile(self, key: ObjectKey) -> float | None:
        """Scales the objects of one graph."""
        entry = self.world.cache.entry(key)
        if entry is None:
            return None
        pause = None
        for order in scaling.orders(entry.value, {}, self.world.cache.children, self.world.features):
            outcome = await self.scale(order)
            pause = outcome.pause or pause
            if outcome.result == "written":
                self._once.forget(order.key)
                self.report(entry, "Scaled", f"Scaled {_named(order)} from {order.was} to {order.replicas} replicas")
            elif outcome.message and self._once.first(order.key):
                self.report(entry, adapter.REFUSED, adapter.refused(order, outcome.message).message, warning=True)
        return pause


def _named(order: Order) -> str:
    return f"{order.key.kind} {order.key.name}"


CONTROLLER = GroveCounts
