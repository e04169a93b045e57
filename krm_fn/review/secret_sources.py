"""Finds the Secrets that controllers make in a cluster from the resources of a repository: Sealed Secrets and External Secrets.

References: https://github.com/bitnami-labs/sealed-secrets and https://external-secrets.io/latest/api/externalsecret/.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from krm_fn.kubernetes import identity, paths
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource

_NAMES = {
    ("bitnami.com", "SealedSecret"): ("spec", "template", "metadata", "name"),
    ("external-secrets.io", "ExternalSecret"): ("spec", "target", "name"),
}
"""The field that names the Secret, by group and kind. Without it, the Secret has the name of its source."""


def secrets(resources: Iterable[Resource], default_namespace: str) -> Iterator[ObjectKey]:
    """Yields the keys of the Secrets that are made from resources."""
    for resource in resources:
        key = identity.key(resource, default_namespace)
        if path := _NAMES.get((key.group, key.kind)):
            name = paths.at(resource, path)
            yield ObjectKey("", "Secret", key.namespace, name if isinstance(name, str) and name else key.name)
