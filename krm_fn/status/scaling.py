"""The replicas that the syncer writes to the subresource `scale` of workloads.

A scaling adapter sets the replicas of one service. Without an adapter, Git sets them. Grove reads a number from its PodCliqueSet only when
it creates an object, so the numbers in the annotation `workloads` are written to its objects (reference: reconcileGroveScaling).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import names
from krm_fn.records import NamedTuple
from krm_fn.status import fields, observe
from krm_fn.status.subject import workload

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.status.children import Children
    from krm_fn.status.features import Features
    from krm_fn.status.observe import Observation
    from krm_fn.status.subject import Subject
    from krm_fn.workload_list import Entry


class Order(NamedTuple):
    """A number to write: the workload `key` of `service` has `was` replicas in its spec and gets `replicas`.

    `adapter` is the scaling adapter that asks for it. It is None if the annotation of the graph asks.
    """

    key: ObjectKey
    service: str
    replicas: int
    was: int
    adapter: ObjectKey | None = None


def orders(graph: Subject, adapters: Mapping[str, Subject], children: Children, features: Features) -> list[Order]:
    """What is to be written now for a graph. `adapters` has the scaling adapter of each service that has one.

    A graph gets no orders if another graph lists one of its workloads, because the two would scale it in turn.
    """
    if graph.deleted or contested(graph, children):
        return []
    found = (_order(graph, entry, adapters.get(entry.service), children, features) for entry in graph.entries or ())
    return [each for each in found if each]


def _order(graph: Subject, entry: Entry, adapter: Subject | None, children: Children, features: Features) -> Order | None:
    """The order for one workload. None if its number is right, or if the syncer must not change it."""
    own = children.get(workload(entry, graph.key.namespace))
    least = smallest(entry, own)
    if own is None or least is None:
        return None
    if entry.replicas is not None:
        asking, replicas = None, entry.replicas if features.grove_counts and observe.get(own.key.kind).scaled_by_syncer else None
    else:
        asking, replicas = (adapter.key, adapter.replicas) if features.scaling and adapter and not adapter.deleted else (None, None)
    if replicas is None or replicas == own.desired or not least <= replicas <= fields.LIMIT:
        return None
    return Order(own.key, entry.service, replicas, own.desired, asking)


def contested(graph: Subject, children: Children) -> bool:
    """True if another graph lists one of the workloads, too."""
    return any(other != graph.key for each in graph.workloads for other in children.listed_by(each))


def smallest(entry: Entry, own: Observation | None = None) -> int | None:
    """The smallest number of replicas that a workload may get. None if only Git can change the number, or the kind is not known.

    `own` is the workload itself, if it exists.
    """
    observer = observe.find(entry.api_version.rpartition("/")[0], entry.kind)
    if observer is None or (observer.scaled_by_adapters_only and entry.replicas is not None):
        return None
    least = observer.least_replicas
    return least if least is None or own is None else max(least, own.least)


def chosen(adapters: Iterable[Subject]) -> dict[str, Subject]:
    """The adapter of each service of one graph. Of several, the one with the name that a render gives is chosen, or the first by name."""
    found: dict[str, Subject] = {}
    for each in sorted(adapters, key=lambda each: (each.key.name != names.component(each.graph, each.service), each.key.name)):
        if not each.deleted:
            found.setdefault(each.service, each)
    return found


def told(graph: Subject, adapters: Mapping[str, Subject]) -> dict[str, int]:
    """The numbers of adapters that differ from those in their graph, by service, if the graph has a planner.

    The planner takes the number in the graph for the present one (reference: the adapter's controller writes it there).
    """
    if graph.deleted:
        return {}
    autoscaled = {entry.service for entry in graph.entries or () if entry.replicas is None}
    scaled = ((each, adapters[each.name].replicas) for each in graph.planned if each.name in autoscaled and each.name in adapters)
    return {each.name: replicas for each, replicas in scaled if replicas is not None and replicas != each.replicas}
