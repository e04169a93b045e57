"""The observations of all workloads and pods, found by key, by PodCliqueSet and by graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.status import observe

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource
    from krm_fn.status.observe import Observation


class Children:
    """An index of observations."""

    def __init__(self, observations: Iterable[Observation] = ()) -> None:
        self._all: dict[ObjectKey, Observation] = {}
        self._families: dict[tuple[str, str], dict[ObjectKey, Observation]] = {}
        for each in observations:
            self.put(each)

    @classmethod
    def of(cls, resources: Iterable[Resource]) -> Children:
        """The observations of those resources whose kind has an observer."""
        raise NotImplementedError

    def put(self, observation: Observation) -> Observation | None:
        """Adds or replaces an observation; returns the one that it replaces."""
        before = self.drop(observation.key)
        self._all[observation.key] = observation
        if observation.family:
            self._families.setdefault((observation.key.namespace, observation.family), {})[observation.key] = observation
        return before

    def drop(self, key: ObjectKey) -> Observation | None:
        """Removes an observation; returns it, or None if there was none."""
        before = self._all.pop(key, None)
        if before is not None and before.family:
            place = (key.namespace, before.family)
            del self._families[place][key]
            if not self._families[place]:
                del self._families[place]
        return before

    def family(self, namespace: str, name: str) -> list[Observation]:
        """Grove's objects of one PodCliqueSet, and the pods of the graph of that name."""
        return list(self._families.get((namespace, name), {}).values())

    def get(self, key: ObjectKey) -> Observation | None:
        """The observation of one object, judged together with its family. None if the object does not exist."""
        own = self._all.get(key)
        if own is None or not own.family:
            return own
        return observe.get(key.kind).judge(own, self.family(key.namespace, own.family))
