"""The base models among the input items: those that services serve, and those that models are made for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from krm_fn.kube import identity, names
from krm_fn.kube.types import Resource
from krm_fn.records import NamedTuple

KINDS = (identity.MODEL, identity.GRAPH, identity.COMPONENT)


class BaseModels(NamedTuple):
    """Base models by namespace.

    `served` has namespace and name of those that a service serves. `hashes` maps a namespace and a hash to the names with this hash.
    """

    served: frozenset[tuple[str, str]] = frozenset()
    hashes: dict[tuple[str, str], tuple[str, ...]] = {}

    def alike(self, namespace: str, name: str) -> str:
        """Another base model of the namespace with the same hash; empty if every other one has another hash."""
        return next((other for other in self.hashes.get((namespace, names.model_hash(name)), ()) if other != name), "")


def read(placed: Iterable[tuple[str, Resource]]) -> BaseModels:
    """Reads the base models of resources, each with its namespace. The resources may be malformed; what cannot be read is left out."""
    served: set[tuple[str, str]] = set()
    hashes: dict[tuple[str, str], dict[str, None]] = {}
    for namespace, resource in placed:
        for name in filter(None, _names(resource)):
            hashes.setdefault((namespace, names.model_hash(name)), {})[name] = None
            if resource["kind"] != identity.MODEL:
                served.add((namespace, name))
    return BaseModels(frozenset(served), {key: tuple(found) for key, found in hashes.items()})


def _names(resource: Resource) -> Iterator[str]:
    """The base models that a resource names; empty texts among them."""
    spec = resource.get("spec")
    if resource["kind"] == identity.MODEL:
        yield _text(spec, "baseModelName")
    elif resource["kind"] == identity.COMPONENT:
        yield _text(_inner(spec, "modelRef"), "name")
    else:
        services = _inner(spec, "services")
        for service in services.values() if isinstance(services, dict) else ():
            yield _text(_inner(service, "modelRef"), "name")


def _text(value: Any, key: str) -> str:
    found = _inner(value, key)
    return found if isinstance(found, str) else ""


def _inner(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None
