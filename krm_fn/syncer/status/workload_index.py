"""Indexes the replica statuses of workloads and pods by key, by PodCliqueSet and by graph, and the graphs that list them."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable

from krm_fn.base import results
from krm_fn.base.records import NamedTuple
from krm_fn.cluster.object_store import KeyMap
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels
from krm_fn.render.workload_list import WorkloadEntry
from krm_fn.syncer.status import component_workloads, device_index, replica_status, service_index
from krm_fn.syncer.status.cached_object import CachedObject, workload_key
from krm_fn.syncer.status.component_workloads import ComponentWorkloads
from krm_fn.syncer.status.device_index import DeviceIndex
from krm_fn.syncer.status.replica_status import ReplicaStatus, TemplateStatus, WorkloadFamily
from krm_fn.syncer.status.service_index import ServiceIndex

_CLIQUE_SET = ("grove.io", "PodCliqueSet")
_READ = 10_000
"""The most objects of families that are grouped at a time."""
_GRAPHS = 4
"""The most graphs whose components are read at a time."""


class _GraphComponents(NamedTuple):
    """The components of a graph that were read since the last change of the graph, or of any workload (`changes`)."""

    graph: CachedObject
    changes: int
    entries: dict[str, list[WorkloadEntry]]
    components: dict[str, ComponentWorkloads]


class WorkloadIndex:
    """An index of replica statuses. `claims` has the claims of devices that their pods use, and `services` the Services.

    `find(key)` returns a status that is stored elsewhere, for a caller that tells each change (`update`). Without it, the index holds the
    statuses that it gets (`put`, `drop`).
    """

    def __init__(self, statuses: Iterable[ReplicaStatus] = (), find: Callable[[ObjectKey], ReplicaStatus | None] | None = None) -> None:
        self.claims = DeviceIndex()
        self.services = ServiceIndex()
        self._all: dict[ObjectKey, ReplicaStatus] = {}
        self._find = find or self._all.get
        self._families: dict[tuple[str, str], dict[tuple[str, str, str], list[str]]] = {}  # only names, sorted: pods are many
        self._read: dict[tuple[str, str], WorkloadFamily] = {}  # families that were read since their last change
        self._changes = 0
        self._components: dict[ObjectKey, _GraphComponents] = {}
        self._listing: KeyMap[tuple[ObjectKey, ...] | dict[ObjectKey, None]] = KeyMap()  # hardly ever more than one graph
        for status in statuses:
            self.put(status)

    @classmethod
    def of(cls, resources: Iterable[Resource], default_namespace: str = "") -> WorkloadIndex:
        """Indexes those resources whose kind has a reader. `default_namespace` is that of resources without one."""
        listed = list(resources)
        index = cls(status for resource in listed if (status := _read(resource, default_namespace)))
        for resource in listed:
            if kind := device_index.kind_of(resource):
                index.claims.put(device_index.read(kind, resource, default_namespace))
            elif resource.get("kind") == service_index.KIND and resource.get("apiVersion") == "v1":
                index.services.put(service_index.read(resource, default_namespace))
        return index

    def put(self, status: ReplicaStatus) -> ReplicaStatus | None:
        """Adds or replaces a status; returns the one that it replaces."""
        before = self._all.get(status.key)
        self._all[status.key] = status
        self.update(before, status)
        return before

    def drop(self, key: ObjectKey) -> ReplicaStatus | None:
        """Removes a status; returns it, or None if there was none."""
        before = self._all.pop(key, None)
        self.update(before, None)
        return before

    def update(self, before: ReplicaStatus | None, after: ReplicaStatus | None) -> None:
        """Updates the families after a change of one object; None means that it does not exist."""
        self._changes += 1
        old, new = _family(before), _family(after)
        self._read.pop(old, None)
        self._read.pop(new, None)
        if old == new:
            return
        if before is not None and old in self._families:
            self._leave(old, before.key)
        if after is not None and after.family:
            kinds = self._families.setdefault(new, {})
            insort(kinds.setdefault(after.key[:3], []), after.key.name)

    def family_keys(self, namespace: str, name: str) -> list[ObjectKey]:
        """Returns the keys of Grove's objects of one PodCliqueSet, and of the pods of the graph of that name."""
        kinds = self._families.get((namespace, name), {})
        return [ObjectKey(*kind, member) for kind, members in kinds.items() for member in members]

    def family(self, namespace: str, name: str) -> WorkloadFamily:
        """Returns Grove's objects of one PodCliqueSet, and the pods of the graph of that name."""
        family = self._read.get((namespace, name))
        if family is None:
            family = WorkloadFamily(status for key in self.family_keys(namespace, name) if (status := self._find(key)))
            if sum(len(other.statuses) for other in self._read.values()) + len(family.statuses) > _READ:
                self._read.clear()
            self._read[namespace, name] = family
        return family

    def get(self, key: ObjectKey, service: str = "") -> ReplicaStatus | None:
        """Returns the status of one object, computed together with its family. None if the object does not exist.

        `service` is the one whose status is wanted, for an object that holds several.
        """
        status = self._find(key)
        if status is None or not status.family:
            return status
        return replica_status.get(key.kind).with_family(status, self.family(key.namespace, status.family), service)

    def single(self, key: ObjectKey) -> ReplicaStatus | None:
        """Returns the status of one object as it is, without its family. None if the object does not exist."""
        return self._find(key)

    def owned_status(self, key: ObjectKey, owner: ObjectKey) -> ReplicaStatus | None:
        """Returns the status of one object, if its annotation or its label names `owner`: only then may the syncer change it."""
        return self.get(key) if replica_status.names_owner(self.owner(key), owner) else None

    def scale_target(self, key: ObjectKey, owner: ObjectKey, service: str) -> ReplicaStatus | None:
        """Returns the object with the replicas that an adapter of a service sets, if the workload `key` belongs to `owner`."""
        status = self.owned_status(key, owner)
        if status is None or not status.family:
            return status
        return replica_status.get(key.kind).scale_target(status, self.family(key.namespace, status.family), service)

    def of_owner(self, key: ObjectKey, owner: ObjectKey, service: str = "") -> ReplicaStatus | None:
        """Returns the status of one object, as `get`, that does not name another owner. It may name none."""
        written = self.owner(key)
        return self.get(key, service) if not written or replica_status.names_owner(written, owner) else None

    def component(self, graph: CachedObject, name: str) -> ComponentWorkloads:
        """Returns the workloads of a component. They are read once until the graph or a workload changes."""
        known = self._components.get(graph.key)
        if known is None or known.graph is not graph or known.changes != self._changes:
            known = _GraphComponents(graph, self._changes, graph.entries_by_service(), {})
            self._components.pop(graph.key, None)
            self._components[graph.key] = known
            if len(self._components) > _GRAPHS:
                del self._components[next(iter(self._components))]
        if name not in known.components:
            entries = known.entries.get(name, [])
            keys = [workload_key(entry, graph.key.namespace) for entry in entries]
            statuses = [self._replica_holder(entry, key, graph.key) for entry, key in zip(entries, keys, strict=True)]
            known.components[name] = component_workloads.read(entries, statuses, self.foreign(keys, graph.key))
        return known.components[name]

    def _replica_holder(self, entry: WorkloadEntry, key: ObjectKey, owner: ObjectKey) -> ReplicaStatus | None:
        """Returns the object with the replicas of a workload that does not name another owner."""
        status = self.of_owner(key, owner, entry.service)
        if entry.replicas is None and status is not None and status.family and not self.foreign([key], owner):
            return self.scale_target(key, owner, entry.service)
        return status

    def foreign(self, keys: Iterable[ObjectKey], owner: ObjectKey) -> str:
        """Explains that one of some objects exists and does not belong to `owner`; empty if none does."""
        for key in keys:
            if self._find(key) is not None and not replica_status.names_owner(written := self.owner(key), owner):
                other = " ".join(written.split("/", 1)) or f"no graph, by its annotation {labels.OWNER} and its label {labels.GRAPH}"
                rule = "so krm-fn sync does not change it"
                return f"{key.kind} {key.name} belongs to {other}, {rule}; render {owner.kind} {owner.name} again"
        return ""

    def owner(self, key: ObjectKey) -> str:
        """Returns the owner of one object; empty if it names none. For an object that Grove made, it is that of its PodCliqueSet."""
        status = self._find(key)
        if status is not None and status.family and not status.owner:
            status = self._find(ObjectKey(*_CLIQUE_SET, key.namespace, status.family))
        return status.owner if status is not None else ""

    def templates(self, workload: ReplicaStatus, service: str) -> tuple[ReplicaStatus | None, list[TemplateStatus]]:
        """Finds the pod templates of a service in a workload, or in another object of its family. Returns this object and the templates.

        The object is None if it does not exist.
        """
        if workload.templates or not workload.family:
            return workload, [template for template in workload.templates if template.serves(service)]
        family = self.family(workload.key.namespace, workload.family)
        return family.holder, family.templates(service)

    def put_graph(self, graph: CachedObject, before: CachedObject | None = None) -> None:
        """Records which workloads a graph lists, in place of those that it listed before."""
        if before is not None:
            self.drop_graph(before)
        self.claims.put_graph(graph)
        alone = (graph.key,)  # in memory once
        for key in graph.workloads:
            others = self._listing.get(key, ())
            if isinstance(others, dict):
                others[graph.key] = None
            elif graph.key not in others:
                self._listing[key] = dict.fromkeys((*others, graph.key)) if others else alone

    def drop_graph(self, graph: CachedObject) -> None:
        """Forgets the workloads and the claims of a graph."""
        self.claims.drop_graph(graph.key)
        for key in graph.workloads:
            others = self._listing.get(key, ())
            if isinstance(others, dict) and len(others) > 1:
                others.pop(graph.key, None)
            elif graph.key in others:
                del self._listing[key]

    def listed_by(self, workload: ObjectKey) -> tuple[ObjectKey, ...]:
        """Returns the graphs whose annotation lists a workload. It belongs to one of them at most."""
        return tuple(self._listing.get(workload, ()))

    def _leave(self, family: tuple[str, str], key: ObjectKey) -> None:
        kinds = self._families[family]
        names = kinds[key[:3]]
        del names[bisect_left(names, key.name)]
        if not names:
            del kinds[key[:3]]
        if not kinds:
            del self._families[family]


def _family(status: ReplicaStatus | None) -> tuple[str, str]:
    return (status.key.namespace, status.family) if status is not None else ("", "")


def _read(resource: Resource, default_namespace: str) -> ReplicaStatus | None:
    ref = results.ref(resource)
    reader = replica_status.find(ref.api_version.rpartition("/")[0], ref.kind)
    if reader is None:
        return None
    status = reader.read(resource)
    return status if status.key.namespace else status._replace(key=status.key._replace(namespace=default_namespace))
