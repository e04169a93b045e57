"""All objects that the syncer knows, and which Dynamo resources an object concerns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube.identity import DYNAMO_GROUP, ObjectKey
from krm_fn.status.base_models import BaseModels
from krm_fn.status.children import Children
from krm_fn.status.observe import Observation
from krm_fn.status.subject import GRAPH, Subject
from krm_fn.sync.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.sync.kinds import Kind
    from krm_fn.sync.store import Entry


_GROVE = "grove.io"


class Cache:
    """The stores of all kinds, and the indexes that lead from an object to the resources whose status depends on it."""

    def __init__(self) -> None:
        self.stores: dict[tuple[str, str], Store[Any]] = {}
        self.children = Children()
        self.base_models = BaseModels()
        self._members: dict[ObjectKey, dict[ObjectKey, None]] = {}

    def store(self, kind: Kind) -> Store[Any]:
        """The store of a kind."""
        return self.stores.setdefault((kind.group, kind.kind), Store(kind.kind))

    def entry(self, key: ObjectKey) -> Entry[Any] | None:
        """An object with its uid and resourceVersion; None if it does not exist."""
        store = self.stores.get((key.group, key.kind))
        return None if store is None else store.entry(key)

    def subject(self, key: ObjectKey) -> Subject | None:
        """A Dynamo resource; None if it does not exist."""
        entry = self.entry(key)
        return entry.value if entry is not None and isinstance(entry.value, Subject) else None

    def graph(self, namespace: str, name: str) -> Subject | None:
        """A graph; None if it does not exist."""
        return self.subject(graph_key(namespace, name))

    def members(self, graph: ObjectKey) -> list[Subject]:
        """The components and scaling adapters of a graph."""
        return [found for key in self._members.get(graph, ()) if (found := self.subject(key))]

    def take(self, key: ObjectKey, before: Any, after: Any) -> set[ObjectKey]:
        """Updates the indexes after a change of an object. Returns the Dynamo resources whose status may change with it."""
        found = self._concerned(key, before) | self.base_models.take(key, before, after)
        self._index(key, before, after)
        return found | self._concerned(key, after)

    def _concerned(self, key: ObjectKey, value: Any) -> set[ObjectKey]:
        if isinstance(value, Observation):
            listing = {*self.children.listed_by(key), *self._family(value)}
            return {*listing, *(member for graph in listing for member in self._members.get(graph, ()))}
        if isinstance(value, Subject):
            return {key, *self._related(value)}
        return set()

    def _related(self, subject: Subject) -> Iterator[ObjectKey]:
        """The members of a graph and the graphs that list the same workloads, or the graph of a member."""
        if subject.graph:
            yield graph_key(subject.key.namespace, subject.graph)
        for workload in subject.workloads:
            yield from self.children.listed_by(workload)
        yield from self._members.get(subject.key, ())

    def _family(self, observation: Observation) -> Iterator[ObjectKey]:
        """The graph of a pod, or the graphs of a PodCliqueSet.

        A PodCliqueSet has the name of its graph unless that is too long for Grove. Then its graph lists other objects of the set.
        """
        if not observation.family:
            return
        key = graph_key(observation.key.namespace, observation.family)
        if self.subject(key):
            yield key
        elif observation.key.group == _GROVE:
            for other in self.children.family(observation.key.namespace, observation.family):
                yield from self.children.listed_by(other.key)

    def _index(self, key: ObjectKey, before: Any, after: Any) -> None:
        if isinstance(before, Subject):
            self._forget(before)
        if isinstance(after, Subject):
            self._remember(after)
        elif isinstance(after, Observation):
            self.children.put(after)
        elif isinstance(before, Observation):
            self.children.drop(key)

    def _remember(self, subject: Subject) -> None:
        if subject.graph:
            self._members.setdefault(graph_key(subject.key.namespace, subject.graph), {})[subject.key] = None
        else:
            self.children.enlist(subject)

    def _forget(self, subject: Subject) -> None:
        graph = graph_key(subject.key.namespace, subject.graph)
        if subject.graph:
            members = self._members.get(graph, {})
            members.pop(subject.key, None)
            if not members:
                self._members.pop(graph, None)
        else:
            self.children.delist(subject.key)


def graph_key(namespace: str, name: str) -> ObjectKey:
    """The key of a graph."""
    return ObjectKey(DYNAMO_GROUP, GRAPH, namespace, name)
