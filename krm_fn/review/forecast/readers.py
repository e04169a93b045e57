"""Which services read which ConfigMaps and Secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import paths, templates, values
from krm_fn.kube.identity import ObjectKey
from krm_fn.review.forecast import kinds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krm_fn.kube.types import Resource
    from krm_fn.results import Path
    from krm_fn.review.forecast.outcome import Service

_E = paths.EVERY
_CONTAINERS = ("containers", "initContainers")
_PLACES: dict[str, tuple[Path, ...]] = {
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


def by_object(resources: Iterable[tuple[str, Resource]]) -> dict[ObjectKey, tuple[Service, ...]]:
    """The services that read each ConfigMap and Secret. Each resource comes with its namespace."""
    found: dict[ObjectKey, dict[Service, None]] = {}
    for namespace, resource in resources:
        for service, pod in _pods(resource, namespace):
            for key in _read(pod, namespace):
                found.setdefault(key, {})[service] = None
    return {key: tuple(services) for key, services in found.items()}


def _pods(resource: Resource, namespace: str) -> Iterator[tuple[Service, Any]]:
    """The pod specs of a workload, each with its service."""
    for place in templates.ALL:
        inside = place.metadata[-1] == "metadata"  # the labels of a clique are fields of the clique itself
        above = place.metadata[:-1] if inside else place.metadata
        for _, holder in paths.each(resource, (above,)):
            service = kinds.service(values.mapping(holder).get("metadata") if inside else holder, namespace)
            if service is not None:
                yield from ((service, pod) for _, pod in paths.each(holder, (place.spec[len(above) :],)))


def _read(pod: Any, namespace: str) -> Iterator[ObjectKey]:
    for kind, places in _PLACES.items():
        for _, name in paths.each(pod, places):
            if isinstance(name, str):
                yield ObjectKey("", kind, namespace, name)
