"""The controllers: each file here keeps one thing true for one Dynamo kind, and its `CONTROLLER` is the class that does it.

A controller reads the cache only, computes what must hold, and lets the writer write the difference. It sees no event, so a missed or
repeated event changes nothing.
"""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from krm_fn import registry
from krm_fn.kube import identity
from krm_fn.kube.identity import DYNAMO_GROUP
from krm_fn.status import changes, graph, observe, subject
from krm_fn.sync import logs
from krm_fn.sync.events import NORMAL, WARNING
from krm_fn.sync.kinds import Kind
from krm_fn.sync.versions import SERVED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from krm_fn.config import Config
    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource
    from krm_fn.status.features import Features
    from krm_fn.status.scaling import Order
    from krm_fn.status.subject import Subject
    from krm_fn.sync.cache import Cache
    from krm_fn.sync.events import Events
    from krm_fn.sync.loras import Loras
    from krm_fn.sync.store import Entry
    from krm_fn.sync.writer import Outcome, Writer

_LOG = logging.getLogger(__name__)


class Change(NamedTuple):
    """A change of one object. None stands for an object that did not exist, or does not exist any more.

    `concerned` are the Dynamo resources whose status may change with it.
    """

    key: ObjectKey
    before: Any
    after: Any
    concerned: frozenset[ObjectKey]


class Follow(NamedTuple):
    """A kind to watch, and the projection to keep of each object."""

    kind: Kind
    project: Callable[[Resource], Any]


class World(NamedTuple):
    """What controllers work with.

    `learned(kind, resource, by)` puts the answer to a write into the cache; `by` is not called for it. `config` is the configuration of
    graphs that are rendered here. `outside(home, namespace, field)` says why the graph of a request in namespace `home` may not go into a
    namespace, which `field` of the request names, and what to do; empty if it may. `served(kind)` is the version of a kind on the server.
    """

    cache: Cache
    writer: Writer
    events: Events
    features: Features
    learned: Callable[[Kind, Resource, Controller], None]
    config: Config
    outside: Callable[[str, str, str], str]
    served: Callable[[Kind], str]
    loras: Loras | None = None
    """None without the feature `loras`."""


class Controller:
    """The hooks of one controller."""

    kind: ClassVar[Kind]
    """The kind of the resources that it works on."""
    counted: ClassVar[bool] = False
    """True for the one controller of a kind that tells the states of its resources to the metrics."""

    def __init__(self, world: World) -> None:
        self.world = world

    @classmethod
    def enabled(cls, features: Features) -> bool:  # noqa: ARG003 - a hook's neutral answer looks at nothing
        """True if this controller has work with these features."""
        return True

    @classmethod
    def follows(cls, features: Features) -> Iterable[Follow]:
        """The kinds that it reads. By default: its own kind, graphs, and all workloads."""
        return (dynamo(cls.kind), dynamo(GRAPHS), *workloads(features))

    def keys(self, change: Change) -> Iterable[ObjectKey]:
        """The resources to work on after a change. By default: those of its own kind that the change concerns."""
        return (key for key in change.concerned if (key.group, key.kind) == (self.kind.group, self.kind.kind))

    def expendable(self, value: Any) -> tuple[str, ...]:
        """The fields of the status of a resource that are left out if the server finds it too large."""
        return ()

    def state(self, value: Any) -> str:
        """The state of a resource in the metrics."""
        return ""

    async def reconcile(self, key: ObjectKey) -> float | None:
        """Makes one resource right. Returns the seconds after which it must be looked at again; None if only a change can require it.

        Raises Retry. Any other exception is a bug, and the resource is tried again, too.
        """
        raise NotImplementedError

    async def publish(self, key: ObjectKey, entry: Entry[Any], desired: dict[str, Any]) -> Outcome | None:
        """Writes the status of a subject if it differs from the stored one; None if it does not. Raises Retry."""
        patch = changes.patch(entry.value.status, desired)
        if patch is None:
            self.world.writer.unchanged(self.kind)
            return None
        outcome = await self.world.writer.status(self.kind, key, entry, patch, self.expendable(entry.value))
        if outcome.resource is not None:
            self.world.learned(self.kind, outcome.resource, self)
        return outcome

    def report(self, about: Entry[Any], reason: str, message: str, *, warning: bool = False) -> None:
        """Tells people about something that happened to a resource, as an event and as a line of the log."""
        key = about.value.key
        self.world.events.tell(self.kind, key, about.uid, WARNING if warning else NORMAL, reason, message)
        _LOG.log(logging.WARNING if warning else logging.INFO, "%s", message, extra=logs.about(namespace=key.namespace, name=key.name))

    async def scale(self, order: Order) -> Outcome:
        """Writes the replicas of a workload. Raises Retry."""
        return await self.world.writer.scale(workload_kind(observe.get(order.key.kind)), order.key, order.replicas)

    def pause(self, outcome: Outcome | None, lists: Subject, now: str) -> float | None:
        """What `reconcile` returns after `publish`. `lists` has the annotation `workloads`: with pods, a status also changes by time."""
        if outcome is not None and outcome.pause is not None:
            return outcome.pause
        features = self.world.features
        return graph.recheck(lists, self.world.cache.children, now, features) if features.pods else None


def dynamo_kind(kind: str) -> Kind:
    """One of Dynamo's kinds, in the version that the server serves."""
    return Kind(DYNAMO_GROUP, SERVED, f"{kind.lower()}s", kind)


def dynamo(kind: Kind) -> Follow:
    """Follows one of Dynamo's kinds, as subjects."""
    return Follow(kind, subject.read)


def workloads(features: Features) -> Iterable[Follow]:
    """Follows the kinds that an observer reads, if the feature of the observer is on."""
    for name in observe.names():
        observer = observe.get(name)
        for selector in observer.selectors(features):
            yield Follow(workload_kind(observer, selector), observer.observe)


def workload_kind(observer: observe.Observer, selector: str | None = None) -> Kind:
    """The kind of an observer, with one of its selectors; by default the first."""
    chosen = observer.label_selectors[0] if selector is None else selector
    return Kind(observer.group, observer.version, observer.resource, observer.kind, chosen)


GRAPHS = dynamo_kind(subject.GRAPH)
COMPONENTS = dynamo_kind(subject.COMPONENT)
ADAPTERS = dynamo_kind(subject.ADAPTER)
REQUESTS = dynamo_kind(identity.REQUEST)
UNMANAGED = "unmanaged"
"""The state of a resource that no render wrote, in the metrics."""


def every(features: Features) -> dict[str, type[Controller]]:
    """The controllers that have work, by the names of their files."""
    here = sys.modules[__name__]
    found: dict[str, type[Controller]] = {name: registry.get(here, name).CONTROLLER for name in registry.entries(here)}
    return {name: each for name, each in found.items() if each.enabled(features)}
