"""Reconciles the status of graphs and of components."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from krm_fn.cluster import logs, timestamps
from krm_fn.cluster.object_store import StoredObject
from krm_fn.kubernetes import values
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render import labels
from krm_fn.syncer import controllers
from krm_fn.syncer.controllers import COMPONENTS, GRAPHS, UNMANAGED, Controller, ControllerContext, Watch
from krm_fn.syncer.event_recorder import NORMAL, WARNING
from krm_fn.syncer.status import SyncFeatures, conditions, graph_status, rolling_restart
from krm_fn.syncer.status.cached_object import CachedObject

_UNKNOWN = "unknown"

_LOG = logging.getLogger(__name__)


class GraphController(Controller):
    """Writes the status of graphs with the annotation `workloads`. Other programs manage the other graphs.

    A graph that lost the annotation gets an unknown status, unless another program wrote the status since.
    """

    kind = GRAPHS
    counted = True

    @classmethod
    def watches(cls, features: SyncFeatures) -> Iterable[Watch]:
        """Returns also the claims of devices that pods use, and Services."""
        return (*super().watches(features), *controllers.claim_watches(features), *controllers.service_watches(features))

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._once = logs.Once()

    def state(self, value: CachedObject) -> str:
        """Returns the state in the status, `unknown` before the first, and `unmanaged` for a graph without the annotation."""
        if value.entries is None and not value.problem:
            return UNMANAGED
        return values.text(value.status.get("state")) or _UNKNOWN

    async def reconcile(self, key: ObjectKey) -> float | None:
        """Writes the status of one graph."""
        entry = self.context.cache.entry(key)
        if entry is None or entry.value.deleted:
            self._once.forget(key)
            return None
        graph: CachedObject = entry.value
        if graph.entries is None and not graph.problem and not graph.status_by_syncer:
            if graph.request is None or not self.context.features.auto_apply:  # else the syncer may be about to complete the graph
                self._log_unmanaged(key)
            return None
        now = timestamps.now()
        desired = graph_status.of_graph(graph, self.context.cache.workloads, now, self.context.features)
        result = await self.write_status(key, entry, desired)
        if result is not None and result.result == "written":
            self._report_state(key, entry, desired)
            written = self.context.cache.cached_object(key)
            if written is not None and rolling_restart.is_behind(written, self.context.cache.workloads):
                return 0.0
        return self.next_reconcile(result, graph, now)

    def _log_unmanaged(self, key: ObjectKey) -> None:
        if self._once.first(key):
            fields = logs.about(namespace=key.namespace, name=key.name)
            _LOG.info("the graph has no annotation %s, so its status is left as it is; render the graph", labels.WORKLOADS, extra=fields)

    def _report_state(self, key: ObjectKey, entry: StoredObject[CachedObject], desired: dict[str, Any]) -> None:
        """Records a change of the state as an event. The first status is not a change, except to a final state."""
        before, after = entry.value.status.get("state"), desired["state"]
        ready = conditions.find(desired, conditions.READY)
        _LOG.debug("status written", extra=logs.about(namespace=key.namespace, name=key.name, state=after))
        drifted = conditions.find(desired, conditions.DRIFTED)
        if drifted.is_true and drifted.message != conditions.find(entry.value.status, conditions.DRIFTED).message:
            self.record_event(entry, conditions.DRIFTED, drifted.message, warning=True)
        if before == after or (after == graph_status.PENDING and not before):
            return
        _LOG.info("state %s: %s", after, ready.message, extra=logs.about(namespace=key.namespace, name=key.name))
        stalled = conditions.find(desired, conditions.STALLED)
        reasons = {
            graph_status.SUCCESSFUL: "Ready",
            graph_status.FAILED: stalled.reason or "Failed",
            graph_status.INITIALIZING: graph_status.NOT_RENDERED,
        }
        type_ = NORMAL if after == graph_status.SUCCESSFUL else WARNING
        message = ready.message or after
        self.context.events.record(self.kind, key, entry.uid, type_, reasons.get(after, "NotReady"), message)


class ComponentController(Controller):
    """Writes the status of components whose graph has the annotation `workloads`, and of standalone components that have it themselves."""

    kind = COMPONENTS
    counted = True

    def state(self, value: CachedObject) -> str:
        """Returns `ready` or `not_ready`, as in the operator's metrics."""
        return "ready" if conditions.find(value.status, conditions.AVAILABLE).is_true else "not_ready"

    async def reconcile(self, key: ObjectKey) -> float | None:
        """Writes the status of one component."""
        entry = self.context.cache.entry(key)
        if entry is None or entry.value.deleted:
            return None
        component: CachedObject = entry.value
        graph = self.context.cache.graph(key.namespace, component.graph) if component.graph else None
        now = timestamps.now()
        desired = graph_status.of_component(component, self.context.cache.workloads, now, graph, self.context.features)
        return self.next_reconcile(await self.write_status(key, entry, desired), graph or component, now)


CONTROLLERS = {"graphs": GraphController, "components": ComponentController}
