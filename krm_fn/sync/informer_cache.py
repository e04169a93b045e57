"""Caches all objects that the syncer watches, and finds the Dynamo resources that a change of an object affects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krm_fn.kube.identity import DYNAMO_GROUP, ObjectKey
from krm_fn.status.base_model_index import BaseModelIndex
from krm_fn.status.cached_object import GRAPH, CachedObject
from krm_fn.status.device_index import CachedClaim
from krm_fn.status.replica_status import ReplicaStatus
from krm_fn.status.workload_index import WorkloadIndex
from krm_fn.sync.api_resources import ApiResource
from krm_fn.sync.informer import Store
from krm_fn.sync.stored_objects import StoredObject

_GROVE = "grove.io"


class InformerCache:
    """The stores of all kinds, and the indexes that lead from an object to the resources whose status depends on it."""

    def __init__(self) -> None:
        self.stores: dict[tuple[str, str], Store[Any]] = {}
        self.workloads = WorkloadIndex(find=self._replica_status)
        self.base_models = BaseModelIndex()
        self._members: dict[ObjectKey, dict[ObjectKey, None]] = {}

    def store(self, kind: ApiResource) -> Store[Any]:
        """Returns the store of a kind."""
        return self.stores.setdefault((kind.group, kind.kind), Store(kind.kind))

    def entry(self, key: ObjectKey) -> StoredObject[Any] | None:
        """Returns an object with its uid and resourceVersion; None if it does not exist."""
        store = self.stores.get((key.group, key.kind))
        return None if store is None else store.entry(key)

    def cached_object(self, key: ObjectKey) -> CachedObject | None:
        """Returns a graph, a component or a scaling adapter; None if it does not exist."""
        entry = self.entry(key)
        return entry.value if entry is not None and isinstance(entry.value, CachedObject) else None

    def graph(self, namespace: str, name: str) -> CachedObject | None:
        """Returns a graph; None if it does not exist."""
        return self.cached_object(graph_key(namespace, name))

    def _replica_status(self, key: ObjectKey) -> ReplicaStatus | None:
        entry = self.entry(key)
        return entry.value if entry is not None and isinstance(entry.value, ReplicaStatus) else None

    def members(self, graph: ObjectKey) -> list[CachedObject]:
        """Returns the components and scaling adapters of a graph."""
        return [member for key in self._members.get(graph, ()) if (member := self.cached_object(key))]

    def update_indexes(self, key: ObjectKey, before: Any, after: Any) -> set[ObjectKey]:
        """Updates the indexes after a change of an object. Returns the Dynamo resources whose status may change with it."""
        keys = self._affected(key, before) | self.base_models.update(key, before, after)
        self._index(key, before, after)
        return keys | self._affected(key, after)

    def _affected(self, key: ObjectKey, value: Any) -> set[ObjectKey]:
        if isinstance(value, ReplicaStatus):
            listing = {*self.workloads.listed_by(key), *self._family(value)}
            return {*listing, *(member for graph in listing for member in self._members.get(graph, ()))}
        if isinstance(value, CachedObject):
            return {key, *self._related(value)}
        if isinstance(value, CachedClaim):
            users = self.workloads.claims.users(key)
            return {*users, *(member for graph in users for member in self._members.get(graph, ()))}
        return set()

    def _related(self, cached: CachedObject) -> Iterator[ObjectKey]:
        """Yields the members of a graph and the graphs that list the same workloads, or the graph of a member."""
        if cached.graph:
            yield graph_key(cached.key.namespace, cached.graph)
        for workload in cached.workloads:
            yield from self.workloads.listed_by(workload)
        yield from self._members.get(cached.key, ())

    def _family(self, status: ReplicaStatus) -> Iterator[ObjectKey]:
        """Yields the graph of a pod, or the graphs of a PodCliqueSet.

        A PodCliqueSet has the name of its graph unless that is too long for Grove. Then its graph lists other objects of the set.
        """
        if not status.family:
            return
        key = graph_key(status.key.namespace, status.family)
        if key in self.stores.get(key[:2], ()):
            yield key
        elif status.key.group == _GROVE:
            for other in self.workloads.family_keys(status.key.namespace, status.family):
                yield from self.workloads.listed_by(other)

    def _index(self, key: ObjectKey, before: Any, after: Any) -> None:
        if isinstance(before, CachedObject):
            self._remove(before)
        if isinstance(after, CachedObject):
            self._add(after)
        elif isinstance(after, ReplicaStatus) or isinstance(before, ReplicaStatus):
            self.workloads.update(before, after)
        elif isinstance(after, CachedClaim):
            self.workloads.claims.put(after)
        elif isinstance(before, CachedClaim):
            self.workloads.claims.drop(key)

    def _add(self, cached: CachedObject) -> None:
        if cached.graph:
            self._members.setdefault(graph_key(cached.key.namespace, cached.graph), {})[cached.key] = None
        else:
            self.workloads.put_graph(cached)

    def _remove(self, cached: CachedObject) -> None:
        graph = graph_key(cached.key.namespace, cached.graph)
        if cached.graph:
            members = self._members.get(graph, {})
            members.pop(cached.key, None)
            if not members:
                self._members.pop(graph, None)
        else:
            self.workloads.drop_graph(cached)


def graph_key(namespace: str, name: str) -> ObjectKey:
    """Returns the key of a graph."""
    return ObjectKey(DYNAMO_GROUP, GRAPH, namespace, name)
