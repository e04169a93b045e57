"""What makes two resources one object in a cluster."""

from __future__ import annotations

from typing import NamedTuple

from krm_fn import results
from krm_fn.kube.types import Resource


class ObjectKey(NamedTuple):
    """Group, kind, namespace and name. Resources that differ only in their version are one object."""

    group: str
    kind: str
    namespace: str
    name: str


def key(resource: Resource, home: str = "") -> ObjectKey:
    """The key of a resource. `home` is the namespace of resources that carry none."""
    address = results.ref(resource)
    return ObjectKey(address.api_version.rpartition("/")[0], address.kind, address.namespace or home, address.name)
