"""A Dynamo resource as the status logic sees it: all that the syncer keeps of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube.identity import ObjectKey
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.workload_list import Entry


class Subject(NamedTuple):
    """One graph, component or scaling adapter.

    `entries` is None if the resource has no annotation `workloads`; `wrong` says why the annotation cannot be read. `restart` is
    `spec.restart` and `restart_by_syncer` is true if the syncer stamps the pod templates (annotation `dynamo.krm-fn.io/restart: sync`).
    `graph` and `service` are the graph and the service that a component or an adapter belongs to. `replicas` is an adapter's
    `spec.replicas`. `status` is the status as it is stored now.
    """

    key: ObjectKey
    generation: int
    services: tuple[str, ...] = ()
    entries: tuple[Entry, ...] | None = None
    wrong: str = ""
    restart: dict[str, Any] | None = None
    restart_by_syncer: bool = False
    graph: str = ""
    service: str = ""
    replicas: int | None = None
    deleted: bool = False
    status: dict[str, Any] = {}


def read(resource: Resource, home: str = "") -> Subject:
    """Reads one Dynamo resource. `home` is the namespace of a resource without one. Never raises for what a user wrote."""
    raise NotImplementedError
