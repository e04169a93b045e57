"""Workloads with the largest number of replicas that their autoscalers may set."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence

from krm_fn.kubernetes import references
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, dynamo_references
from krm_fn.review import forecast
from krm_fn.review.forecast import object_rules
from krm_fn.review.forecast.rollouts import Service

_AUTOSCALERS = {
    ("autoscaling", "HorizontalPodAutoscaler"): ("maxReplicas", 1),
    ("keda.sh", "ScaledObject"): ("maxReplicaCount", 100),
}
"""The field with the maximum of each kind of autoscaler, and its default (`autoscaling/v2` of Kubernetes; KEDA's ScaledObject)."""

State = Sequence[tuple[ObjectKey, Resource]]


def at_maximum(state: State) -> list[tuple[ObjectKey, Resource]]:
    """Returns the objects of a state, in which autoscaled workloads have the maximum of their autoscaler.

    An autoscaler scales the adapter of a service, or a workload itself. If a service has several workloads, one for each replica, the first
    one gets the missing replicas. The objects of the state do not change.
    """
    adapters = {key: resource for key, resource in state if key.kind == dynamo_api.ADAPTER}
    missing: dict[Service | ObjectKey, int] = {}
    for target, maximum in _maxima(state):
        adapter = adapters.get(target)
        service = object_rules.service_of_labels(adapter.get("metadata"), target.namespace) if adapter else None
        missing[service or target] = maximum
    if not missing:
        return [*state]
    numbers = object_rules.adapter_replicas((key.namespace, resource) for key, resource in state)
    for key, resource in state:
        for owner, number in _written_replicas(key, resource, numbers):
            if owner in missing:
                missing[owner] -= number
    return [(key, _scale_object(key, resource, missing, numbers)) for key, resource in state]


def _maxima(state: State) -> Iterator[tuple[ObjectKey, int]]:
    """Yields the target of each autoscaler, and its maximum."""
    for key, resource in state:
        if (key.group, key.kind) in _AUTOSCALERS:
            field, default = _AUTOSCALERS[key.group, key.kind]
            spec = object_rules.spec(resource)
            for target in dynamo_references.of(resource):
                if target.path == references.SCALED:
                    maximum = object_rules.replica_count(spec.get(field), default)
                    yield ObjectKey(target.group, target.kind, key.namespace, target.name), maximum


def _written_replicas(key: ObjectKey, resource: Resource, numbers: dict[Service, int]) -> Iterator[tuple[Service | ObjectKey, int]]:
    """Yields the owners of the replicas of an object, and their number: the object itself, and its service or services."""
    for service, part in forecast.scalable_parts(key, resource):
        number = object_rules.replica_count(part.get("replicas"), numbers.get(service, 1) if service else 1)
        yield key, number
        if service:
            yield service, number


def _scale_object(key: ObjectKey, resource: Resource, missing: dict[Service | ObjectKey, int], numbers: dict[Service, int]) -> Resource:
    """Returns a copy of an object with its missing replicas, which then are no longer missing; the object itself if none are missing."""
    services = [service for service, _ in forecast.scalable_parts(key, resource)]
    owned = [(index, owner) for index, service in enumerate(services) for owner in (service, key) if owner]
    added = [(index, owner) for index, owner in owned if missing.get(owner, 0) > 0]
    if not added:
        return resource
    scaled = copy.deepcopy(resource)
    parts = [*forecast.scalable_parts(key, scaled)]
    for index, owner in added:
        service, part = parts[index]
        written = object_rules.replica_count(part.get("replicas"), numbers.get(service, 1) if service else 1)
        part["replicas"] = written + missing.pop(owner)
    return scaled
