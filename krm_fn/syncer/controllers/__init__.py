"""Controllers: each class reconciles the resources of one Dynamo kind for one feature (controller-runtime: Reconciler).

Each module has the controllers of one feature in `CONTROLLERS`, by name. A controller reads the cache, computes the desired state, and
writes the difference. `reconcile` gets the key of a resource and no event, so a missed or repeated event changes nothing.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, ClassVar, NamedTuple

from krm_fn.base import registry
from krm_fn.cluster import logs
from krm_fn.cluster.api_resources import SERVED, ApiResource
from krm_fn.cluster.object_store import StoredObject
from krm_fn.kubernetes import device_claims
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, labels
from krm_fn.render.config import Config
from krm_fn.render.dynamo_api import GROUP
from krm_fn.syncer.cpu_budget import CpuBudget
from krm_fn.syncer.event_recorder import NORMAL, WARNING, EventRecorder
from krm_fn.syncer.informer_cache import InformerCache
from krm_fn.syncer.loader.lora_loader import LoraLoader
from krm_fn.syncer.status import SyncFeatures, cached_object, conditions, device_index, graph_status, replica_status, service_index
from krm_fn.syncer.status.cached_object import CachedObject
from krm_fn.syncer.status.replica_scaling import ScaleRequest
from krm_fn.syncer.status.replica_status import StatusReader
from krm_fn.syncer.writer import Writer, WriteResult

_LOG = logging.getLogger(__name__)


class ObjectEvent(NamedTuple):
    """A change of one object. `before` is None for a new object, `after` for a deleted one.

    `affected` are the Dynamo resources whose status may change with it.
    """

    key: ObjectKey
    before: Any
    after: Any
    affected: frozenset[ObjectKey]


class Watch(NamedTuple):
    """A kind to watch, and the projection of an object that the cache stores."""

    kind: ApiResource
    project: Callable[[Resource], Any]


class ControllerContext(NamedTuple):
    """The parts of the syncer that controllers use.

    `update_cache(kind, resource, by)` stores the object in the answer to a write, and enqueues it for all controllers but `by`. `config` is
    the configuration of graphs that are rendered here. `namespace_problem(request_namespace, namespace, field)` explains why the graph of a
    request may not go into a namespace, which `field` of the request names; empty if the namespace is allowed. `served(kind)` is the
    version of a kind on the server. `budget` limits the CPU time of computations in threads.
    """

    cache: InformerCache
    writer: Writer
    events: EventRecorder
    features: SyncFeatures
    update_cache: Callable[[ApiResource, Resource, Controller], None]
    config: Config
    namespace_problem: Callable[[str, str, str], str]
    served: Callable[[ApiResource], str]
    budget: CpuBudget
    loras: LoraLoader | None = None
    """None without the feature `loras`."""


class Controller:
    """A controller with the default hooks."""

    kind: ClassVar[ApiResource]
    """The kind of the resources that it reconciles."""
    counted: ClassVar[bool] = False
    """True for the one controller of a kind that reports the states of its resources to the metrics."""

    def __init__(self, context: ControllerContext) -> None:
        self.context = context

    @classmethod
    def is_enabled(cls, features: SyncFeatures) -> bool:  # noqa: ARG003 - a hook's neutral answer needs no features
        """Returns True if this controller has work with these features."""
        return True

    @classmethod
    def watches(cls, features: SyncFeatures) -> Iterable[Watch]:
        """Returns the kinds that it reads. By default: its own kind, graphs, and all workloads."""
        return (dynamo_watch(cls.kind), dynamo_watch(GRAPHS), *workload_watches(features))

    def requests_for(self, event: ObjectEvent) -> Iterable[ObjectKey]:
        """Returns the resources to reconcile after an event. By default: those of its own kind that the event affects."""
        return (key for key in event.affected if (key.group, key.kind) == (self.kind.group, self.kind.kind))

    def expendable(self, value: Any) -> tuple[str, ...]:
        """Returns the fields of the status of a resource that are left out if the server finds it too large."""
        return ()

    def state(self, value: Any) -> str:
        """Returns the state of a resource in the metrics."""
        return ""

    async def reconcile(self, key: ObjectKey) -> float | None:
        """Reconciles one resource. Returns the seconds until the next reconcile; None if only an event can require it.

        Raises Retry. Any other exception is a bug, and the resource is tried again, too.
        """
        raise NotImplementedError

    async def write_status(self, key: ObjectKey, entry: StoredObject[Any], desired: dict[str, Any]) -> WriteResult | None:
        """Writes the status of a resource if it differs from the stored one; None if it does not. Raises Retry."""
        patch = conditions.patch(entry.value.status, desired)
        if patch is None:
            self.context.writer.count_unchanged(self.kind)
            return None
        result = await self.context.writer.status(self.kind, key, entry, patch, self.expendable(entry.value))
        if result.resource is not None:
            self.context.update_cache(self.kind, result.resource, self)
        return result

    def record_event(self, entry: StoredObject[Any], reason: str, message: str, *, warning: bool = False) -> None:
        """Records an event about a resource, and logs its message."""
        key = entry.value.key
        self.context.events.record(self.kind, key, entry.uid, WARNING if warning else NORMAL, reason, message)
        _LOG.log(logging.WARNING if warning else logging.INFO, "%s", message, extra=logs.about(namespace=key.namespace, name=key.name))

    def report_put_aside(self, key: ObjectKey, message: str) -> None:
        """Records that a resource waits because it needs too much CPU time."""
        entry = self.context.cache.entry(key)
        if entry is not None:
            self.context.events.record(self.kind, key, entry.uid, WARNING, PUT_ASIDE, f"{key.kind} {key.name} {message}")

    async def scale(self, request: ScaleRequest) -> WriteResult:
        """Writes the replicas of a workload. Raises Retry."""
        kind = workload_kind(replica_status.get(request.key.kind))
        return await self.context.writer.scale(kind, request.key, request.replicas)

    def next_reconcile(self, result: WriteResult | None, owner: CachedObject, now: str) -> float | None:
        """Returns the seconds until the next reconcile, after `write_status`. With the feature `pods`, a status also changes by time.

        `owner` is the resource with the annotation `workloads`.
        """
        if result is not None and result.pause is not None:
            return result.pause
        features = self.context.features
        return graph_status.recheck(owner, self.context.cache.workloads, now, features) if features.pods else None


def dynamo_kind(kind: str) -> ApiResource:
    """Returns one of Dynamo's kinds, in the version that the server serves."""
    return ApiResource(GROUP, SERVED, f"{kind.lower()}s", kind)


