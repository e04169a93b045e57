"""What the other objects of a change say about one object: the replicas of scaling adapters, readers of data, owners of replicas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import identity, values
from krm_fn.review.forecast import kinds, readers
from krm_fn.review.forecast.kinds import World

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.review.changes import Change
    from krm_fn.review.forecast.outcome import Service


def read(changes: Sequence[Change]) -> World:
    """Reads both states of all objects."""
    old = [(change.key.namespace, change.old) for change in changes if change.old is not None]
    new = [(change.key.namespace, change.new) for change in changes if change.new is not None]
    managed = frozenset(change.key for change in changes if _has_other_owner(change.old))
    return World(dict(_adapters(old)), dict(_adapters(new)), readers.by_object(new), managed)


def _adapters(resources: Iterable[tuple[str, Resource]]) -> Iterator[tuple[Service, int]]:
    """The replicas that scaling adapters have for their services, as written in their objects."""
    for namespace, resource in resources:
        if resource.get("kind") == identity.ADAPTER:
            service = kinds.service(resource.get("metadata"), namespace)
            if service is not None:
                yield service, kinds.number(kinds.spec(resource).get("replicas"), 1)


def _has_other_owner(resource: Resource | None) -> bool:
    """True if something has set the replicas of a live object through its subresource `scale`, as autoscalers do."""
    managers = values.objects(values.mapping((resource or {}).get("metadata")).get("managedFields"))
    return any(entry.get("subresource") == "scale" and _owns_replicas(entry.get("fieldsV1")) for entry in managers)


def _owns_replicas(fields: Any) -> bool:
    return "f:replicas" in values.mapping(fields, "f:spec")
