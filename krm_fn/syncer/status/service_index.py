"""The names of the Services of a cluster."""

from __future__ import annotations

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api
from krm_fn.syncer.status import replica_status

KIND = "Service"


class CachedService(NamedTuple):
    """A Service, and the name of the graph that it belongs to; empty if it belongs to none."""

    key: ObjectKey
    graph: str = ""


class ServiceIndex:
    """An index of Services by namespace and name."""

    def __init__(self) -> None:
        self._names: set[tuple[str, str]] = set()

    def put(self, service: CachedService) -> None:
        """Adds a Service."""
        self._names.add((service.key.namespace, service.key.name))

    def drop(self, key: ObjectKey) -> None:
        """Removes a Service."""
        self._names.discard((key.namespace, key.name))

    def has_any(self, namespace: str, *names: str) -> bool:
        """Returns True if a Service with one of these names exists."""
        return any((namespace, name) in self._names for name in names)


def read(resource: Resource, default_namespace: str = "") -> CachedService:
    """Reads a Service. Its graph is the owner in its annotation or its label."""
    kind, _, name = replica_status.owner(resource).partition("/")
    return CachedService(identity.key(resource, default_namespace), name if kind == dynamo_api.GRAPH else "")
