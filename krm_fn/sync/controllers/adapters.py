"""Scaling adapters: their status, and the replicas of the workloads that follow them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import values
from krm_fn.status import adapter, conditions, fields, scaling
from krm_fn.status.subject import ADAPTER
from krm_fn.sync import times
from krm_fn.sync.cache import graph_key
from krm_fn.sync.controllers import ADAPTERS, Controller

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.status.adapter import Verdict
    from krm_fn.status.subject import Subject
    from krm_fn.sync.controllers import Change, World
    from krm_fn.sync.store import Entry


class Adapters(Controller):
    """Scales the workload of each adapter, and keeps the status of adapters whose graph has the annotation `workloads`."""

    kind = ADAPTERS
    counted = True

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._scaled: dict[ObjectKey, str] = {}
        """When an adapter scaled its workload, until its status tells it."""
        self._kept = True
        """False if the API server was seen to drop the conditions of adapters."""

    def keys(self, change: Change) -> Iterable[ObjectKey]:
        """The adapters of the graphs that a change concerns. An adapter also depends on the others of its graph."""
        yield from super().keys(change)
        for key in change.concerned:
            yield from (each.key for each in self._adapters(key))

    def state(self, value: Subject) -> str:
        """`ready` or `not_ready`, as in the reference's metrics."""
        return "ready" if value.status.get("selector") and fields.count(value.status.get("replicas")) else "not_ready"

    async def reconcile(self, key: ObjectKey) -> float | None:
        """Scales the workload of one adapter, and writes the adapter's status."""
        entry = self.world.cache.entry(key)
        if entry is None or entry.value.deleted:
            self._scaled.pop(key, None)
            return None
        found: Subject = entry.value
        owner = self.world.cache.graph(key.namespace, found.graph)
        first = scaling.chosen(self._adapters(graph_key(key.namespace, found.graph))).get(found.service)
        verdict, pause = None, None
        if first is not None and first.key != key:
            verdict = adapter.rival(first)
        elif owner is not None:
            verdict, pause = await self._scale(entry, owner)
        return await self._publish(entry, owner, verdict) or pause

    def _adapters(self, graph: ObjectKey) -> list[Subject]:
        return [each for each in self.world.cache.members(graph) if each.key.kind == ADAPTER]

    async def _scale(self, entry: Entry[Subject], owner: Subject) -> tuple[Verdict | None, float | None]:
        """Writes the number of the adapter to its workloads. Returns the verdict and the pause if the server refuses it."""
        found, children = entry.value, self.world.cache.children
        for order in scaling.orders(owner, {found.service: found}, children, self.world.features):
            if order.adapter != found.key:
                continue
            outcome = await self.scale(order)
            if outcome.result == "written":
                self._scaled[found.key] = times.now()
                self.report(entry, "Scaled", f"Scaled service {order.service} from {order.was} to {order.replicas} replicas")
            elif outcome.message:
                return adapter.refused(order, outcome.message), outcome.pause
        return None, None

    async def _publish(self, entry: Entry[Subject], owner: Subject | None, verdict: Verdict | None) -> float | None:
        """Writes the status if it says something new; returns the pause if the server refuses it. `verdict` overrules what is observed."""
        found, key, now = entry.value, entry.value.key, times.now()
        desired = adapter.status(found, self.world.cache.children, now, owner, self.world.features)
        if verdict is not None:
            desired = adapter.judged(desired, found, verdict, now)
        if key in self._scaled:
            desired = {**desired, "lastScaleTime": self._scaled[key]}
        if adapter.change(found.status, desired, kept=self._kept) is None:
            self.world.writer.unchanged(self.kind)
            return None
        outcome = await self.publish(key, entry, desired)
        self._scaled.pop(key, None)
        if outcome is not None and outcome.resource is not None:
            self._kept = "conditions" in values.mapping(outcome.resource, "status")
            self._tell(entry, desired, verdict)
        return outcome.pause if outcome else None

    def _tell(self, entry: Entry[Subject], desired: dict[str, Any], verdict: Verdict | None) -> None:
        """Reports a refusal once, and not again while the condition says the same."""
        before, after = (fields.condition(each, conditions.READY).get("message") for each in (entry.value.status, desired))
        if verdict is not None and verdict.reason == adapter.REFUSED and before != after:
            self.report(entry, adapter.REFUSED, verdict.message, warning=True)


CONTROLLER = Adapters
