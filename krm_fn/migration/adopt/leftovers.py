"""Lists the objects of an operator that nothing needs after the adoption."""

from __future__ import annotations

import re
from collections.abc import Iterable

from krm_fn.kubernetes import identity
from krm_fn.kubernetes.api_server import name_formats
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.migration.adopt.exported_objects import ExportedObjects
from krm_fn.render import labels
from krm_fn.render.manifests import workloads

_DATA = "PersistentVolumeClaim"
_KIND = re.compile(r"[A-Za-z]+")


def of(rendered: Iterable[Resource], exported: ExportedObjects) -> list[ObjectKey]:
    """Returns the live objects with an operator's mark that no render makes, without volumes and without workloads.

    These are the Services for debugging of operators before 1.0, and the accounts of planners and endpoint pickers in namespaces that run
    none.
    """
    keys = {identity.key(resource, exported.namespace) for resource in rendered}
    return sorted(
        key
        for resource in exported.live
        if _is_marked(resource) and (key := identity.key(resource, exported.namespace)) not in keys and _is_plain(key)
    )


def _is_marked(resource: Resource) -> bool:
    """True for an object that an operator wrote for itself."""
    by_operator = labels.LAST_APPLIED_HASH in labels.annotations(resource) or labels.of(resource).get(labels.MANAGED_BY) == labels.OPERATOR
    return by_operator and resource.get("kind") != _DATA and not workloads.is_workload(resource)


def _is_plain(key: ObjectKey) -> bool:
    """True for a key whose parts can be words of a shell command."""
    is_group = not key.group or name_formats.DNS_SUBDOMAIN.fullmatch(key.group)
    return bool(is_group and _KIND.fullmatch(key.kind) and name_formats.DNS_SUBDOMAIN.fullmatch(key.name))
