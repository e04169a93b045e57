"""Caches all objects that the syncer watches, and finds the Dynamo resources that a change of an object affects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from krm_fn.cluster.api_resources import ApiResource
from krm_fn.cluster.informer import Store
from krm_fn.cluster.object_store import StoredObject
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render.dynamo_api import GROUP
from krm_fn.syncer.packed_values import Packer
from krm_fn.syncer.status import replica_status
from krm_fn.syncer.status.base_model_index import BaseModelIndex
from krm_fn.syncer.status.cached_object import GRAPH, CachedObject
from krm_fn.syncer.status.device_index import CachedClaim
from krm_fn.syncer.status.member_index import MemberIndex
from krm_fn.syncer.status.replica_status import ReplicaStatus
from krm_fn.syncer.status.service_index import CachedService
from krm_fn.syncer.status.workload_index import WorkloadIndex

_GROVE = "grove.io"
_OF_GRAPH_ALONE: dict[str, Any] = {
    "generation": 0,
    "restart": None,
    "restart_by_syncer": False,
    "models": (),
    "request": None,
    "status": {},
    "status_by_syncer": False,
}
"""The fields of a graph on which no status of its components and adapters depends, with a value for comparisons without them."""


class InformerCache:
    """The stores of all kinds, and the indexes that lead from an object to the resources whose status depends on it."""

    def __init__(self) -> None:
        self.stores: dict[tuple[str, str], Store[Any]] = {}
        self.workloads = WorkloadIndex(find=self._replica_status)
        self.base_models = BaseModelIndex()
        self._members = MemberIndex()

    def store(self, kind: ApiResource) -> Store[Any]:
        """Returns the store of a kind."""
        return self.stores.setdefault((kind.group, kind.kind), Store(kind.kind, Packer()))

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
        return [member for key in self._members.keys(graph) if (member := self.cached_object(key))]

    def adapter(self, graph: ObjectKey, component: str) -> CachedObject | None:
        """Returns the scaling adapter of a component; None if it has none. Of several adapters, one is chosen by its name."""
        first = self._members.adapter(graph, component)
        return self.cached_object(first) if first else None

    def update_indexes(self, key: ObjectKey, before: Any, after: Any) -> set[ObjectKey]:
        """Updates the indexes after a change of an object. Returns the Dynamo resources whose status may change with it."""
        owner, only = _lasting_owner(before, after), _only_itself(key, before, after)
        keys = ({key} if only else self._affected_keys(key, before, owner)) | self.base_models.update(key, before, after)
        keys |= self._members.update(key, before, after) if only else self._index(key, before, after)
        return keys if only else keys | self._affected_keys(key, after, owner)

    def _affected_keys(self, key: ObjectKey, value: Any, owner: str) -> set[ObjectKey]:
        """Returns the resources whose status may change with an object. With `owner`, only those of this owner."""
        users: Iterable[ObjectKey] = ()
        if isinstance(value, CachedObject):
            return {key, *self._related_keys(value)}
        if isinstance(value, ReplicaStatus):
            users = {*self.workloads.listed_by(key), *self._family(value)}
            users = [user for user in users if not owner or replica_status.names_owner(owner, user)]
        elif isinstance(value, CachedClaim):
            users = self.workloads.claims.users(key)
        elif isinstance(value, CachedService):
            return {graph_key(key.namespace, value.graph)} if value.graph else set()
        return {*users, *(member for user in users for member in self._members.keys(user))}

    def _related_keys(self, cached: CachedObject) -> Iterator[ObjectKey]:
        """Yields the members of a graph, or the graph of a member."""
        if cached.graph:
            yield graph_key(cached.key.namespace, cached.graph)
        yield from self._members.keys(cached.key)

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

    def _index(self, key: ObjectKey, before: Any, after: Any) -> set[ObjectKey]:
        """Updates the indexes. Returns the adapters of a component that has another adapter now."""
        if isinstance(before, CachedObject) or isinstance(after, CachedObject):
            if before is not None and not before.graph:
                self.workloads.drop_graph(before)
            if after is not None and not after.graph:
                self.workloads.put_graph(after)
            return self._members.update(key, before, after)
        if isinstance(after, ReplicaStatus) or isinstance(before, ReplicaStatus):
            self.workloads.update(before, after)
        elif isinstance(after, CachedClaim):
            self.workloads.claims.put(after)
        elif isinstance(before, CachedClaim):
            self.workloads.claims.drop(key)
        elif isinstance(after, CachedService):
            self.workloads.services.put(after)
        elif isinstance(before, CachedService):
            self.workloads.services.drop(key)
        return set()


def _only_itself(key: ObjectKey, before: Any, after: Any) -> bool:
    """Returns True if a change of a graph concerns none of its members. Each status that is written is such a change."""
    if key.kind != GRAPH or not (isinstance(before, CachedObject) and isinstance(after, CachedObject)):
        return False
    return bool(before._replace(**_OF_GRAPH_ALONE) == after._replace(**_OF_GRAPH_ALONE))


def _lasting_owner(before: Any, after: Any) -> str:
    """Returns the owner of an object that it had before and has after a change. Whether it has an owner concerns all that list it."""
    both = isinstance(before, ReplicaStatus) and isinstance(after, ReplicaStatus)
    return str(before.owner) if both and before.owner == after.owner else ""


def graph_key(namespace: str, name: str) -> ObjectKey:
    """Returns the key of a graph."""
    return ObjectKey(GROUP, GRAPH, namespace, name)
