"""Indexes the ResourceClaims, their templates and the DeviceClasses of a cluster, and the graphs whose GPUs depend on them."""

from __future__ import annotations

from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import device_claims, identity, values
from krm_fn.kubernetes.device_claims import CLAIM, CLASS, GROUP, TEMPLATE, Devices
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels
from krm_fn.syncer.status.cached_object import CachedObject

KINDS = (CLAIM, TEMPLATE, CLASS)


class CachedClaim(NamedTuple):
    """The fields of a claim, a template or a class that a status depends on. `spec` is empty for a claim that was made for one pod."""

    key: ObjectKey
    spec: dict[str, Any]


class DeviceIndex:
    """An index of claims and classes. `devices` holds their specs."""

    def __init__(self) -> None:
        self._claims: dict[tuple[str, str, str], dict[str, Any]] = {}
        self._classes: dict[str, dict[str, Any]] = {}
        self._uses: dict[ObjectKey, frozenset[tuple[str, str]]] = {}
        self.devices = Devices(self._claims, self._classes, counts_by_name=False)

    def put(self, claim: CachedClaim) -> None:
        """Adds or replaces a claim, a template or a class."""
        key = claim.key
        if key.kind == CLASS:
            self._classes[key.name] = claim.spec
        else:
            self._claims[key.kind, key.namespace, key.name] = claim.spec

    def drop(self, key: ObjectKey) -> None:
        """Removes a claim, a template or a class."""
        if key.kind == CLASS:
            self._classes.pop(key.name, None)
        else:
            self._claims.pop((key.kind, key.namespace, key.name), None)

    def put_graph(self, graph: CachedObject) -> None:
        """Records which claims the pods of a graph use, in place of those that they used before."""
        self.drop_graph(graph.key)
        demands = (demand for entry in graph.entries or () if entry.facts for demand in (entry.facts.engine, entry.facts.replica))
        if uses := frozenset((use.kind, use.name) for demand in demands if demand for use in demand.claims):
            self._uses[graph.key] = uses

    def drop_graph(self, graph: ObjectKey) -> None:
        """Forgets the claims of a graph."""
        self._uses.pop(graph, None)

    def users(self, key: ObjectKey) -> list[ObjectKey]:
        """Returns the graphs whose pods use a claim or a template; for a class, all graphs whose pods use claims."""
        if key.kind == CLASS:
            return list(self._uses)
        return [graph for graph, uses in self._uses.items() if graph.namespace == key.namespace and (key.kind, key.name) in uses]


def kind_of(resource: Resource) -> str:
    """Returns the kind of a claim, a template or a class; empty for any other resource."""
    key = identity.key(resource)
    return key.kind if key.group == GROUP and key.kind in KINDS else ""


def read(kind: str, resource: Resource, default_namespace: str = "") -> CachedClaim:
    """Reads a resource of one of `KINDS`. `default_namespace` is that of a claim without one.

    Kubernetes makes a claim for each pod from a template. No pod template names such a claim, so its spec is not cached.
    """
    metadata = values.mapping(resource, "metadata")
    namespace = "" if kind == CLASS else values.text(metadata.get("namespace")) or default_namespace
    of_pod = kind == CLAIM and labels.POD_CLAIM in labels.annotations(resource)
    spec = {} if of_pod else device_claims.spec_of(kind, resource)
    return CachedClaim(ObjectKey(GROUP, kind, namespace, values.text(metadata.get("name"))), spec)
