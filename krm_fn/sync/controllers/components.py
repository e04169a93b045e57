"""The status of components."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.status import component, conditions, fields
from krm_fn.sync import times
from krm_fn.sync.controllers import COMPONENTS, Controller

if TYPE_CHECKING:
    from krm_fn.kube.identity import ObjectKey
    from krm_fn.status.subject import Subject


class Components(Controller):
    """Keeps the status of components whose graph has the annotation `workloads`, and of those without a graph that have it themselves."""

    kind = COMPONENTS
    counted = True

    def state(self, value: Subject) -> str:
        """`ready` or `not_ready`, as in the reference's metrics."""
        return "ready" if fields.condition(value.status, conditions.AVAILABLE).get("status") == "True" else "not_ready"

    async def reconcile(self, key: ObjectKey) -> float | None:
        """Writes the status of one component."""
        entry = self.world.cache.entry(key)
        if entry is None or entry.value.deleted:
            return None
        found: Subject = entry.value
        owner = self.world.cache.graph(key.namespace, found.graph) if found.graph else None
        now = times.now()
        desired = component.status(found, self.world.cache.children, now, owner, self.world.features)
        return self.pause(await self.publish(key, entry, desired), owner or found, now)


CONTROLLER = Components
