"""The observations of all workloads and pods, found by key, by PodCliqueSet and by graph, and the graphs that list them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.status import observe

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource
    from krm_fn.status.observe import Observation
    from krm_fn.status.subject import Subject


class Children:
    """An index of observations."""

    def __init__(self, observations: Iterable[Observation] = ()) -> None:
        self._all: dict[ObjectKey, Observation] = {}
        self._families: dict[tuple[str, str], dict[ObjectKey, Observation]] = {}
        self._lists: dict[ObjectKey, tuple[ObjectKey, ...]] = {}
        self._listing: dict[ObjectKey, dict[ObjectKey, None]] = {}
        for each in observations:
            self.put(each)

    @classmethod
    def of(cls, resources: Iterable[Resource], home: str = "") -> Children:
        """The observations of those resources whose kind has an observer. `home` is the namespace of resources without one."""
        return cls(each for resource in resources if (each := _observation(resource, home)))

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

    def alone(self, key: ObjectKey) -> Observation | None:
        """The observation of one object as it is, without its family. None if the object does not exist."""
        return self._all.get(key)

    def holder(self, workload: Observation) -> Observation | None:
        """The object with the pod templates of a workload: the workload itself, or another one of its family. None if it does not exist."""
        if workload.templates or not workload.family:
            return workload
        return next((each for each in self.family(workload.key.namespace, workload.family) if each.templates), None)

    def enlist(self, subject: Subject) -> None:
        """Remembers which workloads a graph lists, in place of those that it listed before."""
        self.delist(subject.key)
        if workloads := subject.workloads:
            self._lists[subject.key] = workloads
            for key in workloads:
                self._listing.setdefault(key, {})[subject.key] = None

    def delist(self, subject: ObjectKey) -> None:
        """Forgets the workloads of a graph."""
        for key in self._lists.pop(subject, ()):
            self._listing[key].pop(subject, None)
            if not self._listing[key]:
                del self._listing[key]

    def listed_by(self, workload: ObjectKey) -> tuple[ObjectKey, ...]:
        """The graphs whose annotation names a workload. Two of them would be a mistake."""
        return tuple(self._listing.get(workload, ()))


def _observation(resource: Resource, home: str) -> Observation | None:
    address = results.ref(resource)
    observer = observe.find(address.api_version.rpartition("/")[0], address.kind)
    if observer is None:
        return None
    found = observer.observe(resource)
    return found if found.key.namespace else found._replace(key=found.key._replace(namespace=home))
