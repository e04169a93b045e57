"""The state of a cluster beside one object: replicas of scaling adapters, readers of ConfigMaps and Secrets, owners of replicas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import identity, paths, pod_templates, values
from krm_fn.kube.identity import ObjectKey
from krm_fn.review.forecast import kind_rules
from krm_fn.review.forecast.kind_rules import ClusterState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.provenance.object_changes import ObjectChange
    from krm_fn.results import Path
    from krm_fn.review.forecast.forecast_types import Service


_E = paths.EVERY
_CONTAINERS = ("containers", "initContainers")
_REFERENCES: dict[str, tuple[Path, ...]] = {
    "ConfigMap": (
        *((field, _E, "env", _E, "valueFrom", "configMapKeyRef", "name") for field in _CONTAINERS),
        *((field, _E, "envFrom", _E, "configMapRef", "name") for field in _CONTAINERS),
        ("volumes", _E, "configMap", "name"),
        ("volumes", _E, "projected", "sources", _E, "configMap", "name"),
    ),
    "Secret": (
        *((field, _E, "env", _E, "valueFrom", "secretKeyRef", "name") for field in _CONTAINERS),
        *((field, _E, "envFrom", _E, "secretRef", "name") for field in _CONTAINERS),
        ("volumes", _E, "secret", "secretName"),
        ("volumes", _E, "projected", "sources", _E, "secret", "name"),
    ),
}


def read(changes: Sequence[ObjectChange]) -> ClusterState:
    """Reads both states of all objects."""
    old = [(change.key.namespace, change.old) for change in changes if change.old is not None]
    new = [(change.key.namespace, change.new) for change in changes if change.new is not None]
    managed = frozenset(change.key for change in changes if _has_other_owner(change.old))
    return ClusterState(dict(_adapters(old)), dict(_adapters(new)), readers(new), managed)


def _adapters(resources: Iterable[tuple[str, Resource]]) -> Iterator[tuple[Service, int]]:
    """The replicas that scaling adapters have for their services, as written in their objects."""
    for namespace, resource in resources:
        if resource.get("kind") == identity.ADAPTER:
            service = kind_rules.service(resource.get("metadata"), namespace)
            if service is not None:
                yield service, kind_rules.number(kind_rules.spec(resource).get("replicas"), 1)


def _has_other_owner(resource: Resource | None) -> bool:
    """True if something has set the replicas of a live object through its subresource `scale`, as autoscalers do."""
    managers = values.objects(values.mapping((resource or {}).get("metadata")).get("managedFields"))
    return any(entry.get("subresource") == "scale" and _owns_replicas(entry.get("fieldsV1")) for entry in managers)


def _owns_replicas(fields: Any) -> bool:
    return "f:replicas" in values.mapping(fields, "f:spec")


def readers(resources: Iterable[tuple[str, Resource]]) -> dict[ObjectKey, tuple[Service, ...]]:
    """The services that read each ConfigMap and Secret. Each resource comes with its namespace."""
    found: dict[ObjectKey, dict[Service, None]] = {}
    for namespace, resource in resources:
        for service, pod in _pods(resource, namespace):
            for key in _read(pod, namespace):
                found.setdefault(key, {})[service] = None
    return {key: tuple(services) for key, services in found.items()}


def _pods(resource: Resource, namespace: str) -> Iterator[tuple[Service, Any]]:
    """The pod specs of a workload, each with its service."""
    for template in pod_templates.ALL:
        inside = template.metadata[-1] == "metadata"  # the labels of a clique are fields of the clique itself
        above = template.metadata[:-1] if inside else template.metadata
        for _, holder in paths.find(resource, (above,)):
            service = kind_rules.service(values.mapping(holder).get("metadata") if inside else holder, namespace)
            if service is not None:
                yield from ((service, pod) for _, pod in paths.find(holder, (template.spec[len(above) :],)))


def _read(pod: Any, namespace: str) -> Iterator[ObjectKey]:
    for kind, references in _REFERENCES.items():
        for _, name in paths.find(pod, references):
            if isinstance(name, str):
                yield ObjectKey("", kind, namespace, name)