def dynamo_watch(kind: ApiResource) -> Watch:
    """Watches graphs, components or scaling adapters."""
    return Watch(kind, cached_object.read)


def workload_watches(features: SyncFeatures) -> Iterable[Watch]:
    """Watches the kinds that have a status reader, if the feature of the reader is on."""
    for name in replica_status.kinds():
        reader = replica_status.get(name)
        for selector in reader.selectors(features):
            yield Watch(workload_kind(reader, selector), reader.read_cached)


def claim_watches(features: SyncFeatures) -> Iterable[Watch]:
    """Watches claims of devices and their classes, if the feature is on."""
    for kind in device_index.KINDS if features.device_claims else ():
        resource = "deviceclasses" if kind == device_claims.CLASS else f"{kind.lower()}s"
        watched = ApiResource(device_claims.GROUP, "v1", resource, kind, namespaced=kind != device_claims.CLASS)
        yield Watch(watched, partial(device_index.read, kind))


def service_watches(features: SyncFeatures) -> Iterable[Watch]:
    """Watches the Services of components, if the feature is on."""
    if features.services:
        yield Watch(ApiResource("", "v1", "services", service_index.KIND, labels.NAMESPACE), service_index.read)


def workload_kind(reader: StatusReader, selector: str | None = None) -> ApiResource:
    """Returns the kind of a status reader, with one of its selectors; by default the first."""
    label_selector = reader.label_selectors[0] if selector is None else selector
    return ApiResource(reader.group, reader.version, reader.resource, reader.kind, label_selector)


GRAPHS = dynamo_kind(cached_object.GRAPH)
COMPONENTS = dynamo_kind(cached_object.COMPONENT)
ADAPTERS = dynamo_kind(cached_object.ADAPTER)
REQUESTS = dynamo_kind(dynamo_api.REQUEST)
PUT_ASIDE = "PutAside"
"""The reason of the event about a resource that needs too much CPU time."""
UNMANAGED = "unmanaged"
"""The state of a resource that no render wrote, in the metrics."""


def enabled_controllers(features: SyncFeatures) -> dict[str, type[Controller]]:
    """Returns the controllers that have work, by name."""
    package = sys.modules[__name__]
    controllers: dict[str, type[Controller]] = {}
    for module in registry.entries(package):
        controllers |= registry.get(package, module).CONTROLLERS
    return {name: controller for name, controller in sorted(controllers.items()) if controller.is_enabled(features)}


def watched_kinds(features: SyncFeatures) -> list[ApiResource]:
    """Returns the kinds that the enabled controllers watch, each once."""
    watches = (watch for controller in enabled_controllers(features).values() for watch in controller.watches(features))
    return list(dict.fromkeys(watch.kind for watch in watches))
