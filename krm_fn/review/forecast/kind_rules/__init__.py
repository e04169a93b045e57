"""The rules of a forecast by kind: each file `<kind>_rules.py` forecasts the objects of a kind with its function `forecast`.

`default_rules` has the rules of all other kinds.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from krm_fn import registry
from krm_fn.kube import identity, labels, values
from krm_fn.records import NamedTuple
from krm_fn.review.forecast.forecast_types import Service

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource
    from krm_fn.provenance.object_changes import ObjectChange
    from krm_fn.results import Path, Result
    from krm_fn.review.forecast.forecast_types import Effect
    from krm_fn.review.forecast.rollout import Rollout, Steps

_DEFAULT = "default_rules"
MOST = 5000
"""The largest number of units that a simulation runs. A larger one in a file must not keep a review from ending."""


class ClusterState(NamedTuple):
    """The state of the cluster beside one object. `old` and `new` are the replicas that scaling adapters have for services in both states.

    `readers` are the services whose pods read a ConfigMap or a Secret, by the key of the object. `managed` are the objects whose
    replicas something in the cluster owns.
    """

    old: Mapping[Service, int]
    new: Mapping[Service, int]
    readers: Mapping[ObjectKey, tuple[Service, ...]]
    managed: frozenset[ObjectKey] = frozenset()


class KindForecast(NamedTuple):
    """The forecast for one object without its GPUs, and its rollouts, each with the service whose pods it has.

    `findings` are those of its kind. If the effect is `refused` and no error is among them, an API server refuses the change.
    """

    effect: Effect
    services: tuple[Service, ...] = ()
    restarting: tuple[Service, ...] = ()
    causes: tuple[Path, ...] = ()
    rollouts: tuple[Rollout, ...] = ()
    findings: tuple[Result, ...] = ()


class Choice(NamedTuple):
    """Other steps of a rollout, which take fewer GPUs: the words that ask for them, and what they cost."""

    steps: Steps
    words: str
    cost: str


def get(key: ObjectKey) -> Callable[[ObjectChange, ClusterState], KindForecast]:
    """The function that forecasts a change of an object."""
    rule: Callable[[ObjectChange, ClusterState], KindForecast] = _entry(key).forecast
    return rule


def choices(key: ObjectKey, replicas: int) -> tuple[Choice, ...]:
    """The other steps that a user can choose for a kind, the cheapest first; empty if the kind has none."""
    function: Callable[[int], tuple[Choice, ...]] | None = getattr(_entry(key), "choices", None)
    return function(replicas) if function else ()


def _entry(key: ObjectKey) -> Any:
    """The module of a kind, or that of all others."""
    package = sys.modules[__name__]
    name = f"{key.kind.lower()}_rules"
    known = name != _DEFAULT and name in registry.entries(package)
    entry = registry.get(package, name if known else _DEFAULT)
    return registry.get(package, _DEFAULT) if known and key.group != entry.GROUP else entry


def service(metadata: Any, namespace: str) -> Service | None:
    """The service that the labels of an object or a pod name; None if they name none. A component without a graph names its pods only."""
    marks = values.mapping(metadata, "labels")
    name = marks.get(labels.COMPONENT) or marks.get(labels.SELECTOR)
    return Service(namespace, f"{marks.get(labels.GRAPH) or ''}", name) if isinstance(name, str) else None


def service_of(change: ObjectChange) -> Service | None:
    """The service of a workload: that of its labels, or the component without a graph that owns it."""
    metadata = values.mapping((change.new or change.old or {}).get("metadata"))
    kind, _, name = f"{values.mapping(metadata.get('annotations')).get(labels.OWNER)}".partition("/")
    alone = Service(change.key.namespace, "", name) if kind == identity.COMPONENT else None
    return service(metadata, change.key.namespace) or alone


def spec(resource: Resource | None) -> dict[str, Any]:
    """The spec of a resource; an empty object if there is none."""
    fields = (resource or {}).get("spec")
    return fields if isinstance(fields, dict) else {}


def simple(change: ObjectChange) -> Effect:
    """The effect of a change that needs no rule of its kind: the object is new, was removed, or is the same in both states."""
    return "created" if change.old is None else "deleted" if change.new is None else "same"


def differing(change: ObjectChange) -> tuple[Resource, Resource] | None:
    """Both states of an object that differ; None if `simple` has the effect."""
    return (change.old, change.new) if change.fields and change.old is not None and change.new is not None else None


def present(value: Any) -> dict[str, Any]:
    """The fields of an object that are not null."""
    return {name: entry for name, entry in values.mapping(value).items() if entry is not None}


def replicas(resource: Resource | None, adapters: Mapping[Service, int], owner: Service | None) -> int:
    """The replicas of an object: as written, else those of the scaling adapter of its service, else one. No object has none."""
    if resource is None:
        return 0
    return number(spec(resource).get("replicas"), adapters.get(owner, 1) if owner else 1)


def number(value: Any, default: int) -> int:
    """A number of replicas, or the default if the field is missing. Larger numbers than any cluster runs count as `MOST`."""
    return max(0, min(value, MOST)) if isinstance(value, int) else default
