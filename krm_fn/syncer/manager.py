"""Manages the controllers (controller-runtime: Manager): enqueues the resources that an event affects, and runs the workers."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, NamedTuple

from krm_fn.cluster import logs
from krm_fn.cluster.api_resources import ApiResource
from krm_fn.cluster.work_queue import WorkQueue
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.syncer.controllers import Controller, ObjectEvent, Watch
from krm_fn.syncer.cpu_budget import CpuBudget, OverBudgetError
from krm_fn.syncer.informer_cache import InformerCache
from krm_fn.syncer.metrics import Metrics
from krm_fn.syncer.writer import RECEIVED, Retry

_LOG = logging.getLogger(__name__)

SLOW = 0.2
"""Seconds of CPU for one reconcile, above which the log names the resource. The largest graph that is read needs a fifth of it."""


class Task(NamedTuple):
    """A resource to reconcile, and the controller that reconciles it (controller-runtime: Request)."""

    controller: str
    key: ObjectKey


class Manager:
    """Runs controllers from the events of reflectors. `serves(namespace)` is true if this syncer works in the namespace now.

    Until `resume`, events only update the cache. `workers` is the number of tasks that call `work`; three quarters of them serve one
    namespace at most.
    """

    def __init__(self, cache: InformerCache, metrics: Metrics, serves: Callable[[str], bool], workers: int = 1) -> None:
        self.queue: WorkQueue[Task] = WorkQueue(group=lambda task: task.key.namespace, most=max(workers * 3 // 4, 1))
        self.budget = CpuBudget()
        self._cache = cache
        self._metrics = metrics
        self._serves = serves
        self._controllers: dict[str, Controller] = {}
        self._watches: dict[ApiResource, Watch] = {}
        self._counted: dict[tuple[str, str], Controller] = {}
        self._states: Counter[tuple[str, str, str]] = Counter()
        self._started = False
        self._running = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def register(self, controllers: Mapping[str, Controller], watches: Mapping[ApiResource, Watch]) -> None:
        """Sets the controllers and the kinds that they watch."""
        self._controllers = dict(controllers)
        counted = (controller for controller in controllers.values() if controller.counted)
        self._counted = {(controller.kind.group, controller.kind.kind): controller for controller in counted}
        self._watches = dict(watches)

    def handle_event(self, key: ObjectKey, before: Any, after: Any, by: Controller | None = None) -> None:
        """Updates the indexes after a change of an object, and enqueues the affected resources, except for the controller that wrote it."""
        affected = frozenset(self._cache.update_indexes(key, before, after))
        self._count(key, before, -1)
        self._count(key, after, 1)
        if not self._started:
            return
        event = ObjectEvent(key, before, after, affected)
        for name, controller in self._controllers.items():
            if controller is not by:
                for affected_key in controller.requests_for(event):
                    self._add(Task(name, affected_key))

    def update_cache(self, kind: ApiResource, resource: Resource, by: Controller) -> None:
        """Stores the object in the answer to a write by the controller `by`, before the watch delivers it."""
        metadata = resource["metadata"]
        key = ObjectKey(kind.group, kind.kind, metadata.get("namespace", ""), metadata["name"])
        store, before = self._cache.store(kind), self._cache.entry(key)
        after = self._watches[kind].project(resource)
        if before is not None and store.update(key, metadata["uid"], metadata["resourceVersion"], after) and before.value != after:
            self.handle_event(key, before.value, after, by)

    def resume(self, namespace: str = "") -> None:
        """Starts the reconciles, and enqueues all resources, or all of one namespace."""
        self._started = self._started or not namespace
        keys = {kind: self._cache.store(kind).keys(namespace) for kind in {controller.kind for controller in self._controllers.values()}}
        for name, controller in self._controllers.items():
            for key in keys[controller.kind] if self._started else ():
                self._add(Task(name, key))

    def enqueue(self, controller: str, key: ObjectKey) -> None:
        """Enqueues a resource for a reason other than a watch event."""
        if self._started:
            self._add(Task(controller, key))

    def pause(self) -> None:
        """Starts no more tasks. Running tasks continue."""
        self._started = False

    async def wait_idle(self) -> None:
        """Waits until no task runs. Call `pause` before."""
        await self._idle.wait()

    async def work(self) -> None:
        """Reconciles queued resources until the worker is cancelled."""
        while True:
            task = await self.queue.get()
            self._running += 1
            self._idle.clear()
            try:
                await self._reconcile(task)
            finally:
                self._running -= 1
                self.queue.done(task)
                if not self._running:
                    self._idle.set()

    def resources(self) -> dict[tuple[str, str, str], int]:
        """Counts the resources by kind, namespace and state."""
        return dict(self._states)

    def _count(self, key: ObjectKey, value: Any, change: int) -> None:
        controller = self._counted.get((key.group, key.kind))
        if controller is not None and value is not None:
            labels = key.kind, key.namespace, controller.state(value)
            self._states[labels] += change
            if not self._states[labels]:
                del self._states[labels]

    def _add(self, task: Task) -> None:
        if self._serves(task.key.namespace):
            self.queue.add(task)

    async def _reconcile(self, task: Task) -> None:
        """Reconciles one resource, and enqueues it again if necessary. No error ends a worker."""
        if not (self._started and self._serves(task.key.namespace)):
            self.queue.forget(task)
            return
        began, result = monotonic(), "success"
        RECEIVED.set(self.queue.first_added(task))
        try:
            pause, seconds = await self.budget.run(self._controllers[task.controller].reconcile(task.key))
            self._measure(task, seconds)
            if seconds > self.budget.limit:
                raise OverBudgetError  # noqa: TRY301 - as if it had been interrupted
        except OverBudgetError:
            result = "put_aside"
            self._put_aside(task)
        except Retry as problem:
            result = "retry"
            self.queue.retry(task, problem.limit, problem.least, limited=problem.limited)
        except Exception as problem:  # noqa: BLE001 - one resource must not stop the others
            result = "error"
            self._metrics.errors.labels(task.key.kind, type(problem).__name__).inc()
            _LOG.exception("a bug, please report it", extra=logs.about(controller=task.controller, **_about(task.key)))
            self.queue.retry(task)
        else:
            self.queue.forget(task)
            if pause is not None:
                result = "requeue"
                self.queue.add_after(task, pause)
        finally:
            self._metrics.reconciles.labels(task.key.kind, result).observe(monotonic() - began)

    def _measure(self, task: Task, seconds: float) -> None:
        """Counts the CPU time of a reconcile. Metrics have no names of resources, so the log names those that take long."""
        self._metrics.cpu.labels(task.key.kind).observe(seconds)
        if seconds > SLOW:
            _LOG.info("the resource took %.2f s of CPU time", seconds, extra=logs.about(controller=task.controller, **_about(task.key)))

    def _put_aside(self, task: Task) -> None:
        """Lets a resource wait that needs too much CPU time, and reports it."""
        delay = self.queue.put_aside(task)
        self._metrics.put_aside.labels(task.key.kind).inc()
        limit = f"more than {self.budget.limit:g} s of CPU time"
        message = f"needs {limit}, so it is put aside for {delay:.0f} s; divide it, or remove what it does not need"
        _LOG.warning("the resource %s", message, extra=logs.about(controller=task.controller, **_about(task.key)))
        self._controllers[task.controller].report_put_aside(task.key, message)


def _about(key: ObjectKey) -> dict[str, str]:
    return {"kind": key.kind, "namespace": key.namespace, "name": key.name}
