"""The status of graphs."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels, values
from krm_fn.status import conditions, fields, graph
from krm_fn.sync import logs, times
from krm_fn.sync.controllers import GRAPHS, UNMANAGED, Controller
from krm_fn.sync.events import NORMAL, WARNING

if TYPE_CHECKING:
    from krm_fn.kube.identity import ObjectKey
    from krm_fn.status.subject import Subject
    from krm_fn.sync.controllers import World
    from krm_fn.sync.store import Entry

_UNKNOWN = "unknown"

_LOG = logging.getLogger(__name__)


class Graphs(Controller):
    """Keeps the status of graphs with the annotation `workloads`. Other graphs are left to whoever manages them."""

    kind = GRAPHS
    counted = True

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._once = logs.Once()

    def state(self, value: Subject) -> str:
        """The state in the status, `unknown` before the first, and `unmanaged` for a graph without the annotation."""
        if value.entries is None and not value.wrong:
            return UNMANAGED
        return values.text(value.status.get("state")) or _UNKNOWN

    async def reconcile(self, key: ObjectKey) -> float | None:
        """Writes the status of one graph."""
        entry = self.world.cache.entry(key)
        if entry is None or entry.value.deleted:
            self._once.forget(key)
            return None
        found: Subject = entry.value
        if found.entries is None and not found.wrong:
            if found.request is None or not self.world.features.auto_apply:  # else the syncer may be about to complete the graph
                self._leave(key)
            return None
        now, children, features = times.now(), self.world.cache.children, self.world.features
        desired = graph.status(found, children, now, features)
        outcome = await self.publish(key, entry, desired)
        if outcome is not None and outcome.result == "written":
            self._tell(key, entry, desired)
        return self.pause(outcome, found, now)

    def _leave(self, key: ObjectKey) -> None:
        if self._once.first(key):
            fields_ = logs.about(namespace=key.namespace, name=key.name)
            _LOG.info("the graph has no annotation %s, so its status is left as it is; render the graph", labels.WORKLOADS, extra=fields_)

    def _tell(self, key: ObjectKey, entry: Entry[Subject], desired: dict[str, Any]) -> None:
        """Reports a change of the state. The first status is no change, except to a final state."""
        before, after = entry.value.status.get("state"), desired["state"]
        ready = fields.condition(desired, conditions.READY)
        _LOG.debug("status written", extra=logs.about(namespace=key.namespace, name=key.name, state=after))
        if before == after or (after == graph.PENDING and not before):
            return
        _LOG.info("state %s: %s", after, ready.get("message"), extra=logs.about(namespace=key.namespace, name=key.name))
        stalled = fields.condition(desired, conditions.STALLED)
        reason = {graph.SUCCESSFUL: "Ready", graph.FAILED: stalled.get("reason") or "Failed"}.get(after, "NotReady")
        kind = NORMAL if after == graph.SUCCESSFUL else WARNING
        self.world.events.tell(self.kind, key, entry.uid, kind, reason, str(ready.get("message") or after))


CONTROLLER = Graphs
