"""Indexes the components and scaling adapters of each graph, and chooses the adapter of each component."""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render.dynamo_api import GROUP
from krm_fn.syncer.status import replica_scaling
from krm_fn.syncer.status.cached_object import ADAPTER, GRAPH, CachedObject


class _Membership(NamedTuple):
    """The graph and the component that a member belongs to."""

    graph: ObjectKey
    component: str
    deleted: bool


class MemberIndex:
    """An index of members by graph and component. It holds their keys only."""

    def __init__(self) -> None:
        self._members: dict[ObjectKey, dict[str, dict[ObjectKey, bool]]] = {}  # by graph, component and key: whether it is being deleted
        self._chosen: dict[tuple[ObjectKey, str], ObjectKey] = {}

    def keys(self, graph: ObjectKey) -> Iterator[ObjectKey]:
        """Yields the members of a graph."""
        return (key for members in self._members.get(graph, {}).values() for key in members)

    def adapter(self, graph: ObjectKey, component: str) -> ObjectKey | None:
        """Returns the adapter of a component: the first by `replica_scaling.adapter_rank`. None if it has none."""
        return self._chosen.get((graph, component))

    def update(self, key: ObjectKey, before: CachedObject | None, after: CachedObject | None) -> set[ObjectKey]:
        """Updates the index after a change of a member. Returns the adapters of a component that has another adapter now."""
        old, new = _membership(before), _membership(after)
        if old == new:
            return set()
        chosen = {place[:2]: self.adapter(*place[:2]) for place in (old, new) if place}
        if old:
            self._remove(key, old)
        if new:
            self._add(key, new)
        changed = [place for place, first in chosen.items() if self.adapter(*place) != first]
        return {other for graph, component in changed for other in self._adapters(graph, component)}

    def _add(self, key: ObjectKey, place: _Membership) -> None:
        self._members.setdefault(place.graph, {}).setdefault(place.component, {})[key] = place.deleted
        if key.kind == ADAPTER and not place.deleted:
            first = self._chosen.get(place[:2])
            if first is None or replica_scaling.adapter_rank(key.name, *place[:2]) < replica_scaling.adapter_rank(first.name, *place[:2]):
                self._chosen[place[:2]] = key

    def _remove(self, key: ObjectKey, place: _Membership) -> None:
        components = self._members[place.graph]
        del components[place.component][key]
        if self._chosen.get(place[:2]) == key:
            del self._chosen[place[:2]]
            others = [other for other in self._adapters(*place[:2]) if not components[place.component][other]]
            if others:
                self._chosen[place[:2]] = min(others, key=lambda other: replica_scaling.adapter_rank(other.name, *place[:2]))
        if not components[place.component]:
            del components[place.component]
        if not components:
            del self._members[place.graph]

    def _adapters(self, graph: ObjectKey, component: str) -> Iterator[ObjectKey]:
        return (key for key in self._members.get(graph, {}).get(component, ()) if key.kind == ADAPTER)


def _membership(member: CachedObject | None) -> _Membership | None:
    if member is None or not member.graph:
        return None
    return _Membership(ObjectKey(GROUP, GRAPH, member.key.namespace, member.graph), member.component, member.deleted)
